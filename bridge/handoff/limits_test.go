package handoff

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"akk/agents"
	"akk/bridge/rpc"
)

func runningTurn() Turn {
	at := noon
	return Turn{ID: "turn-1", SessionID: "session-1", TerminalID: "terminal:v2:tmux:codex:a:0.0:7", Agent: "codex", Stage: StageAccepted, AcceptedAt: &at, CreatedAt: noon, UpdatedAt: noon,
		Limits: newLimits(&testRoute, 0, 0, noon), NativeTurn: "t1", RequestID: "msg-1"}
}

var testRoute = rpc.Route{Schema: "agent-knock-knock/callback-route", Version: 1, Transport: "command_json_v1", ProfileID: "example", ProfileRevision: "r-1", ControllerSessionID: "s"}

func lookAt(after time.Duration, a agents.Activity, life time.Duration) look {
	return look{Now: noon.Add(after), Life: noon.Add(life), Activity: a, Whole: true}
}

// CONTRACT-outputs §5, scenario 64: silence stalls after 60 min, work does not,
// the hard limit fires exactly at its time whatever the screen says.
func TestScenario64Limits(t *testing.T) {
	for name, c := range map[string]struct {
		l     look
		stall string
	}{
		"silence, not yet":       {lookAt(60*time.Minute-time.Second, agents.Idle, 0), ""},
		"silence":                {lookAt(60*time.Minute, agents.Idle, 0), StallInactivity},
		"unknown is no life":     {lookAt(60*time.Minute, agents.ActivityUnknown, 0), StallInactivity},
		"a sign of life":         {lookAt(60*time.Minute, agents.Idle, time.Second), ""},
		"working":                {lookAt(5*time.Hour, agents.Working, 0), ""},
		"working, not yet hard":  {lookAt(12*time.Hour-time.Second, agents.Working, 0), ""},
		"working, at its limit":  {lookAt(12*time.Hour, agents.Working, 12*time.Hour), StallHard},
		"waiting for its answer": {func() look { l := lookAt(5*time.Hour, agents.Blocked, 0); l.Ask = &ask{Key: "q"}; return l }(), ""},
	} {
		got, changes, next := runningTurn().look(c.l)
		if got.Stall != c.stall || (c.stall != "") != slices.Contains(changes, changeStalled) {
			t.Errorf("%s: stall %q, changes %v", name, got.Stall, changes)
		}
		if c.stall == "" && (next.IsZero() || !next.After(c.l.Now) || next.After(*got.HardAt)) {
			t.Errorf("%s: next look %s", name, next)
		}
		if c.stall != "" && (turnStatus(&got, nil) != "stalled" || !got.open()) {
			t.Errorf("%s: status %s, open %v", name, turnStatus(&got, nil), got.open())
		}
	}
	never := runningTurn()
	never.Limits = newLimits(nil, -1, -1, noon)
	if got, changes, next := never.look(lookAt(1000*time.Hour, agents.Idle, 0)); got.StalledAt != nil || len(changes) > 0 || !next.IsZero() {
		t.Error("limits below 0 are none")
	}
}

// R61, R85, CONTRACT-outputs §5: a question makes the Turn wait for its Host
// once; the next distinct one is told independently; answered, it goes on.
func TestR85Questions(t *testing.T) {
	q := func(key string) look { l := lookAt(time.Minute, agents.Blocked, 0); l.Ask = &ask{Key: key}; return l }
	turn, changes, _ := runningTurn().look(q("a"))
	if !slices.Equal(changes, []string{changeQuestion}) || turnStatus(&turn, nil) != "waiting_for_openclaw" {
		t.Fatalf("%v %s", changes, turnStatus(&turn, nil))
	}
	for range 20 {
		if turn, changes, _ = turn.look(q("a")); len(changes) > 0 {
			t.Fatal("the same question again")
		}
	}
	half := q("b")
	half.Whole = false
	if _, changes, _ := turn.look(half); len(changes) > 0 {
		t.Fatal("half a frame asked")
	}
	if turn, changes, _ = turn.look(q("b")); !slices.Equal(changes, []string{changeQuestion}) || turn.Questions != 2 {
		t.Fatalf("the next question: %v", changes)
	}
	if _, changes, _ := turn.look(lookAt(time.Minute, agents.ActivityUnknown, 0)); len(changes) > 0 {
		t.Fatal("an unknown screen answered it")
	}
	if turn, changes, _ = turn.look(lookAt(time.Minute, agents.Working, 0)); !slices.Equal(changes, []string{changeAnswered}) || turnStatus(&turn, nil) != "waiting_for_agent" {
		t.Fatalf("answered: %v %s", changes, turnStatus(&turn, nil))
	}
	if turn, changes, _ = turn.look(q("b")); !slices.Equal(changes, []string{changeQuestion}) || turn.Questions != 3 {
		t.Fatal("the same command asked for a second time is a second question")
	}
	one, _, _ := runningTurn().look(q("a"))
	first := turnCalls(&one, changeQuestion, &ask{Key: "a", Print: "p"}, nil)
	two, _, _ := turn.look(q("a"))
	second := turnCalls(&two, changeQuestion, &ask{Key: "a", Print: "p"}, nil)
	if first.add[0].Envelope.DeliveryID == second.add[0].Envelope.DeliveryID {
		t.Error("two questions are one delivery")
	}
}

// R170: only a stalled Turn of a live agent within its hard limit is renewed;
// the hard limit stays.
func TestR170Renew(t *testing.T) {
	stalled, _, _ := runningTurn().look(lookAt(61*time.Minute, agents.Idle, 0))
	at := noon.Add(70 * time.Minute)
	got, bad := stalled.renew(0, at)
	if bad != nil || got.StalledAt != nil || turnStatus(&got, nil) != "waiting_for_agent" || !got.HardAt.Equal(*stalled.HardAt) || got.Inactivity != inactivityDefault {
		t.Fatalf("%v %+v", bad, got.Limits)
	}
	if got, _ := stalled.renew(5, at); got.Inactivity != 5*time.Minute {
		t.Error("minutes are not taken")
	}
	for name, f := range map[string]func() (Turn, time.Time){
		"not stalled": func() (Turn, time.Time) { return runningTurn(), at },
		"over its hard limit": func() (Turn, time.Time) {
			return stalled, noon.Add(hardDefault)
		},
		"ended":     func() (Turn, time.Time) { x := stalled; x.Outcome = OutcomeCompleted; return x, at },
		"uncertain": func() (Turn, time.Time) { x := stalled; x.AcceptedAt, x.Outcome = nil, OutcomeUncertain; return x, at },
		"lost":      func() (Turn, time.Time) { x := stalled; x.Outcome = OutcomeLost; return x, at },
	} {
		x, now := f()
		if _, bad := x.renew(0, now); bad == nil || bad.Cure == "" {
			t.Errorf("%s was renewed", name)
		}
	}
}

// R175, CONTRACT-outputs §7: which change tells what, and to whom.
func TestR175Callbacks(t *testing.T) {
	q := &ask{Key: "k", Print: "p", Kind: askApproval, Dialog: agents.Dialog{Kind: "exec", Command: "curl -H 'Authorization: Bearer abcdef123456' x"}}
	i := &ask{Key: "k", Print: "p", Kind: askInteraction, Dialog: agents.Dialog{Kind: "question", Prompt: "Which one?", Options: []agents.DialogOption{{Label: "A"}}}}
	now := noon
	turn := func(f func(*Turn)) Turn { x := runningTurn(); x.StalledAt, x.Reason = &now, "why"; f(&x); return x }
	for name, c := range map[string]struct {
		t        Turn
		change   string
		q        *ask
		typ      string
		response bool
		body     string
	}{
		"approval":      {turn(func(*Turn) {}), changeQuestion, q, "blocked", true, "waits for an approval"},
		"questionnaire": {turn(func(*Turn) {}), changeQuestion, i, "question", true, "Which one?"},
		"done":          {turn(func(x *Turn) { x.Outcome, x.FinalText = OutcomeCompleted, "it is done" }), OutcomeCompleted, nil, "done", false, "it is done"},
		"failed":        {turn(func(x *Turn) { x.Outcome, x.Reason = OutcomeFailed, "usage limit" }), OutcomeFailed, nil, "error", false, "usage limit"},
		"aborted":       {turn(func(x *Turn) { x.Outcome = OutcomeAborted }), OutcomeAborted, nil, "error", false, "interrupted"},
		"lost":          {turn(func(x *Turn) { x.Outcome = OutcomeLost }), OutcomeLost, nil, "error", false, "gone"},
		"stalled":       {turn(func(x *Turn) { x.Stall = StallInactivity }), changeStalled, nil, "error", false, "stalled"},
		"accepted":      {turn(func(*Turn) {}), "accepted", nil, "", false, ""},
		"renewed":       {turn(func(*Turn) {}), changeRenewed, nil, "", false, ""},
		"closed":        {turn(func(*Turn) {}), changeClosed, nil, "", false, ""},
		"not submitted": {turn(func(x *Turn) { x.Outcome = OutcomeNotSubmitted }), OutcomeNotSubmitted, nil, "", false, ""},
		"uncertain":     {turn(func(x *Turn) { x.Outcome = OutcomeUncertain }), OutcomeUncertain, nil, "", false, ""},
	} {
		got := turnCalls(&c.t, c.change, c.q, nil)
		if c.typ == "" {
			if len(got.add) > 0 {
				t.Errorf("%s: told %s", name, got.add[0].Envelope.Event.Type)
			}
			continue
		}
		e := got.add[0].Envelope
		if e.Event.Type != c.typ || e.Event.RequiresResponse != c.response || !containsText(e.Event.Body, c.body) || containsText(e.Event.Body, "abcdef123456") || e.Source.TurnID != "turn-1" || e.Source.SessionID != "session-1" {
			t.Errorf("%s: %+v", name, e)
		}
		again := turnCalls(&c.t, c.change, c.q, nil)
		if again.add[0].Envelope.DeliveryID != e.DeliveryID {
			t.Errorf("%s: the same change has two ids", name)
		}
		none := c.t
		none.Route = nil
		if len(turnCalls(&none, c.change, c.q, nil).add) > 0 { // R212
			t.Errorf("%s: told without a route", name)
		}
	}
}

// TestLimitsModel: a Turn stalls once, never while its agent works or its
// question stands (but at the hard limit), never before its time.
func TestLimitsModel(t *testing.T) {
	acts := []agents.Activity{agents.Idle, agents.Working, agents.Blocked, agents.ActivityUnknown}
	rapid.Check(t, func(t *rapid.T) {
		turn, now, life, stalls := runningTurn(), noon, noon, 0
		for range rapid.IntRange(1, 60).Draw(t, "n") {
			now = now.Add(time.Duration(rapid.IntRange(0, 40).Draw(t, "min")) * time.Minute)
			l := look{Now: now, Activity: rapid.SampledFrom(acts).Draw(t, "a"), Whole: rapid.Bool().Draw(t, "w")}
			if rapid.Bool().Draw(t, "life") || l.Activity == agents.Working {
				life = now
			}
			l.Life = life
			if l.Activity == agents.Blocked && l.Whole {
				l.Ask = &ask{Key: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "q")}
			}
			after, changes, next := turn.look(l)
			for _, c := range changes {
				if c != changeStalled {
					continue
				}
				stalls++
				hard := !now.Before(*turn.HardAt)
				if !hard && (l.Activity == agents.Working || after.Asked != "" || now.Sub(life) < turn.Inactivity) {
					t.Fatal("stalled although it lives")
				}
			}
			if stalls > 1 {
				t.Fatal("stalled twice")
			}
			if after.StalledAt != nil { // it can be renewed until then, and everybody is to see when not
				if hard := *turn.HardAt; now.Before(hard) && !next.Equal(hard) || !now.Before(hard) && !next.IsZero() {
					t.Fatalf("stalled, next look %s, hard limit %s", next, hard)
				}
			}
			if after.StalledAt == nil && !next.After(now) {
				t.Fatal("no deadline")
			}
			if !now.Before(*turn.HardAt) && after.StalledAt == nil {
				t.Fatal("over its hard limit")
			}
			turn = after
		}
	})
}
