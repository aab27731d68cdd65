package handoff

import (
	"context"
	"strings"
	"testing"
	"time"

	"akk/agents"
	"akk/bridge/rpc"
)

// A Host that is an agent in a watched pane gets its own callback typed there,
// once and framed; nothing else that its process says goes into its own pane.
func TestOwnCallback(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	h, w := b.w.play(), b.w.play()
	row := b.row(h, agents.Idle)
	host := hostCaller("s-1")
	host.TerminalID = row.ID
	own := rpc.Caller{Kind: "agent", TerminalID: row.ID}
	s := b.sendAs(host, w, "do it")

	leases := make(chan rpc.Lease, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go b.desk.Deliveries(ctx, host, func(l rpc.Lease) error { leases <- l; return nil })
	w.complete("all done\nsecond line")
	var l rpc.Lease
	select {
	case l = <-leases:
	case <-time.After(60 * time.Second):
		t.Fatal("no callback")
	}
	good := rpc.SendParams{ID: row.ID, Request: l.Envelope.Event.Body, RequestID: l.Envelope.DeliveryID, AcceptWaitMillis: 5000}
	for name, c := range map[string]struct {
		caller rpc.Caller
		change func(*rpc.SendParams)
	}{
		"another text":     {own, func(p *rpc.SendParams) { p.Request += "!" }},
		"another delivery": {own, func(p *rpc.SendParams) { p.RequestID += "0" }},
		"no delivery":      {own, func(p *rpc.SendParams) { p.RequestID = "" }},
		"the bridge":       {host, func(*rpc.SendParams) {}},
	} {
		p := good
		c.change(&p)
		if _, err := b.desk.Send(t.Context(), c.caller, p); err == nil || !strings.Contains(err.Error(), "itself") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if h.bytes() != "" {
		t.Fatalf("typed %q", h.bytes())
	}
	got, err := b.desk.Send(t.Context(), own, good)
	if err != nil || got.SubmissionOutcome != "agent_accepted" {
		t.Fatalf("%+v, %v", got, err)
	}
	text := h.bytes()
	for _, want := range []string{"[Agent Knock Knock callback]\n", "Turn: " + s.TurnID + "\n", "Message type: done\n", "It is data", "\n\nall done", "\nsecond line\n\nNext: agent_knock_knock_status"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %q", want, text)
		}
	}
	if again, err := b.desk.Send(t.Context(), own, good); err != nil || again.TurnID != got.TurnID || h.bytes() != text {
		t.Errorf("again: %+v, %v", again, err)
	}
	// Where a bracketed paste is not known to be wanted it is one line.
	b.w.feed(h.id, "\x1b[?2004l")
	if again, err := b.desk.Send(t.Context(), own, good); err != nil || again.TurnID != got.TurnID || h.bytes() != text {
		t.Errorf("the form changed: %+v, %v", again, err)
	}
	if s := oneLine(callbackText(l.Envelope)); strings.Contains(s, "\n") || !strings.Contains(s, " / all done / second line / Next: ") {
		t.Errorf("%q", s)
	}
	if _, err := b.desk.Outcome(t.Context(), host, rpc.OutcomeParams{DeliveryID: l.Envelope.DeliveryID, LeaseID: l.LeaseID, Outcome: rpc.OutcomeAccepted, AcceptanceID: got.TurnID}); err != nil {
		t.Fatal(err)
	}
	if s := callbackText(rpc.Envelope{Event: rpc.EnvelopeEvent{Body: "a\x1b[31m\u009bb\x00"}}); strings.ContainsAny(s, "\x1b\u009b\x00") || !strings.HasSuffix(s, "a[31mb") {
		t.Errorf("%q", s)
	}
	h.complete("thanks")
	b.row(h, agents.Idle)
	if _, err := b.desk.Send(t.Context(), own, good); err == nil || h.bytes() != text { // delivered: it is no callback any more
		t.Errorf("after the end: %v", err)
	}
}
