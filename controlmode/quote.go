package controlmode

import "strings"

// This file writes words of a command line. Rule: whatever stands in the text,
// tmux reads it back as that one word.

// Quote writes s as one word in double quotes. Control bytes but TAB become
// escapes, so that the result never holds a line end. NUL can't be written:
// it is dropped (tmux's own strings end there).
func Quote(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte('"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\' || c == '$':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == 0:
		case c == '\t' || c >= 0x20 && c != 0x7f:
			b.WriteByte(c)
		default:
			b.WriteByte('\\')
			b.WriteByte('0' + c>>6)
			b.WriteByte('0' + c>>3&7)
			b.WriteByte('0' + c&7)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// Safe wraps a format variable that users can choose (a path, a name, an
// option) so that its value has at most n columns and no control characters:
// a raw value could forge protocol lines.
func Safe(n int, variable string) string {
	return "#{=" + itoa(n) + ":" + variable + "}"
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}
