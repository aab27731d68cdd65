package claude

import (
	"strings"

	"akk/agents"
)

// This file reads permission prompts (Bash, edit, write, read, fetch, MCP tool,
// plan). Rule: a command is given only if the rows can't have been broken by
// the agent; else it comes from the transcript or not at all.

// approval reads the panel as a permission prompt; ok is false if the cursor is
// not on one of its options.
func (v *view) approval(p panel, kind string, why *reasons) (d *agents.Dialog, owner agents.Owner, ok bool) {
	sel := v.selectedRow(p)
	if sel < 0 || sel != v.cy || !v.parked(p, kind) {
		return nil, "", false
	}
	list := v.list(p.top+1, p.bottom)
	if len(list) == 0 {
		return nil, "", false
	}
	v.join(list, p.bottom, func(o *option, y int) bool {
		x := v.indent(y)
		return x == o.column && !containsAny(v.line(y), v.w.Approval.Hints)
	})
	for i := range list {
		list[i].Label, list[i].Checked = chosen(list[i].Label)
	}
	i := indexOf(list, sel)
	if i < 0 {
		return nil, "", false
	}
	d = &agents.Dialog{Kind: kind, Options: plainOptions(list), Selected: &i, Clipped: p.clipped || list[0].number != 1,
		Top: max(p.top, 0), Bottom: p.bottom}
	ask := v.prompt(p, list[0].row)
	if ask >= 0 {
		d.Prompt = v.trimmed(ask)
	} else {
		ask = list[0].row
	}
	if v.cutMark(p) {
		d.Clipped = true
	}
	if kind == "" {
		d.Kind = v.guessKind(p, d, ask)
	}
	v.details(p, d, ask)
	owner = agents.OwnerApproval
	if v.cx > v.marked(sel) {
		owner = agents.OwnerEditor
		why.add("cursor", "in the text field of an option", sel)
	} else {
		why.add("cursor", "on an option of a permission prompt", sel)
	}
	return d, owner, true
}

// optionMark is the column of a prompt's mark; the fullscreen renderer frames a
// plan and moves it in. What the model writes is indented further.
const optionMark, planMark = 1, 3

// amendBelow is how many rows a prompt has below an option's text field.
const amendBelow = 2

// parked tells whether the cursor stands as in a finished prompt: on the mark,
// or in an option's text field with the prompt's end below it. While a frame is
// drawn the cursor runs through the rows and the end is not there yet.
func (v *view) parked(p panel, kind string) bool {
	m := v.marked(v.cy)
	if m != optionMark && !(m == planMark && (kind == "plan" || kind == "") && v.s.Alternate) {
		return false
	}
	return v.cx == m || v.cx > m+1 && p.bottom-v.cy >= amendBelow
}

// prompt is the row of the question above the options, -1 if it is not shown.
func (v *view) prompt(p panel, first int) int {
	for y := first - 1; y > p.top && y >= first-3; y-- {
		if v.blank(y) || v.inset(y) {
			continue
		}
		if containsAny(v.line(y), v.w.Approval.Questions) {
			return y
		}
		// a long question may need a second row
		if y-1 > p.top && !v.blank(y-1) && containsAny(v.line(y-1), v.w.Approval.Questions) {
			return y - 1
		}
		return -1
	}
	return -1
}

// cutMark tells whether the panel itself says that rows are missing.
func (v *view) cutMark(p panel) bool {
	for y := p.bottom; y > p.top && y > p.bottom-4; y-- {
		t := v.trimmed(y)
		if strings.HasPrefix(t, "↑ ") && containsAny(t, v.w.Approval.MoreRows) {
			return true
		}
	}
	return false
}

// guessKind names a prompt whose title is off the screen.
func (v *view) guessKind(p panel, d *agents.Dialog, ask int) string {
	for _, k := range v.w.Kinds {
		if k.Prompt != "" && strings.Contains(d.Prompt, k.Prompt) {
			return k.Kind
		}
	}
	for _, k := range v.w.Kinds {
		for y := p.top + 1; k.Row != "" && y < ask; y++ {
			if strings.Contains(v.line(y), k.Row) {
				return k.Kind
			}
		}
		for _, o := range d.Options {
			if k.Option != "" && strings.Contains(o.Label, k.Option) {
				return k.Kind
			}
		}
	}
	return kindUnknown
}

// kindUnknown is the kind of a prompt that the profile has no name for.
const kindUnknown = "unknown"

// details fills in what the prompt is about.
func (v *view) details(p panel, d *agents.Dialog, ask int) {
	if p.title < 0 {
		return
	}
	switch d.Kind {
	case "exec":
		if !d.Clipped {
			d.Command, d.Reason = v.command(p, ask)
		}
	case "edit", "write", "read":
		if y := v.nextText(p.title+1, ask-1); y > 0 {
			d.Path = v.trimmed(y)
		}
	case "fetch":
		for y := p.title + 1; y < ask; y++ {
			if u, ok := strings.CutPrefix(v.trimmed(y), "url:"); ok {
				d.URL = strings.TrimSpace(u)
			}
		}
	case "mcp":
		if y := v.nextText(p.title+1, ask-1); y > 0 {
			d.Server, d.Tool, _ = strings.Cut(v.trimmed(y), " — ")
			d.Tool = strings.TrimSuffix(strings.TrimSuffix(d.Tool, " (MCP)"), ":")
			d.Arguments = v.arguments(y+1, ask)
		}
	}
}

// arguments are the rows of a tool's arguments, from row y on up to the tool's
// own description or the question.
func (v *view) arguments(y, ask int) string {
	var rows []string
	for ; y < ask; y++ {
		t := v.trimmed(y)
		if strings.HasPrefix(t, v.w.Approval.About) {
			break
		}
		if t != "" && !v.inset(y) {
			rows = append(rows, t)
		}
	}
	return strings.Join(rows, "\n")
}

// command reads what a Bash prompt wants to run. "" if it can't be told from
// its description, or if a row may have been broken by the agent.
func (v *view) command(p panel, ask int) (command, note string) {
	first, last, indent := v.commandRows(p, ask)
	if first < 0 {
		return "", ""
	}
	var rows []string
	for y := first; y <= last; y++ {
		x, text := indent, ""
		if v.at(x, y) == '│' {
			x += 2
		} else if first != last && v.at(indent, first) == '│' {
			break // the description below a command with a bar
		}
		text = v.from(x, y)
		if y > first && v.broken(y-1, x, text) {
			return "", ""
		}
		rows = append(rows, text)
	}
	if y := v.nextText(last+1, ask-1); y > 0 {
		note = v.trimmed(y)
	}
	return strings.Join(rows, "\n"), note
}

// broken tells whether the first word of the text may have been moved to this
// row because the row above it had no room for it. x is where both begin.
func (v *view) broken(above, x int, text string) bool {
	word, _, _ := strings.Cut(text, " ")
	return v.filled(above)+1+len([]rune(word)) > v.cols-rightMargin || v.filled(above) >= v.cols-x-rightMargin
}

// rightMargin is how many columns a prompt leaves free at the right, at most.
const rightMargin = 4

// commandRows finds the command's rows: between two dotted lines (2.1.332), or
// in the first block of indented rows that follows a blank row; there the
// description is in another colour.
func (v *view) commandRows(p panel, ask int) (first, last, indent int) {
	lo, hi := -1, -1
	for y := p.title + 1; y < ask; y++ {
		if v.at(0, y) == '╌' || v.at(v.indentOr0(y), y) == '╌' {
			if lo < 0 {
				lo = y
			} else if hi < 0 {
				hi = y
			}
		}
	}
	if hi > lo+1 && lo >= 0 {
		return lo + 1, hi - 1, v.indentOr0(lo + 1)
	}
	y := p.title + 1
	for y < ask && !v.blank(y) {
		y++
	}
	for y < ask && v.blank(y) {
		y++
	}
	if y >= ask {
		return -1, -1, 0
	}
	first, indent = y, v.indent(y)
	for last = y; last+1 < ask && !v.blank(last+1); last++ {
	}
	if v.at(indent, first) == '│' {
		return first, last, indent
	}
	head := v.style(indent, first).Fg
	for y := first + 1; y <= last; y++ {
		if v.style(v.indent(y), y).Fg != head {
			return first, y - 1, indent
		}
	}
	if last > first {
		// No colours: the description can't be told from the command. One row
		// of each is what 2.1.251 and later draw for a command of one line.
		if last == first+1 && v.style(0, p.top).Fg == 0 && v.filled(first) < v.cols-rightMargin-24 {
			return first, first, indent
		}
		return -1, -1, 0
	}
	return first, last, indent
}

func (v *view) indentOr0(y int) int { return max(v.indent(y), 0) }
