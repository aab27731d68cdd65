package handoff

// This file is the part of the send's pure function that only an explicit send
// uses (R32, R41 to R47): a human's old draft is cleared by the profile's plan,
// step by step, each with its effect seen, and kept to be put back.

import (
	"strings"
	"unicode/utf8"

	"akk/agents"
)

// clearSteps bounds the steps of a clearing: two for each row.
const clearSteps = 2*clearRows + 2

const (
	draftKept    = "; the draft that stood there was cleared and is kept: akk restore puts it back"
	queuedReason = "the agent has it and takes it when its running step ends"
)

// draftLines are the rows of a draft.
func draftLines(draft string) []string { return strings.Split(strings.TrimRight(draft, "\n"), "\n") }

// blind tells whether the Enter of this send may not be vetoed by what the
// composer looks like (R46): an explicit send to a version with a clear plan.
func (d *Dispatch) blind() bool {
	return d.Turn.Scope == scopeExplicit && d.Plan.Clear != (agents.ClearPlan{})
}

// untouched tells whether no key of this send is out yet: the composer is as the
// human left it.
func (d *Dispatch) untouched() bool {
	return (d.Phase == PhaseProof || d.Phase == PhaseReserve) && d.Steps == 0 && !d.Retry
}

// fused tells whether the composer shows our text and more: somebody typed.
func fused(r agents.Reading, text string) bool {
	if r.Composer != agents.ComposerDraft || r.DraftCollapsed {
		return false
	}
	shown, ours := squeeze(r.Draft), squeeze(text)
	return len(shown) > len(ours) && strings.Contains(shown, ours)
}

// clearing presses the next keys of the plan at the draft that is proven now.
func (d Dispatch) clearing(e Event) (Dispatch, []Effect) {
	if d.Steps == 0 {
		d.Kept = e.Facts.Reading.Draft
	}
	keys := d.Plan.Clear.Again
	if d.Steps == 0 {
		keys = d.Plan.Clear.First
	}
	d.Steps++
	d.Step0 = e.Facts.Reading.Draft
	d.Phase = PhaseClear
	return d, []Effect{{Kind: EffClear, Keys: keys}}
}

// clear waits for the server's answer to the keys.
func (d Dispatch) clear(e Event) (Dispatch, []Effect) {
	switch {
	case e.Kind != EvInput:
		return d, nil
	case e.Refused != "" && d.Steps == 1: // nothing was typed, nothing is cleared
		d.Steps, d.Kept = 0, ""
		if e.Refused == "cursor" {
			return d.reprove(e, "the cursor moved before the draft could be cleared")
		}
		return d.refuse(e.Err.Error())
	case e.Err != nil:
		return d.end(PhaseWatch, OutcomeNotAccepted, "the draft could not be cleared: "+e.Err.Error()+draftKept)
	}
	d.Phase = PhaseCleared
	d.Deadline = e.Now.Add(ms(d.Plan.Clear.StepMillis, drawDefault))
	return d, []Effect{d.timer()}
}

// cleared looks for the effect: the empty composer, or a shorter draft.
func (d Dispatch) cleared(e Event) (Dispatch, []Effect) {
	if stop, _, why := d.intruder(e.Facts); stop {
		return d.end(PhaseWatch, OutcomeNotAccepted, why+draftKept)
	}
	r := e.Facts.Reading
	if e.Facts.Frame && r.Owner == agents.OwnerComposer {
		switch was, is := squeeze(d.Step0), squeeze(r.Draft); {
		case r.Composer == agents.ComposerEmpty:
			d.Phase, d.Audited, d.Proofs, d.Deadline = PhaseProof, false, 1, e.Now.Add(proofWindow)
			return d, []Effect{{Kind: EffAudit}, d.timer()}
		case r.Composer != agents.ComposerDraft:
		case !strings.HasPrefix(was, is):
			return d.end(PhaseWatch, OutcomeNotAccepted, "somebody typed while the draft was being cleared"+draftKept)
		case (len(is) < len(was) || len(draftLines(r.Draft)) < len(draftLines(d.Step0))) && d.Steps < clearSteps:
			return d.clearing(e)
		}
	}
	if e.Now.Before(d.Deadline) {
		return d, nil
	}
	if d.Steps < clearSteps && r.Composer == agents.ComposerDraft && r.Owner == agents.OwnerComposer && squeeze(r.Draft) == squeeze(d.Step0) && d.Steps == 1 {
		return d.clearing(e) // the cursor stood on an empty last row: only the second step joins it
	}
	return d.end(PhaseWatch, OutcomeNotAccepted, "the draft could not be cleared"+draftKept)
}

// restorable is the kept draft as it can be put back: rows that the composer
// itself broke at cols are joined again.
func restorable(draft string, cols int) string {
	rows := draftLines(draft)
	var b strings.Builder
	for i, row := range rows {
		b.WriteString(row)
		if i == len(rows)-1 {
			break
		}
		next, _, _ := strings.Cut(rows[i+1], " ")
		// A word that would have fitted was moved by the human.
		if next != "" && utf8.RuneCountInString(row)+1+utf8.RuneCountInString(next) > cols-4 {
			b.WriteByte(' ')
		} else {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
