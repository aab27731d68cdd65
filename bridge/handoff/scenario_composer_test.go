package handoff

// Scenarios and bug reports about what stands in the composer, and about texts
// that are none of a task: on a real tmux, checked by the bytes that the actor
// read.

import (
	"os"
	"strings"
	"testing"
	"time"

	"akk/agents"
	"akk/bridge/rpc"
)

// B26: Enter over an open list of completions takes a suggestion, a second one
// would submit something else than was sent. No Enter is pressed while it is
// open; when a human has closed it, the one Enter that lacks may be pressed.
func TestB26Completions(t *testing.T) {
	t.Parallel()
	agent := newActorAgent()
	agent.plan.DrawMillis = 1000
	s := newStage(t, agent)
	r := s.actor(s.server(), ways{Suggest: true})
	text := "look at @re"
	sent, err := r.send(text)
	if err != nil || sent.SubmissionOutcome != "not_accepted" || !sent.DoNotRetry {
		t.Fatalf("%v %s: %s", err, sent.Status, sent.Reason)
	}
	s.until("its Enter is refused for the list", func() bool { // not for the lock of the stopped send
		_, err = s.desk.RetrySubmission(t.Context(), human, rpc.TurnParams{TurnID: sent.TurnID})
		return err != nil && strings.Contains(err.Error(), "completions")
	})
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
	agent := newActorAgent()
	agent.plan.Clear.StepMillis = 300
	s := newStage(t, agent)
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
		t.facts.TypedAt = t.facts.TypedAt.Add(-10 * time.Minute)
		t.publish()
		reply()
	})
}

// B32: a draft that nobody has touched for 10 minutes is a draft: refused, and
// nothing is cleared.
func TestB32OldDraft(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.actor(s.server(), ways{})
	id := r.ready().ID
	r.tell("text", "merge it\nonly after I say so")
	s.until("seen", func() bool { return r.row(agents.Idle).Hold != nil })
	s.oldDraft(r)
	for _, p := range []rpc.SendParams{{ID: id, Request: "task"}, {Request: "task"}} {
		_, err := s.desk.Send(t.Context(), human, p)
		s.refused(err, "is typing in the pane")
	}
	if got := r.bytes(); got != "" {
		t.Fatalf("read %q", got)
	}
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
	s.until("it is seen at work", func() bool { // no longer busy with the task before
		if s.refused(err, ""); strings.Contains(err.Error(), "working") {
			return true
		}
		_, err = s.send(r.pane, "codex --yolo")
		return false
	})
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
