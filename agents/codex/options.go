package codex

import (
	"strings"

	"akk/agents"
	"akk/vtparse"
)

// This file reads a numbered list from the bottom up. Rule: the numbers must
// count down without a hole to 1, all in one column; else the list is not
// whole and no option is told.

// list is a numbered list on the screen.
type list struct {
	options  []agents.DialogOption
	selected *int
	top      int // row of option 1
	whole    bool
}

// optionAt reads "› 12. text" at column 0 or 2: its number, where the text
// begins, the column and whether it is marked; number 0 if it is none.
func optionAt(r *vtparse.Row) (num, text, column int, marked bool) {
	for _, column := range [...]int{0, 2} {
		if column == 2 && (r.Rune(0) != ' ' || r.Rune(1) != ' ') {
			continue
		}
		c := r.Rune(column)
		marked := c == '›' || c == '>'
		if !marked && c != ' ' || r.Rune(column+1) != ' ' {
			continue
		}
		x, n := column+2, 0
		for ; x < column+5 && r.Rune(x) >= '0' && r.Rune(x) <= '9'; x++ {
			n = n*10 + int(r.Rune(x)-'0')
		}
		if n == 0 || r.Rune(x) != '.' || r.Rune(x+1) != ' ' {
			continue
		}
		return n, x + 2, column, marked
	}
	return 0, 0, 0, false
}

// options reads the list whose last row is at or over bottom, not over limit.
func (f *frame) options(bottom, limit int) list {
	y := bottom
	for y > limit && agents.RowBlank(f.s.Row(y)) {
		y--
	}
	l := list{top: y + 1}
	type item struct {
		row, text, end int
		marked         bool
	}
	var items []item // last option first
	column, end := -1, y
	for ; y > limit; y-- {
		r := f.s.Row(y)
		if agents.RowBlank(r) {
			break
		}
		num, text, col, marked := optionAt(r)
		if num == 0 || column >= 0 && col != column {
			if agents.RowStart(r) < 4 {
				break
			}
			continue // a wrapped row of the option over it
		}
		if len(items) > 0 && num != f.numberOf(items[len(items)-1].row)-1 {
			break
		}
		column = col
		items = append(items, item{y, text, end, marked})
		end = y - 1
		l.top = y
		if num == 1 {
			l.whole = true
			break
		}
	}
	for i := len(items) - 1; i >= 0; i-- {
		it := items[i]
		if it.marked {
			n := len(l.options)
			l.selected = &n
		}
		l.options = append(l.options, f.option(it.row, it.end, it.text))
	}
	if !l.whole {
		l.options, l.selected = nil, nil
	}
	return l
}

func (f *frame) numberOf(y int) int {
	n, _, _, _ := optionAt(f.s.Row(y))
	return n
}

// option reads label and description of the option in the rows from..to. Two
// blanks part them; wrapped rows go on in their own column.
func (f *frame) option(from, to, x int) agents.DialogOption {
	r := f.s.Row(from)
	end := agents.RowEnd(r)
	cut := agents.RowFind(r, x, "  ")
	if cut < 0 || cut > end {
		cut = end
	}
	var o agents.DialogOption
	o.Label = agents.RowSpan(r, x, cut)
	column := -1
	for d := cut; d < end; d++ {
		if r.Rune(d) != ' ' {
			column = d
			o.Description = agents.RowText(r, d)
			break
		}
	}
	for y := from + 1; y <= to; y++ {
		r := f.s.Row(y)
		text := strings.TrimSpace(agents.RowText(r, 0))
		if column >= 0 && agents.RowStart(r) >= column {
			o.Description += " " + text
		} else {
			o.Label += " " + text
		}
	}
	return o
}

// keyed takes the key "(y)" off the label's end.
func keyed(o *agents.DialogOption) {
	i := strings.LastIndex(o.Label, " (")
	if i < 0 || !strings.HasSuffix(o.Label, ")") {
		return
	}
	key := o.Label[i+2 : len(o.Label)-1]
	if key == "" || len(key) > len("ctrl+x") || strings.ContainsAny(key, " ") {
		return
	}
	o.Label, o.Key = strings.TrimSpace(o.Label[:i]), key
}
