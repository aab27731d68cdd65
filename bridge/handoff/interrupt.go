package handoff

// This file is an interrupt as a pure function (R169): one key at an agent that
// is proven working, then its effect is looked for. It upholds: never a second
// key by itself (an idle Codex would end); a Turn is told interrupted only
// when the agent stopped.

import (
	"time"

	"akk/agents"
	"akk/bridge/rpc"
)

const (
	effectDefault = 5 * time.Second
	// endGrace is how long after the agent fell idle its log may still bring the
	// end of an interrupted Turn: Claude's lines came up to 1.2 s late, and for a
	// prompt without an answer never (claude-code.md §4).
	endGrace = 2 * time.Second
)

// The phases of an Interrupt.
const (
	IntProof   Phase = "int_proof"   // waiting for the audited screen
	IntReserve Phase = "int_reserve" // waiting for the durable order
	IntKey     Phase = "int_key"     // the key is on its way
	IntEffect  Phase = "int_effect"  // waiting for the agent to stop
	IntDone    Phase = "int_done"
)

// Interrupt is one interrupt on its way. It is a value.
type Interrupt struct {
	Phase    Phase
	Plan     agents.InterruptPlan
	Turn     string // whose it is, "" for a raw terminal
	Deadline time.Time
	Audited  bool
	Proofs   int
	Pressed  bool // the key may have gone out
	Lost     bool // the server's answer was lost
	Seen     bool // the agent stopped
	Reason   string
}

// Step is the machine.
func (i Interrupt) Step(e Event) (Interrupt, []Effect) {
	timer := func() Effect { return Effect{Kind: EffTimer, At: i.Deadline} }
	done := func(why string) (Interrupt, []Effect) {
		i.Phase, i.Reason = IntDone, why
		return i, nil
	}
	if e.Kind == EvGone && i.Phase != IntDone {
		i.Seen = i.Pressed
		return done("the agent is gone")
	}
	switch i.Phase {
	case "":
		i.Phase, i.Proofs, i.Deadline = IntProof, 1, e.Now.Add(proofWindow)
		return i, []Effect{{Kind: EffAudit}, timer()}
	case IntProof:
		if e.Kind == EvAudited {
			if e.Err != nil && i.Proofs < maxProofs && e.Now.Before(i.Deadline) {
				i.Proofs++
				return i, []Effect{{Kind: EffAudit}}
			}
			if e.Err != nil {
				return done("the screen could not be proven equal to the terminal's own: " + e.Err.Error())
			}
			i.Audited = true
		}
		missing := i.missing(e)
		switch {
		case len(missing) > 0 && !transient(missing):
			return done(missing[0].What)
		case i.Audited && len(missing) == 0:
			i.Phase = IntReserve
			return i, []Effect{{Kind: EffCommit, Commit: 1, Change: "interrupting"}}
		case !e.Now.Before(i.Deadline):
			if len(missing) > 0 {
				return done(missing[0].What)
			}
			return done("the screen could not be proven in time")
		}
	case IntReserve:
		if e.Kind != EvCommitted {
			return i, nil
		}
		if e.Err != nil {
			return done("the store could not be written: " + e.Err.Error())
		}
		if missing := i.missing(e); len(missing) > 0 { // it stopped meanwhile
			return done(missing[0].What)
		}
		i.Phase, i.Pressed = IntKey, true
		return i, []Effect{{Kind: EffEnter}}
	case IntKey:
		if e.Kind != EvInput {
			return i, nil
		}
		if e.Refused != "" {
			i.Pressed = false
			return done(e.Err.Error())
		}
		i.Lost = e.Err != nil
		i.Phase, i.Deadline = IntEffect, e.Now.Add(ms(i.Plan.EffectMillis, effectDefault))
		return i, []Effect{timer(), {Kind: EffPoll}}
	case IntEffect:
		if stopped(e) {
			i.Seen = true
			return done("")
		}
		if !e.Now.Before(i.Deadline) {
			if i.Lost {
				return done("the key may have been pressed, the terminal's answer was lost")
			}
			return done("the key was pressed once, the agent was not seen to stop")
		}
	}
	return i, nil
}

func (i *Interrupt) missing(e Event) []Missing {
	f := e.Facts
	f.Busy = "" // it is this one
	return interruptible(f, e.Now)
}

// stopped: the agent's log says so, or its whole screen shows an idle composer.
func stopped(e Event) bool {
	for _, l := range e.Logs {
		if l.Kind == agents.LogAborted {
			return true
		}
	}
	r := e.Facts.Reading
	return e.Facts.Frame && r.Activity == agents.Idle && r.Owner == agents.OwnerComposer
}

// Typing tells whether it may still press its key, or waits for the effect.
func (i *Interrupt) Typing() bool { return i.Phase != IntDone }

// interrupted ends a running Turn that was interrupted and whose log has no end
// for it: the agent has been idle for endGrace.
func (d Dispatch) interrupted(e Event) (Dispatch, []Effect) {
	r := e.Facts.Reading
	if d.Turn.InterruptedAt == nil || !e.Facts.Frame {
		return d, nil
	}
	if r.Activity != agents.Idle || r.Owner != agents.OwnerComposer {
		d.IdleFrom = time.Time{}
		return d, nil
	}
	if d.IdleFrom.IsZero() {
		d.IdleFrom = e.Now
		return d, []Effect{{Kind: EffTimer, At: e.Now.Add(endGrace)}, {Kind: EffPoll}}
	}
	if e.Now.Sub(d.IdleFrom) < endGrace {
		return d, nil
	}
	return d.end(PhaseWatch, OutcomeAborted, "interrupted; the agent is idle and its log holds no end")
}

// cancelDoc is the document of CONTRACT-outputs §4.5.
func cancelDoc(i Interrupt, v *view) rpc.Cancel {
	c := rpc.Cancel{TerminalID: v.id, CancelRequested: i.Pressed, Reason: i.Reason, DoNotRetry: i.Pressed}
	if i.Pressed {
		c.Key, c.Keys, c.Interrupted = i.Plan.Name, []string{i.Plan.Name}, "unproven"
		if i.Seen {
			c.Interrupted = "seen"
		}
	}
	return c
}
