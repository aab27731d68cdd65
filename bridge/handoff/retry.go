package handoff

// This file presses the missing Enter of a task whose exact text stands proven
// in the composer (retry_submission), and sends an answer in the Turn that
// waits for one (respond). It upholds: an Enter that may have been pressed is
// never pressed again (R55); an answer stays in its Turn (R69).

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"akk/agents"
	"akk/bridge/rpc"
	"akk/store"
)

// retryable is what stands in the way of the one Enter that a Turn lacks.
func retryable(f Facts, d *Dispatch, now time.Time) []Missing {
	out, end := paneMissing(f)
	if end {
		return out
	}
	one := func(code, what, cure string) []Missing { return append(out, Missing{code, what, cure}) }
	t := d.Turn
	switch {
	case !(d.Retry && d.Typing()) && (t.Outcome != OutcomeNotAccepted || t.Entered || !t.Dispatched || t.ClosedAt != nil):
		return one("turn", "the turn "+t.ID+" does not lack just its Enter", "look at it: akk status "+t.ID)
	}
	out = append(append(out, busyMissing(f)...), holdMissing(f, now)...)
	r := f.Reading
	switch {
	case r.Owner != agents.OwnerComposer || r.Activity != agents.Idle:
		return append(out, readingMissing(f, now)...)
	case !d.Drawn(r):
		return one("composer", "the composer does not show exactly the text that was sent", "look at the pane: akk screen "+f.Info.Pane)
	case suggesting(r):
		return one("composer", "a list of completions is open: Enter would take a suggestion", "close it in the pane (Esc)")
	case f.Screen.Torn || r.Provisional:
		return one("torn", "the screen is half drawn", "try again in a moment")
	}
	return append(out, frameMissing(f, out)...)
}

// RetrySubmission presses Enter once for a Turn whose text was typed and whose
// Enter certainly was not.
func (d *Desk) RetrySubmission(ctx context.Context, c rpc.Caller, p rpc.TurnParams) (rpc.Send, error) {
	turn, _, err := d.turn(p.TurnID)
	if err != nil {
		return rpc.Send{}, err
	}
	if bad := mayManage(c, &turn); bad != nil {
		return rpc.Send{}, bad
	}
	t := d.carrierOf(turn.ID)
	if t == nil {
		return rpc.Send{}, refused("look at it: akk status "+turn.ID, "the turn %s is not followed any more; nothing was typed", turn.ID)
	}
	var live *liveTurn
	var bad *rpc.Error
	err = t.ask(ctx, func(t *terminal, reply func()) {
		defer reply()
		t.refresh()
		c := t.carries(turn.ID)
		if c == nil || c != t.cur {
			bad = refused("look at it: akk status "+turn.ID, "the turn %s is not the newest one; nothing was typed", turn.ID)
			return
		}
		if c.disp.Text == "" { // kept aside when the send ended
			c.disp.Text = t.leftText
		}
		if missing := retryable(t.facts, c.disp, t.desk.now()); len(missing) > 0 && !transient(missing) {
			bad = refusal(t.publicID(), missing)
			return
		}
		next := *c.disp
		next.Retry, next.Turn.Outcome, next.Turn.Reason, next.Turn.EndedAt = true, "", "", nil
		c.disp, live = &next, c.live
		c.live.set(next.Turn) // waiters see it open again; it is durable before the key
		t.facts.Busy = turn.ID
		t.stepOne(c, Event{Kind: EvStart})
	})
	switch {
	case err != nil:
		return rpc.Send{}, err
	case bad != nil:
		return rpc.Send{}, bad
	}
	return d.answer(ctx, live, acceptWait(0), false), nil
}

// Respond sends an answer in a Turn that waits for its Host (R69 to R71).
func (d *Desk) Respond(ctx context.Context, c rpc.Caller, p rpc.RespondParams) (rpc.Send, error) {
	text, bad := cleanRequest(p.Request)
	if bad != nil {
		return rpc.Send{}, bad
	}
	hash, alt := hashes(text)
	wait := acceptWait(p.AcceptWaitMillis)
	if p.RequestID == "" {
		p.RequestID = "msg-" + uuid.NewString()
	} else if live, err := d.replay(p.RequestID, hash); err != nil {
		return rpc.Send{}, err
	} else if live != nil {
		return d.answer(ctx, live, wait, true), nil
	}
	turn, _, err := d.turn(p.TurnID)
	if err != nil {
		return rpc.Send{}, err
	}
	if bad := mayManage(c, &turn); bad != nil {
		return rpc.Send{}, bad
	}
	t := d.carrierOf(turn.ID)
	if t == nil {
		return rpc.Send{}, refused("look at it: akk status "+turn.ID, "the turn %s is not followed any more; nothing was typed", turn.ID)
	}
	if bad := checkCommand(text, t.agent.Submit(t.vers)); bad != nil {
		return rpc.Send{}, bad
	}
	var live *liveTurn
	again := false
	err = t.ask(ctx, func(t *terminal, reply func()) {
		defer reply()
		t.publish()
		c := t.carries(turn.ID)
		if c != nil && c.disp.Turn.RequestID == p.RequestID && contains(c.disp.Turn.Answered, p.RequestID) {
			live, again = c.live, true // another call with this id was faster
			if bad = checkReplay(Receipt{Hash: c.disp.Turn.Hash}, hash, p.RequestID); bad != nil {
				live = nil
			}
			return
		}
		if c == nil {
			bad = refused("look at it: akk status "+turn.ID, "the turn %s is not followed any more; nothing was typed", turn.ID)
			return
		}
		if missing := respondable(t.facts, c.disp, t.view.Load(), t.desk.now()); len(missing) > 0 && !transient(missing) {
			bad = refusal(t.publicID(), missing)
			return
		}
		live = t.respond(c, text, hash, alt, p.RequestID)
	})
	switch {
	case err != nil:
		return rpc.Send{}, err
	case bad != nil:
		return rpc.Send{}, bad
	}
	s := d.answer(ctx, live, wait, again)
	if now, _ := live.get(); now.RequestID != p.RequestID && !contains(now.Answered, p.RequestID) {
		// No byte went out, and the Turn is what it was before: its own
		// acceptance must not be read as the answer's.
		return rpc.Send{}, refused("look at it with status, then answer again", "nothing was sent to %s: %s", s.TerminalID, now.Reason)
	}
	return s, nil
}

// respondable is what stands in the way of an answer.
func respondable(f Facts, d *Dispatch, v *view, now time.Time) []Missing {
	if s := turnStatus(&d.Turn, v); s != "waiting_for_openclaw" || d.Phase != PhaseRunning {
		return []Missing{{"turn", "the turn " + d.Turn.ID + " does not wait for an answer: " + said(s), "look at it: akk status " + d.Turn.ID}}
	}
	if f.Handoff != nil {
		return bindingMissing(f)
	}
	return answerable(f, now)
}

// respond begins the answer: a dispatch of its own whose Turn is the waiting
// one. What ran before it in this Turn goes on if the answer is not typed.
func (t *terminal) respond(c *carried, text, hash, alt, id string) *liveTurn {
	now := t.desk.now()
	before := *c.disp
	turn := before.Turn
	turn.RequestID, turn.Hash, turn.AltHash, turn.Size = id, hash, alt, len(text)
	turn.Stage, turn.AcceptedAt, turn.Dispatched, turn.Entered, turn.NativeTurn = "", nil, false, false, ""
	turn.Rounds++
	turn.Answered = append(slices.Clone(turn.Answered), id)
	turn.UpdatedAt = now
	// Durable before the answer's first stage, because writes keep their order:
	// the same id never answers twice, over a restart neither.
	t.desk.write(func(tx *store.Tx) error {
		_, rev, _ := receipts.Get(tx, id)
		_, err := receipts.Put(tx, id, Receipt{TurnID: turn.ID, Hash: hash, Answer: true}, rev)
		return err
	})
	c.disp = &Dispatch{Turn: turn, Text: text, Plan: t.facts.Plan, Answer: true, Before: &before, Commit: before.Commit}
	t.leftText = ""
	t.facts.Busy = turn.ID
	c.live.set(turn)
	t.stepOne(c, Event{Kind: EvStart})
	return c.live
}
