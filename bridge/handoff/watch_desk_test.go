package handoff

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"akk/agents"
	"akk/bridge/outbox"
	"akk/bridge/rpc"
	"akk/store"
)

// hostCaller is a Host with a callback route.
func hostCaller(session string) rpc.Caller {
	r := testRoute
	r.ControllerSessionID = session
	return rpc.Caller{Kind: "host", Session: session, Route: &r}
}

// inbox is a Host's bridge: it accepts what it is given and keeps it.
type inbox struct {
	b    *bench
	got  chan rpc.Envelope
	stop func()
}

func (b *bench) bridge(c rpc.Caller, word string) *inbox {
	in := &inbox{b: b, got: make(chan rpc.Envelope, 100)}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	desk := b.desk
	go func() {
		defer close(done)
		_ = desk.Deliveries(ctx, c, func(l rpc.Lease) error {
			in.got <- l.Envelope
			_, err := desk.Outcome(ctx, c, rpc.OutcomeParams{DeliveryID: l.Envelope.DeliveryID, LeaseID: l.LeaseID, Outcome: word, AcceptanceID: "a-1"})
			return err
		})
	}()
	stopped := false
	in.stop = func() {
		if !stopped {
			stopped = true
			cancel()
			<-done
		}
	}
	b.t.Cleanup(in.stop)
	return in
}

// next waits for a callback of that type.
func (in *inbox) next(typ string) rpc.Envelope {
	in.b.t.Helper()
	select {
	case e := <-in.got:
		if e.Event.Type != typ {
			in.b.t.Fatalf("got a %s, want %s: %+v", e.Event.Type, typ, e.Event)
		}
		return e
	case <-time.After(60 * time.Second):
		in.b.t.Fatalf("no callback %s", typ)
	}
	panic("unreachable")
}

func (in *inbox) quiet() {
	in.b.t.Helper()
	_ = in.b.desk.writer.Sync(func(*store.Tx) error { return nil })
	select {
	case e := <-in.got:
		in.b.t.Fatalf("told too much: %+v", e.Event)
	case <-time.After(50 * time.Millisecond):
	}
}

func (b *bench) sendAs(c rpc.Caller, p *player, text string, more ...func(*rpc.SendParams)) rpc.Send {
	b.t.Helper()
	b.row(p, agents.Idle)
	params := rpc.SendParams{ID: p.id, Request: text, AcceptWaitMillis: 5000}
	for _, f := range more {
		f(&params)
	}
	var s rpc.Send
	b.until("the task is accepted", func() bool {
		var err error
		s, err = b.desk.Send(b.t.Context(), c, params)
		return err == nil && s.SubmissionOutcome == "agent_accepted"
	})
	return s
}

func (b *bench) turnStatus(id string) rpc.Turn {
	b.t.Helper()
	st, err := b.desk.Status(b.t.Context(), rpc.Caller{Kind: "human"}, rpc.StatusParams{TurnID: id})
	if err != nil {
		b.t.Fatal(err)
	}
	return *st.Conversation
}

func (p *player) ask(cmd string) {
	p.set(func(p *player) { p.activity, p.owner, p.text = agents.Blocked, agents.OwnerApproval, cmd })
}

func (p *player) work() {
	p.set(func(p *player) { p.activity, p.owner, p.text = agents.Working, agents.OwnerComposer, "" })
}

// R175, R61, B133, B134: a Host is told of the question, of the end, once each,
// however often the screen is drawn; its status words follow; status --wait
// ends on the question.
func TestR175HostIsTold(t *testing.T) {
	b := newBench(t)
	p := b.w.play()
	host := hostCaller("s-1")
	in := b.bridge(host, rpc.OutcomeAccepted)
	s := b.sendAs(host, p, "do it")
	if !s.Capabilities.Callback {
		t.Error("no callback is promised")
	}
	if got := b.turnStatus(s.TurnID).Status; got != "waiting_for_agent" {
		t.Errorf("status %s", got)
	}
	waited := make(chan rpc.Status, 1)
	go func() {
		st, _ := b.desk.Status(context.Background(), host, rpc.StatusParams{TurnID: s.TurnID, WaitMillis: 30_000})
		waited <- st
	}()
	p.ask("x")
	e := in.next("blocked")
	if e.Source.TurnID != s.TurnID || e.Source.SessionID != s.SessionID || strings.Contains(e.Event.Body, "hunter2") || !strings.Contains(e.Event.Body, "rm -rf") {
		t.Errorf("%+v", e)
	}
	select {
	case st := <-waited:
		if st.TimedOut || st.Conversation.Status != "waiting_for_openclaw" {
			t.Errorf("the wait ended with %s, timed out %v", st.Conversation.Status, st.TimedOut)
		}
	case <-time.After(60 * time.Second):
		t.Fatal("status waits on although a dialog stands")
	}
	for range 20 {
		p.draw()
	}
	in.quiet()
	p.work()
	b.until("it works on", func() bool { return b.turnStatus(s.TurnID).Status == "waiting_for_agent" })
	p.complete("all done, TOKEN=hunter2")
	e = in.next("done")
	if e.Event.Body != "all done, TOKEN=[redacted]" || e.Event.RequiresResponse || e.Route != *host.Route {
		t.Errorf("%+v", e)
	}
	for range 20 {
		p.draw()
	}
	in.quiet()
	if got := b.turnStatus(s.TurnID).Status; got != "idle" {
		t.Errorf("status %s", got)
	}
	list, err := b.desk.Callbacks(t.Context(), host, rpc.CallbacksParams{All: true})
	if err != nil || len(list) != 2 || list[0].Type != "done" || list[0].Status != "accepted" || list[0].AcceptanceID != "a-1" {
		t.Errorf("callbacks: %+v %v", list, err)
	}
	if list, _ := b.desk.Callbacks(t.Context(), hostCaller("s-2"), rpc.CallbacksParams{All: true}); len(list) != 0 {
		t.Error("another Host sees them")
	}
}

// A question that was never delivered is not told after its end.
func TestUndeliveredQuestionIsSuperseded(t *testing.T) {
	b := newBench(t)
	p := b.w.play()
	host := hostCaller("s-1")
	s := b.sendAs(host, p, "do it")
	p.ask("x")
	b.until("asked", func() bool { return b.turnStatus(s.TurnID).Status == "waiting_for_openclaw" })
	p.work()
	b.until("answered", func() bool { return b.turnStatus(s.TurnID).Status == "waiting_for_agent" })
	p.complete("done")
	in := b.bridge(host, rpc.OutcomeAccepted)
	in.next("done")
	in.quiet()
}

// Scenario 65, 74, R186: what ended while the daemon was away is told once
// after its start; a delivery that was not made yet is made with the same key.
func TestScenario65Restart(t *testing.T) {
	b := newBench(t)
	p := b.w.play()
	host := hostCaller("s-1")
	s := b.sendAs(host, p, "do it")
	p.ask("x")
	b.until("asked", func() bool { return b.turnStatus(s.TurnID).Status == "waiting_for_openclaw" })
	list, err := b.desk.Callbacks(t.Context(), host, rpc.CallbacksParams{})
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v %v", list, err)
	}
	b.restart()
	in := b.bridge(host, rpc.OutcomeAccepted)
	if e := in.next("blocked"); e.DeliveryID != list[0].DeliveryID {
		t.Errorf("another delivery: %s, was %s", e.DeliveryID, list[0].DeliveryID)
	}
	in.quiet() // the dialog that still stands is no new question
	in.stop()
	b.close()
	p.complete("done meanwhile")
	b.open()
	in = b.bridge(host, rpc.OutcomeAccepted)
	if e := in.next("done"); e.Event.Body != "done meanwhile" {
		t.Errorf("%+v", e.Event)
	}
	in.quiet()
	in.stop()
	b.restart()
	in = b.bridge(host, rpc.OutcomeAccepted)
	b.row(p, agents.Idle)
	in.quiet()
}

// R212: a Turn without a route at its creation is never called back.
func TestR212NoRoute(t *testing.T) {
	b := newBench(t)
	p := b.w.play()
	s := b.sendAs(rpc.Caller{Kind: "host", Session: "s-1"}, p, "do it")
	if s.Capabilities.Callback {
		t.Error("a callback is promised")
	}
	in := b.bridge(hostCaller("s-1"), rpc.OutcomeAccepted)
	p.complete("done")
	b.until("ended", func() bool { return b.turnStatus(s.TurnID).Status == "idle" })
	in.quiet()
	broken := hostCaller("s-1")
	broken.Route.Schema = "x"
	if route(broken) != nil {
		t.Error("R182: a malformed route was frozen")
	}
}

// R170, scenario 67: silence stalls, the Host is told once; renewed, it is
// watched again without a byte, and its end is told once.
func TestScenario67Renew(t *testing.T) {
	b := newBench(t)
	p := b.w.play()
	host := hostCaller("s-1")
	in := b.bridge(host, rpc.OutcomeAccepted)
	s := b.sendAs(host, p, "do it", func(p *rpc.SendParams) { p.AgentTimeoutMinutes = 0.01 })
	if _, err := b.desk.Renew(t.Context(), host, rpc.RenewParams{TurnID: s.TurnID}); err == nil {
		t.Error("renewed although it has not stalled")
	}
	p.set(func(p *player) { p.activity = agents.Idle }) // no sign of life any more
	e := in.next("error")
	if !strings.Contains(e.Event.Body, "stalled") || e.Event.RequiresResponse {
		t.Errorf("%+v", e.Event)
	}
	in.quiet()
	if st := b.turnStatus(s.TurnID); st.Status != "stalled" || st.AvailableActions["renew"].Tool == "" {
		t.Errorf("%+v", st)
	}
	bytes := p.bytes()
	if _, err := b.desk.Renew(t.Context(), hostCaller("s-2"), rpc.RenewParams{TurnID: s.TurnID}); err == nil {
		t.Error("another Host renewed it")
	}
	r, err := b.desk.Renew(t.Context(), host, rpc.RenewParams{TurnID: s.TurnID, Minutes: 30})
	if err != nil || !r.Renewed || r.AgentTimeoutMinutes != 30 || r.AgentHardTimeoutMinutes != 720 || r.Conversation.Status != "waiting_for_agent" {
		t.Fatalf("%+v %v", r, err)
	}
	if p.bytes() != bytes {
		t.Error("renewing typed")
	}
	p.work()
	p.complete("late, but done")
	in.next("done")
	in.quiet()
	if _, err := b.desk.Renew(t.Context(), host, rpc.RenewParams{TurnID: s.TurnID}); err == nil {
		t.Error("an ended turn was renewed")
	}
}

// A message that a human types into the running task, and a human who types, are told to
// the Host (control).
func TestControlCallbacks(t *testing.T) {
	b := newBench(t)
	p := b.w.play()
	host := hostCaller("s-1")
	in := b.bridge(host, rpc.OutcomeAccepted)
	b.sendAs(host, p, "do it")
	p.set(func(p *player) { p.text = "and mind the gap" })
	if e := in.next("control"); e.Event.Metadata["reason"] != "human_takeover" || e.Event.RequiresResponse {
		t.Errorf("%+v", e.Event)
	}
	p.set(func(p *player) {
		p.text = ""
		p.add(agents.LogEvent{Kind: agents.LogAccepted, Hash: agents.HashRequest("and mind the gap"), TurnID: "t1"})
	})
	if e := in.next("control"); e.Event.Metadata["reason"] != "steered" || strings.Contains(e.Event.Body, "gap") {
		t.Errorf("%+v", e.Event)
	}
	in.quiet()
	p.complete("done")
	in.next("done")
	in.quiet()
}

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

// What waited for an agent that ended while no daemon looked is ended, not kept
// for ever.
func TestOrphans(t *testing.T) {
	b := newBench(t)
	p, q := b.w.play(), b.w.play()
	host := hostCaller("s-1")
	s := b.sendAs(host, p, "do it")
	b.row(q, agents.Idle)
	r, err := b.desk.Watch(t.Context(), host, rpc.WatchParams{ID: q.id})
	if err != nil {
		t.Fatal(err)
	}
	b.close()
	b.w.leave(p)
	b.w.leave(q)
	b.start()
	b.desk.Forget(ServerRecord{Socket: b.w.id.Socket, PID: b.w.id.PID, Start: b.w.id.Start})
	in := b.bridge(host, rpc.OutcomeAccepted)
	kinds := []string{(<-in.got).Event.Type, (<-in.got).Event.Type}
	slices.Sort(kinds)
	if !slices.Equal(kinds, []string{"error", "invalidated"}) {
		t.Errorf("told %v", kinds)
	}
	if got := b.turnStatus(s.TurnID); got.Status != "stalled" || got.Outcome != OutcomeLost {
		t.Errorf("%+v", got)
	}
	got, err := b.desk.WatchStatus(t.Context(), host, rpc.WatchIDParams{WatchID: r.Watch.WatchID})
	if err != nil || got.Watch.Status != WatchInvalid {
		t.Errorf("%+v %v", got, err)
	}
}

// CONTRACT-outputs §5: an idle Turn is closed after seven days, by a deadline.
func TestIdleRetention(t *testing.T) {
	b := newBench(t)
	p := b.w.play()
	s := b.sendAs(rpc.Caller{Kind: "human"}, p, "do it")
	p.complete("done")
	b.until("idle", func() bool { return b.turnStatus(s.TurnID).Status == "idle" })
	b.close()
	db, err := store.Open(b.dir, store.Options{Schema: Schema()})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Update(func(tx *store.Tx) error {
		turn, rev, err := turns.Get(tx, s.TurnID)
		if err != nil {
			return err
		}
		at := turn.EndedAt.Add(-idleRetention)
		turn.EndedAt = &at
		_, err = turns.Put(tx, s.TurnID, turn, rev)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	b.open()
	b.until("closed", func() bool { return b.turnStatus(s.TurnID).Status == "closed" })
	list, err := b.desk.Turns(t.Context(), rpc.Caller{}, rpc.TurnsParams{All: true})
	if err != nil || len(list) != 1 || list[0].Status != "closed" {
		t.Errorf("%+v %v", list, err)
	}
}

// B137: what failed for good is listed and redelivered by a human's decision
// only.
func TestB137Redeliver(t *testing.T) {
	b := newBench(t)
	p := b.w.play()
	host := hostCaller("s-1")
	in := b.bridge(host, rpc.OutcomePermanent)
	s := b.sendAs(host, p, "do it")
	p.complete("done")
	in.next("done")
	human := rpc.Caller{Kind: "human"}
	var d rpc.Delivery
	b.until("it is a dead letter", func() bool {
		list, err := b.desk.Callbacks(t.Context(), human, rpc.CallbacksParams{})
		if err != nil || len(list) != 1 {
			return false
		}
		d = list[0]
		return d.Status == string(outbox.Dead)
	})
	if _, err := b.desk.RetryCallback(t.Context(), host, rpc.RetryCallbackParams{TurnID: s.TurnID}); err == nil {
		t.Error("the Host decided for itself")
	}
	if _, err := b.desk.RetryCallback(t.Context(), rpc.Caller{Kind: "agent"}, rpc.RetryCallbackParams{DeliveryID: d.DeliveryID}); err == nil {
		t.Error("an agent decided")
	}
	if r, err := b.desk.RetryCallback(t.Context(), human, rpc.RetryCallbackParams{DeliveryID: d.DeliveryID}); err != nil || r.Delivery.Status != string(outbox.Pending) {
		t.Fatalf("%+v %v", r, err)
	}
	in.next("done")
}
