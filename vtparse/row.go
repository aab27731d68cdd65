package vtparse

import (
	"strings"
	"sync/atomic"
	"unicode/utf8"
)

// Row is one line of a Screen: immutable, shared between generations.
type Row struct {
	cells   []cell
	tab     *tables
	written int
	wrapped bool
	text    atomic.Pointer[string] // String's answer, once somebody asked
}

// Len is the number of cells that were kept; cells from Len on are blanks in
// the default style.
func (r *Row) Len() int { return len(r.cells) }

// Written is 1 + the last cell that a program wrote. The cells from Written to
// Len were only erased: tmux before 3.4 does not tell their background, so
// after a seed it may be missing here.
func (r *Row) Written() int { return r.written }

// Rune returns the first code point of cell x: ' ' for a blank, 0 for the
// second half of a wide character.
func (r *Row) Rune(x int) rune {
	if x < 0 || x >= len(r.cells) {
		return ' '
	}
	return r.cells[x].firstRune(r.tab)
}

// Text returns all code points of cell x, "" for the second half of a wide
// character, " " for a blank.
func (r *Row) Text(x int) string {
	if x < 0 || x >= len(r.cells) {
		return " "
	}
	switch c := r.cells[x]; {
	case c.padding():
		return ""
	case c&cellCluster != 0:
		return r.tab.clusters[c&cellRuneMask]
	default:
		if c := c.firstRune(r.tab); c < utf8.RuneSelf {
			return ascii[c : c+1] // no allocation
		} else {
			return string(c)
		}
	}
}

// ascii is the text of the cells that most screens are made of.
var ascii = func() string {
	b := make([]byte, utf8.RuneSelf)
	for i := range b {
		b[i] = byte(i)
	}
	return string(b)
}()

// AppendText appends what Text returns, without making a string of it.
func (r *Row) AppendText(b []byte, x int) []byte {
	if x < 0 || x >= len(r.cells) {
		return append(b, ' ')
	}
	return r.cells[x].appendText(b, r.tab)
}

// Width is 1 or 2, and 0 for the second half of a wide character.
func (r *Row) Width(x int) int {
	if x < 0 || x >= len(r.cells) {
		return 1
	}
	return r.cells[x].width()
}

// Style returns the style of cell x.
func (r *Row) Style(x int) Style {
	if x < 0 || x >= len(r.cells) {
		return Style{}
	}
	return r.tab.styles[r.cells[x].style()]
}

// Wrapped tells whether the text goes on in the next row without a newline.
func (r *Row) Wrapped() bool { return r.wrapped }

// String returns the text without trailing blanks. It is made once per row, so
// asking again, also through a later Screen that shares the row, is free.
func (r *Row) String() string {
	if s := r.text.Load(); s != nil {
		return *s
	}
	s := strings.TrimRight(r.full(), " ")
	r.text.Store(&s)
	return s
}

// full is the text of all cells that were kept.
func (r *Row) full() string {
	b := make([]byte, 0, len(r.cells)+16)
	for _, c := range r.cells {
		b = c.appendText(b, r.tab)
	}
	return string(b)
}

// Equal tells whether both rows look the same and wrap alike.
func (r *Row) Equal(o *Row) bool {
	if r == o {
		return true
	}
	if len(r.cells) != len(o.cells) || r.wrapped != o.wrapped {
		return false
	}
	for x := range r.cells {
		if r.Text(x) != o.Text(x) || r.Width(x) != o.Width(x) || r.Style(x) != o.Style(x) {
			return false
		}
	}
	return true
}

// Plain returns the text as capture-pane without -e prints it: line drawing as
// the letters that stand for it, trailing blanks cut.
func (r *Row) Plain() string { return strings.TrimRight(r.raw(), " ") }

// PlainWritten is Plain up to the last written cell, blanks included, as
// capture-pane -J prints it.
func (r *Row) PlainWritten() string {
	part := Row{cells: r.cells[:min(r.written, len(r.cells))], tab: r.tab}
	return part.raw()
}
