package handoff

// This file ties a terminal's Session to the agent's own conversation. It
// upholds: every change of the conversation is a new generation (R7); a human's
// switch gives a decision, never a redirect (R171); what belongs to an earlier
// conversation can't change the new one (R14).

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"akk/agents"
	"akk/bridge/rpc"
	"akk/store"
)

// The kinds of a conflict (CONTRACT-outputs §2.2).
const (
	conflictSwitch = "live_external_thread_change"
	conflictShared = "ambiguous_bound_claims"
	conflictStale  = "explicitly_abandoned_predecessor_adoptable"
)

// refresh brings the facts about Session and Turns up to date, and sees what a
// human typed while akk did: no new frame may come for it.
func (t *terminal) refresh() {
	t.conversation()
	t.hold(t.desk.now())
	f := &t.facts
	f.Session, f.NativeID = t.session, t.nativeID()
	f.Running, f.Runs, f.Handoff = nil, nil, nil
	for _, c := range t.following() {
		turn := c.disp.Turn
		if !turn.open() || c.disp.Phase != PhaseRunning {
			continue
		}
		if f.NativeID != "" && turn.NativeID != "" && turn.NativeID != f.NativeID {
			f.Handoff = &turn // the oldest one is decided first
			continue
		}
		if f.Runs = append(f.Runs, turn.ID); f.Running == nil {
			f.Running = &turn
		}
	}
	f.Shared = t.desk.shows.shared(t.agent.Kind(), f.NativeID, t)
}

// conversation notices when the agent shows another conversation than before.
func (t *terminal) conversation() {
	now := t.nativeID()
	if now == "" || now == t.shown {
		return
	}
	old := t.shown
	if old == "" && t.session != nil {
		old = t.session.NativeID // as of before the daemon's start
		t.generation = max(t.generation, t.session.Generation)
	}
	t.shown = now
	t.desk.shows.show(t.agent.Kind(), now, t)
	if old == now {
		return
	}
	if old == "" { // the first one that is known, the Session's own if there is one
		t.generation = max(t.generation, 1)
		return
	}
	t.generation++
	e := rpc.Event{Type: "terminal", Change: "context_switched", Reason: "the agent shows another conversation than before"}
	if t.session != nil {
		e.SessionID = t.session.ID
	}
	if open := t.openTurn(); open != nil {
		e.TurnID = open.ID
	}
	t.journal(e)
}

// bind makes the conversation that took a Turn's text its Session's, if the
// Session had none yet (R48).
func (t *terminal) bind(c *carried) {
	native := c.disp.Turn.NativeID
	switch {
	case native == "" || native == c.session.NativeID:
		return
	case c.session.NativeID != "":
		t.adopt(c, native)
		return
	}
	c.session.NativeID = native
	if t.session != nil && t.session.ID == c.session.ID {
		s := c.session
		t.session = &s
	}
	for _, o := range t.following() { // sent into the same Session before it was bound
		if o.session.ID == c.session.ID {
			o.session = c.session
		}
	}
}

// adopt gives a Turn that the agent took in another conversation than its
// Session's to a Session of that conversation (R38, R48): a human's switch may
// show only then, for Codex begins a cleared conversation's log with its first
// task. session_exact asked for the old one: it stays, and the row tells the
// conflict.
func (t *terminal) adopt(c *carried, native string) {
	if c.disp.Turn.Scope == scopeExact {
		return
	}
	t.ensureSession(t.desk.now())
	if t.session.NativeID == native && t.session.ID == c.session.ID {
		return
	}
	d, was, turn := t.desk, c.session.ID, &c.disp.Turn
	if t.session.NativeID == native {
		t.turnCount++
		c.session = *t.session
	} else { // the terminal shows a third one by now: this Turn's is nobody's place any more
		c.session = t.newSession(native, turn.CreatedAt) // older than what the terminal shows
	}
	turn.SessionID, turn.Generation = c.session.ID, c.session.Generation
	id := turn.ID
	// Behind what the store was given for the old Session.
	d.writer.Do(func(*store.Tx) error { return nil }, func(error) { d.uncount(was, id) })
}

// uncount takes a Turn that has gone to another Session out of a Session's sum.
func (d *Desk) uncount(session, turn string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, ok := d.tallies[session]
	if !ok {
		return
	}
	n.open = slices.DeleteFunc(slices.Clone(n.open), func(o Turn) bool { return o.ID == turn })
	delete(n.ids, turn)
	if n.count = len(n.ids); n.last.ID == turn {
		n.last = Turn{}
	}
	d.tally(session, n)
}

// conflict is what makes the row's Session unusable, nil for nothing.
func (v *view) conflict() *rpc.Conflict {
	if v.Shared {
		return &rpc.Conflict{Kind: conflictShared, Reason: "another live terminal shows the same conversation of the agent", Recovery: "end one of the two agents", SessionIDs: v.sessionIDs()}
	}
	if s := v.session; s != nil && s.NativeID != "" && v.nativeID != "" && s.NativeID != v.nativeID {
		c := &rpc.Conflict{Kind: conflictSwitch, Reason: "a human changed the agent's conversation", SessionIDs: v.sessionIDs(),
			Recovery: "send to the terminal itself to go on in the conversation that it shows, or reconcile_binding to detach the session"}
		if v.Handoff != nil {
			c.Recovery = "decide about the open turn first: handoff_decision"
		}
		return c
	}
	return nil
}

func (v *view) sessionIDs() []string {
	if v.session == nil {
		return nil
	}
	return []string{v.session.ID}
}

// reconcilable are the Sessions that a reconcile may detach from this terminal:
// its own when the agent shows another conversation and no Turn is open in it,
// and those of dead agents that had the conversation that is shown now.
func (d *Desk) reconcilable(v *view) map[string]string {
	out := map[string]string{}
	if v.Shared || v.Handoff != nil || v.nativeID == "" {
		return out
	}
	if s := v.session; s != nil && s.NativeID != "" && s.NativeID != v.nativeID && (v.current == nil || !v.current.open()) {
		out[s.ID] = conflictSwitch
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for id, s := range d.sessions {
		if s.Status == "" && s.NativeID == v.nativeID && s.Agent == string(v.kind) && !s.Key.Same(v.key) && !d.lives(s.Key) {
			out[id] = conflictStale
		}
	}
	return out
}

// lives tells whether a terminal of that key is here; d.mu is held.
func (d *Desk) lives(k Key) bool {
	for t := range d.terms {
		if t.key.Same(k) {
			return true
		}
	}
	return false
}

// Reconcile detaches a proven stale binding (R173): it adopts nothing and
// types nothing.
func (d *Desk) Reconcile(ctx context.Context, c rpc.Caller, p rpc.ReconcileParams) (rpc.Reconciled, error) {
	var r rpc.Reconciled
	if c.Kind == "agent" {
		return r, &rpc.Error{Code: rpc.CodeForbidden, Message: "an agent may not detach a session", Cure: "ask the human"}
	}
	v, bad := d.resolve(p.ID, p.Socket)
	if bad != nil {
		return r, bad
	}
	kind, ok := d.reconcilable(v)[p.ConflictingSessionID]
	if !ok {
		return r, refused("run `akk list`", "the session %q is not proven stale for %s; nothing was changed", p.ConflictingSessionID, v.id)
	}
	t := d.terminalOf(v)
	if t == nil {
		return r, notFound("the terminal %s is gone", v.id)
	}
	var failed error
	err := t.ask(ctx, func(t *terminal, reply func()) {
		t.publish() // the newest state decides
		if _, ok := t.desk.reconcilable(t.view.Load())[p.ConflictingSessionID]; !ok {
			failed = refused("run `akk list`", "the session %q is no longer proven stale; nothing was changed", p.ConflictingSessionID)
			reply()
			return
		}
		t.detach(p.ConflictingSessionID, kind, func(err error) { failed = err; reply() })
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return r, err
	}
	return rpc.Reconciled{Status: "reconciled", Outcome: "detached_conflicting_binding", ConflictKind: kind, TerminalID: v.id, SessionID: p.ConflictingSessionID, RefreshRequired: true}, nil
}

func (t *terminal) detach(id, kind string, then func(error)) {
	d := t.desk
	e := rpc.Event{Time: d.now(), Type: "terminal", Change: "detached", TerminalID: t.publicID(), SessionID: id, Pane: t.facts.Info.Pane, Socket: t.srv.id.Socket,
		Agent: string(t.agent.Kind()), Reason: kind}
	var out Session
	d.writer.Do(func(tx *store.Tx) error {
		s, rev, err := sessions.Get(tx, id)
		if err != nil {
			return fmt.Errorf("detaching %s: %w", id, err)
		}
		s.Status = SessionDetached
		out = s
		if _, err := sessions.Put(tx, id, s, rev); err != nil {
			return err
		}
		_, _, err = journal.Append(tx, e)
		return err
	}, func(err error) {
		if err == nil {
			d.mu.Lock()
			d.sessions[id] = out
			d.mu.Unlock()
			d.journalled.fire()
		}
		t.box.post(message{do: func(t *terminal) {
			if err == nil && t.session != nil && t.session.ID == id {
				t.session, t.turnCount, t.recent = nil, 0, nil
			}
			t.publish()
			then(err)
		}})
	})
}

// shows keeps which live terminals show which conversation. It is safe for any
// goroutine.
type shows struct {
	mu   sync.Mutex
	by   map[string]map[*terminal]bool
	last map[*terminal]string
}

func (s *shows) show(kind agents.Kind, native string, t *terminal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(t)
	defer func() { s.tell(s.last[t], t) }()
	if s.by == nil {
		s.by, s.last = map[string]map[*terminal]bool{}, map[*terminal]string{}
	}
	k := string(kind) + " " + native
	if s.by[k] == nil {
		s.by[k] = map[*terminal]bool{}
	}
	s.by[k][t], s.last[t] = true, k
}

// leave forgets a terminal that is gone.
func (s *shows) leave(t *terminal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(t)
}

func (s *shows) drop(t *terminal) {
	k, ok := s.last[t]
	if !ok {
		return
	}
	delete(s.last, t)
	if delete(s.by[k], t); len(s.by[k]) == 0 {
		delete(s.by, k)
	}
	s.tell(k, t)
}

// tell lets the others look again.
func (s *shows) tell(k string, t *terminal) {
	for other := range s.by[k] {
		if other != t {
			other.box.post(message{do: func(*terminal) {}})
		}
	}
}

// shared tells whether another terminal than t shows the conversation.
func (s *shows) shared(kind agents.Kind, native string, t *terminal) bool {
	if native == "" {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for other := range s.by[string(kind)+" "+native] {
		if other != t {
			return true
		}
	}
	return false
}
