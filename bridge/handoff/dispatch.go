package handoff

// This file is the send as a pure function: (Dispatch, Event) -> (Dispatch,
// []Effect). It upholds: no key without the proof that the moment asks for; a
// durable stage before each key that can't be taken back (R56); from the first
// byte on nothing is typed again (R55); only the log says accepted (R48, R49).

import (
	"fmt"
	"strings"
	"time"

	"akk/agents"
)

// pastesOff refuses a text of several lines. Below 3.7 tmux tells the mode of an
// agent that began before akk to nobody, but pastes by it all the same, and both
// agents ask for bracketed pastes when they start: not known is no refusal. The
// draft is compared before Enter in any case.
const pastesOff = "the agent does not take bracketed pastes now"

// Phase is where a Dispatch stands.
type Phase string

// The phases. Between reserve and paste, and between settle and enter, the
// store has confirmed the stage.
const (
	PhaseProof   Phase = "proof"   // waiting for the audited screen
	PhaseReserve Phase = "reserve" // waiting for the durable "prepared"
	PhaseClear   Phase = "clear"   // a key that clears the draft is on its way (explicit)
	PhaseCleared Phase = "cleared" // waiting for its effect
	PhasePaste   Phase = "paste"   // the paste is on its way
	PhaseDraft   Phase = "draft"   // waiting for our text to be drawn
	PhaseConfirm Phase = "confirm" // waiting for the durable "text_injected"
	PhaseSettle  Phase = "settle"  // waiting out the paste window
	PhaseEnter   Phase = "enter"   // Enter is on its way
	PhaseAccept  Phase = "accept"  // waiting for the log
	PhaseRunning Phase = "running" // accepted, waiting for the end
	PhaseWatch   Phase = "watch"   // ended without proof; the log may still tell
	PhaseDone    Phase = "done"
)

// Bounds of a send. A plan of 0 ms means "not certified": the safe value.
const (
	proofWindow   = 3 * time.Second        // for an audited, whole, still sendable screen
	maxProofs     = 4                      // audits of one send
	settleDefault = 200 * time.Millisecond // codex.md §5: 120 ms suppression window, stragglers at 157 ms
	drawDefault   = 3 * time.Second
	acceptDefault = 15 * time.Second // claude-code.md §4: up to 1.7 s seen, a loaded machine is slower
	maxEnters     = 5                // attempts that the server refused without typing
)

// EventKind is what happened.
type EventKind int

// The events.
const (
	EvStart     EventKind = iota + 1
	EvAudited             // Err nil: Facts rest on an audited screen
	EvCommitted           // Commit is durable, or Err
	EvInput               // the server answered a paste or an Enter; Err as panes.Input
	EvFacts               // a new reading
	EvLog                 // Logs came
	EvTick                // a timer
	EvGone                // the agent's process, the pane or the server is gone; Err says which
)

// Event is one thing that happened, with the facts of that moment.
type Event struct {
	Kind    EventKind
	Now     time.Time
	Facts   Facts
	Err     error
	Refused string // EvInput: the reason of a panes.Refused (nothing was typed)
	Commit  int    // EvCommitted: the number of the EffCommit
	Logs    []agents.LogEvent
	LogPath string
}

// EffectKind is what the desk has to do.
type EffectKind int

// The effects.
const (
	EffAudit  EffectKind = iota + 1
	EffCommit            // make Turn durable and journal Change; answer with EvCommitted{Commit}
	EffPaste             // type the text, keep the pane locked
	EffClear             // type Keys, which clear the draft
	EffEnter             // press Enter
	EffTimer             // wake at At
	EffPoll              // look into the log now
)

// Effect is one order.
type Effect struct {
	Kind   EffectKind
	At     time.Time
	Commit int
	Change string
	Keys   string
}

// Dispatch is one send on its way. It is a value.
type Dispatch struct {
	Phase Phase
	Turn  Turn
	Text  string
	Plan  agents.SubmitPlan

	Deadline time.Time // of the phase
	SettleAt time.Time
	Proofs   int
	Enters   int
	Commit   int // number of the newest EffCommit
	Await    int // the commit that this phase waits for
	Audited  bool
	Seen     bool // our text was seen in the composer
	Lost     bool // the agent is gone

	Kept     string    // a human's draft that was cleared, to be put back; never stored
	Step0    string    // the draft before the newest step of the clearing
	Steps    int       // steps of the clearing
	Answer   bool      // the text answers the Turn that it belongs to (R69)
	Retry    bool      // only Enter is to be pressed (retry_submission)
	Before   *Dispatch // what an answer's Turn was before it
	IdleFrom time.Time
}

// Step is the machine. It never looks at a clock or at the world.
func (d Dispatch) Step(e Event) (Dispatch, []Effect) {
	d.Turn.UpdatedAt = e.Now
	switch e.Kind {
	case EvGone:
		return d.gone(e)
	case EvLog:
		return d.log(e)
	case EvStart:
		d.Phase, d.Deadline, d.Proofs = PhaseProof, e.Now.Add(proofWindow), 1
		return d, []Effect{{Kind: EffAudit}, d.timer()}
	}
	switch d.Phase {
	case PhaseProof:
		return d.proof(e)
	case PhaseReserve:
		return d.reserve(e)
	case PhaseClear:
		return d.clear(e)
	case PhaseCleared:
		return d.cleared(e)
	case PhasePaste:
		return d.paste(e)
	case PhaseDraft:
		return d.draft(e)
	case PhaseConfirm:
		return d.confirm(e)
	case PhaseSettle:
		return d.settle(e)
	case PhaseEnter:
		return d.enter(e)
	case PhaseAccept:
		return d.accept(e)
	case PhaseRunning:
		return d.interrupted(e)
	}
	return d, nil
}

// Typing tells whether the dispatch may still press a key: then nobody else
// may.
func (d *Dispatch) Typing() bool {
	switch d.Phase {
	case PhaseProof, PhaseReserve, PhaseClear, PhaseCleared, PhasePaste, PhaseDraft, PhaseConfirm, PhaseSettle, PhaseEnter:
		return true
	}
	return false
}

func (d *Dispatch) timer() Effect { return Effect{Kind: EffTimer, At: d.Deadline} }

func (d *Dispatch) commit(change string) Effect {
	d.Commit++
	return Effect{Kind: EffCommit, Commit: d.Commit, Change: change}
}

// missing is the predicate for this send: its own dispatch does not stand in
// its way.
func (d *Dispatch) missing(f Facts, now time.Time) []Missing {
	f.Busy, f.Turn = "", nil
	switch {
	case d.Retry:
		return retryable(f, d, now)
	case d.Answer:
		return answerable(f, now)
	}
	return missingFor(d.Turn.Scope, f, now)
}

func (d Dispatch) proof(e Event) (Dispatch, []Effect) {
	if e.Kind == EvAudited {
		if e.Err != nil {
			if d.Proofs < maxProofs && e.Now.Before(d.Deadline) {
				d.Proofs++
				return d, []Effect{{Kind: EffAudit}}
			}
			return d.refuse("the screen could not be proven equal to the terminal's own: " + e.Err.Error())
		}
		d.Audited = true
	}
	if !d.Audited {
		if !e.Now.Before(d.Deadline) {
			return d.refuse("the screen could not be proven in time")
		}
		return d, nil
	}
	missing := d.missing(e.Facts, e.Now)
	if len(missing) > 0 {
		if transient(missing) && e.Now.Before(d.Deadline) {
			return d, nil // the next frame may show it
		}
		return d.refuse(missing[0].What)
	}
	if m := e.Facts.Screen.Modes; strings.Contains(d.Text, "\n") && m.Known && !m.BracketedPaste {
		return d.refuse(pastesOff + ": each line would be submitted by itself") // B5
	}
	if d.Steps > 0 { // the prepared stage is durable, the composer is proven empty
		if e.Facts.Reading.Composer != agents.ComposerEmpty {
			return d.refuse("the composer is not empty after it was cleared")
		}
		d.Phase = PhasePaste
		return d, []Effect{{Kind: EffPaste}}
	}
	d.Turn.Steer = e.Facts.Reading.Activity != agents.Idle
	d.Turn.Stage = StagePrepared
	if d.Retry {
		d.Turn.Stage = StageInjected
	}
	d.Turn.Dispatched = true // as soon as this is durable, bytes may be out
	d.Turn.Anchor = Anchor{Path: e.Facts.LogPath, Offset: e.Facts.LogOffset, Time: e.Now}
	d.Phase = PhaseReserve
	c := d.commit("prepared")
	d.Await = c.Commit
	return d, []Effect{c}
}

// transient tells whether the next frame may remove what is missing.
func transient(ms []Missing) bool {
	for _, m := range ms {
		switch m.Code {
		case "frame", "torn", "screen":
		default:
			return false
		}
	}
	return true
}

func (d Dispatch) reserve(e Event) (Dispatch, []Effect) {
	if e.Kind != EvCommitted || e.Commit != d.Await {
		return d, nil
	}
	if e.Err != nil {
		if d.Turn.Scope != scopeExplicit {
			return d.refuse("the store could not be written: " + e.Err.Error())
		}
		d.Turn.Unmanaged = true // the user's one send does not depend on our bookkeeping (R41)
	}
	if missing := d.missing(e.Facts, e.Now); len(missing) > 0 {
		if transient(missing) {
			return d.reprove(e, missing[0].What)
		}
		return d.refuse(missing[0].What)
	}
	switch {
	case d.Retry:
		d.Phase = PhaseEnter
		d.Enters++
		return d, []Effect{{Kind: EffEnter}}
	case e.Facts.Reading.Composer == agents.ComposerDraft: // only explicit comes here with one
		return d.clearing(e)
	}
	d.Phase = PhasePaste
	return d, []Effect{{Kind: EffPaste}}
}

// reprove goes back to the proof; no byte is out yet.
func (d Dispatch) reprove(e Event, why string) (Dispatch, []Effect) {
	if d.Proofs >= maxProofs {
		return d.refuse(why)
	}
	d.Proofs++
	d.Phase, d.Audited, d.Deadline = PhaseProof, false, e.Now.Add(proofWindow)
	d.Turn.Dispatched = d.Steps > 0 || d.Retry
	return d, []Effect{{Kind: EffAudit}, d.timer()}
}

// refuse ends a send of whose text no byte went out.
func (d Dispatch) refuse(why string) (Dispatch, []Effect) {
	switch {
	case d.Retry:
		return d.end(PhaseWatch, OutcomeNotAccepted, why+"; the text still stands in the pane, Enter was not pressed")
	case d.Steps > 0:
		return d.end(PhaseWatch, OutcomeNotAccepted, why+draftKept)
	}
	if d.Before != nil { // no byte of the answer went out: the Turn is what it was
		before := *d.Before
		before.Commit, before.Turn.UpdatedAt = d.Commit, d.Turn.UpdatedAt
		before.Turn.Reason = "an answer was not typed: " + why
		return before, []Effect{before.commit("answer_refused")}
	}
	d.Turn.Dispatched = false
	return d.end(PhaseDone, OutcomeNotSubmitted, why)
}

func (d Dispatch) end(p Phase, outcome, why string) (Dispatch, []Effect) {
	t := d.Turn.UpdatedAt
	d.Phase, d.Turn.Outcome, d.Turn.Reason, d.Turn.EndedAt = p, outcome, why, &t
	return d, []Effect{d.commit(outcome)}
}

func (d Dispatch) paste(e Event) (Dispatch, []Effect) {
	if e.Kind != EvInput {
		return d, nil
	}
	if e.Refused == "cursor" {
		return d.reprove(e, "the cursor moved before the text could be typed")
	}
	if e.Refused != "" {
		return d.refuse(e.Err.Error())
	}
	if e.Err != nil {
		return d.end(PhaseWatch, OutcomeUncertain, "the text may have been typed, the terminal's answer was lost: "+e.Err.Error())
	}
	d.Turn.Stage = StageInjected
	d.Phase = PhaseDraft
	d.Deadline = e.Now.Add(ms(d.Plan.DrawMillis, drawDefault))
	d.SettleAt = e.Now.Add(ms(d.Plan.SettleMillis, settleDefault))
	return d, []Effect{d.timer()}
}

func ms(n int, safe time.Duration) time.Duration {
	if n <= 0 {
		return safe
	}
	return time.Duration(n) * time.Millisecond
}

const textLeft = "; the text was left in the pane, Enter was not pressed"

func (d Dispatch) draft(e Event) (Dispatch, []Effect) {
	if stop, outcome, why := d.intruder(e.Facts); stop {
		return d.end(PhaseWatch, outcome, why+textLeft)
	}
	shown := e.Facts.Frame && drawn(e.Facts.Reading, d.Text)
	if !shown && e.Now.Before(d.Deadline) {
		return d, nil
	}
	if shown || d.blind() {
		d.Seen = shown
		if at := e.Now.Add(ms(d.Plan.SettleMillis, settleDefault)); shown && at.After(d.SettleAt) {
			d.SettleAt = at // it looked at the text as late as it drew it (B7)
		}
		d.Phase = PhaseConfirm
		c := d.commit("text_injected")
		d.Await = c.Commit
		return d, []Effect{c}
	}
	switch r := e.Facts.Reading; {
	case stands(r, d.Text):
		return d.end(PhaseWatch, OutcomeNotAccepted, "a list of completions is open over the text, Enter would take a suggestion"+textLeft)
	case r.Composer == agents.ComposerDraft:
		return d.end(PhaseWatch, OutcomeNotAccepted, "the composer shows something else than the text that was sent"+textLeft)
	case r.Composer == agents.ComposerEmpty && r.Owner == agents.OwnerComposer:
		return d.end(PhaseWatch, OutcomeNotAccepted, "the text never showed in the composer; Enter was not pressed")
	}
	return d.end(PhaseWatch, OutcomeUncertain, "the composer can't be read after the text was typed"+textLeft)
}

// unentered is the outcome when Enter certainly was not pressed: if our text
// was seen in the composer it is still there, else it may be anywhere.
func (d *Dispatch) unentered() string {
	if d.Seen {
		return OutcomeNotAccepted
	}
	return OutcomeUncertain
}

// intruder tells whether something that is not the composer has the keys now.
// An unknown owner may be a half frame and is waited for.
func (d *Dispatch) intruder(f Facts) (stop bool, outcome, why string) {
	switch r := f.Reading; r.Owner {
	case agents.OwnerApproval:
		return true, d.unentered(), "an approval appeared while the text was being typed"
	case agents.OwnerQuestionnaire, agents.OwnerEditor:
		return true, d.unentered(), "a question appeared while the text was being typed"
	case agents.OwnerMenu, agents.OwnerViewer:
		return true, d.unentered(), "a " + string(r.Owner) + " appeared while the text was being typed"
	case agents.OwnerShell:
		return true, d.unentered(), "the agent left while the text was being typed"
	}
	switch {
	case f.Info.InMode:
		return true, d.unentered(), "copy mode was entered while the text was being typed"
	case f.Hold != nil: // Enter is the human's now
		return true, OutcomeNotAccepted, "a " + f.Hold.By + " took the terminal while the text was being typed"
	case f.Background:
		return true, d.unentered(), "the agent was put into the background while the text was being typed"
	case d.Turn.Scope == scopeExact && len(exact(f)) > 0: // R57
		return true, d.unentered(), "the agent's conversation was changed while the text was being typed"
	case !d.Turn.Steer && f.Reading.Activity == agents.Working && f.Reading.Composer == agents.ComposerEmpty:
		return true, d.unentered(), "the agent began to work while the text was being typed"
	case d.blind() && fused(f.Reading, d.Text):
		return true, OutcomeNotAccepted, "somebody typed into the text"
	}
	return false, "", ""
}

func (d Dispatch) confirm(e Event) (Dispatch, []Effect) {
	if stop, outcome, why := d.intruder(e.Facts); stop {
		return d.end(PhaseWatch, outcome, why+textLeft)
	}
	if e.Kind != EvCommitted || e.Commit != d.Await {
		return d, nil
	}
	if e.Err != nil {
		if d.Turn.Scope != scopeExplicit {
			return d.end(PhaseWatch, OutcomeNotAccepted, "the store could not be written: "+e.Err.Error()+textLeft)
		}
		d.Turn.Unmanaged = true
	}
	d.Phase = PhaseSettle
	at := d.SettleAt
	if at.Before(e.Now) {
		at = e.Now
	}
	d.Deadline = at.Add(ms(d.Plan.DrawMillis, drawDefault))
	e.Kind = EvFacts
	d, effs := d.settle(e)
	return d, append(effs, Effect{Kind: EffTimer, At: d.SettleAt}, d.timer())
}

func (d Dispatch) settle(e Event) (Dispatch, []Effect) {
	if stop, outcome, why := d.intruder(e.Facts); stop {
		return d.end(PhaseWatch, outcome, why+textLeft)
	}
	if e.Now.Before(d.SettleAt) {
		return d, nil
	}
	same := e.Facts.Frame && drawn(e.Facts.Reading, d.Text)
	switch {
	case same, d.blind() && !d.Seen && e.Facts.Frame:
		d.Phase = PhaseEnter
		d.Enters++
		return d, []Effect{{Kind: EffEnter}}
	case e.Now.Before(d.Deadline):
		return d, nil // a frame in between
	case e.Facts.Reading.Composer == agents.ComposerEmpty:
		return d.end(PhaseWatch, OutcomeUncertain, "the text left the composer before Enter was pressed by akk")
	}
	return d.end(PhaseWatch, OutcomeNotAccepted, "the composer's text changed after it was typed"+textLeft)
}

func (d Dispatch) enter(e Event) (Dispatch, []Effect) {
	if e.Kind != EvInput {
		return d, nil
	}
	if e.Refused == "cursor" && d.Enters < maxEnters {
		d.Phase = PhaseSettle // nothing was typed: the next frame decides again
		d.Deadline = e.Now.Add(ms(d.Plan.DrawMillis, drawDefault))
		return d, []Effect{d.timer()}
	}
	if e.Refused != "" {
		return d.end(PhaseWatch, OutcomeNotAccepted, e.Err.Error()+textLeft)
	}
	if e.Err != nil {
		d.Turn.Stage = StageInjected
		return d.end(PhaseWatch, OutcomeUncertain, "Enter may have been pressed, the terminal's answer was lost: "+e.Err.Error())
	}
	d.Turn.Stage, d.Turn.Entered = StageEntered, true
	d.Phase = PhaseAccept
	d.Deadline = e.Now.Add(ms(d.Plan.AcceptMillis, acceptDefault))
	return d, []Effect{d.commit("sent"), {Kind: EffPoll}, d.timer()}
}

func (d Dispatch) accept(e Event) (Dispatch, []Effect) {
	if e.Now.Before(d.Deadline) {
		return d, nil
	}
	if d.Turn.Steer && d.Turn.Entered && e.Facts.Reading.Activity != agents.Idle && e.Facts.Reading.Activity != agents.Exited && !d.Drawn(e.Facts.Reading) {
		// The agent keeps it until its step or its turn ends (B130).
		d.Turn.Reason = queuedReason
		d.Deadline = e.Now.Add(ms(d.Plan.AcceptMillis, acceptDefault))
		return d, []Effect{d.timer(), {Kind: EffPoll}}
	}
	d.Turn.Reason = ""
	if e.Facts.Frame && d.Drawn(e.Facts.Reading) {
		why := "Enter was pressed once and not taken: the text still stands in the composer"
		if !d.Turn.Entered {
			why = "the daemon ended while it typed the task: the text stands in the composer, it was not taken"
		}
		return d.end(PhaseWatch, OutcomeNotAccepted, why)
	}
	if !d.Turn.Entered {
		return d.end(PhaseWatch, OutcomeUncertain, "the daemon ended while it typed the task, and the agent's log does not show it")
	}
	return d.end(PhaseWatch, OutcomeUncertain, fmt.Sprintf("the agent's log did not show the task within %s after Enter", ms(d.Plan.AcceptMillis, acceptDefault)))
}
