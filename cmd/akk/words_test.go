package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"akk/bridge/rpc"
	"akk/ui"
)

// contractWord is a word that only the contract uses.
var contractWord = regexp.MustCompile(`\b[a-z]+_[a-z_]+\b`)

// Tables for a human have headings, and say no word of the contract.
func TestTablesForHumans(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	next := now.Add(15 * time.Second)
	turn := func(status string) rpc.Turn {
		return rpc.Turn{TurnID: "turn-20261130T115900-0a1b2c3d", Status: status, Agent: "codex", UpdatedAt: now.Add(-time.Minute), FinalText: "done\nwell"}
	}
	var all []rpc.Turn
	for s := range turnStatuses {
		all = append(all, turn(s))
	}
	var calls []rpc.Delivery
	for s := range deliveries {
		calls = append(calls, rpc.Delivery{DeliveryID: "callback-delivery-1", Status: s, Type: "done", TurnID: "turn-1", Attempts: 2, CreatedAt: now.Add(-time.Hour), NextAttemptAt: &next, LastError: "exit code 1"})
	}
	for name, table := range map[string][][]string{"turns": turnsTable(all, now), "callbacks": callbacksTable(calls, now)} {
		var b bytes.Buffer
		if err := ui.Table(&b, table); err != nil {
			t.Fatal(err)
		}
		head, rest, _ := strings.Cut(b.String(), "\n")
		if head != strings.ToUpper(head) || !strings.Contains(head, "STATUS") || strings.Count(rest, "\n") != len(table)-1 {
			t.Errorf("%s:\n%s", name, b.String())
		}
		if w := contractWord.FindString(rest); w != "" {
			t.Errorf("%s says %q:\n%s", name, w, b.String())
		}
	}
}

// A line of the journal for a human.
func TestEventLine(t *testing.T) {
	for _, e := range []rpc.Event{
		{Seq: 1, Type: "turn", Change: "text_injected", TurnID: "turn-1"},
		{Seq: 2, Type: "watch", Change: "invalidated", Reason: "task_anchor_invalidated"},
		{Seq: 3, Type: "watch", Change: "begun", Reason: "terminal_activity"},
		{Seq: 4, Type: "gap", From: 5, To: 9},
	} {
		l := eventLine(e)
		if w := contractWord.FindString(l); w != "" || !strings.Contains(l, "#"+seq(e.Seq)) {
			t.Errorf("%q says %q", l, w)
		}
	}
	if l := eventLine(rpc.Event{Seq: 5, Type: "reading", Pane: "%1", Agent: "codex", Demo: "codex 0.155.1", Change: "idle"}); !strings.Contains(l, "%1  RECORDING of codex  idle") {
		t.Error(l)
	}
}

// Every word of the contract has one of ours; what is new loses its underscores.
func TestPlain(t *testing.T) {
	for _, words := range []map[string]string{turnStatuses, watchStatuses, stages, submissions, outcomes, settlements, deliveries} {
		for from, to := range words {
			if to == "" || contractWord.MatchString(to) {
				t.Errorf("%s is said as %q", from, to)
			}
		}
	}
	if got := plain(turnStatuses, "waiting_for_openclaw"); got != "waits for its Host" {
		t.Error(got)
	}
	if got := plain(turnStatuses, "some_new_word"); got != "some new word" {
		t.Error(got)
	}
	if got := warning("exact_task_anchor_unavailable: no task runs now"); got != "no task runs now" {
		t.Error(got)
	}
	if got := warning("a note: with a colon"); got != "a note: with a colon" {
		t.Error(got)
	}
}

// A send and a task without the agent's proof are told as far as they
// are proven. The real receipt of a text that was never drawn is "prepared".
func TestWordsByStage(t *testing.T) {
	for want, s := range map[string]rpc.Send{
		"nothing is typed yet": {},
		"the text may be typed, it is not proven that Enter was pressed": {DeliveryReceipt: "prepared", TerminalInputDispatched: true},
		"the text is typed, it is not proven that Enter was pressed":     {DeliveryReceipt: "text_injected", TerminalInputDispatched: true},
		"Enter was pressed, not taken yet":                               {DeliveryReceipt: "enter_dispatched", TerminalInputDispatched: true, Delivered: true},
	} {
		s.SubmissionOutcome, s.DoNotRetry, s.TurnID = "pending_acceptance", true, "turn-1"
		err := (&app{}).printSend(s)
		what, cure := explainError(err)
		if !strings.HasPrefix(what, want+": ") || !strings.Contains(cure, "akk status turn-1") || strings.Contains(cure, "may have arrived") != s.TerminalInputDispatched {
			t.Errorf("%+v: %s (%s)", s, what, cure)
		}
	}
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		turn        rpc.Turn
		word, stage string
	}{
		"entered":   {rpc.Turn{Status: "waiting_for_agent", Stage: "enter_dispatched"}, "it is not proven that the agent took it", "Enter pressed"},
		"new":       {rpc.Turn{Status: "waiting_for_agent"}, "it is not proven that the agent took it", ""},
		"accepted":  {rpc.Turn{Status: "waiting_for_agent", Stage: "agent_accepted", AcceptedAt: &at}, "the agent works on it", "the agent took it"},
		"asks":      {rpc.Turn{Status: "waiting_for_openclaw", Stage: "agent_accepted", AcceptedAt: &at}, "waits for its Host", "the agent took it"},
		"not typed": {rpc.Turn{Status: "failed", Stage: "prepared", Outcome: "not_submitted"}, "failed", "nothing was typed"},
		"an answer": {rpc.Turn{Status: "waiting_for_agent", Stage: "text_injected"}, "it is not proven that the agent took it", "typed, Enter not proven"},
	} {
		if word, stage := turnWord(&c.turn), stageWord(&c.turn); word != c.word || stage != c.stage {
			t.Errorf("%s: %q %q", name, word, stage)
		}
	}
}

// A human types waiting_for_host, a script the contract's word (N15).
func TestStatusNamed(t *testing.T) {
	for typed, want := range map[string]string{"waiting_for_host": "waiting_for_openclaw", "waiting_for_openclaw": "waiting_for_openclaw", "idle": "idle", "timed_out": "timed_out", "foo": ""} {
		if got, ok := statusNamed(typed); ok != (want != "") || ok && got != want {
			t.Errorf("%s: %q %v", typed, got, ok)
		}
	}
	all := statuses()
	for _, s := range all {
		if _, ok := statusNamed(s); !ok || strings.Contains(s, "openclaw") {
			t.Errorf("%s is offered", s)
		}
	}
	if len(all) != 11 {
		t.Errorf("%d are offered: %q", len(all), all)
	}
}
