package vtparse

import "strings"

// Row is one line of a Screen: immutable, shared between generations.
type Row struct {
	cells   []rowCell
	wrapped bool
}

type rowCell struct {
	text  string
	width uint8
	style Style
}

// Len is the number of cells that were kept; cells from Len on are blanks in
// the default style.
func (r *Row) Len() int { return len(r.cells) }

// Rune returns the first code point of cell x: ' ' for a blank, 0 for the
// second half of a wide character.
func (r *Row) Rune(x int) rune {
	if x < 0 || x >= len(r.cells) {
		return ' '
	}
	for _, c := range r.cells[x].text {
		return c
	}
	return 0
}

// Text returns all code points of cell x, "" for the second half of a wide
// character, " " for a blank.
func (r *Row) Text(x int) string {
	if x < 0 || x >= len(r.cells) {
		return " "
	}
	return r.cells[x].text
}

// Width is 1 or 2, and 0 for the second half of a wide character.
func (r *Row) Width(x int) int {
	if x < 0 || x >= len(r.cells) {
		return 1
	}
	return int(r.cells[x].width)
}

// Style returns the style of cell x.
func (r *Row) Style(x int) Style {
	if x < 0 || x >= len(r.cells) {
		return Style{}
	}
	return r.cells[x].style
}

// Wrapped tells whether the text goes on in the next row without a newline.
func (r *Row) Wrapped() bool { return r.wrapped }

// String returns the text without trailing blanks.
func (r *Row) String() string {
	var b strings.Builder
	for x := range r.cells {
		b.WriteString(r.cells[x].text)
	}
	return strings.TrimRight(b.String(), " ")
}
