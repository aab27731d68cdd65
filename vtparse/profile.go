package vtparse

// This file holds what differs between tmux versions. Rule: a version is
// looked up, never probed by typing into somebody's server.

type profile struct {
	name           string
	table          *widthTable
	cellBytes      int  // bytes that a cell can hold
	replaceBadUTF8 bool // U+FFFD for malformed bytes
	joins          bool // every character may join the one before it
}

// joinState is what newer versions remember of the last character.
type joinState struct{}

func (j *joinState) plain()             {}
func (j *joinState) rune(r rune, w int) {}

const zeroWidthJoiner = '\u200d'

func profileFor(version string) *profile {
	return &profile{name: "3.3a", table: glibc236(), cellBytes: 21}
}

func (p *profile) width(r rune) int { return p.table.of(r) }

// combines handles zero-width characters and the zero width joiner: true if r
// needs no cell of its own.
func (p *profile) combines(t *Terminal, r rune, width int) bool {
	if r == zeroWidthJoiner {
		t.zwj = true
		return true
	}
	if t.zwj {
		t.combine(zeroWidthJoiner)
	}
	if width == 0 || t.zwj {
		t.zwj = false
		t.combine(r)
		return true
	}
	return false
}
