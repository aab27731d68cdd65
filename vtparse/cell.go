package vtparse

import (
	"unicode/utf8"
)

// This file holds the cell: eight bytes that a line is made of. Rule: a cell
// means nothing without the tables of its terminal (or of its published Row);
// the zero style and the plain code points need no table entry.

// cell packs, from the low bit: 21 bits of code point (or of cluster number),
// the flags below, and from bit 32 on the number of its style.
type cell uint64

const (
	cellRuneMask cell = 1<<21 - 1
	cellCluster  cell = 1 << 21 // the low bits number a cluster, not a code point
	cellOne      cell = 1 << 22 // one column wide
	cellTwo      cell = 2 << 22 // two columns wide
	cellWidths   cell = 3 << 22 // neither of them: the second half of a wide character
	cellCleared  cell = 1 << 24 // erased, never written since
	cellACS      cell = 1 << 25 // written while line drawing was on

	// How tmux stores the cell. It can't be seen, but decides whether a write
	// that seems to change nothing is left out.
	cellExt   cell = 1 << 27 // in tmux's extended form; once so, until erased
	cellFg256 cell = 1 << 28 // foreground was given as 38;5
	cellBg256 cell = 1 << 29 // background was given as 48;5
	cellInner      = cellExt | cellFg256 | cellBg256

	styleShift = 32
	styleMask  = cell(1<<32-1) << styleShift
)

const (
	blankCell   = ' ' | cellOne | cellCleared // never written, default style
	spaceCell   = ' ' | cellOne               // a written blank, default style
	paddingCell = cellExt                     // second half of a wide character
)

func (c cell) padding() bool { return c&cellWidths == 0 }
func (c cell) width() int    { return int(c >> 22 & 3) }
func (c cell) style() uint32 { return uint32(c >> styleShift) }

// acsRunes is what DEC's line drawing set shows for '`' to '~'.
var acsRunes = [...]rune{
	'◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼', '⎺',
	'⎻', '─', '⎼', '⎽', '├', '┤', '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
}

// acsRune translates a byte that was written while line drawing was on.
func acsRune(r rune) rune {
	if r >= '`' && int(r-'`') < len(acsRunes) {
		return acsRunes[r-'`']
	}
	return r
}

// firstRune is the first code point that c shows, 0 for padding.
func (c cell) firstRune(tab *tables) rune {
	switch {
	case c.padding():
		return 0
	case c&cellCluster != 0:
		r, _ := utf8.DecodeRuneInString(tab.clusters[c&cellRuneMask])
		return r
	case c&cellACS != 0:
		return acsRune(rune(c & cellRuneMask))
	}
	return rune(c & cellRuneMask)
}

// appendText appends what c shows, nothing for padding.
func (c cell) appendText(b []byte, tab *tables) []byte {
	switch {
	case c.padding():
		return b
	case c&cellCluster != 0:
		return append(b, tab.clusters[c&cellRuneMask]...)
	}
	return utf8.AppendRune(b, c.firstRune(tab))
}

// appendRaw appends the bytes that were written into c: line drawing is not
// translated.
func (c cell) appendRaw(b []byte, tab *tables) []byte {
	if c&cellCluster != 0 {
		return append(b, tab.clusters[c&cellRuneMask]...)
	}
	return utf8.AppendRune(b, rune(c&cellRuneMask))
}
