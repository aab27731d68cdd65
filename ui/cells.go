package ui

import (
	"strings"
	"unicode"

	"github.com/mattn/go-runewidth"
)

// This file holds the canvas that everything is drawn on. Invariant: a cell
// never holds a control character, and a wide character is never cut in half.

// Role says what a piece of text means; the screen maps it to attributes. It
// is what tests compare beside the text.
type Role byte

// The roles.
const (
	Plain    Role = ' '
	Dim      Role = '.'
	Strong   Role = '*'
	Title    Role = 'T'
	Key      Role = 'k'
	Blocked  Role = 'B'
	Ready    Role = 'I'
	Working  Role = 'W'
	Unknown  Role = '?'
	Inactive Role = '-' // starting, exited
	Record   Role = 'R'
	Alert    Role = '!'
)

// Cell is one cell of a Canvas. Width is 1 or 2, and 0 for the second half of
// a wide character.
type Cell struct {
	Text     string
	Width    int
	Role     Role
	Selected bool
}

// Canvas is a picture of W x H cells.
type Canvas struct {
	W, H  int
	cells []Cell
}

// widths are ours, independent of the user's locale: tmux counts ambiguous
// characters as one cell.
var widths = &runewidth.Condition{EastAsianWidth: false, StrictEmojiNeutral: true}

// NewCanvas returns a blank picture; sizes below 1 become 1.
func NewCanvas(w, h int) *Canvas {
	w, h = max(w, 1), max(h, 1)
	c := &Canvas{W: w, H: h, cells: make([]Cell, w*h)}
	for i := range c.cells {
		c.cells[i] = Cell{Text: " ", Width: 1, Role: Plain}
	}
	return c
}

// At returns cell x, y; a blank outside of the picture.
func (c *Canvas) At(x, y int) Cell {
	if x < 0 || y < 0 || x >= c.W || y >= c.H {
		return Cell{Text: " ", Width: 1, Role: Plain}
	}
	return c.cells[y*c.W+x]
}

// Put writes s from x on and returns the column behind it. What does not fit
// before column end is cut, with a "…" in the last cell.
func (c *Canvas) Put(x, y, end int, s string, r Role) int {
	end = min(end, c.W)
	if y < 0 || y >= c.H || x < 0 {
		return x
	}
	s = Clean(s)
	if cut := TextWidth(s) > end-x; cut && end > x {
		s = Cut(s, end-x)
	} else if cut {
		return x
	}
	for _, ch := range s {
		w := widths.RuneWidth(ch)
		if w == 0 { // a combining mark belongs to the cell before it
			at := x - 1
			for at > 0 && c.At(at, y).Width == 0 {
				at--
			}
			if at >= 0 {
				c.cells[y*c.W+at].Text += string(ch)
			}
			continue
		}
		c.cells[y*c.W+x] = Cell{Text: string(ch), Width: w, Role: r}
		for i := 1; i < w; i++ {
			c.cells[y*c.W+x+i] = Cell{Role: r}
		}
		x += w
	}
	return x
}

// PutRight writes s so that it ends before column end, and returns where it
// begins; it writes nothing if it would begin before column from.
func (c *Canvas) PutRight(from, y, end int, s string, r Role) int {
	s = Clean(s)
	x := min(end, c.W) - TextWidth(s)
	if x < from {
		return end
	}
	c.Put(x, y, end, s, r)
	return x
}

// Select marks row y as the chosen one.
func (c *Canvas) Select(y int) {
	for x := 0; x < c.W && y >= 0 && y < c.H; x++ {
		c.cells[y*c.W+x].Selected = true
	}
}

// stale draws row y as old news.
func (c *Canvas) stale(y int) {
	for x := range c.W {
		if cell := &c.cells[y*c.W+x]; cell.Text != " " {
			cell.Role = Dim
		}
	}
}

// Lines is the picture as text, trailing blanks cut.
func (c *Canvas) Lines() []string {
	out := make([]string, c.H)
	for y := range out {
		var b strings.Builder
		for x := range c.W {
			b.WriteString(c.cells[y*c.W+x].Text)
		}
		out[y] = strings.TrimRight(b.String(), " ")
	}
	return out
}

// Clean makes text from outside drawable: control characters become blanks,
// joiners and variation selectors go (terminals disagree about their width).
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == unicode.ReplacementChar:
			return '?'
		case unicode.IsControl(r) || r == '\u2028' || r == '\u2029':
			return ' '
		case unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) || r >= 0xE0000:
			return -1
		}
		return r
	}, s)
}

// TextWidth is the number of cells of a clean text.
func TextWidth(s string) int {
	n := 0
	for _, r := range s {
		n += widths.RuneWidth(r)
	}
	return n
}

// Cut shortens a clean text to at most w cells, the last one a "…" if
// something was cut.
func Cut(s string, w int) string {
	if TextWidth(s) <= w {
		return s
	}
	if w <= 0 {
		return ""
	}
	var b strings.Builder
	n := 0
	for _, r := range s {
		rw := widths.RuneWidth(r)
		if n+rw > w-1 {
			break
		}
		b.WriteRune(r)
		n += rw
	}
	return b.String() + "…"
}
