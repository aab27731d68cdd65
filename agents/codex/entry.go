package codex

import (
	"strings"

	"akk/agents"
	"akk/vtparse"
)

// This file reads text fields of dialogs. Rule: a field is empty only if what
// stands in it is faint and the cursor is in front of it; a text is told only
// if it is one row that the cursor stands behind.

// entry is the text in the field that has the cursor, nil if it can't be told.
func (f *frame) entry() *string {
	c := f.s.Cursor
	r := f.s.Row(c.Y)
	x := 2
	if n, text, _, _ := optionAt(r); n > 0 {
		x = text
	} else if r.Rune(2) == '›' && r.Rune(3) == ' ' {
		x = 4
	}
	if c.X < x || !agents.RowBlank(f.s.Row(c.Y+1)) {
		return nil
	}
	end := agents.RowEnd(r)
	var text string
	switch {
	case end <= x && c.X == x:
	case c.X == x && agents.RowEveryHas(r, x, end, vtparse.Faint):
	case c.X == end && agents.RowEvery(r, x, end, func(s vtparse.Style) bool { return !s.Has(vtparse.Faint) }):
		text = agents.RowText(r, x)
	default:
		return nil
	}
	return &text
}

// formField reads the field of a form: its title and description stand between
// the server's message and what can be chosen or typed.
func (f *frame) formField(d *agents.Dialog, head, body int) {
	y := head + 1
	for y < body && !agents.RowBlank(f.s.Row(y)) { // the message
		y++
	}
	for y < body && agents.RowBlank(f.s.Row(y)) {
		y++
	}
	if y >= body {
		return
	}
	field := agents.DialogField{
		Label: strings.TrimSpace(agents.RowText(f.s.Row(y), 2)), Description: f.paragraph(y+1, body, 2), Focused: true, Type: "choice",
	}
	if f.s.Cursor.Visible {
		field.Type = "text"
		if d.Entry != nil {
			field.Value = *d.Entry
		}
	}
	d.Fields = []agents.DialogField{field}
}

// arguments are the rows of a tool's arguments, below the question.
func (f *frame) arguments(head, body int) string {
	y := head + 1
	for y < body && !agents.RowBlank(f.s.Row(y)) {
		y++
	}
	var b strings.Builder
	for ; y < body; y++ {
		if r := f.s.Row(y); !agents.RowBlank(r) {
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(agents.RowText(r, 2))
		}
	}
	return b.String()
}

// steady makes equal what changes by itself in a dialog: a blinking bullet and
// sparkles.
func (f *frame) steady(x, y int, c rune) rune {
	switch {
	case c == '◦':
		return '•'
	case sparkle(f.s.Row(y), x):
		return 0
	}
	return c
}
