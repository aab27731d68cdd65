package vtparse

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// This file writes a Screen as JSON, in the shape of `akk replay --json` and
// `akk screen --json`. Rule: styles are SGR parameters in one canonical form,
// so that two screens can be compared as text.

type screenJSON struct {
	Cols      int           `json:"cols"`
	Rows      int           `json:"rows"`
	Cursor    cursorJSON    `json:"cursor"`
	Alternate bool          `json:"alternate"`
	Title     string        `json:"title"`
	Lines     []string      `json:"lines"`
	Runs      [][][2]string `json:"runs"`
}

type cursorJSON struct {
	X       int  `json:"x"`
	Y       int  `json:"y"`
	Visible bool `json:"visible"`
}

// MarshalJSON writes size, cursor, alternate, title, lines (trailing blanks
// cut) and runs: per row [text, style] for each stretch of one style.
func (s *Screen) MarshalJSON() ([]byte, error) {
	j := screenJSON{
		Cols: s.Cols, Rows: s.Rows, Cursor: cursorJSON{s.Cursor.X, s.Cursor.Y, s.Cursor.Visible},
		Alternate: s.Alternate, Title: s.Title, Lines: s.Lines(), Runs: make([][][2]string, s.Rows),
	}
	for y := range j.Runs {
		j.Runs[y] = [][2]string{}
		for _, run := range s.Row(y).Runs() {
			j.Runs[y] = append(j.Runs[y], [2]string{run.Text, run.Style.SGR()})
		}
	}
	b, err := json.Marshal(j)
	// U+0085 is a line break to some readers, and we print one object per line.
	return bytes.ReplaceAll(b, []byte("\u0085"), []byte(`\u0085`)), err
}

// Run is a stretch of a row in one style.
type Run struct {
	Text  string
	Style Style
}

// Runs cuts the row into stretches of one style, trailing cells included.
func (r *Row) Runs() []Run {
	var runs []Run
	var text []byte
	for x := 0; x < len(r.cells); {
		id := r.cells[x].style()
		text = text[:0]
		for ; x < len(r.cells) && (r.cells[x].style() == id || r.cells[x].padding()); x++ {
			text = r.cells[x].appendText(text, r.tab)
		}
		if len(text) > 0 {
			runs = append(runs, Run{string(text), r.tab.styles[id]})
		}
	}
	return runs
}

// SGR returns the style as SGR parameters sorted by number: "" for the
// default, else such as "1;38;5;6". Colours are always 38;5;N or 38;2;R;G;B
// (48, 58 likewise), underline styles 4, 4:2 ... 4:5.
func (s Style) SGR() string {
	if s == (Style{}) {
		return ""
	}
	return string(s.appendSGR(nil))
}

func (s Style) appendSGR(b []byte) []byte {
	sep := func() {
		if len(b) > 0 {
			b = append(b, ';')
		}
	}
	for _, a := range [...]struct {
		attr Attr
		n    int64
	}{{Bold, 1}, {Faint, 2}, {Italic, 3}, {Underline, 4}, {Blink, 5}, {Reverse, 7}, {Hidden, 8}, {Strike, 9}} {
		if !s.Has(a.attr) {
			continue
		}
		sep()
		b = strconv.AppendInt(b, a.n, 10)
		if a.attr == Underline && s.UlStyle > 1 {
			b = append(b, ':', '0'+s.UlStyle)
		}
	}
	color := func(n int64, c Color) {
		if c == 0 {
			return
		}
		sep()
		b = strconv.AppendInt(b, n, 10)
		if i, ok := c.Index(); ok {
			b = append(b, ";5;"...)
			b = strconv.AppendInt(b, int64(i), 10)
			return
		}
		r, g, bl, _ := c.RGB()
		for _, v := range [...]uint8{2, r, g, bl} {
			b = append(b, ';')
			b = strconv.AppendInt(b, int64(v), 10)
		}
	}
	color(38, s.Fg)
	color(48, s.Bg)
	if s.Has(Overline) {
		sep()
		b = append(b, "53"...)
	}
	color(58, s.Ul)
	return b
}
