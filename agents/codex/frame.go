package codex

import (
	"strings"

	"akk/agents"
	"akk/vtparse"
)

// This file is what a reader holds while it looks at one screen. Rule: rows
// are asked by cell; text is made only of the few rows that decide.

// frame is one reading in progress.
type frame struct {
	in   agents.Input
	s    agents.Screen
	p    *Profile
	last int // lowest row with text, -1 on a blank screen
	sig  signals
	r    agents.Reading
}

func (f *frame) why(layer, rule string, rows ...int) {
	f.r.Why = append(f.r.Why, agents.Reason{Layer: layer, Rule: rule, Rows: rows})
}

// has tells which of the words begins at cell x of the row, "" if none.
func has(r *vtparse.Row, x int, words []string) string {
	for _, w := range words {
		if agents.RowHas(r, x, w) {
			return w
		}
	}
	return ""
}

// blank tells whether row y shows no text, sparkles not counted.
func (f *frame) blank(y int) bool {
	r := f.s.Row(y)
	for x, n := 0, r.Len(); x < n; x++ {
		if c := r.Rune(x); c != ' ' && c != 0 && c != '\u00a0' && !sparkle(r, x) {
			return false
		}
	}
	return true
}

// sparkle tells whether cell x is decoration: one braille dot in a direct
// colour on a painted background, neither bold nor faint (facts: composer of
// the astra models).
func sparkle(r *vtparse.Row, x int) bool {
	switch r.Rune(x) {
	case 0x2801, 0x2802, 0x2804, 0x2808, 0x2810, 0x2820, 0x2840, 0x2880:
	default:
		return false
	}
	st := r.Style(x)
	if st.Attr != 0 || st.Bg == 0 {
		return false
	}
	_, _, _, direct := st.Fg.RGB()
	return direct
}

// paragraph joins the rows from y down to the last one before a blank row or
// limit (exclusive), from cell x on, with single blanks.
func (f *frame) paragraph(y, limit, x int) string {
	var b strings.Builder
	for ; y < limit && !agents.RowBlank(f.s.Row(y)); y++ {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(strings.TrimSpace(agents.RowText(f.s.Row(y), x)))
	}
	return b.String()
}

func containsAll(s string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(s, w) {
			return false
		}
	}
	return true
}

func prefixOf(s string, words []string) string {
	for _, w := range words {
		if strings.HasPrefix(s, w) {
			return w
		}
	}
	return ""
}
