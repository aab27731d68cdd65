package claude

import (
	"strings"

	"akk/agents"
)

// This file reads what an MCP server asks a human for. Rule: in a form the mark
// is on the focused field, the cursor is in it only if it takes text.

// elicitation reads the panel as an MCP server's form or link.
func (v *view) elicitation(p panel, why *reasons) (d *agents.Dialog, owner agents.Owner, ok bool) {
	d = &agents.Dialog{Kind: "elicitation", Mode: "form", Top: max(p.top, 0), Bottom: p.bottom, Clipped: p.clipped}
	first := p.top + 1
	if p.title >= 0 {
		d.Server = between(v.line(p.title), "“", "”")
		if p.spec != nil && p.spec.Mode != "" {
			d.Mode = p.spec.Mode
		}
		first = p.title + 1
	}
	buttons := -1
	for y := p.bottom; y > p.top; y-- {
		if containsAll(v.line(y), v.w.Elicit.Buttons) {
			buttons = y
			break
		}
	}
	if buttons < 0 {
		return nil, "", false
	}
	if y := v.nextText(first, buttons-1); y >= 0 {
		d.Prompt = v.trimmed(y)
		for y++; y < buttons && !v.blank(y) && d.Mode == "form"; y++ {
			d.Prompt += " " + v.trimmed(y)
		}
		if d.Mode == "url" {
			if y = v.nextText(y, buttons-1); y >= 0 {
				d.URL = v.trimmed(y)
			}
		}
	}
	for y := first; y < buttons; y++ {
		if containsAny(v.line(y), v.w.Elicit.More) {
			d.Clipped = true
		}
	}
	sel := -1
	open := v.openField(first, buttons)
	if open >= 0 {
		for y := open + 1; y < buttons; y++ {
			t, m := v.trimmed(y), v.marked(y)
			t = strings.TrimPrefix(t, "❯ ")
			r := []rune(t)
			if len(r) < 3 || !strings.ContainsRune(v.w.Elicit.Radio, r[0]) {
				break
			}
			if m >= 0 {
				sel = len(d.Options)
			}
			d.Options = append(d.Options, agents.DialogOption{Label: strings.TrimSpace(string(r[1:])), Checked: r[0] != '◯'})
		}
	}
	if d.Mode == "form" {
		d.Fields = v.fields(first, buttons)
	}
	if len(d.Options) == 0 {
		line := v.line(buttons)
		for i, b := range v.w.Elicit.Buttons {
			d.Options = append(d.Options, agents.DialogOption{Label: b})
			if strings.Contains(line, "❯ "+b) {
				sel = i
			}
		}
	}
	if sel >= 0 {
		d.Selected = &sel
	}
	owner = agents.OwnerQuestionnaire
	switch {
	case v.cx == 0 && (v.cy > p.bottom || v.cy == v.rows-1 || v.cy == v.last):
		why.add("cursor", "below a form of an MCP server", v.cy)
	case v.cy > p.top && v.cy < buttons && v.marked(v.cy) >= 0 && v.cx > v.marked(v.cy)+2:
		owner = agents.OwnerEditor
		why.add("cursor", "in a field of a form", v.cy)
	case v.cy == buttons && v.marked(v.cy) >= 0:
		why.add("cursor", "on a form's button", v.cy)
	default:
		return nil, "", false
	}
	return d, owner, true
}

// A form's columns: the state of a field, its label, the words below it.
const (
	fieldState = 4
	fieldLabel = 6
	fieldNote  = 8
)

// fields reads the rows of a form that are on the screen.
func (v *view) fields(first, last int) (out []agents.DialogField) {
	for y := first; y < last; y++ {
		x := v.indent(y)
		m := v.marked(y)
		switch {
		case x == fieldNote && m < 0 && len(out) > 0 && !v.radio(y):
			f := &out[len(out)-1]
			if f.Description == "" {
				f.Description = v.trimmed(y)
			}
			continue
		case m >= 0 && m != fieldState-2, m < 0 && x != fieldState && x != fieldLabel:
			continue
		case v.at(fieldState+1, y) != ' ' || v.at(fieldLabel, y) == ' ':
			continue
		}
		label, value, ok := strings.Cut(v.from(fieldLabel, y)+" ", ": ")
		if !ok {
			continue
		}
		f := agents.DialogField{Label: label, Value: strings.TrimSpace(value), Focused: m >= 0}
		switch {
		case strings.HasPrefix(f.Value, "☐"), strings.HasPrefix(f.Value, "☒"):
			f.Type = "boolean"
		case strings.HasPrefix(f.Value, "▸"), strings.HasPrefix(f.Value, "▾"):
			f.Type = "choice"
		case f.Focused:
			f.Type = "text"
		}
		out = append(out, f)
	}
	return out
}

// radio tells whether the row is a value of an opened choice.
func (v *view) radio(y int) bool {
	return strings.ContainsRune(v.w.Elicit.Radio, v.at(v.indentOr0(y), y))
}

// openField is the row of a choice field whose values are listed, -1 if none is.
func (v *view) openField(first, last int) int {
	for y := first; y < last; y++ {
		if v.marked(y) >= 0 && strings.Contains(v.line(y), ": ▾") {
			return y
		}
	}
	return -1
}

func between(s, a, b string) string {
	_, s, _ = strings.Cut(s, a)
	s, _, _ = strings.Cut(s, b)
	return s
}

func containsAll(s string, list []string) bool {
	for _, w := range list {
		if !strings.Contains(s, w) {
			return false
		}
	}
	return len(list) > 0
}
