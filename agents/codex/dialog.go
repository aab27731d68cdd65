package codex

import (
	"strconv"
	"strings"

	"akk/agents"
)

// This file reads a dialog between its heading and its footer. Rule: a part
// that is not whole on the screen is left out and the dialog says clipped.

// dialog reads the panel's dialog; head is -1 if its heading is not on the
// screen.
func (f *frame) dialog(p *Panel, head, foot int) *agents.Dialog {
	d := &agents.Dialog{Kind: p.Kind, Mode: p.Mode, Async: p.Async, Top: max(head, 0), Bottom: f.last}
	bottom := foot - 1
	if f.s.Cursor.Visible {
		bottom = f.overField(head, bottom)
		d.Entry = f.entry()
	}
	l := f.options(bottom, head)
	d.Options, d.Selected = l.options, l.selected
	for i := range d.Options {
		if p.Keyed {
			keyed(&d.Options[i])
		} else {
			d.Options[i].Key = strconv.Itoa(i + 1)
		}
	}
	body := l.top
	if !l.whole {
		body = bottom + 1
	}
	switch p.Kind {
	case "exec", "patch", "permissions", "approval", "verification":
		f.approval(d, p, head, body, l.whole)
	case "question":
		if p.Async {
			f.async(d, head, body, l.whole)
		} else {
			f.question(d, head, body)
		}
	case "confirm":
		d.Prompt = strings.TrimSpace(agents.RowText(f.s.Row(head), 2))
	case "mcp":
		f.field(d, head, body, l)
	case "elicitation":
		f.link(d, head, body)
	}
	if d.Kind == "approval" && len(d.Options) > 0 && strings.HasPrefix(d.Options[0].Label, "Verify") {
		d.Kind, d.Options, d.Selected = "verification", nil, nil
	}
	if head < 0 && d.Kind != "verification" {
		d.Clipped = true
	}
	d.Fingerprint = agents.Fingerprint(f.s, d.Top, d.Bottom, f.steady)
	return d
}

// overField goes up from a text field with the cursor to the row over it.
func (f *frame) overField(head, bottom int) int {
	y := f.s.Cursor.Y
	if n, _, _, _ := optionAt(f.s.Row(y)); n > 0 {
		return bottom // the text is typed into the option's own row
	}
	for ; y > head; y-- {
		if agents.RowBlank(f.s.Row(y)) {
			return y - 1
		}
		if n, _, _, _ := optionAt(f.s.Row(y)); n > 0 {
			return bottom
		}
	}
	return bottom
}

// approval reads reason, command or files.
func (f *frame) approval(d *agents.Dialog, p *Panel, head, body int, whole bool) {
	if head >= 0 {
		d.Prompt = f.paragraph(head, body, 2)
	}
	if !whole {
		d.Clipped = true
	}
	from := -1
	for y := head + 1; y < body && head >= 0; y++ {
		r := f.s.Row(y)
		switch {
		case agents.RowHas(r, 2, "Reason: ") && d.Command == "" && d.Reason == "":
			d.Reason = strings.TrimPrefix(f.paragraph(y, body, 2), "Reason: ")
		case agents.RowHas(r, 2, "Destination: ") && d.Path == "":
			d.Path = agents.RowText(r, 2+len("Destination: "))
		case agents.RowHas(r, 2, "[… ") && agents.RowFind(r, 4, " lines]") > 0:
			d.Clipped, d.Command = true, f.cutCommand(from, y)
			return
		case agents.RowHas(r, 2, "$ ") && d.Command == "" && p.Kind == "exec":
			d.Command, from = f.command(y, body), y
		}
	}
	if p.Kind == "exec" && d.Command == "" {
		d.Clipped = true
	}
	if d.Clipped {
		d.Command = ""
	}
}

// command joins the rows of a command; Codex wraps it itself, so a break may
// be one of the command or of the drawing. The log's text is taken where it is
// the same but for white space.
func (f *frame) command(y, body int) string {
	end := body - 1
	for end > y && agents.RowBlank(f.s.Row(end)) {
		end--
	}
	var b strings.Builder
	b.WriteString(agents.RowText(f.s.Row(y), 4))
	for y++; y <= end; y++ {
		b.WriteByte('\n')
		b.WriteString(agents.RowText(f.s.Row(y), 2))
	}
	shown := b.String()
	if l := f.in.Log; l != nil && l.Pending != nil && squeeze(l.Pending.Detail) == squeeze(shown) {
		return l.Pending.Detail
	}
	return shown
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), "") }

// question reads step and text of a question that stops the turn.
func (f *frame) question(d *agents.Dialog, head, body int) {
	f.step(d, head)
	if d.Step != nil && d.Step.Total > 1 {
		d.Kind = "multi_question"
	}
	d.Prompt = f.paragraph(head+1, body, 2)
	if len(d.Options) == 0 {
		d.Kind = "free_text"
	}
}

// async reads the panel of a question that does not stop the turn.
func (f *frame) async(d *agents.Dialog, head, body int, whole bool) {
	y := head + 1
	for y < body && agents.RowBlank(f.s.Row(y)) {
		y++
	}
	if i, n, ok := step(agents.RowText(f.s.Row(y), 2)); ok && agents.RowText(f.s.Row(y), 2) == strconv.Itoa(i)+" of "+strconv.Itoa(n) {
		d.Step = &agents.DialogStep{Index: i, Total: n}
		d.Kind = "multi_question"
		y++
	}
	d.Prompt = f.paragraph(y, body, 2)
	if !whole {
		d.Kind = "free_text"
	}
	d.Top = head
}

func (f *frame) step(d *agents.Dialog, head int) {
	if i, n, ok := step(agents.RowText(f.s.Row(head), 2)); ok {
		d.Step = &agents.DialogStep{Index: i, Total: n}
	}
}

// field reads a prompt of an MCP server: a tool's permission, a form's field
// or a message with Allow, Deny, Cancel.
func (f *frame) field(d *agents.Dialog, head, body int, l list) {
	f.step(d, head)
	d.Prompt = f.paragraph(head+1, body, 2)
	if server, tool, ok := permission(d.Prompt); ok {
		d.Kind, d.Server, d.Tool = "mcp", server, tool
		d.Arguments = f.arguments(head, body)
		for y := head + 1; y < body; y++ {
			if strings.HasSuffix(agents.RowText(f.s.Row(y), 2), "...") {
				d.Clipped = true
			}
		}
		return
	}
	d.Kind, d.Mode = "elicitation", "form"
	labels := make([]string, 0, 3)
	for _, o := range l.options {
		labels = append(labels, o.Label)
	}
	if strings.Join(labels, " ") != "Allow Deny Cancel" {
		f.formField(d, head, body)
	} else {
		d.Mode = "message"
		if n := len(l.options); n > 0 && body > head+1 {
			d.Prompt = f.paragraph(head+1, body, 2)
		}
	}
}

// permission reads `Allow the NAME MCP server to run tool "TOOL"?`.
func permission(prompt string) (server, tool string, ok bool) {
	rest, ok := strings.CutPrefix(prompt, "Allow the ")
	if !ok {
		return "", "", false
	}
	server, rest, ok = strings.Cut(rest, " MCP server to run tool \"")
	if !ok {
		return "", "", false
	}
	tool, _, ok = strings.Cut(rest, "\"")
	return server, tool, ok
}

// link reads an elicitation that sends the human to an address.
func (f *frame) link(d *agents.Dialog, head, body int) {
	for y := head + 1; y < body; y++ {
		r := f.s.Row(y)
		if name, ok := strings.CutPrefix(agents.RowText(r, 2), "Server: "); ok && d.Server == "" {
			d.Server = name
			for y++; y < body && agents.RowBlank(f.s.Row(y)); y++ {
			}
			d.Prompt = f.paragraph(y, body, 2)
			continue
		}
		if agents.RowIs(r, 2, "URL") && d.URL == "" {
			d.URL = squeeze(f.paragraph(y+1, body, 2))
			return
		}
	}
}
