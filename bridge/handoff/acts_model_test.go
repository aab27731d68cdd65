package handoff

// This file holds what the schedules of TestDeskSchedules are made of: Hosts,
// humans, agents, time, and the daemon's death.

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"akk/agents"
	"akk/bridge/rpc"
	"akk/panes"
	"akk/store"
)

var modelHosts = []string{"a", "b"}

func modelRoute(session string) *rpc.Route {
	return &rpc.Route{Schema: "agent-knock-knock/callback-route", Version: 1, Transport: "command_json_v1", ProfileID: "example", ProfileRevision: "r-1", ControllerSessionID: session}
}

// modelHost is a Host's bridge. Its process is not known: a lost connection is
// no death.
func modelHost(session string) rpc.Caller {
	return rpc.Caller{Kind: "host", Session: session, Route: modelRoute(session)}
}

// open begins a daemon on the disk as it is.
func (m *model) open(rt *rapid.T) {
	db, err := store.Open(m.dir, store.Options{Schema: Schema(), NoSync: true})
	if err != nil {
		rt.Fatalf("opening the store: %v", err)
	}
	m.mu.Lock()
	m.wire = &wire{world: m.w, m: m}
	w := m.wire
	m.mu.Unlock()
	desk, err := New(Options{DB: db, Agents: []agents.Agent{m.w.agent}, Attach: func(context.Context, string) (panes.Provider, error) { return w, nil }})
	if err != nil {
		rt.Fatalf("opening the desk: %v", err)
	}
	m.db, m.desk = db, desk
	m.spawn(func() { _, _ = desk.Attach(m.ctx, rpc.AttachParams{Socket: m.w.id.Socket}) })
	for _, h := range modelHosts {
		m.bridge(h)
	}
	synctest.Wait()
}

// spawn runs a call that may wait; close waits for it.
func (m *model) spawn(f func()) { m.wg.Go(f) }

// close ends the daemon; what it still asks for happens, or not if it is dead.
func (m *model) close(rt *rapid.T) {
	done := make(chan struct{})
	desk, db, w := m.desk, m.db, m.wire
	go func() { desk.Close(); close(done) }()
	for n := 0; ; n++ {
		synctest.Wait()
		select {
		case <-done:
		default:
			for _, g := range m.next() {
				if g.wire == w {
					m.happen(g, "")
				}
			}
			time.Sleep(100 * time.Millisecond)
			if n > 1000 {
				rt.Fatalf("the desk does not close")
			}
			continue
		}
		break
	}
	m.wg.Wait()
	m.mu.Lock()
	dead := w.dead
	w.dead = true
	m.gates = slices.DeleteFunc(m.gates, func(g *gate) bool { return g.wire == w })
	m.mu.Unlock()
	if !dead {
		for _, err := range db.Check() {
			rt.Fatalf("store: %v", err)
		}
	}
	if err := db.Close(); err != nil {
		rt.Fatalf("closing the store: %v", err)
	}
}

// crash kills the daemon at this moment, or takes up its death at a fail point;
// keys that were with tmux arrive or not. Meanwhile the world goes on.
func (m *model) crash(rt *rapid.T, meanwhile func()) {
	m.upset("", "crash")
	m.mu.Lock()
	if !m.wire.dead {
		m.die(m.wire)
	}
	disk, w := m.disk, m.wire
	var keys []*gate
	for _, g := range m.gates {
		if g.wire == w {
			keys = append(keys, g)
		}
	}
	m.mu.Unlock()
	arrives := len(keys) > 0 && rapid.Bool().Draw(rt, "arrives")
	for _, g := range keys {
		m.drop(g)
		if arrives {
			_, _ = m.arrive(g.write)
		}
		g.done <- verdict{err: errKilled}
	}
	m.close(rt)
	m.mu.Lock()
	m.out, m.killIn = map[string]rpc.Lease{}, 0
	m.mu.Unlock()
	m.reach("crashed")
	meanwhile()
	m.deaths++
	next := filepath.Join(filepath.Dir(m.dir), fmt.Sprint("d", m.deaths))
	if err := os.Mkdir(next, 0o700); err != nil {
		rt.Fatalf("%v", err)
	}
	if err := os.WriteFile(filepath.Join(next, store.FileName), disk, 0o600); err != nil {
		rt.Fatalf("%v", err)
	}
	m.dir = next
	m.open(rt)
}

// alive tells whether an answer reached its caller.
func (m *model) alive(w *wire) bool { m.mu.Lock(); defer m.mu.Unlock(); return !w.dead }

// bridge takes a Host's callbacks; its outcomes are told by the schedule.
func (m *model) bridge(h string) {
	desk, w := m.desk, m.wire
	m.spawn(func() {
		_ = desk.Deliveries(m.ctx, modelHost(h), func(l rpc.Lease) error {
			m.mu.Lock()
			defer m.mu.Unlock()
			if w.dead {
				return errKilled
			}
			id := l.Envelope.DeliveryID
			switch {
			case l.Envelope.Route.ControllerSessionID != h:
				m.fault("one owner: a callback of %s went to %s", l.Envelope.Route.ControllerSessionID, h)
			case m.accepted[id]:
				m.fault("one dispatch: a callback was delivered again after it was accepted")
			case m.out[id].LeaseID != "":
				m.fault("one dispatch: a callback is with two bridges")
			}
			m.out[id] = l
			return nil
		})
	})
}

// outcome tells what became of a lease that is out.
func (m *model) outcome(rt *rapid.T) {
	m.mu.Lock()
	ids := []string{}
	for id := range m.out {
		ids = append(ids, id)
	}
	m.mu.Unlock()
	if len(ids) == 0 {
		return
	}
	slices.Sort(ids)
	id := rapid.SampledFrom(ids).Draw(rt, "delivery")
	word := rapid.SampledFrom([]string{rpc.OutcomeAccepted, rpc.OutcomeAccepted, rpc.OutcomeRetryable, rpc.OutcomeUncertain}).Draw(rt, "word")
	m.tell(id, word)
}

func (m *model) tell(id, word string) {
	m.mu.Lock()
	l := m.out[id]
	delete(m.out, id)
	m.mu.Unlock()
	desk, w := m.desk, m.wire
	m.spawn(func() {
		_, err := desk.Outcome(m.ctx, modelHost(l.Envelope.Route.ControllerSessionID), rpc.OutcomeParams{DeliveryID: id, LeaseID: l.LeaseID, Outcome: word, AcceptanceID: "x"})
		m.mu.Lock()
		defer m.mu.Unlock()
		if err == nil && !w.dead && word == rpc.OutcomeAccepted {
			m.accepted[id] = true
			m.reached["delivered"]++
		}
	})
	synctest.Wait()
}

// send is a Host or a human with one of few request ids: the same id has always
// the same text.
func (m *model) send(rt *rapid.T, scope string) {
	n := rapid.IntRange(1, 6).Draw(rt, "request")
	id, text := fmt.Sprint("r", n), fmt.Sprint("task ", n)
	c := human
	if h := rapid.SampledFrom([]string{"a", "a", "b", ""}).Draw(rt, "who"); h != "" {
		c = modelHost(h)
	}
	pane := fmt.Sprint("%", rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(rt, "pane"))
	if scope == "" {
		scope = rapid.SampledFrom([]string{scopeFollow, scopeFollow, scopeExplicit, scopeExact}).Draw(rt, "scope")
	}
	which := rapid.IntRange(0, 5).Draw(rt, "session")
	m.mu.Lock()
	r := m.requests[text]
	if r == nil {
		r = &request{id: id, text: text, pane: pane, scope: scope, turns: map[string]bool{}}
		m.requests[text] = r
		if scope == scopeExact {
			var known []string
			for s := range m.bound {
				known = append(known, s)
			}
			if slices.Sort(known); len(known) > 0 {
				r.session = known[which%len(known)]
				r.pane = m.where[r.session]
				m.reached["for a session"]++
			} else {
				r.scope = scopeFollow
			}
		}
	}
	m.mu.Unlock()
	p := rpc.SendParams{ID: r.pane, Request: text, RequestID: id, Explicit: r.scope == scopeExplicit, AcceptWaitMillis: 3000}
	if r.scope == scopeExact {
		p.ID, p.SessionID = "", r.session
	}
	m.call(r, func(d *Desk) (rpc.Send, error) { return d.Send(m.ctx, c, p) })
}

// call makes one call for a request and keeps what its caller is told.
func (m *model) call(r *request, f func(*Desk) (rpc.Send, error)) {
	desk, w := m.desk, m.wire
	m.spawn(func() {
		s, err := f(desk)
		m.mu.Lock()
		defer m.mu.Unlock()
		switch {
		case w.dead:
		case err != nil:
			m.reached["refused"]++
		default:
			m.result(r, s)
		}
	})
	synctest.Wait()
}

// result compares an answer with those before it; m.mu is held.
func (m *model) result(r *request, s rpc.Send) {
	m.reached[s.SubmissionOutcome]++
	if s.Replayed {
		m.reached["replayed"]++
	}
	if s.SubmissionOutcome == "aborted" {
		if !r.answer && m.pasted[r.text] > 0 {
			m.fault("%s was pasted and is told aborted", r.id)
		}
		return
	}
	if !r.answer && s.SubmissionOutcome != "pending_acceptance" { // which may still turn out as nothing
		r.turns[s.TurnID] = true
		if len(r.turns) > 1 {
			m.fault("one dispatch: %s has %d turns", r.id, len(r.turns))
		}
	}
	if s.SubmissionOutcome == "agent_accepted" && !r.answer {
		if m.took[r.text] == 0 {
			m.fault("%s is told accepted, no agent took it", r.id)
		}
		if r.scope != scopeExact && !m.moved(r) { // the former stays where it was sent, whatever took it
			m.bind(s.SessionID, r.text, r.pane)
		}
	}
}

// moved tells whether an answer of the request's Turn was taken in another
// conversation than its task: the human left that one between the answer's text
// and its Enter, and there the Turn goes on. m.mu is held.
func (m *model) moved(r *request) bool {
	for text, a := range m.requests {
		if a.answer && strings.HasSuffix(text, " to "+r.id) && m.took[text] > 0 && m.conv[text] != m.conv[r.text] {
			return true
		}
	}
	return false
}

// bind: all tasks that a Session's Turns were accepted with are of one
// conversation; m.mu is held.
func (m *model) bind(session, text, pane string) {
	if was := m.bound[session]; was != "" && was != m.conv[text] {
		m.fault("generation fence: session %s took tasks in the conversations %s and %s (%q, taken %d times; bound before at %s, now at %s)", session, was, m.conv[text], text, m.took[text], m.where[session], pane)
	}
	m.bound[session], m.where[session] = m.conv[text], pane
}

// turnOf is a Turn that the store knows, drawn; running ones only, if asked for.
func (m *model) turnOf(rt *rapid.T, running bool) (t Turn) {
	all := m.stored()
	if running {
		all = slices.DeleteFunc(all, func(t Turn) bool { return !t.open() || t.AcceptedAt == nil })
	}
	if len(all) == 0 {
		return t
	}
	return rapid.SampledFrom(all).Draw(rt, "turn")
}

// owner is who sent a Turn.
func (m *model) owner(t Turn) rpc.Caller {
	if t.Host == "host" {
		return modelHost(t.Owner)
	}
	return human
}

// manage interrupts, closes or answers a Turn, as its owner, the human or the
// other Host, who must be refused.
func (m *model) manage(rt *rapid.T, what string) {
	t := m.turnOf(rt, what == "respond")
	if t.ID == "" {
		return
	}
	c, foreign := m.owner(t), false
	switch rapid.SampledFrom([]string{"owner", "owner", "human", "foreign"}).Draw(rt, "as") {
	case "human":
		c = human
	case "foreign":
		c = modelHost("b")
		if t.Owner == "b" {
			c = modelHost("a")
		}
		foreign = t.Host == "host" // what a human sent may be a Host's to manage
	}
	if what == "" {
		what = rapid.SampledFrom([]string{"cancel", "cancel", "close", "respond", "retry"}).Draw(rt, "what")
	}
	pane := t.Key.Pane.Pane
	desk, w := m.desk, m.wire
	check := func(err error) {
		m.mu.Lock()
		defer m.mu.Unlock()
		if err == nil && !w.dead {
			m.reached[what]++
			if foreign {
				m.fault("one owner: another Host's %s was carried out", what)
			}
		}
	}
	switch what {
	case "cancel":
		m.mu.Lock()
		if !foreign {
			m.cancels[pane]++
		}
		m.mu.Unlock()
		m.spawn(func() { _, err := desk.Cancel(m.ctx, c, rpc.CancelParams{TurnID: t.ID}); check(err) })
	case "close":
		m.spawn(func() { _, err := desk.CloseTurn(m.ctx, c, rpc.CloseParams{TurnID: t.ID}); check(err) })
	case "retry":
		m.spawn(func() { _, err := desk.RetrySubmission(m.ctx, c, rpc.TurnParams{TurnID: t.ID}); check(err) })
	case "respond":
		n := rapid.IntRange(1, 3).Draw(rt, "answer")
		text := fmt.Sprint("answer ", n, " to ", t.RequestID)
		m.mu.Lock()
		r := m.requests[text]
		if r == nil && !foreign {
			r = &request{id: "a" + text, text: text, pane: pane, answer: true, turns: map[string]bool{}}
			m.requests[text] = r
		}
		m.mu.Unlock()
		m.spawn(func() {
			s, err := desk.Respond(m.ctx, c, rpc.RespondParams{TurnID: t.ID, Request: text, RequestID: "a" + text, AcceptWaitMillis: 2000})
			if !s.Replayed || err != nil { // a receipt is no deed
				check(err)
			}
			m.mu.Lock()
			defer m.mu.Unlock()
			if err == nil && !w.dead && r != nil {
				m.result(r, s)
			}
		})
	}
	synctest.Wait()
}

// take moves the human's hold.
func (m *model) take(rt *rapid.T, pane string, take bool) {
	desk, w := m.desk, m.wire
	if !take {
		m.mu.Lock()
		m.letGo(pane)
		m.mu.Unlock()
		m.spawn(func() { _, _ = desk.Handback(m.ctx, human, rpc.HoldParams{ID: pane}) })
		synctest.Wait()
		return
	}
	m.upset(pane, "takeover")
	m.mu.Lock()
	since := m.freed[pane]
	m.mu.Unlock()
	m.spawn(func() {
		_, err := desk.Takeover(m.ctx, human, rpc.HoldParams{ID: pane})
		m.mu.Lock()
		defer m.mu.Unlock()
		if err == nil && !w.dead && m.freed[pane] == since {
			m.held[pane] = true
			m.reached["held"]++
		}
	})
	synctest.Wait()
}

// letGo: the hold may end from now on; m.mu is held.
func (m *model) letGo(pane string) { m.held[pane] = false; m.freed[pane]++ }

// restore puts a cleared draft back, if one is kept.
func (m *model) restore(pane string) {
	m.mu.Lock()
	m.restoring = true
	m.mu.Unlock()
	desk := m.desk
	done := make(chan error, 1)
	m.spawn(func() { _, err := desk.RestoreDraft(m.ctx, human, rpc.TargetParams{ID: pane}); done <- err })
	for range 200 {
		synctest.Wait()
		select {
		case err := <-done:
			m.mu.Lock()
			m.restoring = false
			if err == nil {
				m.reached["restored"]++
				m.typed[pane], m.typedIn[pane] = time.Now(), m.wire
			}
			m.mu.Unlock()
			return
		default:
			for _, g := range m.next() {
				m.happen(g, "")
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
}

// keyboard is a human at the keyboard of a pane.
func (m *model) keyboard(rt *rapid.T, p *player) {
	what := rapid.SampledFrom([]string{"x", "x", "erase", "enter", "own task", "draft", "draft"}).Draw(rt, "keys")
	p.mu.Lock()
	was := p.text
	p.mu.Unlock()
	if was == "" && (what == "erase" || what == "enter") || was == halfThought && what == "draft" || !m.hands(p) {
		return // nothing that anybody could see
	}
	switch what {
	case "x":
		p.set(func(p *player) { p.text += "x" })
	case "draft":
		m.draft(p)
	case "erase":
		p.set(func(p *player) { p.text = "" })
	case "own task":
		p.set(func(p *player) { p.text = "my own" })
		m.enter(p)
	case "enter":
		m.enter(p)
	}
	synctest.Wait()
}

// hands tells whether a human's keys get into the composer, and notes them.
func (m *model) hands(p *player) bool {
	m.mu.Lock()
	locked := time.Now().Before(m.locked[p.id])
	m.mu.Unlock()
	p.mu.Lock()
	composer := p.owner == agents.OwnerComposer
	p.mu.Unlock()
	if locked || !composer {
		return false
	}
	m.upset(p.id, "a human typed")
	m.mu.Lock()
	m.typed[p.id], m.typedIn[p.id] = time.Now(), m.wire
	m.mu.Unlock()
	return true
}

const halfThought = "half a thought of a human" // of no request's length: the cursor tells them apart

// draft is what a human began to write; an explicit send may clear it when it
// is old.
func (m *model) draft(p *player) {
	p.set(func(p *player) { p.text = halfThought })
	synctest.Wait()
}

// agent is what an agent, or the human's hand in its life, does by itself.
func (m *model) agent(rt *rapid.T, p *player) {
	what := rapid.SampledFrom([]string{"complete", "complete", "complete", "fail", "ask", "ask", "approval", "approved", "another conversation", "exit"}).Draw(rt, "agent")
	p.mu.Lock()
	working, blocked := p.activity == agents.Working, p.owner == agents.OwnerApproval
	p.mu.Unlock()
	switch {
	case what == "complete" && working:
		m.finish(p, agents.LogCompleted)
	case what == "fail" && working:
		m.finish(p, agents.LogFailed)
	case what == "ask" && working:
		p.set(func(p *player) { p.asks = true })
	case what == "approval" && working:
		m.upset(p.id, "an approval")
		p.set(func(p *player) { p.activity, p.owner = agents.Blocked, agents.OwnerApproval })
	case what == "approved" && blocked:
		p.set(func(p *player) { p.activity, p.owner = agents.Working, agents.OwnerComposer })
	case what == "another conversation" && !blocked && rapid.IntRange(0, 2).Draw(rt, "rare") == 0:
		m.leaveConversation(p)
	case what == "exit" && rapid.IntRange(0, 3).Draw(rt, "rare") == 0:
		m.upset(p.id, "the agent ended")
		m.mu.Lock()
		m.letGo(p.id) // its hold ends with it
		m.mu.Unlock()
		m.w.leave(p)
		m.reach("exited")
	}
	synctest.Wait()
}

// leaveConversation is a human who begins another one.
func (m *model) leaveConversation(p *player) {
	m.upset(p.id, "another conversation")
	m.mu.Lock()
	delete(m.runs, p.pid)
	m.count++
	name := fmt.Sprint("conversation-", m.count)
	m.leftAt[p.id] = time.Now()
	m.mu.Unlock()
	p.set(func(p *player) {
		p.native, p.activity, p.asks = name, agents.Idle, false
		p.add(agents.LogEvent{Kind: agents.LogSession})
	})
	m.reach("switched")
	synctest.Wait()
}

// start runs an agent in a pane without one.
func (m *model) start(pane string) {
	p := m.w.playIn(pane)
	p.mu.Lock()
	p.onEnter, p.onKeys = m.enter, m.press
	p.mu.Unlock()
	synctest.Wait()
}
