package claude

import (
	"strings"

	"akk/agents"
)

// This file reads the rows that can be chosen. Rule: a label is given without
// its number, box and chosen-mark; a row that goes on in the next one is joined
// by a blank, because that is where the agent breaks it.

// option is one row that can be chosen, with its place.
type option struct {
	agents.DialogOption
	row    int
	column int // where the label begins
	number int // 0 if it has none

}

// numbered reads "❯ 2. Label" or "  2. Label" at row y; ok is false if the row
// is not like that.
func (v *view) numbered(y int) (o option, ok bool) {
	x := v.indent(y)
	if x < 0 {
		return o, false
	}
	if v.at(x, y) == '❯' && v.at(x+1, y) == ' ' {
		x += 2
	}
	n, d := 0, x
	for ; d < x+2 && v.at(d, y) >= '0' && v.at(d, y) <= '9'; d++ {
		n = n*10 + int(v.at(d, y)-'0')
	}
	if d == x || n == 0 || v.at(d, y) != '.' || v.at(d+1, y) != ' ' {
		return o, false
	}
	o.row, o.number, o.column = y, n, d+2
	o.Key = string(rune('0' + n))
	if n > 9 {
		o.Key = ""
	}
	o.Label = v.from(o.column, y)
	return o, true
}

// list reads the numbered rows from the row first on, up to last. Numbers must
// go up by one from 1 (or, if the head of the list is off the screen, from any);
// the lowest such list counts, since a prompt is at the end of a panel.
func (v *view) list(first, last int) []option {
	var out []option
	for y := last; y >= first; y-- {
		o, ok := v.numbered(y)
		if !ok {
			continue
		}
		if len(out) > 0 && (o.number != out[0].number-1 || o.indentGap(out[0])) {
			break
		}
		out = append([]option{o}, out...)
		if o.number == 1 {
			break
		}
	}
	return out
}

// indentGap tells whether two options can't be of one list.
func (o option) indentGap(b option) bool {
	d := o.column - b.column
	return d < -1 || d > 1
}

// join adds the rows that belong to each option: those that begin at the
// label's column continue it (asLabel) or describe it.
func (v *view) join(list []option, last int, asLabel func(o *option, y int) bool) {
	for i := range list {
		o := &list[i]
		end := last
		if i+1 < len(list) {
			end = list[i+1].row - 1
		}
		for y := o.row + 1; y <= end; y++ {
			x := v.indent(y)
			if x < 0 || v.inset(y) {
				break
			}
			if asLabel(o, y) {
				o.Label += " " + v.from(x, y)
				continue
			}
			if x < 2 {
				break
			}
			if o.Description != "" {
				o.Description += " "
			}
			o.Description += v.trimmed(y)
		}
	}
}

// chosen cuts the mark of a chosen row and a box; it tells whether it was set.
func chosen(label string) (string, bool) {
	if rest, ok := strings.CutPrefix(label, "[ ] "); ok {
		return rest, false
	}
	if rest, ok := strings.CutPrefix(label, "[✔] "); ok {
		return rest, true
	}
	if label == "[ ]" || label == "[✔]" {
		return "", label == "[✔]"
	}
	if rest, ok := strings.CutSuffix(label, " ✔"); ok {
		return strings.TrimRight(rest, " "), true
	}
	return label, false
}

func plainOptions(list []option) []agents.DialogOption {
	out := make([]agents.DialogOption, len(list))
	for i := range list {
		out[i] = list[i].DialogOption
	}
	return out
}

// indexOf is the option whose rows hold row y, -1 if none does.
func indexOf(list []option, y int) int {
	for i := range list {
		if list[i].row == y {
			return i
		}
	}
	return -1
}
