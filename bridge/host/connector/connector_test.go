package connector

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"

	"akk/bridge/rpc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// desk answers one send after the other, the last one for ever.
type desk struct {
	caller rpc.Caller
	native string
	sends  []func() (rpc.Send, error)
	asked  []rpc.SendParams
	later  int // the look at the Turn that finds it accepted; 0 = none does
	looks  int
}

func (d *desk) Hello() rpc.HelloResult { return rpc.HelloResult{Caller: d.caller} }
func (d *desk) List(context.Context, rpc.ListParams) (rpc.List, error) {
	return rpc.List{Terminals: []rpc.Row{{ID: "t-1", NativeAgentSessionID: d.native}, {ID: "t-2", NativeAgentSessionID: "other"}}}, nil
}
func (d *desk) Status(_ context.Context, p rpc.StatusParams) (rpc.Status, error) {
	d.looks++
	now := time.Now()
	switch {
	case p.TurnID == "":
		return rpc.Status{}, nil
	case d.later == 0:
		return rpc.Status{}, rpc.ErrClosed // never
	case d.looks < d.later:
		return rpc.Status{Conversation: &rpc.Turn{}}, nil
	}
	return rpc.Status{Conversation: &rpc.Turn{AcceptedAt: &now}}, nil
}
func (d *desk) Send(_ context.Context, p rpc.SendParams) (rpc.Send, error) {
	d.asked = append(d.asked, p)
	f := d.sends[min(len(d.asked), len(d.sends))-1]
	return f()
}

func outcome(word string) func() (rpc.Send, error) {
	return func() (rpc.Send, error) { return rpc.Send{TurnID: "turn-1", SubmissionOutcome: word}, nil }
}
func fails(code string) func() (rpc.Send, error) {
	return func() (rpc.Send, error) { return rpc.Send{}, &rpc.Error{Code: code, Message: "no"} }
}

func TestDeliver(t *testing.T) {
	agent := rpc.Caller{Kind: "agent", TerminalID: "t-1"}
	for _, c := range []struct {
		name   string
		caller rpc.Caller
		native string
		sends  []func() (rpc.Send, error)
		want   string
	}{
		{"accepted", agent, "s", []func() (rpc.Send, error){outcome("agent_accepted")}, Accepted},
		{"busy at first", agent, "s", []func() (rpc.Send, error){fails(rpc.CodeRefused), outcome("aborted"), outcome("agent_accepted")}, Accepted},
		{"typed, not taken", agent, "s", []func() (rpc.Send, error){outcome("not_accepted")}, Unknown},
		{"pending", agent, "s", []func() (rpc.Send, error){outcome("pending_acceptance")}, Unknown},
		{"uncertain", agent, "s", []func() (rpc.Send, error){outcome("uncertain")}, Unknown},
		{"daemon lost", agent, "s", []func() (rpc.Send, error){func() (rpc.Send, error) { return rpc.Send{}, rpc.ErrClosed }}, Unknown},
		{"a fault of ours", agent, "s", []func() (rpc.Send, error){fails(rpc.CodeInternal)}, Unknown},
		{"forbidden", agent, "s", []func() (rpc.Send, error){fails(rpc.CodeForbidden)}, Rejected},
		{"gone", agent, "s", []func() (rpc.Send, error){fails(rpc.CodeNotFound)}, Rejected},
		{"no agent", rpc.Caller{Kind: "human", TerminalID: "t-1"}, "s", nil, Rejected},
		{"no terminal", rpc.Caller{Kind: "agent"}, "s", nil, Rejected},
		{"another session", agent, "s2", nil, Rejected},
		{"session not proven", agent, "", nil, Retry},
	} {
		d := &desk{caller: c.caller, native: c.native, sends: c.sends}
		a := Deliver(t.Context(), d, Message{Session: "s", DeliveryID: "d", MessageID: "m", Body: "b", Native: true})
		if a.Disposition != c.want || (a.AcceptanceID == "turn-1") != (c.want == Accepted) || a.DeliveryID != "d" || a.MessageID != "m" {
			t.Errorf("%s: %+v", c.name, a)
		}
		for _, p := range d.asked {
			if p.ID != "t-1" || p.RequestID != "d" || p.Request != "b" {
				t.Errorf("%s: sent %+v", c.name, p)
			}
		}
		if len(d.asked) != len(c.sends) {
			t.Errorf("%s: %d sends", c.name, len(d.asked))
		}
	}
}

// What the log tells late is accepted all the same.
func TestAcceptedLater(t *testing.T) {
	d := &desk{caller: rpc.Caller{Kind: "agent", TerminalID: "t-1"}, later: 2, sends: []func() (rpc.Send, error){outcome("uncertain")}}
	if a := Deliver(t.Context(), d, Message{Session: "any", DeliveryID: "d", MessageID: "m", Body: "b"}); a.Disposition != Accepted || len(d.asked) != 1 {
		t.Errorf("%+v", a)
	}
}

// A Host that is busy for ever is tried again later, and nothing was typed.
func TestBusy(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	d := &desk{caller: rpc.Caller{Kind: "agent", TerminalID: "t-1"}, sends: []func() (rpc.Send, error){fails(rpc.CodeRefused)}}
	if a := Deliver(ctx, d, Message{Session: "any", DeliveryID: "d", MessageID: "m", Body: "b"}); a.Disposition != Retry {
		t.Errorf("%+v", a)
	}
}
