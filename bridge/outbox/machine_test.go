package outbox

import (
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"akk/bridge/rpc"
)

func route(session string) rpc.Route {
	return rpc.Route{Schema: RouteSchema, Version: 1, Transport: "command_json_v1", ProfileID: "example", ProfileRevision: "2026-01-01-1", ControllerSessionID: session}
}

var start = time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)

func turnEntry(n string) Entry {
	return New(ForTurn(route("s"), "session-1", "turn-1", rpc.EnvelopeEvent{ID: n, Type: "done", Body: "text"}), start)
}

func watchEntry(n string) Entry {
	return New(ForWatch(route("s"), "terminal-watch-1", "terminal:v2:tmux:codex:a:0.0:1", rpc.EnvelopeEvent{ID: n, Type: "completed"}), start)
}

func lease(t testing.TB, e Entry, id string, at time.Time) Entry {
	t.Helper()
	e, ok := e.Step(Event{Kind: EvLease, Now: at, LeaseID: id})
	if !ok || e.State != InFlight {
		t.Fatalf("not leased: %+v", e)
	}
	return e
}

func outcome(e Entry, id, word string, at time.Time) (Entry, bool) {
	return e.Step(Event{Kind: EvOutcome, Now: at, LeaseID: id, Result: rpc.OutcomeParams{Outcome: word, AcceptanceID: "a"}})
}

// R179: what each outcome leads to.
func TestR179Outcomes(t *testing.T) {
	for word, want := range map[string]State{
		rpc.OutcomeAccepted: Accepted, rpc.OutcomeRetryable: Retryable, rpc.OutcomePermanent: Dead, rpc.OutcomeUncertain: Uncertain, "rubbish": Uncertain,
	} {
		e, ok := outcome(lease(t, turnEntry("1"), "l", start), "l", word, start.Add(time.Second))
		if !ok || e.State != want {
			t.Errorf("%s: %s, want %s", word, e.State, want)
		}
		if want != Retryable {
			if _, ok := e.Step(Event{Kind: EvLease, Now: start.Add(time.Hour), LeaseID: "m"}); ok {
				t.Errorf("%s is delivered again by itself", word)
			}
		}
	}
}

// R180: an accepted checkpoint stays, whatever is told later.
func TestR180AcceptedStays(t *testing.T) {
	e, _ := outcome(lease(t, turnEntry("1"), "l", start), "l", rpc.OutcomeAccepted, start)
	for _, word := range []string{rpc.OutcomeRetryable, rpc.OutcomePermanent, rpc.OutcomeUncertain} {
		if got, ok := outcome(e, "l", word, start); ok || got.State != Accepted {
			t.Errorf("%s after accepted: %s", word, got.State)
		}
	}
	for _, k := range []EventKind{EvLease, EvExpire, EvSupersede, EvRetry, EvReleased, EvHolderGone} {
		if got, ok := e.Step(Event{Kind: k, Now: start.Add(time.Hour), LeaseID: "l"}); ok || got.State != Accepted {
			t.Errorf("event %d after accepted: %s", k, got.State)
		}
	}
}

// B137: a callback that fails always is tried 5, 15, 60 and 60 s later, then it
// is dead and visible; a decision tries it again.
func TestB137Backoff(t *testing.T) {
	e, now := turnEntry("1"), start
	for _, want := range []time.Duration{5 * time.Second, 15 * time.Second, time.Minute, time.Minute} {
		e, _ = outcome(lease(t, e, "l", now), "l", rpc.OutcomeRetryable, now)
		if e.State != Retryable || e.NextAt.Sub(now) != want {
			t.Fatalf("attempt %d: %s in %s, want %s", e.Attempts, e.State, e.NextAt.Sub(now), want)
		}
		if _, ok := e.Step(Event{Kind: EvLease, Now: e.NextAt.Add(-time.Millisecond), LeaseID: "early"}); ok {
			t.Fatal("leased before its time")
		}
		now = e.NextAt
	}
	e, _ = outcome(lease(t, e, "l", now), "l", rpc.OutcomeRetryable, now)
	if e.State != Dead || e.ErrorCode != ErrorExhausted {
		t.Fatalf("after five attempts: %s %s", e.State, e.ErrorCode)
	}
	e, ok := e.Step(Event{Kind: EvRetry, Now: now})
	if !ok || e.State != Pending || e.Attempts != 0 {
		t.Fatalf("decided to retry: %+v", e)
	}
	// A Watch's notification: 5 s doubling to 60 s, given up after a day.
	w, now := watchEntry("1"), start
	for _, want := range []time.Duration{5, 10, 20, 40, 60, 60, 60} {
		w, _ = outcome(lease(t, w, "l", now), "l", rpc.OutcomeRetryable, now)
		if w.NextAt.Sub(now) != want*time.Second {
			t.Fatalf("watch attempt %d: in %s, want %d s", w.Attempts, w.NextAt.Sub(now), want)
		}
		now = w.NextAt
	}
	w, _ = outcome(lease(t, w, "l", start.Add(25*time.Hour)), "l", rpc.OutcomeRetryable, start.Add(25*time.Hour))
	if w.State != Dead {
		t.Fatalf("after a day: %s", w.State)
	}
}

// A late outcome of the lease that ran out tells the truth; of an older lease
// it tells nothing.
func TestLateOutcome(t *testing.T) {
	e := lease(t, turnEntry("1"), "l", start)
	e, ok := e.Step(Event{Kind: EvExpire, Now: start.Add(LeaseTime)})
	if !ok || e.State != Uncertain || e.ErrorCode != ErrorLease {
		t.Fatalf("expired: %+v", e)
	}
	if got, ok := outcome(e, "l", rpc.OutcomeAccepted, start.Add(time.Hour)); !ok || got.State != Accepted {
		t.Errorf("late truth: %s", got.State)
	}
	e, _ = e.Step(Event{Kind: EvRetry, Now: start})
	e = lease(t, e, "m", start.Add(time.Hour))
	if got, ok := outcome(e, "l", rpc.OutcomeAccepted, start.Add(time.Hour)); ok || got.State != InFlight {
		t.Errorf("an old lease's word: %s", got.State)
	}
}

// TestR138Model: whatever happens in whatever order, the invariants of a
// delivery hold; route and envelope stay as they were frozen (R178).
func TestR138Model(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := turnEntry("1")
		if rapid.Bool().Draw(t, "watch") {
			e = watchEntry("1")
		}
		now := start
		leases, accepted := 0, false
		words := []string{rpc.OutcomeAccepted, rpc.OutcomeRetryable, rpc.OutcomePermanent, rpc.OutcomeUncertain}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 200).Draw(t, "s")) * time.Second)
			ev := Event{Kind: EventKind(rapid.IntRange(0, int(EvHolderGone)+1).Draw(t, "kind")), Now: now, Jitter: rapid.Float64Range(0, 0.99).Draw(t, "j"),
				LeaseID: rapid.SampledFrom([]string{"", "l1", "l2"}).Draw(t, "lease"), Result: rpc.OutcomeParams{Outcome: rapid.SampledFrom(words).Draw(t, "word"), AcceptanceID: "a"}}
			before := e
			next, changed := e.Step(ev)
			if !changed && next.State != before.State {
				t.Fatalf("%s became %s without a change", before.State, next.State)
			}
			if !reflect.DeepEqual(next.Envelope, before.Envelope) {
				t.Fatal("a frozen envelope changed")
			}
			if accepted && next.State != Accepted {
				t.Fatalf("accepted became %s", next.State)
			}
			if changed && ev.Kind == EvLease {
				if before.State == InFlight {
					t.Fatal("leased twice at once")
				}
				leases++
			}
			if changed && (before.State == Uncertain || before.State == Dead) && next.State != Accepted && ev.Kind != EvRetry && before.ErrorCode != ErrorLease && before.ErrorCode != ErrorHolder {
				t.Fatalf("%s became %s by event %d", before.State, next.State, ev.Kind)
			}
			if changed && next.State == Retryable && !next.NextAt.After(now) {
				t.Fatal("no wait before the next attempt")
			}
			if next.State == InFlight && next.LeaseID == "" {
				t.Fatal("in flight without a lease")
			}
			e, accepted = next, next.State == Accepted
		}
	})
}

// R183: ids are hashes of the canonical form: the same event gives the same
// ids, another one gives others; the order of keys is nothing.
func TestR183Ids(t *testing.T) {
	ev := rpc.EnvelopeEvent{ID: "e1", Type: "done", Body: "a <b> & ü", Metadata: map[string]any{"b": 1, "a": "x"}}
	one, two := ForTurn(route("s"), "session-1", "turn-1", ev), ForTurn(route("s"), "session-1", "turn-1", ev)
	if one.DeliveryID != two.DeliveryID || one.IdempotencyKey != "agent-knock-knock:"+one.DeliveryID[len("callback-delivery-"):] {
		t.Fatalf("%s %s", one.DeliveryID, one.IdempotencyKey)
	}
	for name, other := range map[string]rpc.Envelope{
		"session": ForTurn(route("t"), "session-1", "turn-1", ev),
		"turn":    ForTurn(route("s"), "session-1", "turn-2", ev),
		"body":    ForTurn(route("s"), "session-1", "turn-1", rpc.EnvelopeEvent{ID: "e1", Type: "done", Body: "b"}),
	} {
		if other.DeliveryID == one.DeliveryID {
			t.Errorf("another %s has the same id", name)
		}
	}
	c, err := Canonical(map[string]any{"b": map[string]any{"z": 1.0, "a": "<&>"}, "a": []int{2, 1}})
	if err != nil || string(c) != `{"a":[2,1],"b":{"a":"<&>","z":1}}` {
		t.Errorf("canonical form: %s %v", c, err)
	}
	id := NotificationID("w", "approval", "f")
	w := ForWatch(route("s"), "w", "t", rpc.EnvelopeEvent{ID: id, Type: "approval_required"})
	if w.DeliveryID != id || w.IdempotencyKey != "agent-knock-knock:terminal-watch:w:"+id || len(id) != len("terminal-watch-notification-")+64 {
		t.Errorf("watch: %s %s", w.DeliveryID, w.IdempotencyKey)
	}
}

// R182: a route that is not whole is no route.
func TestR182Route(t *testing.T) {
	if err := CheckRoute(route("s")); err != nil {
		t.Fatal(err)
	}
	for _, spoil := range []func(*rpc.Route){
		func(r *rpc.Route) { r.Schema = "x" }, func(r *rpc.Route) { r.Version = 2 }, func(r *rpc.Route) { r.ControllerSessionID = "" },
		func(r *rpc.Route) { r.ProfileRevision = "" }, func(r *rpc.Route) { r.Transport = "" },
	} {
		r := route("s")
		spoil(&r)
		if CheckRoute(r) == nil {
			t.Errorf("taken: %+v", r)
		}
	}
}

// FuzzCanonical: the canonical form of what was read is the canonical form.
func FuzzCanonical(f *testing.F) {
	f.Add(`{"b":1,"a":{"d":[1,2,{"y":null,"x":"é"}]}}`)
	f.Fuzz(func(t *testing.T, s string) {
		c, err := Canonical(jsonText(s))
		if err != nil {
			return
		}
		again, err := Canonical(jsonText(c))
		if err != nil || string(again) != string(c) {
			t.Fatalf("%s became %s (%v)", c, again, err)
		}
	})
}

type jsonText string

func (j jsonText) MarshalJSON() ([]byte, error) { return []byte(j), nil }
