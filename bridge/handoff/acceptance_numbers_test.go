package handoff

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"akk/agents"
	"akk/bridge/rpc"
)

// This file holds tests of what a send says about itself, and of what counts as
// acceptance (R39, R49, R54 to R56, R181).

// R49: the one user message with the request's hash behind the anchor counts,
// nothing else. (One hash in two logs that can't be told apart is nobody's:
// TestSharedLog of package codex.)
func TestR49Matches(t *testing.T) {
	d := Dispatch{Turn: Turn{Hash: "h", AltHash: "tabs", Anchor: Anchor{Path: "/l", Offset: 100, Time: noon}}}
	for name, c := range map[string]struct {
		l    agents.LogEvent
		path string
		want bool
	}{
		"behind the anchor":              {agents.LogEvent{Hash: "h", Offset: 101, Time: noon}, "/l", true},
		"as a composer keeps tabs":       {agents.LogEvent{Hash: "tabs", Offset: 101, Time: noon}, "/l", true},
		"at the anchor":                  {agents.LogEvent{Hash: "h", Offset: 100, Time: noon}, "/l", false},
		"history of the log":             {agents.LogEvent{Hash: "h", Offset: 50, Time: noon}, "/l", false},
		"another text":                   {agents.LogEvent{Hash: "i", Offset: 101, Time: noon}, "/l", false},
		"no text":                        {agents.LogEvent{Offset: 101, Time: noon}, "/l", false},
		"a log that was opened since":    {agents.LogEvent{Hash: "h", Offset: 10, Time: noon.Add(time.Second)}, "/new", true},
		"an old log that is shown again": {agents.LogEvent{Hash: "h", Offset: 999, Time: noon.Add(-time.Hour)}, "/old", false},
	} {
		c.l.Kind = agents.LogAccepted
		if got := d.mine(c.l, c.path); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// R49, R55: without a match a send is pending, then uncertain, and is never
// typed again: not by time, not by the same call, not by a daemon that was
// restarted. A match that comes late still counts.
func TestR49NeverReplayed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	p.onEnter = func(p *player) { p.set(func(p *player) { p.text, p.activity = "", agents.Working }) }
	row := b.row(p, agents.Idle)
	s, err := b.send(row.ID, "quietly", withID("msg-1"), wait(10))
	if err != nil || s.Status != "submission_pending_acceptance" || s.AgentAcceptance != "unproven" || !s.DoNotRetry || s.SafeToRetry {
		t.Fatalf("%v %+v", err, s)
	}
	b.until("uncertain", func() bool { return b.turn(s.TurnID).Outcome == OutcomeUncertain })
	for range 2 {
		again, err := b.send(p.id, "quietly", withID("msg-1"), wait(10))
		if err != nil || !again.Replayed || again.Status != "submission_uncertain" || !again.DoNotRetry || again.TurnID != s.TurnID {
			t.Errorf("%v %+v", err, again)
		}
		b.restart()
		b.row(p, agents.Working)
	}
	if p.bytes() != "quietly\r" {
		t.Errorf("typed %q", p.bytes())
	}
	p.set(func(p *player) {
		p.tasks = append(p.tasks, "quietly")
		p.add(agents.LogEvent{Kind: agents.LogAccepted, Hash: agents.HashRequest("quietly"), TurnID: "t1"})
	})
	p.complete("ok")
	// The restarted daemon left it uncertain for good, or follows it: never wrong.
	b.until("the log was read", func() bool { return b.row(p, agents.Idle).NativeAgentSessionID == p.native })
	if turn := b.turn(s.TurnID); turn.Outcome != OutcomeUncertain && turn.Outcome != OutcomeCompleted {
		t.Errorf("%+v", turn)
	}
}

// R54, R56: what was typed, what the agent took, who manages and who watches are
// separate words, always there; only the agent's own proof is "proven"; the old
// fields are aliases.
func TestR54SeparateFacts(t *testing.T) {
	at := noon
	route := testRoute
	for name, c := range map[string]struct {
		t    Turn
		want string // status, dispatched, acceptance, management, observation, callback, do_not_retry
	}{
		"accepted":                  {Turn{Stage: StageAccepted, AcceptedAt: &at, Dispatched: true, Entered: true, Limits: Limits{Route: &route}}, "async_pending true proven managed managed_monitor true true"},
		"accepted, nobody to tell":  {Turn{Stage: StageAccepted, AcceptedAt: &at, Dispatched: true, Entered: true}, "async_pending true proven managed managed_monitor false true"},
		"entered":                   {Turn{Stage: StageEntered, Dispatched: true, Entered: true}, "submission_pending_acceptance true unproven managed managed_monitor false true"},
		"the store is broken":       {Turn{Stage: StageEntered, Dispatched: true, Entered: true, Unmanaged: true, Limits: Limits{Route: &route}}, "submission_pending_acceptance true unproven unmanaged none false true"},
		"not taken":                 {Turn{Stage: StageEntered, Dispatched: true, Entered: true, Outcome: OutcomeNotAccepted}, "submission_not_accepted true unproven managed managed_monitor false true"},
		"text only":                 {Turn{Stage: StageInjected, Dispatched: true, Outcome: OutcomeNotAccepted}, "submission_not_accepted true unproven managed managed_monitor false true"},
		"uncertain":                 {Turn{Stage: StageInjected, Dispatched: true, Outcome: OutcomeUncertain}, "submission_uncertain true unproven managed managed_monitor false true"},
		"not typed yet":             {Turn{}, "submission_pending_acceptance false unproven managed managed_monitor false true"},
		"about to be typed":         {Turn{Stage: StagePrepared, Dispatched: true}, "submission_pending_acceptance true unproven managed managed_monitor false true"},
		"explicit, the store broke": {Turn{Scope: scopeExplicit}, "submission_pending_acceptance true unproven managed managed_monitor false true"},
		"no byte":                   {Turn{Outcome: OutcomeNotSubmitted}, "submission_aborted false unproven managed managed_monitor false false"},
		"the agent died beneath it": {Turn{Stage: StageAccepted, AcceptedAt: &at, Dispatched: true, Entered: true, Outcome: OutcomeLost}, "async_pending true proven managed managed_monitor false true"},
	} {
		c.t.ID = "turn-1"
		s := sendDoc(c.t, false)
		got := fmt.Sprintf("%s %v %s %s %s %v %v", s.Status, s.TerminalInputDispatched, s.AgentAcceptance, s.ManagementMode, s.ObservationMode, s.Capabilities.Callback, s.DoNotRetry)
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var doc map[string]any
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"terminal_input_dispatched", "agent_acceptance", "management_mode", "observation_mode", "capabilities", "delivered", "status", "submission_outcome"} {
			if _, ok := doc[key]; !ok {
				t.Errorf("%s: %s is not told", name, key)
			}
		}
		if s.ConversationID != s.TurnID || s.AgentAcceptance == "proven" && !s.Delivered || s.DoNotRetry && s.SafeToRetry { // R181: the old names stay
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// R56: each stage is durable before the next key: when the store fails at a
// stage, a managed send presses no further key, and says what was typed.
func TestR56StageBeforeKey(t *testing.T) {
	broken := errors.New("disk full")
	for fails, want := range map[string]string{"prepared": "no paste, no Enter, not_submitted", "text_injected": "paste, no Enter, not_accepted"} {
		d := Dispatch{Turn: Turn{ID: "turn-1", Scope: scopeFollow, Hash: agents.HashRequest("the task")}, Text: "the task", Plan: agents.SubmitPlan{SettleMillis: 100, DrawMillis: 300, AcceptMillis: 300}}
		now, f := noon, idleFacts()
		pasted, entered := "no paste", "no Enter"
		queue := []Event{{Kind: EvStart}, {Kind: EvAudited}}
		for range 40 {
			e := Event{Kind: EvTick}
			if len(queue) > 0 {
				e, queue = queue[0], queue[1:]
			}
			now = now.Add(50 * time.Millisecond)
			e.Now, e.Facts = now, f
			var effs []Effect
			d, effs = d.Step(e)
			for _, eff := range effs {
				switch eff.Kind {
				case EffCommit:
					c := Event{Kind: EvCommitted, Commit: eff.Commit}
					if eff.Change == fails {
						c.Err = broken
					}
					queue = append(queue, c)
				case EffPaste:
					pasted, f = "paste", draftFacts("the task")
					queue = append(queue, Event{Kind: EvInput})
				case EffEnter:
					entered = "Enter"
					queue = append(queue, Event{Kind: EvInput})
				}
			}
		}
		if got := pasted + ", " + entered + ", " + d.Turn.Outcome; got != want {
			t.Errorf("%s can't be stored: %s (%s), want %s", fails, got, d.Turn.Reason, want)
		}
	}
}

// R39, R175, R181, R184: two sends are two Turns, each followed to its own end
// and told once with both ids, over the one route there is; the agent is given
// the task and Enter, nothing about callbacks, and needs nothing installed.
func TestR184AgentKnowsNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	h := hostCaller("s-1")
	in := b.bridge(h, rpc.OutcomeAccepted)
	ids := map[string]bool{}
	for n, task := range []string{"first", "second"} {
		s := b.sendAs(h, p, task)
		if ids[s.TurnID] || s.TurnID == "" || s.MessageID == "" || s.TerminalID == "" {
			t.Errorf("%+v", s)
		}
		ids[s.TurnID] = true
		p.complete("end of " + task)
		e := in.next("done")
		if e.Source.TurnID != s.TurnID || e.Source.SessionID != s.SessionID || e.Event.Body != "end of "+task || e.Source.ConversationID != s.TurnID || e.Route.Transport != "command_json_v1" {
			t.Errorf("%d: %+v", n, e)
		}
	}
	in.quiet()
	if p.bytes() != "first\rsecond\r" {
		t.Errorf("typed %q", p.bytes())
	}
}
