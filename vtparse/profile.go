package vtparse

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// This file holds what differs between tmux versions. Rule: a version is
// looked up, never probed by typing into somebody's server.

type profile struct {
	name      string
	table     *widthTable
	cellBytes int  // bytes that a cell can hold
	joins     bool // the cell before decides what joins it (3.4); else a joiner waits for the next character
	lateHalf  bool // a character made wide by joining gets its second half one column too late (3.4)
	pairs     bool // flags, skin tones and Hangul join as pairs (3.6)
	repeatAny bool // REP repeats any character (3.5)
	replaces  bool // U+FFFD for malformed bytes (3.6)
	seesUl    bool // a change of the underline colour alone is a change (3.4)
}

// profiles are ordered by version, as major*100 + minor.
var profiles = [...]struct {
	from int
	make func() *profile
}{
	{0, sync.OnceValue(func() *profile {
		return &profile{name: "3.3a", table: glibc236(), cellBytes: 21}
	})},
	{304, sync.OnceValue(func() *profile {
		return &profile{name: "3.4", table: tmux34Widths(), cellBytes: 21, joins: true, lateHalf: true, seesUl: true}
	})},
	{305, sync.OnceValue(func() *profile {
		return &profile{name: "3.5", table: tmux34Widths(), cellBytes: 21, joins: true, repeatAny: true}
	})},
	{306, sync.OnceValue(func() *profile {
		return &profile{name: "3.6", table: tmux36Widths(), cellBytes: 32, joins: true, pairs: true, repeatAny: true, replaces: true}
	})},
}

// profileFor finds the rules of a version as `tmux -V` prints it without the
// leading "tmux ": "3.3a", "next-3.6", "master". Unknown words are the newest.
func profileFor(version string) *profile {
	v := versionNumber(version)
	for i := len(profiles) - 1; i > 0; i-- {
		if v >= profiles[i].from {
			return profiles[i].make()
		}
	}
	return profiles[0].make()
}

// newestVersion stands for development versions without a number.
const newestVersion = 1 << 20

func versionNumber(version string) int {
	if version == "" {
		return 0
	}
	s := strings.TrimPrefix(strings.TrimPrefix(version, "tmux "), "next-")
	major, rest := leadingNumber(s)
	if rest == s || !strings.HasPrefix(rest, ".") {
		return newestVersion
	}
	minor, _ := leadingNumber(rest[1:])
	return major*100 + min(minor, 99)
}

func leadingNumber(s string) (int, string) {
	n := 0
	for len(s) > 0 && s[0] >= '0' && s[0] <= '9' && n < newestVersion {
		n = n*10 + int(s[0]-'0')
		s = s[1:]
	}
	return n, s
}

func (p *profile) width(r rune) int { return p.table.of(r) }

// cleanTitle tells whether tmux accepts s as a title: UTF-8 of printable
// characters only.
func (p *profile) cleanTitle(s []byte) bool {
	for len(s) > 0 {
		r, n := utf8.DecodeRune(s)
		if r == utf8.RuneError && n < 2 || r < 0x20 || r == 0x7f || p.width(r) < 0 {
			return false
		}
		s = s[n:]
	}
	return true
}
