package handoff

// Scenarios and bug reports about text, Enter and acceptance, on a real tmux
// with actors that take their input as the reports say. The checks are the
// bytes that the actor read and what the sender is told.

import (
	"os"
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
		name string
		w    ways
		slow bool
	}{
		{"B1 soon", ways{LineBreak: 100}, false},
		{"B2 in one read", ways{SameRead: true}, false},
		{"B7 slow", ways{LineBreak: 100, SameRead: true}, true},
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
			for _, text := range []string{"one", "two", "three", "four\nlines\nand\nmore", "five"} {
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

// B26: Enter over an open list of completions takes a suggestion, a second one
// would submit something else than was sent. No Enter is pressed while it is
// open; when a human has closed it, the one Enter that lacks may be pressed.
func TestB26Completions(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.actor(s.server(), ways{Suggest: true})
	text := "look at @re"
	sent, err := r.send(text)
	if err != nil || sent.SubmissionOutcome != "not_accepted" || !sent.DoNotRetry {
		t.Fatalf("%v %s: %s", err, sent.Status, sent.Reason)
	}
	_, err = s.desk.RetrySubmission(t.Context(), human, rpc.TurnParams{TurnID: sent.TurnID})
	s.refused(err, "completions")
	if got := r.bytes(); got != pasteBegin+text+pasteEnd {
		t.Fatalf("read %q", got)
	}
	if row := r.row(agents.Idle); row.Hold != nil {
		t.Errorf("our own text is taken for a human's: %+v", row.Hold)
	}
	r.tell("popup", "")
	var again rpc.Send
	s.until("the Enter that lacks may be pressed", func() bool {
		again, err = s.desk.RetrySubmission(t.Context(), human, rpc.TurnParams{TurnID: sent.TurnID})
		return err == nil
	})
	if again.SubmissionOutcome != "agent_accepted" || r.bytes() != pasted(text) {
		t.Fatalf("%s: %s, read %q", again.Status, again.Reason, r.bytes())
	}
}

// B28: a program that drops all but the first key of a read: keys that act as
// one step are seen to have had no effect; nothing is pasted over what is left
// and no Enter is pressed.
func TestB28OneKeyOfARead(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.actor(s.server(), ways{FirstKey: true})
	id := r.ready().ID
	r.tell("text", "a draft of the human")
	s.until("seen typing", func() bool { return r.row(agents.Idle).Hold != nil })
	s.oldDraft(r)
	sent, err := s.desk.Send(t.Context(), human, rpc.SendParams{ID: id, Request: "task", Explicit: true, AcceptWaitMillis: 50_000})
	if err != nil {
		t.Fatal(err)
	}
	got := r.bytes()
	if strings.Contains(got, "task") || strings.Contains(got, "\r") || sent.Delivered || !sent.DoNotRetry {
		t.Fatalf("%s: %s; read %q", sent.Status, sent.Reason, got)
	}
	t.Logf("%s: %s; read %q", sent.Status, sent.Reason, got)
}

// oldDraft lets the human's last key be long ago.
func (s *stage) oldDraft(r *role) {
	s.t.Helper()
	v, err := s.desk.resolve(r.pane, r.socket)
	if err != nil {
		s.t.Fatal(err)
	}
	_ = s.desk.terminalOf(v).ask(s.t.Context(), func(t *terminal, reply func()) {
		t.facts.TypedAt = t.facts.TypedAt.Add(-2 * typingQuiet)
		t.publish()
		reply()
	})
}

// Scenario 47, R48, R49: the agent's process has two rollouts open. Both write
// the text down: uncertain, whatever comes after. One does: the Turn, its
// Session and its end are that one's.
func TestScenario47TwoRollouts(t *testing.T) {
	t.Parallel()
	t.Run("both", func(t *testing.T) {
		t.Parallel()
		s := newStage(t)
		r := s.actor(s.server(), ways{Rollouts: 2, Takes: []int{0, 1}})
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

// Scenario 53: what the agent would take as a command of its own is refused as
// a task and as an answer; no Session, Turn or receipt comes of it.
func TestScenario53Commands(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.actor(s.server(), ways{})
	id := r.ready().ID
	for _, text := range []string{"/clear", "/status", "  /model", "\n/clear\nand more", "!ls"} {
		for _, more := range []func(*rpc.SendParams){func(*rpc.SendParams) {}, explicitly} {
			_, err := r.send(text, more, withID("msg-53"))
			s.refused(err, "begins with")
		}
	}
	if row := r.ready(); row.Managed.SessionID != nil || row.Managed.TurnCount != 0 {
		t.Errorf("%+v", row.Managed)
	}
	if l, err := s.desk.Turns(t.Context(), human, rpc.TurnsParams{All: true}); err != nil || len(l) != 0 {
		t.Errorf("%v %+v", err, l)
	}
	sent, err := r.send("a task", withID("msg-53")) // the refused ones took no receipt
	if err != nil || sent.SubmissionOutcome != "agent_accepted" {
		t.Fatalf("%v %+v", err, sent)
	}
	for _, text := range []string{"/clear", "/status", "  /model"} {
		_, err := s.desk.Respond(t.Context(), human, rpc.RespondParams{TurnID: sent.TurnID, Request: text})
		s.refused(err, "begins with")
	}
	_, err = s.send(id, "/clear", func(p *rpc.SendParams) { p.ID, p.SessionID = "", sent.SessionID })
	s.refused(err, "begins with")
	if got := r.bytes(); got != pasted("a task") {
		t.Fatalf("read %q", got)
	}
}

// B49: a text that looks like a command for a shell is never the way to start
// something: a pane without an agent refuses it, an agent that works gets no
// byte of it.
func TestB49NoLaunchByTyping(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	socket := s.server()
	r := s.actor(socket, ways{})
	r.accepted("work")
	_, err := s.send(r.pane, "codex --yolo")
	s.refused(err, "working")
	shell := s.tmux(socket, "new-window", "-d", "-P", "-F", "#{pane_id}", "exec /bin/sh")
	mark := s.dir + "/launched"
	_, err = s.send(shell, "touch "+mark)
	s.refused(err, "")
	if got := r.bytes(); got != pasted("work") {
		t.Fatalf("read %q", got)
	}
	s.tmux(socket, "send-keys", "-t", shell, "touch "+mark+".human", "Enter") // the shell works: what was typed before would have run
	s.until("the shell's own command", func() bool { _, err := os.Stat(mark + ".human"); return err == nil })
	if _, err := os.Stat(mark); err == nil {
		t.Fatal("the task ran as a command")
	}
}
