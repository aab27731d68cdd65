package handoff

// Scenarios and bug reports about text, Enter and acceptance, on a real tmux
// with actors that take their input as the reports say. The checks are the
// bytes that the actor read and what the sender is told.

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"akk/agents"
	"akk/bridge/rpc"
)

// Scenario 40: a text of several lines is one bracketed paste, byte for byte,
// and exactly one Enter, that comes when the paste's window is over.
func TestScenario40OnePasteOneEnter(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.actor(s.server(), ways{})
	text := "first line\n\n  third \"line\" $HOME;\tétage 漢字 'x'\nlast"
	sent := r.accepted(text)
	if got := r.bytes(); got != pasted(text) {
		t.Fatalf("read %q", got)
	}
	var ended, entered time.Time
	for _, k := range r.reads() {
		if strings.Contains(k.Bytes, pasteEnd) {
			ended = k.At
		}
		if strings.HasSuffix(k.Bytes, "\r") {
			entered = k.At
		}
	}
	window := time.Duration(newActorAgent().plan.SettleMillis) * time.Millisecond
	if window == 0 || entered.Sub(ended) < window/2 { // the two reads may be late, each by itself
		t.Errorf("Enter came %s after the paste, its window is %s", entered.Sub(ended), window)
	}
	if turn := s.turn(sent.TurnID); turn.Hash != agents.HashRequest(text) || turn.Size != len(text) {
		t.Errorf("%+v", turn)
	}
}

// B1, B2, B7: an Enter that comes soon after the text is a line break, one in
// the read of the paste's end is text; on a machine that is slow, too. Each
// task is submitted once and is told accepted only after it was.
func TestB1B2B7EnterIsNoSubmit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		w     ways
		slow  bool
		texts []string
	}{
		{"B1 soon", ways{LineBreak: 100}, false, []string{"one", "two\nlines"}},
		{"B2 in one read", ways{SameRead: true}, false, []string{"one", "two", "three", "four\nlines\nand\nmore", "five"}},
		{"B7 slow", ways{LineBreak: 100, SameRead: true}, true, []string{"one", "two\nlines"}},
		{"B7 late", ways{LineBreak: 100, Late: 400}, false, []string{"one"}}, // it looks at the paste when a fixed pause would be over
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			socket := s.server()
			if c.slow {
				s.hog()
				s.tmux(socket, "set-option", "-g", "default-command", "exec nice -n 19 /bin/sh")
			}
			r := s.actor(socket, c.w)
			want := ""
			for _, text := range c.texts {
				sent := r.accepted(text)
				if want += pasted(text); r.bytes() != want {
					t.Fatalf("read %q", r.bytes())
				}
				if turn := s.turn(sent.TurnID); turn.AcceptedAt == nil {
					t.Fatalf("%+v", turn)
				}
				r.row(agents.Working)
				r.tell("complete", "ok")
				s.until("its end", func() bool { return s.turn(sent.TurnID).Outcome == OutcomeCompleted })
			}
		})
	}
}

// hog keeps both cores busy until the test ends.
func (s *stage) hog() {
	s.t.Helper()
	for range 2 {
		c := exec.Command("nice", "-n", "5", "/bin/sh", "-c", "while :; do :; done")
		if err := c.Start(); err != nil {
			s.t.Fatal(err)
		}
		s.t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	}
}

// Scenario 47, R48, R49: the agent's process has two rollouts open. Both write
// the text down: uncertain, whatever comes after. One does: the Turn, its
// Session and its end are that one's.
func TestScenario47TwoRollouts(t *testing.T) {
	t.Parallel()
	t.Run("both", func(t *testing.T) {
		t.Parallel()
		s := newStage(t)
		r := s.actor(s.server(), ways{Rollouts: 2, Takes: []int{0, 1}, Apart: 100})
		sent, err := r.send("whose is it?")
		if err != nil || sent.SubmissionOutcome != "uncertain" || !sent.DoNotRetry || !strings.Contains(sent.Reason, "several") {
			t.Fatalf("%v %s: %s", err, sent.SubmissionOutcome, sent.Reason)
		}
		r.tell("complete", "two ends")
		r.row(agents.Idle)
		s.again(func() {}) // the whole log is read anew
		r.row(agents.Idle)
		s.until("the log is read", func() bool { return r.row(agents.Idle).NativeAgentSessionID != "" })
		if turn := s.turn(sent.TurnID); turn.Outcome != OutcomeUncertain || turn.FinalText != "" || turn.AcceptedAt != nil {
			t.Fatalf("%+v", turn)
		}
		if got := r.bytes(); got != pasted("whose is it?") {
			t.Fatalf("read %q", got)
		}
	})
	for _, one := range []int{0, 1} {
		t.Run([]string{"the first", "the second"}[one], func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			r := s.actor(s.server(), ways{Rollouts: 2, Takes: []int{one}})
			sent := r.accepted("a task")
			turn := s.turn(sent.TurnID)
			if !strings.HasSuffix(turn.NativeID, []string{"-0", "-1"}[one]) {
				t.Fatalf("bound to %s", turn.NativeID)
			}
			r.tell("complete", "done")
			s.until("its end", func() bool { return s.turn(sent.TurnID).FinalText == "done" })
			if row := r.ready(); row.NativeAgentSessionID != turn.NativeID {
				t.Errorf("the row shows %s", row.NativeAgentSessionID)
			}
		})
	}
}

// Scenario 61: the log holds the end of exactly the accepted turn while the
// screen still shows work: completed, told once.
func TestScenario61EndBeforeTheScreen(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.actor(s.server(), ways{Busy: true})
	host := hostCaller("s-61")
	in := s.bridge(host, rpc.OutcomeAccepted)
	sent, err := s.desk.Send(t.Context(), host, rpc.SendParams{ID: r.ready().ID, Request: "task", AcceptWaitMillis: 50_000})
	if err != nil || sent.SubmissionOutcome != "agent_accepted" {
		t.Fatalf("%v %+v", err, sent)
	}
	r.tell("complete", "the answer")
	if e := in.next("done"); e.Source.TurnID != sent.TurnID || !strings.Contains(e.Event.Body, "the answer") {
		t.Fatalf("%+v", e)
	}
	if row := r.row(agents.Working); row.Managed.CurrentTurn != nil {
		t.Errorf("the turn is open: %+v", row.Managed.CurrentTurn)
	}
	r.tell("state", "working")
	r.tell("state", "idle")
	r.row(agents.Idle)
	in.quiet()
}

// A turn that is over before its work was drawn: the text that left the composer
// was ours, nobody typed; the next task may go at once.
func TestQuickTurnIsNoTyping(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.actor(s.server(), ways{Quick: true})
	for _, text := range []string{"one", "two", "three"} {
		sent, err := s.desk.Send(t.Context(), human, rpc.SendParams{ID: r.ready().ID, Request: text, Explicit: true, AcceptWaitMillis: 50_000})
		if err != nil || sent.SubmissionOutcome != "agent_accepted" {
			t.Fatalf("%s: %v %+v", text, err, sent)
		}
		s.until("its end", func() bool { return s.turn(sent.TurnID).FinalText == "done" })
		s.until("it is seen", func() bool { return r.row(agents.Idle).Reading.Draft == "" })
	}
	if row := r.row(agents.Idle); row.Hold != nil {
		t.Errorf("%+v", row.Hold)
	}
}
