package vtparse

import "unicode/utf8"

// cleanTitle tells whether tmux accepts s as a title: UTF-8 of printable
// characters only.
func (p *profile) cleanTitle(s []byte) bool {
	for len(s) > 0 {
		r, n := utf8.DecodeRune(s)
		if r == utf8.RuneError && n < 2 || r < 0x20 || p.width(r) < 0 {
			return false
		}
		s = s[n:]
	}
	return true
}
