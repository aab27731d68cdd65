package handoff

// This file carries out what dispatch.go orders: audits, commits, keys, timers.
// It upholds: a key is typed only by EffPaste and EffEnter, with the identity
// and the cursor of the facts that the proof saw, into a process that still is
// the agent.

import (
	"context"
	"errors"
	"time"

	"akk/agents"
	"akk/bridge/outbox"
	"akk/bridge/rpc"
	"akk/panes"
	"akk/store"
	"akk/vtparse"
)

const (
	auditTimeout = 2 * time.Second
	inputTimeout = 10 * time.Second // a megabyte at a slow reader
)

// startSend begins a send, or refuses it with the same words that explain uses.
func (t *terminal) startSend(r *sendRequest) {
	now := t.desk.now()
	t.refresh()
	missing := missingFor(r.turn.Scope, t.facts, now)
	if r.turn.Scope == scopeExact && (t.session == nil || t.session.ID != r.turn.SessionID) {
		missing = append([]Missing{{"binding", "the session " + r.turn.SessionID + " is no longer this terminal's", "run `akk list`"}}, missing...)
	}
	if len(missing) > 0 && !transient(missing) {
		r.reply <- sendReply{err: refusal(t.publicID(), missing)}
		return
	}
	turn := r.turn
	turn.Key, turn.TerminalID, turn.Agent, turn.Workspace = t.key, t.publicID(), string(t.agent.Kind()), t.facts.Info.Cwd
	turn.CreatedAt, turn.UpdatedAt = now, now
	t.ensureSession(now)
	turn.SessionID, turn.Generation = t.session.ID, t.session.Generation
	t.turnCount++
	c := &carried{disp: &Dispatch{Turn: turn, Text: r.text, Plan: t.facts.Plan}, live: newLive(turn), session: *t.session}
	t.push(c)
	t.leftText = ""
	if turn.Scope == scopeExplicit && t.facts.Hold != nil { // a soft one, and nobody has typed for 5 s
		t.setHold(nil, holdEnded)
	}
	t.desk.track(c.live)
	r.reply <- sendReply{live: c.live}
	t.facts.Busy = turn.ID
	t.stepOne(c, Event{Kind: EvStart})
}

func refusal(id string, missing []Missing) *rpc.Error {
	return refused(missing[0].Cure, "nothing was sent to %s: %s", id, missing[0].What)
}

// ensureSession makes a Session at the first send and after the human has
// changed the agent's own conversation.
func (t *terminal) ensureSession(now time.Time) {
	native := t.nativeID()
	if t.session != nil && t.session.Status == "" && (t.session.NativeID == native || t.session.NativeID == "" || native == "") {
		s := *t.session
		if s.NativeID == "" {
			s.NativeID = native
		}
		t.session = &s
		return
	}
	t.turnCount = 0
	made := t.newSession(native, now)
	t.session = &made
}

// newSession is a Session of this terminal's for a conversation.
func (t *terminal) newSession(native string, now time.Time) Session {
	lineage := "attach"
	if t.session != nil {
		lineage = "human_observed"
	}
	return Session{ID: newID("session", now), Key: t.key, TerminalID: t.publicID(), Agent: string(t.agent.Kind()),
		Workspace: t.facts.Info.Cwd, NativeID: native, Lineage: lineage, CreatedAt: now,
		Generation: max(t.generation, 1)}
}

// stepOne moves one send on and carries out the effects.
func (t *terminal) stepOne(c *carried, e Event) {
	e.Now, e.Facts = t.desk.now(), t.facts
	typing, accepted, kept := c.disp.Typing(), c.disp.Turn.AcceptedAt, c.disp.Kept
	next, effects := c.disp.Step(e)
	c.disp = &next
	if accepted == nil && next.Turn.AcceptedAt != nil {
		t.bind(c)
	}
	if next.Kept != "" && next.Kept != kept { // once: it may have been put back since
		t.kept = next.Kept
	}
	if typing && !next.Typing() {
		if next.Turn.Dispatched && !next.Turn.Entered {
			t.release(next.Turn.ID) // whoever stopped it gets his keys at once
		} else {
			t.facts.Busy = ""
		}
	}
	switch next.Phase { // R226: the text lives no longer than it is needed
	case PhaseWatch:
		if next.Text != "" {
			t.leftText, next.Text = next.Text, ""
		}
	case PhaseRunning, PhaseDone:
		next.Text = ""
	}
	if c == t.cur {
		turn := next.Turn
		t.facts.Turn = &turn
	}
	// What one step makes durable is one transaction: a record never tells an
	// end whose event and callback a crash could take.
	var commits []Effect
	for _, eff := range effects {
		if eff.Kind == EffCommit {
			commits = append(commits, eff)
		}
	}
	if len(commits) > 1 {
		t.commitThen(c, commits, func(error) {})
	}
	for _, eff := range effects {
		if eff.Kind != EffCommit || len(commits) == 1 {
			t.do(c, eff)
		}
	}
}

func (t *terminal) do(c *carried, eff Effect) {
	switch eff.Kind {
	case EffAudit:
		t.audit(func(err error) { t.stepOne(c, Event{Kind: EvAudited, Err: err}) })
	case EffCommit:
		t.commit(c, eff)
	case EffClear:
		store.FailAt("handoff.clear")
		t.input(panes.Write{Keys: []byte(eff.Keys), Hold: true}, func(err error) { t.stepOne(c, inputEvent(err)) })
	case EffPaste:
		store.FailAt("handoff.paste")
		t.input(panes.Write{Paste: c.disp.Text, Hold: true}, func(err error) { t.stepOne(c, inputEvent(err)) })
	case EffEnter:
		store.FailAt("handoff.enter")
		t.input(panes.Write{Keys: []byte(enterKey(c.disp.Plan))}, func(err error) { t.stepOne(c, inputEvent(err)) })
	case EffTimer:
		t.wake(eff.At)
	case EffPoll:
		t.feed.urgent()
	}
}

// release ends the lock that the text was typed under. The terminal stays busy
// with its turn until that is answered: the next text's lock can't be the one
// that is opened.
func (t *terminal) release(turn string) {
	prov, id := t.srv.prov, t.key.Pane.Pane
	t.srv.wg.Go(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), inputTimeout)
		defer cancel()
		if err := prov.Release(ctx, id); err != nil {
			t.desk.log.Debug("a lock ends by its own switch", "pane", id, "error", err)
		}
		t.box.post(message{do: func(t *terminal) {
			if t.facts.Busy == turn {
				t.facts.Busy = ""
				t.step(Event{Kind: EvFacts})
			}
		}})
	})
}

func enterKey(p agents.SubmitPlan) string {
	if p.Enter == "" {
		return "\r"
	}
	return p.Enter
}

// audit brings the log up to date, so that nothing older than the anchor comes
// after it, looks whether the agent is in the foreground, and proves the screen.
// then runs on the terminal's goroutine with the facts of that screen.
func (t *terminal) audit(then func(err error)) {
	t.srv.wg.Go(func() {
		ctx, cancel := context.WithTimeout(t.ctx, auditTimeout)
		defer cancel()
		t.feed.sync(ctx)
		if t.became() == otherProgram {
			t.srv.lost(t, errReplaced)
			return
		}
		res := &auditResult{then: then, background: background(t.key.PID)}
		var s *vtparse.Screen
		s, res.err = t.srv.prov.Audit(ctx, t.key.Pane.Pane)
		if res.err == nil {
			res.screen = s
		}
		t.box.post(message{audited: res})
	})
}

// input types, with the identity and the cursor of the facts, if in the last
// moment the process still is the agent; then runs on the terminal's goroutine
// with the server's answer.
func (t *terminal) input(w panes.Write, then func(err error)) {
	w.Identity = t.key.Pane
	w.Still = t.still
	cursor := t.facts.Screen.Cursor
	w.Cursor = &cursor
	prov := t.srv.prov
	t.onTheWay++
	t.srv.wg.Go(func() {
		// Not bound to the terminal's life: once begun, the answer is waited for.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), inputTimeout)
		defer cancel()
		_, err := prov.Input(ctx, w)
		store.FailAt("handoff.typed")
		t.box.post(message{do: func(t *terminal) {
			t.onTheWay--
			then(err)
			if t.onTheWay == 0 {
				for _, f := range t.arrived {
					f()
				}
				t.arrived = nil
			}
		}})
		if errors.As(err, new(*panes.Refused)) && t.became() == otherProgram {
			t.srv.lost(t, errReplaced)
		}
	})
}

// commit makes the Turn durable together with its journal line.
func (t *terminal) commit(c *carried, eff Effect) {
	t.commitThen(c, []Effect{eff}, func(error) {})
	if eff.Change == "sent" && c.disp.Turn.Steer {
		t.steeredInto(c)
	}
}

// steeredInto journals for each running Turn that another task is on its way
// into it; monitor.go tells its Host when the agent takes it.
func (t *terminal) steeredInto(by *carried) {
	for _, c := range t.following() {
		turn := c.disp.Turn
		if c == by || !turn.open() || c.disp.Phase != PhaseRunning {
			continue
		}
		e := t.turnEvent(turn, "steered")
		e.Reason = "another task was sent into it by " + sender(&by.disp.Turn)
		t.desk.journal(e)
	}
}

// commitThen is commit with a word when it is done, from the store's goroutine.
func (t *terminal) commitThen(c *carried, effs []Effect, then func(error)) {
	all := make([]calls, len(effs))
	for i, eff := range effs {
		all[i] = turnCalls(&c.disp.Turn, eff.Change, t.mon.question, t.mon.control)
	}
	turn, session := c.disp.Turn, c.session
	live, box := c.live, t.box
	evs := make([]rpc.Event, len(effs))
	for i, eff := range effs {
		evs[i] = t.turnEvent(turn, eff.Change)
	}
	var sent outbox.Change
	t.desk.writer.Do(func(tx *store.Tx) error {
		if err := putTurn(tx, session, turn); err != nil {
			return err
		}
		sent = nil
		for i, ev := range evs {
			if _, _, err := journal.Append(tx, ev); err != nil {
				return err
			}
			if err := all[i].apply(tx, t.desk.outbox, &sent); err != nil {
				return err
			}
		}
		return nil
	}, func(err error) {
		if err == nil {
			for _, eff := range effs {
				store.FailAt("handoff.committed." + eff.Change)
			}
			t.desk.outbox.Committed(sent)
			live.set(turn)
			t.desk.remember(session, turn)
			t.desk.journalled.fire()
		} else {
			t.desk.log.Error("a turn could not be stored", "turn", turn.ID, "change", effs[0].Change, "error", err)
			if turn.Unmanaged {
				live.set(turn) // its waiter hears all the same
			}
		}
		for _, eff := range effs {
			box.post(message{committed: &commitResult{turn: turn.ID, n: eff.Commit, err: err}})
		}
		then(err)
	})
}

// putTurn writes the Turn, its Session and its receipt.
func putTurn(tx *store.Tx, s Session, t Turn) error {
	old, rev, err := sessions.Get(tx, s.ID)
	if err != nil || old != s {
		if _, err := sessions.Put(tx, s.ID, s, rev); err != nil {
			return err
		}
	}
	_, rev, _ = turns.Get(tx, t.ID)
	if _, err := turns.Put(tx, t.ID, t, rev); err != nil {
		return err
	}
	if rev != 0 {
		return nil
	}
	_, rev, _ = receipts.Get(tx, t.RequestID)
	_, err = receipts.Put(tx, t.RequestID, Receipt{TurnID: t.ID, Hash: t.Hash}, rev)
	return err
}

func (t *terminal) turnEvent(turn Turn, change string) rpc.Event {
	e := rpc.Event{Time: t.desk.now(), Type: "turn", Change: change, TerminalID: t.publicID(), TurnID: turn.ID, SessionID: turn.SessionID,
		Pane: t.facts.Info.Pane, Socket: t.srv.id.Socket, Agent: turn.Agent, Reason: turn.Reason}
	if change == OutcomeCompleted {
		e.Text = turn.FinalText
	}
	return e
}

// resume takes up the Turns of this terminal that were open when the daemon
// ended. Nothing is typed for them again.
func (t *terminal) resume() {
	defer t.resumeWatches()
	for _, was := range t.desk.sessionsOf(t.key) { // oldest first
		if was.Agent != string(t.agent.Kind()) {
			continue // another agent's, that ran in this process before
		}
		if was.Status == "" {
			t.session, t.turnCount, t.recent = &was.Session, was.count, nil
			if last := was.last; last.ID != "" && !last.open() {
				t.recent = &last
			}
		}
		for _, turn := range was.open {
			d, effects := Resume(turn, t.facts.Plan, t.desk.now())
			c := &carried{disp: &d, live: newLive(turn), session: was.Session}
			t.push(c)
			t.desk.track(c.live)
			cur := d.Turn
			t.facts.Turn = &cur
			for _, eff := range effects {
				t.do(c, eff)
			}
		}
	}
}
