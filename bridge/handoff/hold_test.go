package handoff

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"akk/agents"
	"akk/bridge/rpc"
)

var human = rpc.Caller{Kind: "human"}

func host(session string) rpc.Caller { return rpc.Caller{Kind: "host", Session: session, PID: 7} }

func forbidden(t *testing.T, err error) {
	t.Helper()
	var e *rpc.Error
	if !errors.As(err, &e) || e.Code != rpc.CodeForbidden || e.Cure == "" {
		t.Fatalf("not forbidden: %v", err)
	}
}

// The pure move of a hold.
func TestNextHold(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	hard := &rpc.Hold{By: "human", Since: now, Note: "mine"}
	soft := &rpc.Hold{By: "human", Soft: true, Since: now}
	for _, c := range []struct {
		name    string
		h       *rpc.Hold
		take    bool
		note    string
		want    *rpc.Hold
		changed bool
	}{
		{"nobody, take", nil, true, "n", &rpc.Hold{By: "human", Since: now.Add(time.Hour), Note: "n"}, true},
		{"typing, take", soft, true, "", &rpc.Hold{By: "human", Since: now.Add(time.Hour)}, true},
		{"held, take again", hard, true, "", hard, false},
		{"held, another note", hard, true, "n2", &rpc.Hold{By: "human", Since: now, Note: "n2"}, true},
		{"held, hand back", hard, false, "", nil, true},
		{"nobody, hand back", nil, false, "", nil, false},
	} {
		got, changed := nextHold(c.h, c.take, c.note, now.Add(time.Hour))
		if changed != c.changed || (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%s: %+v %v", c.name, got, changed)
		}
	}
}

// R174: takeover and handback: refused sends say who and since when, the running
// Turn stays watched and is marked, both moves are journalled with it, the hold
// outlives the daemon; B37.
func TestTakeover(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	s, err := b.send(row.ID, "long work")
	if err != nil {
		t.Fatal(err)
	}
	b.row(p, agents.Working)
	for _, c := range []rpc.Caller{{Kind: "agent", TerminalID: row.ID}, {Kind: "unknown"}, host("h")} { // unknown is not the human
		_, err := b.desk.Takeover(t.Context(), c, rpc.HoldParams{ID: row.ID})
		forbidden(t, err)
	}
	r, err := b.desk.Takeover(t.Context(), human, rpc.HoldParams{ID: row.ID, Note: "let me\nlook"})
	if err != nil || !r.Changed || r.Hold == nil || r.Hold.Soft || r.Hold.Note != "let me look" || r.TurnID != s.TurnID {
		t.Fatalf("%v %+v", err, r)
	}
	if r, err = b.desk.Takeover(t.Context(), human, rpc.HoldParams{ID: row.ID}); err != nil || r.Changed {
		t.Fatalf("a second time: %v %+v", err, r)
	}
	b.until("marked", func() bool { return b.turn(s.TurnID).HumanSince != nil })
	b.restart()
	b.until("the hold is there again", func() bool {
		rows := b.rows()
		return len(rows) == 1 && rows[0].Hold != nil && rows[0].Hold.Note == "let me look"
	})
	p.complete("done under the human's eyes")
	b.until("the turn was watched", func() bool { return b.turn(s.TurnID).Outcome == OutcomeCompleted })
	b.row(p, agents.Idle)
	_, err = b.send(row.ID, "more")
	b.refused(err, "a human holds the terminal")
	if !strings.Contains(err.Error(), "let me look") {
		t.Fatalf("the note is not told: %v", err)
	}
	_, err = b.desk.Send(t.Context(), human, rpc.SendParams{ID: row.ID, Request: "more", Explicit: true}) // a human's hold refuses it too
	b.refused(err, "a human holds the terminal")
	if _, ok := b.rowsAs(host("h"))[0].AvailableActions["send"]; ok {
		t.Fatal("a send is offered over a human's hold")
	}
	_, err = b.desk.Handback(t.Context(), rpc.Caller{Kind: "agent"}, rpc.HoldParams{ID: row.ID})
	forbidden(t, err)
	if r, err = b.desk.Handback(t.Context(), human, rpc.HoldParams{ID: row.ID}); err != nil || !r.Changed || r.Hold != nil {
		t.Fatalf("%v %+v", err, r)
	}
	if next, err := b.send(row.ID, "more"); err != nil || next.SubmissionOutcome != "agent_accepted" || next.SessionID != s.SessionID { // both went on in one session
		t.Fatalf("after the handback: %v %+v", err, next)
	}
	var moves []string
	for _, e := range b.events() {
		if e.Type == "hold" {
			moves = append(moves, e.Change)
			if e.Change == holdTakeover && e.TurnID != s.TurnID {
				t.Errorf("the takeover names the turn %q", e.TurnID)
			}
		}
	}
	if got := strings.Join(moves, " "); got != "takeover handback" {
		t.Fatalf("hold events: %s", got)
	}
	b.restart()
	b.row(p, agents.Working)
	if b.rows()[0].Hold != nil {
		t.Fatal("the hold came back after a restart")
	}
}

// A takeover between text and Enter: the send stops, told not accepted, no
// Enter; a later Enter of the human counts as acceptance (the log says so).
func TestTakeoverBetweenTextAndEnter(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.w.agent.plan.SettleMillis = 2000
	p := b.w.play()
	row := b.row(p, agents.Idle)
	done := make(chan rpc.Send, 1)
	go func() {
		s, _ := b.send(row.ID, "the task")
		done <- s
	}()
	b.until("the text stands there", func() bool { return p.bytes() == "the task" })
	if _, err := b.desk.Takeover(t.Context(), human, rpc.HoldParams{ID: row.ID}); err != nil {
		t.Fatal(err)
	}
	s := <-done
	if s.Status != "submission_not_accepted" || !strings.Contains(s.Reason, "took the terminal") || p.bytes() != "the task" || s.Delivered {
		t.Fatalf("%+v %q", s, p.bytes())
	}
	b.until("the keys are the human's at once", func() bool { return b.w.releases(p.id) == 1 })
	p.accept()
	b.until("accepted after all", func() bool { return b.turn(s.TurnID).Stage == StageAccepted })
}

// Who has taken a terminal over meets no key of ours any more: what was on its
// way has arrived before that is answered.
func TestTakeoverBehindAKey(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	entered, goOn := make(chan struct{}, 8), make(chan struct{})
	b.w.onInput = func() { entered <- struct{}{}; <-goOn }
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_, _ = b.send(row.ID, "the task")
	}()
	<-entered
	taken := make(chan string, 2)
	take := func() {
		if _, err := b.desk.Takeover(t.Context(), human, rpc.HoldParams{ID: row.ID}); err != nil {
			t.Error(err)
		}
		taken <- p.bytes()
	}
	go take()
	b.until("the hold is in force", func() bool { rows := b.rows(); return len(rows) == 1 && rows[0].Hold != nil })
	go take() // a second time: nothing changes, and the text is still on its way
	select {
	case <-taken:
		t.Error("answered, and a text is on its way")
	case <-time.After(50 * time.Millisecond):
	}
	close(goOn)
	for range 2 {
		if have := <-taken; have != "the task" {
			t.Errorf("%q had arrived", have)
		}
	}
	<-sent
	if have := p.bytes(); have != "the task" {
		t.Errorf("%q: more came behind the answer", have)
	}
}

// A new task is not typed while the lock of the one before is being opened: its
// own lock would be opened with it.
func TestBusyUntilTheLockIsOpen(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.w.agent.plan.SettleMillis = 2000
	open := make(chan struct{})
	b.w.onRelease = func() { <-open }
	p := b.w.play()
	row := b.row(p, agents.Idle)
	done := make(chan rpc.Send, 1)
	go func() {
		s, _ := b.send(row.ID, "the task")
		done <- s
	}()
	b.until("the text stands there", func() bool { return p.bytes() == "the task" })
	if _, err := b.desk.Takeover(t.Context(), human, rpc.HoldParams{ID: row.ID}); err != nil {
		t.Fatal(err)
	}
	<-done
	p.set(func(p *player) { p.text = "" }) // the human empties the composer
	if _, err := b.desk.Handback(t.Context(), human, rpc.HoldParams{ID: row.ID}); err != nil {
		t.Fatal(err)
	}
	missing := func(words string) bool {
		e, err := b.desk.Explain(t.Context(), human, rpc.TargetParams{ID: row.ID})
		return err == nil && slices.ContainsFunc(e.Missing, func(m string) bool { return strings.Contains(m, words) })
	}
	b.until("only the lock is in the way", func() bool { return missing("is being typed") && !missing("holds the terminal") })
	if _, err := b.send(row.ID, "the next"); err == nil {
		t.Fatal("sent before the lock was open")
	}
	close(open)
	b.until("no longer busy", func() bool { return !missing("is being typed") })
	if p.bytes() != "the task" {
		t.Fatalf("typed %q", p.bytes())
	}
}

// A hold of an agent that has ended is not the next agent's.
func TestHoldEndsWithTheAgent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	if _, err := b.desk.Takeover(t.Context(), human, rpc.HoldParams{ID: row.ID}); err != nil {
		t.Fatal(err)
	}
	b.w.leave(p)
	b.until("gone", func() bool { return len(b.rows()) == 0 })
	again := b.w.playIn(p.id)
	if r := b.row(again, agents.Idle); r.Hold != nil {
		t.Fatalf("%+v", r.Hold)
	}
	_, err := b.desk.Takeover(t.Context(), human, rpc.HoldParams{ID: row.ID})
	b.refused(err, "no agent's terminal")
}

// Human typing, pure in time: what stands there at first sight counts as typed
// just now; erasing is typing; a text that akk typed is not; 5 s later it is old.
func TestTyped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reading := func(text string, a agents.Activity) agents.Reading {
			r := agents.Reading{Activity: a, Owner: agents.OwnerComposer, Composer: agents.ComposerDraft, Draft: text}
			if text == "" {
				r.Composer = agents.ComposerEmpty
			}
			return r
		}
		x := &terminal{desk: &Desk{}, timer: time.NewTimer(time.Hour), leftText: "our own text"}
		see := func(text string, a agents.Activity) bool {
			before := x.facts.TypedAt
			time.Sleep(time.Second)
			x.typed(reading(text, a), time.Now())
			return x.facts.TypedAt != before
		}
		for i, step := range []struct {
			text string
			a    agents.Activity
			want bool
		}{
			{"", agents.Idle, false}, {"h", agents.Idle, true}, {"h", agents.Idle, false}, {"he", agents.Idle, true}, {"h", agents.Idle, true},
			{"", agents.Idle, true},       // erased
			{"h i", agents.Working, true}, // typed into running work
			{"", agents.Working, false},   // submitted
			{"our  own text", agents.Idle, false},
			{"our own text!", agents.Idle, true},
		} {
			if got := see(step.text, step.a); got != step.want {
				t.Errorf("step %d %q: typed %v", i, step.text, got)
			}
		}
		x.timer.Stop()
	})
}
