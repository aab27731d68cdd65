package handoff

// This file carries out an interrupt (interrupt.go) and is its door. It
// upholds R169: from a Turn or a raw terminal, one key, its effect told.

import (
	"context"
	"strings"

	"akk/bridge/rpc"
	"akk/panes"
	"akk/store"
	"akk/vtparse"
)

// interrupting is an interrupt on its way with its one waiter.
type interrupting struct {
	Interrupt
	reply func()
	out   Interrupt
}

// Cancel interrupts what runs in a Turn or in a raw terminal.
func (d *Desk) Cancel(ctx context.Context, c rpc.Caller, p rpc.CancelParams) (rpc.Cancel, error) {
	if (p.TurnID == "") == (p.ID == "") {
		return rpc.Cancel{}, usage("name exactly one of them", "an interrupt needs a turn or a terminal")
	}
	var t *terminal
	var turn Turn
	if p.TurnID != "" {
		var err error
		if turn, _, err = d.turn(p.TurnID); err != nil {
			return rpc.Cancel{}, err
		}
		if bad := mayManage(c, &turn); bad != nil {
			return rpc.Cancel{}, bad
		}
		if t = d.carrierOf(turn.ID); t == nil || !turn.open() {
			return rpc.Cancel{}, refused("look at it: akk status "+turn.ID, "the turn %s: %s; there is nothing to interrupt", turn.ID, said(turnStatus(&turn, nil)))
		}
	} else {
		v, bad := d.resolve(p.ID, p.Socket)
		if bad != nil {
			return rpc.Cancel{}, bad
		}
		if t = d.terminalOf(v); t == nil {
			return rpc.Cancel{}, notFound("the terminal %s is gone", v.id)
		}
		if bad := mayInterrupt(c, v); bad != nil {
			return rpc.Cancel{}, bad
		}
	}
	var act *interrupting
	var bad *rpc.Error
	err := t.ask(ctx, func(t *terminal, reply func()) { act, bad = t.interrupt(turn.ID, reply) })
	switch {
	case err != nil:
		return rpc.Cancel{}, err
	case bad != nil:
		return rpc.Cancel{}, bad
	}
	doc := cancelDoc(act.out, t.view.Load())
	doc.ConversationID, doc.Source = doc.TerminalID, "terminal_control"
	if turn.ID != "" {
		turn, _, _ = d.turn(turn.ID)
		conv := turnDoc(&turn, nil)
		doc.ConversationID, doc.TurnID, doc.SessionID, doc.Source, doc.Conversation = turn.ID, turn.ID, turn.SessionID, "", &conv
	}
	return doc, nil
}

// mayInterrupt is mayManage for whatever runs in a terminal.
func mayInterrupt(c rpc.Caller, v *view) *rpc.Error {
	switch {
	case inside(c, v.id):
		return notForItself(c)
	case v.Running != nil:
		return mayManage(c, v.Running)
	case c.Kind == "agent":
		return &rpc.Error{Code: rpc.CodeForbidden, Message: "an agent may interrupt only a turn that it sent", Cure: "ask the human"}
	}
	return nil
}

// interrupt begins on the terminal's goroutine.
func (t *terminal) interrupt(turn string, reply func()) (*interrupting, *rpc.Error) {
	t.refresh()
	if missing := cancellable(t.facts, turn, t.desk.now()); len(missing) > 0 && !transient(missing) {
		reply()
		return nil, refused(missing[0].Cure, "nothing was typed into %s: %s", t.publicID(), missing[0].What)
	}
	i := &interrupting{Interrupt: Interrupt{Plan: t.facts.Plan.Interrupt, Turn: turn}, reply: reply}
	t.inter = i
	t.facts.Busy = "an interrupt"
	t.stepInterrupt(Event{Kind: EvStart})
	return i, nil
}

// stepInterrupt moves the interrupt on and carries out its effects.
func (t *terminal) stepInterrupt(e Event) {
	i := t.inter
	if i == nil {
		return
	}
	e.Now, e.Facts = t.desk.now(), t.facts
	var effects []Effect
	i.Interrupt, effects = i.Step(e)
	for _, eff := range effects {
		switch eff.Kind {
		case EffAudit:
			t.audit(func(err error) { t.stepInterrupt(Event{Kind: EvAudited, Err: err}) })
		case EffCommit:
			t.orderInterrupt()
		case EffEnter:
			store.FailAt("handoff.interrupt")
			t.input(panes.Write{Keys: []byte(i.Plan.Key), Shows: shown(t.facts.Screen, i.Plan.Shows)}, func(err error) { t.stepInterrupt(inputEvent(err)) })
		case EffTimer:
			t.wake(eff.At)
		case EffPoll:
			t.feed.urgent()
		}
	}
	if i.Phase == IntDone {
		t.inter, i.out = nil, i.Interrupt
		t.facts.Busy = ""
		if !i.Pressed {
			t.unmark()
		}
		e := rpc.Event{Type: "interrupt", Change: "refused", TurnID: i.Turn, Reason: i.Reason}
		if i.Pressed {
			if e.Change = "unproven"; i.Seen {
				e.Change = "seen"
			}
		}
		t.journal(e)
		i.reply()
	}
}

// shown is the condition that a text is still there, if it is there now.
func shown(s *vtparse.Screen, text string) []string {
	for y := range s.Rows {
		if text != "" && strings.Contains(s.Line(y), text) {
			return []string{text}
		}
	}
	return nil
}

// orderInterrupt makes the order durable: what runs is marked, so that a daemon
// that dies after the key still tells how it ended.
func (t *terminal) orderInterrupt() {
	now := t.desk.now()
	var marked []Turn
	for _, c := range t.following() {
		if c.disp.Turn.open() && c.disp.Phase == PhaseRunning {
			c.disp.Turn.InterruptedAt = &now
			marked = append(marked, c.disp.Turn)
		}
	}
	e := rpc.Event{Time: now, Type: "interrupt", Change: "ordered", TerminalID: t.publicID(), TurnID: t.inter.Turn, Pane: t.facts.Info.Pane, Socket: t.srv.id.Socket, Agent: string(t.agent.Kind())}
	t.desk.writer.Do(func(tx *store.Tx) error {
		for _, m := range marked {
			have, rev, err := turns.Get(tx, m.ID)
			if err != nil {
				return err
			}
			have.InterruptedAt = m.InterruptedAt
			if _, err := turns.Put(tx, m.ID, have, rev); err != nil {
				return err
			}
		}
		_, _, err := journal.Append(tx, e)
		return err
	}, func(err error) {
		if err == nil {
			store.FailAt("handoff.interrupt.ordered")
			t.desk.journalled.fire()
		}
		t.box.post(message{do: func(t *terminal) { t.stepInterrupt(Event{Kind: EvCommitted, Commit: 1, Err: err}) }})
	})
}

// unmark takes the mark back when no key went out.
func (t *terminal) unmark() {
	for _, c := range t.following() {
		if c.disp.Turn.open() {
			c.disp.Turn.InterruptedAt = nil
		}
	}
}
