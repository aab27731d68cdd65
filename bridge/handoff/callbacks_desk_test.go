package handoff

import (
	"context"
	"strings"
	"testing"
	"time"

	"akk/agents"
	"akk/bridge/outbox"
	"akk/bridge/rpc"
	"akk/store"
)

// This file tests what Hosts are told, on the whole desk: the callbacks of Turns,
// and the bridge and player that other tests of the desk use too.

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
