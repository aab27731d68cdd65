package codex

import (
	"strings"

	"akk/agents"
	"akk/vtparse"
)

// This file reads the rows between the history and the composer: the status
// row of a running turn, queued messages, a collapsed question, an error.
// Rule: these rows only ever add doubt or detail; an answer that imitates them
// can't make a turn end.

// rowsAbove is how many rows over the composer, blank ones aside, such rows are
// looked for: 0.171.0 pins the composer to the bottom, far below a short history.
const rowsAbove = 14

// statusRows looks at the rows over the composer that begins at top.
func (f *frame) statusRows(top int) {
	for y, left := top-1, rowsAbove; y >= 0 && left > 0; y-- {
		r := f.s.Row(y)
		if agents.RowBlank(r) {
			continue
		}
		left--
		switch c := r.Rune(0); {
		case c == '•' || c == '◦':
			f.bulletRow(y, r)
		case agents.RowHas(r, 0, f.p.Composer.ErrorMark):
			if agents.RowFind(r, 0, f.p.Composer.Limit) >= 0 {
				f.r.LimitedUntil = f.limitText(y, top)
			}
		case agents.RowHas(r, 2, f.p.Composer.AsyncOne):
			f.asyncRow(y, r)
		case c == '│':
			// The header of a fresh session tells when the model is known.
			if x := agents.RowFind(r, 2, f.p.Composer.LoadingModel); x >= 0 && r.Style(x).Has(vtparse.Italic) {
				f.r.Activity = agents.Starting
				f.why("frame", "header: the session is not ready", y)
			}
		case c == '›' || c == '»':
			return // the last message: what is over it belongs to older turns
		}
	}
}

func (f *frame) bulletRow(y int, r *vtparse.Row) {
	if at := agents.RowFind(r, 2, f.p.Composer.Interrupt); at >= 0 && f.sig.row == says {
		// The status row's clock is faint; an answer's text is not.
		if r.Style(at).Has(vtparse.Faint) {
			f.sig.row, f.sig.rowAt = saysWork, y
			if agents.RowFind(r, at, f.p.Composer.Background) >= 0 {
				f.r.Background = true
			}
		}
		return
	}
	if has(r, 2, f.p.Composer.Queued) != "" {
		f.flag("queued")
	}
}

// asyncRow recognises a question that waits in the queue: "? 1 question" over
// "... to answer".
func (f *frame) asyncRow(y int, r *vtparse.Row) {
	if f.r.Dialog != nil || agents.RowFind(r, 4, f.p.Composer.AsyncNoun) < 0 {
		return
	}
	if agents.RowFind(f.s.Row(y+1), 4, f.p.Composer.AsyncAnswer) < 0 || !r.Style(2).Has(vtparse.Faint) {
		return
	}
	kind := "question"
	if !agents.RowHas(r, 4, "1 ") {
		kind = "multi_question"
	}
	f.r.Dialog = &agents.Dialog{Kind: kind, Hidden: true, Async: true, Top: y, Bottom: y + 1}
	f.why("frame", "a question that does not stop the turn is open", y)
}

// limitText is the error's own words, wrapped rows joined.
func (f *frame) limitText(y, top int) string {
	return strings.TrimSpace(strings.TrimPrefix(f.paragraph(y, top, 0), f.p.Composer.ErrorMark))
}
