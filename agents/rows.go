package agents

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"akk/vtparse"
)

// This file asks rows of cells. Rule: nothing here allocates but what returns
// a string, so a reader can look at every row of every frame.

// RowHas tells whether the text s stands in the row from cell x on. Wide
// characters count two cells. s must be free of combining characters.
func RowHas(r *vtparse.Row, x int, s string) bool {
	if x < 0 {
		return false
	}
	for _, c := range s {
		for r.Width(x) == 0 {
			x++
		}
		if r.Rune(x) != c {
			return false
		}
		x++
	}
	return true
}

// RowIs tells whether the row is s from cell x on and blank behind it.
func RowIs(r *vtparse.Row, x int, s string) bool {
	return RowHas(r, x, s) && RowEnd(r) <= x+utf8.RuneCountInString(s)
}

// RowFind returns the first cell from x on where s stands, -1 if nowhere.
func RowFind(r *vtparse.Row, x int, s string) int {
	if s == "" {
		return x
	}
	first, _ := utf8.DecodeRuneInString(s)
	for n := r.Len(); x < n; x++ {
		if r.Rune(x) == first && RowHas(r, x, s) {
			return x
		}
	}
	return -1
}

// RowStart is the first cell that is no blank; r.Len() if all are.
func RowStart(r *vtparse.Row) int {
	n := r.Len()
	for x := 0; x < n; x++ {
		if !blankAt(r, x) {
			return x
		}
	}
	return n
}

// RowEnd is one behind the last cell that is no blank; 0 if all are.
func RowEnd(r *vtparse.Row) int {
	for x := r.Len(); x > 0; x-- {
		if !blankAt(r, x-1) {
			return x
		}
	}
	return 0
}

// RowBlank tells whether the row shows no text.
func RowBlank(r *vtparse.Row) bool { return RowEnd(r) == 0 }

func blankAt(r *vtparse.Row, x int) bool {
	c := r.Rune(x)
	return c == ' ' || c == '\u00a0'
}

// RowSpan is the text of the cells from x on up to but without end.
func RowSpan(r *vtparse.Row, x, end int) string {
	if end > r.Len() {
		end = r.Len()
	}
	if x >= end {
		return ""
	}
	var room [256]byte
	b := room[:0]
	for ; x < end; x++ {
		b = r.AppendText(b, x)
	}
	return string(b)
}

// RowText is the text of the cells from x on, trailing blanks cut.
func RowText(r *vtparse.Row, x int) string { return RowSpan(r, x, RowEnd(r)) }

// RowEvery tells whether ok holds for all cells from x up to but without end
// that show something.
func RowEvery(r *vtparse.Row, x, end int, ok func(vtparse.Style) bool) bool {
	for ; x < end; x++ {
		if !blankAt(r, x) && r.Width(x) > 0 && !ok(r.Style(x)) {
			return false
		}
	}
	return true
}

// RowEveryHas is RowEvery for "has all of these attributes".
func RowEveryHas(r *vtparse.Row, x, end int, a vtparse.Attr) bool {
	for ; x < end; x++ {
		if !blankAt(r, x) && r.Width(x) > 0 && !r.Style(x).Has(a) {
			return false
		}
	}
	return true
}

// LastRow is the lowest row that shows text, -1 on a blank screen.
func LastRow(s Screen) int {
	for y := s.Rows - 1; y >= 0; y-- {
		if !RowBlank(s.Row(y)) {
			return y
		}
	}
	return -1
}

// JoinRows joins the rows from top to bottom (inclusive) from cell x on. A row
// that wrapped goes on without a break (its blanks at the edge count), others
// end in a newline.
func JoinRows(s Screen, top, bottom, x int) string {
	var b strings.Builder
	for y := top; y <= bottom; y++ {
		r := s.Row(y)
		switch {
		case y == bottom:
			b.WriteString(RowText(r, x))
		case r.Wrapped():
			b.WriteString(RowSpan(r, x, r.Len()))
		default:
			b.WriteString(RowText(r, x))
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// Fingerprint is sha256 in hex over all cells of the rows top..bottom
// (inclusive) with their styles and the screen's width. same, if not nil, is
// asked for each cell and returns the rune that stands for it: so parts that
// blink or count are made equal, 0 leaves the cell (and its style) out.
func Fingerprint(s Screen, top, bottom int, same func(x, y int, c rune) rune) string {
	h := sha256.New()
	buf := make([]byte, 0, 1024)
	buf = binary.AppendUvarint(buf, uint64(s.Cols))
	for y := top; y <= bottom; y++ {
		r := s.Row(y)
		last := vtparse.Style{}
		n := r.Len()
		for n > 0 && r.Rune(n-1) == ' ' && r.Style(n-1) == (vtparse.Style{}) {
			n-- // whether a plain blank at the end was ever written can't be seen
		}
		for x := range n {
			c := r.Rune(x)
			kept := c
			if same != nil {
				if kept = same(x, y, c); kept == 0 && c != 0 {
					continue
				}
			}
			if st := r.Style(x); st != last {
				last = st
				buf = append(buf, 1)
				for _, v := range [...]uint32{uint32(st.Fg), uint32(st.Bg), uint32(st.Ul), uint32(st.Attr), uint32(st.UlStyle)} {
					buf = binary.AppendUvarint(buf, uint64(v))
				}
			}
			if kept == c {
				buf = r.AppendText(buf, x)
			} else {
				buf = utf8.AppendRune(buf, kept)
			}
		}
		buf = append(buf, '\n')
		h.Write(buf)
		buf = buf[:0]
	}
	return hex.EncodeToString(h.Sum(nil))
}
