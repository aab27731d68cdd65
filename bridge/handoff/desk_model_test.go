package handoff

// Issue 6, proof 4: random schedules of Hosts, humans, agents and the daemon's
// death over the real desk, on a real store, in the time of a synctest bubble.
// Audits, keys and commits wait at gates, so that anything may come between two
// of them. The four invariants are checked where they could break:
//
//   - one owner: no key over a human's hold, none that was not asked for, no
//     text into another pane than it was sent to; a Host manages its own Turns
//     and gets its own callbacks only.
//   - one dispatch per request id: a text is pasted and entered at most once,
//     a request id has at most one Turn of which bytes went out, a callback is
//     with one bridge at a time and never again after it was accepted.
//   - generation fences: a Session's Turns were all taken by one conversation of
//     the agent, a Turn ends with the words of its own native turn.
//   - no input without proof: at the moment of the order and at its arrival the
//     pane's true state allows it, Enter only on exactly the request's text.
//
// Beside them: every Turn ends as the bytes say, nothing is stuck, nothing that
// was told is lost over a death, the store is sound.
//
// The check was checked. Each of these was broken in a copy; in brackets after
// how many schedules it was found. One dispatch: no look-up of the request id (42);
// one that was not submitted hides the accepted one of the same id (396); the paste
// beside its durable stage (1). Generation fences: session_exact without comparing
// the conversation (141). One owner: a hold refuses nothing (72); anybody manages a
// Turn (44). No input without proof: Enter without looking at the composer (112);
// keys without the cursor (1). Not found in 2,000: an
// answer's id without a receipt; TestR69AnswerOnceOverRestart is for that.

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"akk/agents"
	"akk/bridge/outbox"
	"akk/bridge/rpc"
	"akk/store"
)

// fewSchedules is how many the suite runs; make rapid runs 10,000.
const fewSchedules = "20"

// fewChecks tells whether nobody asked for more schedules than the default:
// then no single way has to be among them.
func fewChecks() bool {
	checks := flag.Lookup("rapid.checks")
	return checks.Value.String() == checks.DefValue
}

func TestDeskSchedules(t *testing.T) {
	checks, few := flag.Lookup("rapid.checks"), fewChecks()
	if few {
		_ = checks.Value.Set(fewSchedules)
		defer func() { _ = checks.Value.Set(checks.DefValue) }()
	}
	reached := map[string]int{}
	root := t.TempDir()
	schedule := 0
	rapid.Check(t, func(rt *rapid.T) {
		schedule++
		dir := filepath.Join(root, fmt.Sprint(schedule))
		defer os.RemoveAll(dir)
		rapid.SyncTest(rt, func(rt *rapid.T) { runSchedule(rt, dir, reached) })
	})
	if few || t.Failed() {
		return
	}
	for _, what := range []string{"agent_accepted", "not_accepted", "uncertain", "aborted", "refused", "replayed", "crashed", "held", "cancel", "close", "respond", "delivered",
		"switched", "exited", "for a session", "cleared", "restored", "completed", "point store.commit", "point handoff.enter", "point handoff.clear", "point outbox.leased"} {
		if reached[what] == 0 {
			t.Errorf("no schedule came to %q", what)
		}
	}
	t.Log(reached)
}

func runSchedule(rt *rapid.T, dir string, reached map[string]int) {
	if err := os.MkdirAll(filepath.Join(dir, "d"), 0o700); err != nil {
		rt.Fatalf("%v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	m := newModel(ctx, filepath.Join(dir, "d"), reached)
	store.TestOnlyFailPoint(m.failPoint)
	defer store.TestOnlyFailPoint(nil)
	m.lockless = rapid.Bool().Draw(rt, "lockless")
	m.free = true // the start is no part of it
	for range 2 {
		m.start(m.w.pane())
	}
	m.open(rt)
	open := true
	defer func() { // after a fault, too: nothing may be left in the bubble
		if open {
			m.mu.Lock()
			m.wire.dead = true
			for _, g := range m.gates {
				g.done <- verdict{err: errKilled}
			}
			m.gates = nil
			m.mu.Unlock()
			cancel()
			m.desk.Close()
			m.wg.Wait()
			_ = m.db.Close()
		}
		cancel()
	}()
	m.idle(time.Second)
	m.mu.Lock()
	m.free = false
	m.mu.Unlock()
	for range rapid.IntRange(5, 60).Draw(rt, "steps") {
		m.step(rt)
		m.check(rt)
	}
	m.settle(rt)
	m.compare(rt)
	open = false
	m.close(rt)
	m.check(rt)
}

// idle lets time pass.
func (m *model) idle(d time.Duration) { time.Sleep(d); synctest.Wait() }

func (m *model) check(rt *rapid.T) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.faults) > 0 {
		rt.Fatalf("%s", m.faults[0])
	}
}

var steps = []string{"on", "on", "on", "on", "on", "on", "on", "on", "time", "time", "send", "send", "keyboard", "agent", "agent", "manage", "take", "hand back", "outcome", "lost", "watch",
	"restore", "start", "crash", "kill at a point", "restart", "a question", "a question", "over a draft",
	"for a session", "for a session"}

// step is one thing that happens.
func (m *model) step(rt *rapid.T) {
	what := rapid.SampledFrom(steps).Draw(rt, "step")
	pane := fmt.Sprint("%", rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(rt, "where"))
	p := m.player(pane)
	switch what {
	case "on":
		for range rapid.IntRange(1, 6).Draw(rt, "times") {
			m.on(rt, "")
		}
	case "lost":
		if rapid.IntRange(0, 3).Draw(rt, "rare") == 0 {
			m.on(rt, rapid.SampledFrom([]string{"lost", "fails"}).Draw(rt, "how"))
		}
	case "time":
		m.idle(rapid.SampledFrom([]time.Duration{30 * time.Millisecond, 300 * time.Millisecond, time.Second, 6 * time.Second, time.Minute}).Draw(rt, "time"))
	case "send":
		m.send(rt, "")
	case "keyboard":
		if p != nil && rapid.IntRange(0, 1).Draw(rt, "rare") == 0 {
			m.keyboard(rt, p)
		}
	case "agent":
		if p != nil {
			m.agent(rt, p)
		}
	case "a question": // without an end of the turn, for its sender
		if p != nil && m.working(p) {
			p.set(func(p *player) { p.asks = true })
			m.on(rt, "")
			m.on(rt, "")
			m.manage(rt, "respond")
		}
	case "for a session": // whose conversation a human may have left
		if p != nil && !m.working(p) && rapid.Bool().Draw(rt, "left") {
			m.leaveConversation(p)
			m.idle(100 * time.Millisecond)
		}
		m.send(rt, scopeExact)
	case "over a draft": // that a human left there
		if p != nil && !m.working(p) && m.hands(p) {
			m.draft(p)
			m.idle(typingQuiet + time.Second)
			m.send(rt, scopeExplicit)
		}
	case "start":
		if p == nil {
			m.start(pane)
		}
	case "manage":
		m.manage(rt, "")
	case "take":
		m.take(rt, pane, rapid.IntRange(0, 2).Draw(rt, "take") == 0)
	case "hand back":
		m.take(rt, pane, false)
	case "outcome":
		m.outcome(rt)
	case "restore":
		m.restore(pane)
	case "watch":
		h := modelHost(rapid.SampledFrom(modelHosts).Draw(rt, "host"))
		desk := m.desk
		m.spawn(func() { _, _ = desk.Watch(m.ctx, h, rpc.WatchParams{ID: pane}) })
		synctest.Wait()
	case "crash":
		if rapid.IntRange(0, 2).Draw(rt, "rare") == 0 {
			m.crash(rt, func() { m.meanwhile(rt) })
		}
	case "kill at a point":
		m.mu.Lock()
		m.killIn = rapid.IntRange(1, 12).Draw(rt, "point")
		m.mu.Unlock()
	case "restart":
		if rapid.IntRange(0, 3).Draw(rt, "rare") == 0 {
			m.mu.Lock()
			m.killIn = 0
			m.mu.Unlock()
			m.close(rt)
			m.mu.Lock()
			m.out = map[string]rpc.Lease{}
			m.mu.Unlock()
			m.meanwhile(rt)
			m.open(rt)
		}
	}
	if !m.alive(m.wire) {
		m.crash(rt, func() { m.meanwhile(rt) })
	}
}

// working tells whether an agent does.
func (m *model) working(p *player) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.activity == agents.Working
}

// on lets one of the things that wait happen, or else some time pass.
func (m *model) on(rt *rapid.T, how string) {
	which := rapid.IntRange(0, 3).Draw(rt, "which") // always: the draws of a schedule stay in step
	if ready := m.next(); len(ready) > 0 {
		m.happen(ready[which%len(ready)], how)
		return
	}
	m.idle(60 * time.Millisecond)
}

// meanwhile is what happens while no daemon runs.
func (m *model) meanwhile(rt *rapid.T) {
	for range rapid.IntRange(0, 2).Draw(rt, "meanwhile") {
		if p := m.player("%0"); p != nil {
			if rapid.Bool().Draw(rt, "human") {
				m.keyboard(rt, p)
			} else {
				m.agent(rt, p)
			}
		}
	}
}

// settle brings everything to its end: gates open, agents finish, humans leave,
// decisions are made.
func (m *model) settle(rt *rapid.T) {
	m.mu.Lock()
	m.free, m.killIn = true, 0
	m.mu.Unlock()
	for _, pane := range []string{"%0", "%1"} {
		m.take(rt, pane, false)
	}
	for n := range 60 {
		for len(m.next()) > 0 {
			for _, g := range m.next() {
				m.happen(g, "")
			}
		}
		if !m.alive(m.wire) {
			m.crash(rt, func() {})
		}
		m.check(rt)
		m.idle(time.Second)
		for _, pane := range []string{"%0", "%1"} {
			p := m.player(pane)
			if p == nil {
				m.start(pane)
				continue
			}
			p.mu.Lock()
			busy, text := p.activity != agents.Idle || p.owner != agents.OwnerComposer, p.text
			p.mu.Unlock()
			switch {
			case busy:
				m.finish(p, agents.LogCompleted)
			case n > 30 && text != "": // nobody sends what was left
				p.set(func(p *player) { p.text = "" })
			}
		}
		m.mu.Lock()
		var ids []string
		for id := range m.out {
			ids = append(ids, id)
		}
		m.mu.Unlock()
		slices.Sort(ids)
		for _, id := range ids {
			m.tell(id, rpc.OutcomeAccepted)
		}
	}
	for _, t := range m.stored() { // what a human's switch left behind is his to decide
		if t.open() {
			_, _ = m.desk.CloseTurn(m.ctx, human, rpc.CloseParams{TurnID: t.ID})
			if m.bound[t.SessionID] == "" || t.AcceptedAt == nil || m.switched(t) {
				continue
			}
			rt.Logf("%+v", t)
			rt.Fatalf("stuck: a turn of %s at %q", t.RequestID, t.Stage)
		}
	}
	m.idle(time.Second)
	for _, pane := range []string{"%0", "%1"} { // no terminal is stuck
		text := "and then in " + pane
		r := &request{id: "then" + pane, text: text, pane: pane, scope: scopeFollow, turns: map[string]bool{}}
		m.mu.Lock()
		m.requests[text] = r
		m.mu.Unlock()
		done := make(chan error, 1)
		desk := m.desk
		m.spawn(func() {
			s, err := desk.Send(m.ctx, human, rpc.SendParams{ID: pane, Request: text, RequestID: r.id})
			if err == nil && s.SubmissionOutcome != "agent_accepted" {
				err = fmt.Errorf("%s: %s", s.SubmissionOutcome, s.Reason)
			}
			done <- err
		})
		for {
			synctest.Wait()
			for _, g := range m.next() {
				m.happen(g, "")
			}
			select {
			case err := <-done:
				if err != nil {
					rt.Fatalf("stuck: the next task for %s: %v", pane, err)
				}
			default:
				m.idle(20 * time.Millisecond)
				continue
			}
			break
		}
	}
	m.check(rt)
}

// switched tells whether the Turn's conversation is not shown any more.
func (m *model) switched(t Turn) bool {
	p := m.player(t.Key.Pane.Pane)
	return p == nil || p.native != t.NativeID
}

// stored are the Turns of the store, oldest first.
func (m *model) stored() (all []Turn) {
	_ = m.db.View(func(tx *store.Tx) error {
		return turns.Each(tx, nil, func(_ string, t Turn, _ store.Rev) error { all = append(all, t); return nil })
	})
	slices.SortFunc(all, func(a, b Turn) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return all
}

// compare holds the records against the world.
func (m *model) compare(rt *rapid.T) {
	m.mu.Lock()
	defer m.mu.Unlock()
	by, natives := map[string][]Turn{}, map[string]string{}
	for _, t := range m.stored() {
		if t.Outcome != OutcomeNotSubmitted {
			by[t.RequestID] = append(by[t.RequestID], t)
		}
	}
	for text, r := range m.requests {
		ts := by[r.id]
		if r.answer {
			continue // an answer's Turn carries the ids of all its rounds
		}
		if len(ts) > 1 {
			rt.Fatalf("one dispatch: %s has %d turns", r.id, len(ts))
		}
		if len(ts) == 0 {
			if m.pasted[text] > 0 && !m.answered(r.id) {
				rt.Fatalf("%s was typed, and there is no turn", r.id)
			}
			continue
		}
		t := ts[0]
		if t.open() {
			continue // closed by settle, as the human decides
		}
		took := m.took[text] > 0
		switch {
		case len(t.Answered) > 0:
		case took && t.AcceptedAt == nil && t.Outcome != OutcomeClosed:
			if m.disturbed[text] == "" || t.Outcome != OutcomeUncertain && t.Outcome != OutcomeNotAccepted {
				rt.Fatalf("%s was taken by the agent and is told %s: %s", r.id, t.Outcome, t.Reason)
			}
			if t.Outcome == OutcomeNotAccepted && m.disturbed[text] == "" {
				rt.Fatalf("%s was taken and is told not accepted: %s", r.id, t.Reason)
			}
		case !took && t.AcceptedAt != nil:
			rt.Fatalf("%s is told accepted, no agent took it", r.id)
		case t.Outcome == OutcomeUncertain && m.disturbed[text] == "":
			rt.Fatalf("%s is told uncertain for no reason: %s", r.id, t.Reason)
		case t.Outcome == OutcomeNotAccepted && m.entered[text] > 0 && took && m.disturbed[text] == "":
			rt.Fatalf("%s was entered and is told not accepted: %s", r.id, t.Reason)
		}
		if t.AcceptedAt != nil && len(t.Answered) == 0 && t.Scope != scopeExact {
			if was := natives[t.SessionID]; was != "" && was != t.NativeID {
				rt.Fatalf("generation fence: a session took tasks in the conversations %s and %s", was, t.NativeID)
			}
			natives[t.SessionID] = t.NativeID
			if t.NativeID != m.conv[text] || t.NativeTurn != m.native[text] {
				rt.Fatalf("generation fence: %s is bound to %s %s, the agent took it in %s %s", r.id, t.NativeID, t.NativeTurn, m.conv[text], m.native[text])
			}
		}
		if t.Outcome == OutcomeCompleted {
			m.reached["completed"]++
			if t.FinalText != m.finals[t.NativeTurn] {
				rt.Fatalf("generation fence: %s ended with %q, its native turn with %q", r.id, t.FinalText, m.finals[t.NativeTurn])
			}
		}
		m.callbacks(rt, t)
	}
}

// answered tells whether an id is in a Turn's answers.
func (m *model) answered(id string) bool {
	for _, t := range m.stored() {
		if slices.Contains(t.Answered, id) || len(t.Answered) > 0 {
			return true
		}
	}
	return false
}

// callbacks: the end of a Host's task is queued exactly once (R175, B136).
func (m *model) callbacks(rt *rapid.T, t Turn) {
	if t.Route == nil {
		return
	}
	want := 0
	switch t.Outcome {
	case OutcomeCompleted, OutcomeFailed, OutcomeLost, OutcomeAborted:
		want = 1
	}
	got := 0
	_ = m.db.View(func(tx *store.Tx) error {
		return outbox.Table.Each(tx, nil, func(_ string, e outbox.Entry, _ store.Rev) error {
			if e.Envelope.Source.TurnID == t.ID && (e.Envelope.Event.Type == "done" || e.Envelope.Event.Type == "error" && e.Envelope.Event.Metadata["completion_outcome"] != nil) {
				got++
			}
			return nil
		})
	})
	if got != want {
		rt.Fatalf("one dispatch: the end (%s) of %s is queued %d times", t.Outcome, t.RequestID, got)
	}
}
