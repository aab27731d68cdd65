package agents

import "strings"

// This file judges what a key did. Rule: unknown is neither success nor
// failure; a screen that shows something else than either is a surprise, and a
// plan stops there.

// Postcondition is what a step of a key plan must lead to.
type Postcondition struct {
	Expect Expect
	Index  int    // marked
	Text   string // text
}

// Effect is how a postcondition stands.
type Effect string

// The effects.
const (
	EffectPending  Effect = "pending"  // nothing has happened yet, or it can't be told yet
	EffectMet      Effect = "met"      // the step did what it should
	EffectSurprise Effect = "surprise" // something else happened: stop
)

// Check compares what was read before the step with what is read now. It is a
// pure function.
func (p Postcondition) Check(before, now *Reading) Effect {
	if before == nil || before.Dialog == nil || now == nil {
		return EffectPending
	}
	was, d := before.Dialog, now.Dialog
	if d != nil && d.Hidden || d == nil && (now.Owner == OwnerUnknown || now.Activity == ActivityUnknown) {
		return EffectPending // half a frame
	}
	if d == nil || !d.SameQuestion(was) {
		if p.Expect == ExpectGone {
			return EffectMet
		}
		return EffectSurprise
	}
	switch p.Expect {
	case ExpectMarked:
		switch {
		case d.Selected != nil && *d.Selected == p.Index:
			return EffectMet
		case sameMark(d, was):
			return EffectPending
		}
		return EffectSurprise
	case ExpectEditor:
		if now.Owner == OwnerEditor && d.Entry != nil {
			return EffectMet
		}
		return EffectPending
	case ExpectText:
		switch {
		case d.Entry == nil || now.Owner != OwnerEditor:
			return EffectPending
		case *d.Entry == p.Text:
			return EffectMet
		case strings.HasPrefix(p.Text, *d.Entry) || was.Entry != nil && *d.Entry == *was.Entry:
			return EffectPending
		}
		return EffectSurprise
	}
	if sameMark(d, was) || now.Owner == OwnerEditor {
		return EffectPending
	}
	return EffectSurprise // the prompt stays and its mark has moved
}

func sameMark(a, b *Dialog) bool {
	if a.Selected == nil || b.Selected == nil {
		return a.Selected == b.Selected
	}
	return *a.Selected == *b.Selected
}

// SameQuestion tells whether both dialogs ask the same: what moves while a
// human or a plan is at it (the mark, a text field, a countdown) does not count.
func (d *Dialog) SameQuestion(o *Dialog) bool {
	if d == nil || o == nil {
		return d == o
	}
	if d.Kind != o.Kind || d.Prompt != o.Prompt || d.Command != o.Command || d.Mode != o.Mode || d.Server != o.Server || d.Tool != o.Tool ||
		d.Arguments != o.Arguments || d.Reason != o.Reason || d.Path != o.Path || d.URL != o.URL {
		return false
	}
	if (d.Step == nil) != (o.Step == nil) || d.Step != nil && *d.Step != *o.Step {
		return false
	}
	if len(d.Options) != len(o.Options) {
		return false
	}
	for i := range d.Options {
		// The marked option may be a text field that shows what is typed.
		if d.Options[i].Label != o.Options[i].Label && !d.typing(i) && !o.typing(i) {
			return false
		}
	}
	return true
}

// typing tells whether option i is the text field that has the keys.
func (d *Dialog) typing(i int) bool { return d.Entry != nil && d.Selected != nil && *d.Selected == i }
