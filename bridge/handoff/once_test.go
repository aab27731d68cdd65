package handoff

// These tests hold what TestDeskSchedules found: the same request id never types
// twice, a task belongs to the conversation that took it, and what a human types
// while akk is about to type counts.

import (
	"sync"
	"testing"

	"akk/agents"
	"akk/bridge/rpc"
	"akk/panes"
)

// Scenario 49: an id of which no byte went out at first, and which was accepted
// at the second try, stays that receipt.
func TestScenario49RetriedThenReplayed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	for n := range 8 { // each adds one that was not submitted
		b.w.mu.Lock()
		b.w.refuse[p.id] = &panes.Refused{Reason: "identity", Detail: "moved"}
		b.w.mu.Unlock()
		if s, err := b.send(row.ID, "once", withID("r")); err != nil || s.SubmissionOutcome != "aborted" {
			t.Fatalf("%d: %v %+v", n, err, s)
		}
		b.row(p, agents.Idle)
	}
	s, err := b.send(row.ID, "once", withID("r"))
	if err != nil || s.SubmissionOutcome != "agent_accepted" {
		t.Fatalf("%v %+v", err, s)
	}
	p.complete("done")
	b.row(p, agents.Idle)
	for range 20 {
		if again, err := b.send(row.ID, "once", withID("r")); err != nil || !again.Replayed || again.TurnID != s.TurnID {
			t.Fatalf("%v %+v", err, again)
		}
	}
	if got := p.bytes(); got != "once\r" {
		t.Fatalf("typed %q", got)
	}
}

// R55, R69: an answer's id is a receipt over a restart, too, also when the Turn
// waits for its next answer.
func TestR69AnswerOnceOverRestart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	s, err := b.callAs(host("a"), row.ID, "work")
	if err != nil {
		t.Fatal(err)
	}
	ask := func() {
		p.set(func(p *player) { p.asks = true })
		b.until("it waits", func() bool { turn := b.turn(s.TurnID); return turnStatus(&turn, nil) == "waiting_for_openclaw" })
		b.until("respond is offered", func() bool {
			return b.rowsAs(host("a"))[0].AvailableActions["respond"].Arguments["turn_id"] == s.TurnID
		})
	}
	answer := func(id, text string) (rpc.Send, error) {
		return b.desk.Respond(t.Context(), host("a"), rpc.RespondParams{TurnID: s.TurnID, Request: text, RequestID: id, AcceptWaitMillis: 10_000})
	}
	p.mu.Lock()
	p.onEnter = func(p *player) {
		p.set(func(p *player) {
			p.add(agents.LogEvent{Kind: agents.LogAccepted, Hash: agents.HashRequest(p.text), TurnID: "t1"})
			p.tasks, p.text, p.asks = append(p.tasks, p.text), "", false
		})
	}
	p.mu.Unlock()
	ask()
	// One that is not typed is no receipt.
	b.w.mu.Lock()
	b.w.refuse[p.id] = &panes.Refused{Reason: "identity", Detail: "moved"}
	b.w.mu.Unlock()
	_, err = answer("a-1", "Blue")
	b.refused(err, "nothing was sent") // and not the acceptance of the task before
	ask()
	if r, err := answer("a-1", "Blue"); err != nil || r.SubmissionOutcome != "agent_accepted" || r.Replayed {
		t.Fatalf("%v %+v", err, r)
	}
	b.restart()
	b.row(p, agents.Working)
	ask()
	if r, err := answer("a-1", "Blue"); err != nil || !r.Replayed || r.TurnID != s.TurnID {
		t.Fatalf("%v %+v", err, r)
	}
	if r, err := answer("a-2", "Green"); err != nil || r.SubmissionOutcome != "agent_accepted" {
		t.Fatalf("%v %+v", err, r)
	}
	if r, err := answer("a-1", "Blue"); err != nil || !r.Replayed {
		t.Fatalf("the id of the answer before: %v %+v", err, r)
	}
	if _, err := answer("a-1", "Red"); err == nil {
		t.Fatal("an answer's id was taken for another text")
	}
	if got := p.bytes(); got != "work\rBlue\rGreen\r" {
		t.Fatalf("typed %q", got)
	}
}

// R7, R38: an agent whose new log begins with the first message shows only then
// that a human had changed its conversation: the task is of a new Session.
func TestR38SessionOfTheConversationThatTookIt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	one, err := b.send(row.ID, "one")
	if err != nil {
		t.Fatal(err)
	}
	p.complete("done")
	b.row(p, agents.Idle)
	p.mu.Lock()
	p.native = "another" // nothing tells before the next line of the log
	p.mu.Unlock()
	two, err := b.send(row.ID, "two")
	if err != nil || two.SubmissionOutcome != "agent_accepted" {
		t.Fatalf("%v %+v", err, two)
	}
	if two.SessionID == one.SessionID || b.turn(two.TurnID).NativeID != "another" || b.turn(one.TurnID).SessionID != one.SessionID {
		t.Fatalf("one is in %s, two in %s (%s)", one.SessionID, two.SessionID, b.turn(two.TurnID).NativeID)
	}
	p.set(func(p *player) {
		p.add(agents.LogEvent{Kind: agents.LogCompleted, TurnID: "t2", Text: "two"})
		p.activity = agents.Idle
	})
	b.row(p, agents.Idle)
	b.until("two is done", func() bool { return b.turn(two.TurnID).Outcome == OutcomeCompleted })
	b.restart()
	b.row(p, agents.Idle)
	if turn := b.turn(two.TurnID); turn.SessionID != two.SessionID || turn.Outcome != OutcomeCompleted {
		t.Fatalf("after a restart: %+v", turn)
	}
	three, err := b.send(row.ID, "three")
	if err != nil || three.SessionID != two.SessionID {
		t.Fatalf("%v: three is in %s", err, three.SessionID)
	}
}

// R38: an agent that is in a third conversation by the time that its log tells
// of the task in the second: the task is not told as one of the first's.
func TestR38SessionOfAConversationThatIsLeftAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	one, err := b.send(row.ID, "one")
	if err != nil {
		t.Fatal(err)
	}
	first := p.native
	p.complete("done")
	b.row(p, agents.Idle)
	p.mu.Lock()
	p.native = "second"
	p.onEnter = func(p *player) {
		p.set(func(p *player) {
			p.add(agents.LogEvent{Kind: agents.LogAccepted, Hash: agents.HashRequest(p.text), TurnID: "t2"})
			p.text, p.native = "", "third"
			p.add(agents.LogEvent{Kind: agents.LogSession})
		})
	}
	p.mu.Unlock()
	two, err := b.send(row.ID, "two")
	if err != nil || two.SubmissionOutcome != "agent_accepted" || b.turn(two.TurnID).NativeID != "second" {
		t.Fatalf("%v %+v %+v", err, two, b.turn(two.TurnID))
	}
	if two.SessionID == one.SessionID {
		t.Fatalf("a task of %s is told as one of the Session of %s", b.turn(two.TurnID).NativeID, first)
	}
	p.mu.Lock()
	p.onEnter = nil
	p.mu.Unlock()
	b.until("the third is shown", func() bool { return b.row(p, agents.Idle).NativeAgentSessionID == "third" })
	if _, err := b.desk.CloseTurn(t.Context(), human, rpc.CloseParams{TurnID: two.TurnID, Reason: "superseded_by_human_context_switch"}); err != nil {
		t.Fatal(err)
	}
	three, err := b.send(row.ID, "three")
	if err != nil || three.SessionID == one.SessionID || three.SessionID == two.SessionID || b.turn(three.TurnID).NativeID != "third" {
		t.Fatalf("%v: three is in %s, %+v", err, three.SessionID, b.turn(three.TurnID))
	}
	b.restart()
	b.row(p, agents.Working)
	if turn := b.turn(two.TurnID); turn.SessionID != two.SessionID {
		t.Fatalf("after a restart: %+v", turn)
	}
}

// R41: a draft that a human began while an explicit send was being proven is no
// old one: it is not cleared.
func TestTypedWhileProving(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	var once sync.Once
	b.w.mu.Lock()
	b.w.onAudit = func() { once.Do(func() { p.set(func(p *player) { p.text = "h" }) }) }
	b.w.mu.Unlock()
	s, err := b.desk.Send(t.Context(), host("a"), rpc.SendParams{ID: row.ID, Request: "explicit", Explicit: true, AcceptWaitMillis: 5000})
	if err == nil && s.SubmissionOutcome != "aborted" {
		t.Fatalf("%+v", s)
	}
	if got := p.bytes(); got != "" {
		t.Fatalf("typed %q", got)
	}
}

// The end of a task that comes while its answer is being proven is heard (found
// by TestDeskSchedules: the Turn stayed open until its hard limit).
func TestTaskEndsBeforeItsAnswer(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	s, err := b.callAs(host("a"), row.ID, "work")
	if err != nil {
		t.Fatal(err)
	}
	p.set(func(p *player) { p.asks = true })
	b.until("it waits", func() bool {
		return b.rowsAs(host("a"))[0].AvailableActions["respond"].Arguments["turn_id"] == s.TurnID
	})
	var once sync.Once
	looked := make(chan struct{})
	b.w.mu.Lock()
	b.w.onAudit = func() { // behind the look into the log
		once.Do(func() {
			defer close(looked)
			p.set(func(p *player) { p.asks, p.activity = false, agents.Idle })
			p.complete("done")
			b.until("the end is in the log's news", func() bool { v, err := b.desk.resolve(row.ID, ""); return err == nil && !v.TurnOpen })
		})
	}
	b.w.mu.Unlock()
	_, err = b.desk.Respond(t.Context(), host("a"), rpc.RespondParams{TurnID: s.TurnID, Request: "Blue", RequestID: "a", AcceptWaitMillis: 10_000})
	<-looked // the proof may have been given up before
	b.refused(err, "nothing was sent")
	b.until("completed", func() bool { return b.turn(s.TurnID).Outcome == OutcomeCompleted })
	if got := p.bytes(); got != "work\r" || b.turn(s.TurnID).FinalText != "done" {
		t.Fatalf("typed %q, final %q", got, b.turn(s.TurnID).FinalText)
	}
}
