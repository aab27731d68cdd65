package handoff

import (
	"slices"
	"strings"
	"testing"
	"time"

	"akk/agents"
	"akk/bridge/rpc"
)

// R124, R125, scenario 68: a Watch on a working human's task follows exactly it.
func TestScenario68ExactWatch(t *testing.T) {
	b := newBench(t)
	p := b.w.play()
	b.row(p, agents.Idle)
	human := func(text, turn string) {
		p.set(func(p *player) {
			p.add(agents.LogEvent{Kind: agents.LogTurnStarted, TurnID: turn})
			p.add(agents.LogEvent{Kind: agents.LogAccepted, Hash: agents.HashRequest(text), TurnID: turn})
			p.activity = agents.Working
		})
	}
	human("build it", "t1")
	b.row(p, agents.Working)
	host := hostCaller("s-1")
	in := b.bridge(host, rpc.OutcomeAccepted)
	var w rpc.Watch
	b.until("the log is known", func() bool {
		r, err := b.desk.Watch(t.Context(), host, rpc.WatchParams{ID: p.id})
		if err != nil {
			t.Fatal(err)
		}
		if w = r.Watch; w.WatchMode == modeExact {
			return true
		}
		_, err = b.desk.Unwatch(t.Context(), host, rpc.WatchIDParams{WatchID: w.WatchID})
		in.next("cancelled")
		return err != nil
	})
	if w.Confidence != "exact" || w.Status != WatchActive || w.DeadlineAt.Sub(w.CreatedAt) != watchDefault || w.AvailableActions["unwatch"].Tool == "" {
		t.Errorf("%+v", w)
	}
	// R129: the same again is the same; another Host's is its own.
	r, err := b.desk.Watch(t.Context(), host, rpc.WatchParams{ID: p.id})
	if err != nil || r.Watch.WatchID != w.WatchID {
		t.Errorf("R129: %s, was %s, %v", r.Watch.WatchID, w.WatchID, err)
	}
	r, err = b.desk.Watch(t.Context(), hostCaller("s-2"), rpc.WatchParams{ID: p.id})
	if err != nil || r.Watch.WatchID == w.WatchID {
		t.Errorf("another Host got %s %v", r.Watch.WatchID, err)
	}
	l, err := b.desk.List(t.Context(), host, rpc.ListParams{})
	if err != nil || len(l.TerminalWatches) != 1 || l.TerminalWatches[0].WatchID != w.WatchID {
		t.Errorf("list: %+v %v", l.TerminalWatches, err)
	}
	if l, _ := b.desk.List(t.Context(), rpc.Caller{Kind: "human"}, rpc.ListParams{}); len(l.TerminalWatches) != 2 {
		t.Error("a human sees every watch")
	}
	if _, err := b.desk.WatchStatus(t.Context(), hostCaller("s-2"), rpc.WatchIDParams{WatchID: w.WatchID}); err == nil {
		t.Error("R130: another Host read it")
	}
	p.ask("x")
	in.next("approval_required")
	p.draw()
	in.quiet()
	p.set(func(p *player) {
		p.add(agents.LogEvent{Kind: agents.LogCompleted, TurnID: "t1", Text: "built"})
		p.activity, p.owner = agents.Idle, agents.OwnerComposer
	})
	e := in.next("completed")
	if e.Source.Kind != "terminal_watch" || e.Source.WatchID != w.WatchID || e.DeliveryID != e.Event.ID || e.Event.Metadata["completion_text"] != "built" {
		t.Errorf("%+v", e)
	}
	human("another", "t2")
	in.quiet()
	got, err := b.desk.WatchStatus(t.Context(), host, rpc.WatchIDParams{WatchID: w.WatchID})
	if err != nil || got.Watch.Status != WatchCompleted || got.Watch.Settlement.ReasonCode != reasonCompleted || got.Watch.ActivityState != "settled" {
		t.Errorf("%+v %v", got, err)
	}
	b.until("both were delivered", func() bool {
		got, _ := b.desk.WatchStatus(t.Context(), host, rpc.WatchIDParams{WatchID: w.WatchID})
		return got.Watch.Callback.Delivered == 2
	})
	if p.bytes() != "" {
		t.Errorf("a watch typed %q", p.bytes())
	}
}

// R137, R139: settlement supersedes an approval that was not delivered; a Watch
// goes on after a restart and finds what ended meanwhile.
func TestR139WatchSurvives(t *testing.T) {
	b := newBench(t)
	p := b.w.play()
	p.set(func(p *player) {
		p.add(agents.LogEvent{Kind: agents.LogAccepted, Hash: "h", TurnID: "t1"})
		p.activity = agents.Working
	})
	b.row(p, agents.Working)
	host := hostCaller("s-1")
	var w rpc.Watch
	b.until("exact", func() bool {
		r, err := b.desk.Watch(t.Context(), host, rpc.WatchParams{ID: p.id, HardTimeoutMinutes: 5})
		if err != nil {
			t.Fatal(err)
		}
		w = r.Watch
		if w.WatchMode != modeExact {
			_, _ = b.desk.Unwatch(t.Context(), rpc.Caller{Kind: "human"}, rpc.WatchIDParams{WatchID: w.WatchID})
		}
		return w.WatchMode == modeExact
	})
	p.ask("x")
	b.until("the approval is queued", func() bool {
		r, _ := b.desk.WatchStatus(t.Context(), host, rpc.WatchIDParams{WatchID: w.WatchID})
		return r.Watch.Callback.Pending == 1
	})
	b.close()
	p.set(func(p *player) {
		p.add(agents.LogEvent{Kind: agents.LogCompleted, TurnID: "t1", Text: "done meanwhile"})
		p.activity, p.owner, p.text = agents.Idle, agents.OwnerComposer, ""
	})
	b.open()
	b.until("it settles", func() bool {
		r, err := b.desk.WatchStatus(t.Context(), host, rpc.WatchIDParams{WatchID: w.WatchID})
		return err == nil && r.Watch.Status == WatchCompleted && r.Watch.Callback.Superseded == 1
	})
	in := b.bridge(host, rpc.OutcomeAccepted)
	for {
		e := <-in.got
		if e.Event.Type == "completed" {
			break
		}
		if e.Event.Type != "cancelled" {
			t.Fatalf("told %s", e.Event.Type)
		}
	}
	in.quiet()
}

// R126, R134, R135: without a task in the log the activity is watched; stable
// idle after it ends the Watch without a text.
func TestR126ActivityWatch(t *testing.T) {
	b := newBench(t)
	p := b.w.play()
	b.row(p, agents.Idle)
	host := hostCaller("s-1")
	in := b.bridge(host, rpc.OutcomeAccepted)
	r, err := b.desk.Watch(t.Context(), host, rpc.WatchParams{ID: p.id})
	if err != nil || r.Watch.WatchMode != modeActivity || r.Watch.Confidence != "best_effort" {
		t.Fatalf("%+v %v", r, err)
	}
	if !slices.ContainsFunc(r.Watch.Warnings, func(s string) bool { return strings.HasPrefix(s, "terminal_activity_armed_for_next_activity: ") }) {
		t.Errorf("warnings: %q", r.Watch.Warnings)
	}
	p.work()
	b.row(p, agents.Working)
	began := time.Now()
	p.set(func(p *player) { p.activity = agents.Idle })
	e := in.next("completed")
	if took := time.Since(began); took < stableGuess-100*time.Millisecond {
		t.Errorf("settled after %s", took)
	}
	if e.Event.Metadata["reason_code"] != reasonStableIdle || e.Event.Metadata["completion_text"] != nil || e.Event.Metadata["confidence"] != "best_effort" {
		t.Errorf("%+v", e.Event)
	}
}

// R127, R130, scenario 73: what refuses a Watch; unwatch is idempotent and
// types nothing; the end of the agent invalidates it.
func TestScenario73Unwatch(t *testing.T) {
	b := newBench(t)
	p := b.w.play()
	b.row(p, agents.Idle)
	human := rpc.Caller{Kind: "human"}
	if _, err := b.desk.Watch(t.Context(), human, rpc.WatchParams{ID: "terminal:v2:tmux:codex:none:0.0:1"}); err == nil {
		t.Error("R127: an absent terminal was watched")
	}
	if _, err := b.desk.Watch(t.Context(), human, rpc.WatchParams{ID: b.w.pane()}); err == nil {
		t.Error("R127: a shell was watched")
	}
	r, err := b.desk.Watch(t.Context(), human, rpc.WatchParams{ID: p.id})
	if err != nil {
		t.Fatal(err)
	}
	id := rpc.WatchIDParams{WatchID: r.Watch.WatchID}
	one, err := b.desk.Unwatch(t.Context(), human, id)
	if err != nil || one.Watch.Status != WatchCancelled || one.Watch.Settlement.ReasonCode != reasonCancel {
		t.Fatalf("%+v %v", one, err)
	}
	two, err := b.desk.Unwatch(t.Context(), human, id)
	if err != nil || !two.Watch.Settlement.ObservedAt.Equal(one.Watch.Settlement.ObservedAt) {
		t.Errorf("a second unwatch: %+v %v", two, err)
	}
	if _, err := b.desk.Unwatch(t.Context(), human, rpc.WatchIDParams{WatchID: r.Watch.WatchID[:20]}); err == nil {
		t.Error("R130: part of an id was taken")
	}
	r, err = b.desk.Watch(t.Context(), human, rpc.WatchParams{ID: p.id})
	if err != nil {
		t.Fatal(err)
	}
	b.w.leave(p)
	b.until("the agent's end invalidates it", func() bool {
		got, err := b.desk.WatchStatus(t.Context(), human, rpc.WatchIDParams{WatchID: r.Watch.WatchID})
		return err == nil && got.Watch.Status == WatchInvalid && got.Watch.Settlement.ReasonCode == reasonProcess
	})
	if p.bytes() != "" {
		t.Errorf("typed %q", p.bytes())
	}
}

// R128, scenario 70: a Watch and a managed Turn run side by side.
func TestScenario70BesideTurn(t *testing.T) {
	b := newBench(t)
	p := b.w.play()
	host := hostCaller("s-1")
	in := b.bridge(host, rpc.OutcomeAccepted)
	s := b.sendAs(host, p, "do it")
	r, err := b.desk.Watch(t.Context(), host, rpc.WatchParams{ID: p.id})
	if err != nil || r.Watch.WatchMode != modeExact {
		t.Fatalf("%+v %v", r, err)
	}
	p.complete("done")
	kinds := []string{(<-in.got).Event.Type, (<-in.got).Event.Type}
	slices.Sort(kinds)
	if !slices.Equal(kinds, []string{"completed", "done"}) {
		t.Errorf("told %v", kinds)
	}
	in.quiet()
	if got := b.turnStatus(s.TurnID).Status; got != "idle" {
		t.Error(got)
	}
}

// R50 to R53: the automatic Watch of a send that no Turn was made for.
func TestR50FallbackWatch(t *testing.T) {
	b := newBench(t)
	p := b.w.play()
	b.row(p, agents.Idle)
	host := hostCaller("s-1")
	in := b.bridge(host, rpc.OutcomeAccepted)
	v, bad := b.desk.resolve(p.id, "")
	if bad != nil {
		t.Fatal(bad)
	}
	ids := make(chan string, 2)
	h := agents.HashRequest("by hand")
	for range 2 { // the same send twice is one Watch
		b.desk.terminalOf(v).box.post(message{do: func(t *terminal) {
			ids <- t.fallbackWatch(host, "msg-1", h, "", Anchor{Time: time.Now()})
		}})
	}
	if a, c := <-ids, <-ids; a != c || !strings.HasPrefix(a, "terminal-watch-user-send-") {
		t.Fatal(a, c)
	}
	p.set(func(p *player) {
		p.add(agents.LogEvent{Kind: agents.LogAccepted, Hash: "somebody else's", TurnID: "t0"})
		p.add(agents.LogEvent{Kind: agents.LogCompleted, TurnID: "t0"})
	})
	in.quiet()
	p.set(func(p *player) {
		p.add(agents.LogEvent{Kind: agents.LogAccepted, Hash: h, TurnID: "t1"})
		p.add(agents.LogEvent{Kind: agents.LogCompleted, TurnID: "t1", Text: "by hand, done"})
	})
	if e := in.next("completed"); e.Event.Metadata["completion_text"] != "by hand, done" || e.Event.Metadata["watch_origin"] != "terminal_user_explicit_fallback" {
		t.Errorf("%+v", e)
	}
}
