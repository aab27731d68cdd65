package claude

import (
	"strings"

	"akk/agents"
)

// This file reads questionnaires: single and multiple choice, several
// questions, free text, notes, the review page. Rule: the focused row is the
// one with the mark; the cursor tells whether a text field has the keys.

// question reads the panel as a questionnaire page.
func (v *view) question(p panel, why *reasons) (d *agents.Dialog, owner agents.Owner, ok bool) {
	if v.cy <= p.top {
		return nil, "", false
	}
	d = &agents.Dialog{Kind: "question", Top: max(p.top, 0), Bottom: p.bottom, Clipped: p.clipped}
	heads, submit := v.chips(p.title)
	if submit {
		d.Step = &agents.DialogStep{Index: 0, Total: len(heads) + 1}
		if len(heads) > 1 {
			d.Kind = "multi_question"
		}
	}
	first := v.nextText(p.title+1, p.bottom)
	if first < 0 {
		return nil, "", false
	}
	d.Prompt = v.trimmed(first)
	review := containsAny(d.Prompt, v.w.Question.Review)
	if review {
		d.Kind = "confirm"
	}
	list := v.list(first+1, p.bottom)
	body := p.bottom
	if hint := v.hintRow(p); hint > 0 {
		body = hint - 1
	}
	rule := v.innerRule(first, body)
	if !review {
		list = v.choices(first+1, rule, body, d)
	}
	if len(list) == 0 {
		return nil, "", false
	}
	if !review {
		for y := first + 1; y < list[0].row; y++ {
			if t := v.trimmed(y); t != "" {
				d.Prompt += " " + t
			}
		}
	}
	d.Options = plainOptions(list)
	sel := v.selectedRow(p)
	if sel >= 0 && v.marked(sel) != questionMark {
		return nil, "", false
	}
	notes := v.cx > 0 && v.cy > p.top && v.cy <= p.bottom && containsAny(v.line(v.cy), v.w.Question.Notes)
	for y := v.cy; notes && y > p.top && sel < 0; y-- {
		if v.marked(y) >= 0 {
			sel = y
		}
	}
	if i := indexOf(list, sel); sel >= 0 && i >= 0 {
		d.Selected = &i
	} else if !notes {
		return nil, "", false // the mark is on something else
	}
	if d.Step != nil {
		d.Step.Index = v.step(p.title, review, len(heads))
	}
	owner = agents.OwnerQuestionnaire
	switch {
	case v.cx == 0 && (v.cy == sel || v.cy > p.bottom || v.cy == v.last || v.cy == v.rows-1):
		why.add("cursor", "on a questionnaire", max(sel, 0))
	case v.cx > 0 && v.cy > p.top && v.cy <= p.bottom && (v.cy == sel || notes) && v.hintRow(p) > v.cy:
		owner = agents.OwnerEditor
		why.add("cursor", "in a questionnaire's text field", v.cy)
		if d.Selected != nil && v.cy == sel && d.Options[*d.Selected].Description == "" {
			d.Entry = &d.Options[*d.Selected].Label
		}
	default:
		return nil, "", false
	}
	return d, owner, true
}

// questionMark is the column of a questionnaire's mark.
const questionMark = 0

// choices reads the options of a question: the numbered rows above the inner
// line, a Submit or Next row, and what stands below that line.
func (v *view) choices(first, rule, body int, d *agents.Dialog) []option {
	end := body
	if rule > 0 {
		end = rule - 1
	}
	list := v.list(first, end)
	if len(list) == 0 {
		return nil
	}
	// The button below the last choice.
	for y := list[len(list)-1].row + 1; y <= end; y++ {
		x := v.indent(y)
		if x < 0 {
			continue
		}
		if m := v.marked(y); m >= 0 {
			x = m + 2
		}
		t := strings.TrimSpace(v.from(x, y))
		if isOneOf(t, v.w.Question.Buttons) {
			o := option{row: y, column: x}
			o.Label = t
			end = y - 1
			v.join(list, end, never)
			list = append(list, o)
			break
		}
	}
	if list[len(list)-1].number > 0 {
		v.join(list, end, never)
	}
	for i := range list {
		o := &list[i]
		if x := boxAt(o.Label); x > 0 {
			o.Label = strings.TrimRight(o.Label[:x], " ")
			o.Description = "" // the preview's cells
		}
		if strings.HasPrefix(o.Label, "[") {
			d.MultiSelect = true
		}
		o.Label, o.Checked = chosen(o.Label)
	}
	if rule > 0 {
		for y := rule + 1; y <= body; y++ {
			if v.blank(y) {
				continue
			}
			if o, ok := v.numbered(y); ok {
				list = append(list, o)
				continue
			}
			if t := strings.TrimSpace(strings.TrimPrefix(v.trimmed(y), "❯ ")); isOneOf(t, v.w.Question.Chat) {
				o := option{row: y, column: v.indent(y)}
				o.Label = t
				list = append(list, o)
			}
		}
	}
	return list
}

func never(*option, int) bool { return false }

// boxAt is the byte offset of a preview's frame in a label, -1 if it has none.
func boxAt(label string) int {
	for _, c := range []string{"   ┌", "   │", "   └"} {
		if i := strings.Index(label, c); i > 0 {
			return i
		}
	}
	return -1
}

func isOneOf(s string, list []string) bool {
	for _, w := range list {
		if s == w {
			return true
		}
	}
	return false
}

// hintRow is the row at the panel's end that names the keys, -1 if none does.
func (v *view) hintRow(p panel) int {
	for y := p.bottom; y > p.top && y > p.bottom-4; y-- {
		if containsAny(v.line(y), v.w.Hints) {
			return y
		}
	}
	return -1
}

// innerRule is the line inside a questionnaire, -1 if it has none.
func (v *view) innerRule(first, last int) int {
	for y := last; y > first; y-- {
		if v.inset(y) {
			return y
		}
	}
	return -1
}

// chips reads the head of a questionnaire: its questions, and whether it has a
// page to submit them.
func (v *view) chips(y int) (heads []string, submit bool) {
	if y < 0 {
		return nil, false
	}
	line := strings.Trim(v.line(y), "←→ ")
	for _, part := range strings.FieldsFunc(line, func(r rune) bool { return r == '☐' || r == '☒' || r == '✔' }) {
		if part = strings.TrimSpace(part); part != "" {
			heads = append(heads, part)
		}
	}
	if strings.Contains(line, "✔") && len(heads) > 0 {
		return heads[:len(heads)-1], true
	}
	return heads, false
}

// step is the 1-based number of the page that is shown: the chip with a
// background of its own; 0 if the cells don't tell.
func (v *view) step(y int, review bool, questions int) int {
	if review {
		return questions + 1
	}
	n, index := 0, 0
	inverse := func(x int) bool { s := v.style(x, y); return s.Bg != 0 || s.Attr&reverse != 0 }
	for x, end := 0, v.filled(y); x < end; x++ {
		if c := v.at(x, y); c == '☐' || c == '☒' || c == '✔' {
			n++
			if inverse(x) && index == 0 {
				index = n
			}
		}
	}
	return index
}
