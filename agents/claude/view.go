package claude

import (
	"bytes"
	"strings"
	"sync"

	"akk/vtparse"
)

// This file gives the rules a cheap look at a screen. Rule: a row is turned
// into text at most once per reading and only if a rule asks for it.

const (
	nbsp = '\u00a0' // stands behind the composer's marker and nowhere else at the left edge
	bar  = '─'
	tip  = '▔' // the fullscreen renderer's upper edge of a panel
)

// view is one screen during one reading.
type view struct {
	s          *vtparse.Screen
	w          *words
	cols, rows int
	cx, cy     int
	text       []string
	have       []bool
	last       int // last row with anything on it, -1 if the screen is blank
}

var views = sync.Pool{New: func() any { return new(view) }}

func newView(s *vtparse.Screen, w *words) *view {
	v := views.Get().(*view)
	v.s, v.w, v.cols, v.rows = s, w, s.Cols, s.Rows
	v.cx, v.cy = s.Cursor.X, s.Cursor.Y
	if cap(v.text) < v.rows {
		v.text, v.have = make([]string, v.rows), make([]bool, v.rows)
	}
	v.text, v.have = v.text[:v.rows], v.have[:v.rows]
	clear(v.have)
	for v.last = v.rows - 1; v.last >= 0 && v.blank(v.last); v.last-- {
	}
	return v
}

func (v *view) free() {
	clear(v.text)
	v.s, v.w = nil, nil
	views.Put(v)
}

// at is the first code point of a cell.
func (v *view) at(x, y int) rune {
	if y < 0 || y >= v.rows {
		return ' '
	}
	return v.s.Row(y).Rune(x)
}

func (v *view) style(x, y int) vtparse.Style { return v.s.Row(y).Style(x) }

// line is the row's text without trailing blanks.
func (v *view) line(y int) string {
	if y < 0 || y >= v.rows {
		return ""
	}
	if !v.have[y] {
		v.text[y], v.have[y] = v.s.Line(y), true
	}
	return v.text[y]
}

// trimmed is the row's text without blanks at both ends.
func (v *view) trimmed(y int) string { return strings.Trim(v.line(y), " \u00a0") }

// indent is the first column that is not blank, -1 in a blank row.
func (v *view) indent(y int) int {
	r := v.s.Row(y)
	for x, n := 0, r.Len(); x < n; x++ {
		if c := r.Rune(x); c != ' ' {
			return x
		}
	}
	return -1
}

func (v *view) blank(y int) bool { return v.indent(y) < 0 }

// rule tells whether the row is one horizontal line from edge to edge. It may
// carry one label (a session's name, "History 3/16", a note that just came).
func (v *view) rule(y int) bool {
	c := v.at(0, y)
	if c != bar && c != tip {
		return false
	}
	r := v.s.Row(y)
	x := 1
	for x < v.cols && r.Rune(x) == c {
		x++
	}
	if x == v.cols {
		return true
	}
	end := v.cols
	for end > x && r.Rune(end-1) == c {
		end--
	}
	return end < v.cols && end > x+2 && r.Rune(x) == ' ' && r.Rune(end-1) == ' ' && r.Rune(x+1) != ' '
}

// edge tells whether the row is a composer's line.
func (v *view) edge(y int) bool { return v.at(0, y) == bar && v.rule(y) }

// inset tells whether the row holds nothing but a line, wherever it begins.
func (v *view) inset(y int) bool {
	x := v.indent(y)
	if x < 0 {
		return false
	}
	if c := v.at(x, y); c != bar && c != tip && c != '╌' {
		return false
	}
	r := v.s.Row(y)
	for c := r.Rune(x); x < v.cols; x++ {
		if d := r.Rune(x); d != c && d != ' ' {
			return false
		}
	}
	return true
}

// from is the text of row y from column x on, without blanks at its end.
func (v *view) from(x, y int) string { return v.span(x, v.cols, y) }

// span is the text of the cells from x (inclusive) to to (exclusive).
func (v *view) span(x, to, y int) string {
	var room [256]byte
	b := room[:0]
	r := v.s.Row(y)
	for n := min(to, r.Len()); x < n; x++ {
		b = r.AppendText(b, x)
	}
	return string(bytes.TrimRight(b, " "))
}

// filled is the first column behind the row's last non-blank cell.
func (v *view) filled(y int) int {
	r := v.s.Row(y)
	for x := r.Len(); x > 0; x-- {
		if c := r.Rune(x - 1); c != ' ' {
			return x
		}
	}
	return 0
}
