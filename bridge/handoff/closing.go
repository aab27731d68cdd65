package handoff

// This file gives the management of a Turn up (R172). It upholds: nothing is
// typed, the agent goes on; a human's close always works, what it could not
// settle is said; a context switch is closed with its fixed reason only while
// that decision stands.

import (
	"context"
	"errors"
	"strings"
	"time"

	"akk/bridge/outbox"
	"akk/bridge/rpc"
	"akk/store"
)

const (
	reasonSuperseded = "superseded_by_human_context_switch"
	reasonDefault    = "closed by request"
	reasonMax        = 300 // characters
)

// closeAs ends a Dispatch without a key. Not while it is typing.
func (d Dispatch) closeAs(now time.Time, why string) (Dispatch, []Effect) {
	d.Turn.UpdatedAt = now
	d.Turn = closed(d.Turn, now, why)
	d.Phase, d.Text = PhaseDone, ""
	return d, []Effect{d.commit("closed")}
}

// closed is the record of a Turn that was given up.
func closed(t Turn, now time.Time, why string) Turn {
	t.ClosedAt, t.Closed, t.UpdatedAt = &now, why, now
	if t.open() {
		t.Outcome, t.Reason, t.EndedAt = OutcomeClosed, why, &now
	}
	return t
}

// CloseTurn gives a Turn up.
func (d *Desk) CloseTurn(ctx context.Context, c rpc.Caller, p rpc.CloseParams) (rpc.Close, error) {
	if (p.TurnID == "") == (p.ID == "") {
		return rpc.Close{}, usage("name exactly one of them", "close needs a turn, or a terminal with the message id that it is about")
	}
	if p.ID != "" && strings.HasPrefix(p.ID, "turn-") {
		p.ID, p.TurnID = "", p.ID
	}
	if p.Reason = clip(redact(clean(p.Reason)), reasonMax); p.Reason == "" {
		p.Reason = reasonDefault
	}
	raw := ""
	if p.ID != "" {
		v, id, bad := d.orphan(p)
		if bad != nil {
			return rpc.Close{}, bad
		}
		raw, p.TurnID = v.id, id
	}
	t, _, err := d.turn(p.TurnID)
	if err != nil {
		return rpc.Close{}, err
	}
	if bad := mayManage(c, &t); bad != nil {
		return rpc.Close{}, bad
	}
	var res rpc.Close
	if term := d.carrierOf(t.ID); term != nil {
		var bad *rpc.Error
		if err := term.ask(ctx, func(t *terminal, reply func()) { res, bad = t.closeTurn(p, reply) }); err != nil {
			return rpc.Close{}, err
		}
		if bad != nil {
			return rpc.Close{}, bad
		}
	} else if res, err = d.closeStored(t, p); err != nil {
		return rpc.Close{}, err
	}
	t, _, err = d.turn(t.ID)
	doc := turnDoc(&t, nil)
	res.Conversation, res.ConversationID = &doc, t.ID
	if raw != "" {
		res.ConversationID, res.Closed = raw, false // a raw orphan's dispatch is resolved, no conversation is closed
	}
	return res, err
}

func closeDoc(t Turn, why string) rpc.Close {
	c := rpc.Close{ConversationID: t.ID, SessionID: t.SessionID, TurnID: t.ID, Closed: true, TerminalDispatchResolved: true, Reason: why}
	if t.Dispatched && !t.Entered && t.Stage != StageAccepted {
		c.Warnings = append(c.Warnings, "its text may still stand in the agent's composer: nothing was typed to remove it")
	}
	return c
}

// closeTurn runs on the terminal's goroutine; reply after the record is durable.
func (t *terminal) closeTurn(p rpc.CloseParams, reply func()) (rpc.Close, *rpc.Error) {
	c := t.carries(p.TurnID)
	if c == nil {
		reply()
		return rpc.Close{}, refused("try again", "the turn %s has just changed hands", p.TurnID)
	}
	turn := c.disp.Turn
	decision := t.facts.Handoff
	switch {
	case c.disp.Typing():
		reply()
		return rpc.Close{}, refused("try again in a moment", "the turn %s is being typed right now", turn.ID)
	case turn.ClosedAt != nil:
		reply()
		return closeDoc(turn, turn.Closed), nil
	case p.Reason == reasonSuperseded && (decision == nil || decision.ID != turn.ID):
		reply()
		return rpc.Close{}, refused("run `akk list`: close it without that reason, or not at all", "no context switch of a human waits for a decision about %s", turn.ID)
	}
	doc := closeDoc(turn, p.Reason)
	if p.Reason == reasonSuperseded {
		doc.HandoffDisposition, doc.NextAction = reasonSuperseded, "send to the terminal itself: it shows the human's conversation"
	} else if decision != nil && decision.ID == turn.ID {
		doc.Warnings = append(doc.Warnings, "a human had changed the agent's conversation while it was open")
	}
	if turn.open() && turn.Stage == StageAccepted {
		doc.Warnings = append(doc.Warnings, "the agent goes on with it: nothing was typed")
	}
	next, effects := c.disp.closeAs(t.desk.now(), p.Reason)
	c.disp = &next
	if c == t.cur {
		cur := next.Turn
		t.facts.Turn = &cur
	}
	for _, eff := range effects {
		t.commitThen(c, []Effect{eff}, func(error) { reply() })
	}
	t.prune()
	t.refresh()
	return doc, nil
}

// closeStored closes a Turn whose terminal is not here.
func (d *Desk) closeStored(t Turn, p rpc.CloseParams) (rpc.Close, error) {
	if p.Reason == reasonSuperseded {
		return rpc.Close{}, refused("run `akk list`: close it without that reason, or not at all", "no context switch of a human waits for a decision about %s", t.ID)
	}
	var out Turn
	var sent outbox.Change
	err := d.writer.Sync(func(tx *store.Tx) error {
		sent = nil
		have, rev, err := turns.Get(tx, t.ID)
		if err != nil {
			return err
		}
		if out = have; have.ClosedAt != nil {
			return nil
		}
		out = closed(have, d.now(), p.Reason)
		calls := turnCalls(&out, changeClosed, nil, nil)
		if _, err := turns.Put(tx, t.ID, out, rev); err != nil {
			return err
		}
		if err := calls.apply(tx, d.outbox, &sent); err != nil {
			return err
		}
		_, _, err = journal.Append(tx, rpc.Event{Time: d.now(), Type: "turn", Change: "closed", TerminalID: t.TerminalID, TurnID: t.ID, SessionID: t.SessionID, Agent: t.Agent, Reason: p.Reason})
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return rpc.Close{}, noTurn(t.ID)
	}
	if err != nil {
		return rpc.Close{}, err
	}
	d.outbox.Committed(sent)
	d.mu.Lock()
	if l := d.live[t.ID]; l != nil {
		defer l.set(out)
	}
	d.count(out)
	d.mu.Unlock()
	d.journalled.fire()
	d.changed.fire()
	return closeDoc(out, out.Closed), nil
}

// orphan finds the Turn that stands in a raw terminal's way, by the id of the
// message that it was sent with.
func (d *Desk) orphan(p rpc.CloseParams) (*view, string, *rpc.Error) {
	if (p.ExpectedMessageID == "") == (p.ExpectedTransitionID == "") {
		return nil, "", usage("run `akk turns --all` for the turns' ids; with a terminal, name the message that stands in its way, too", "%q is no turn's id, and a terminal is closed only with exactly one expected id", p.ID)
	}
	v, bad := d.resolve(p.ID, p.Socket)
	if bad != nil {
		return nil, "", bad
	}
	if v.current == nil || !v.current.open() || v.current.RequestID != p.ExpectedMessageID || p.ExpectedTransitionID != "" {
		return nil, "", refused("run `akk list`", "nothing with that id stands in the way of %s", v.id)
	}
	return v, v.current.ID, nil
}

// clean takes control characters and line breaks out of a human's note.
func clean(s string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))), " ")
}
