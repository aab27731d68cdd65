package handoff

import (
	"strings"
	"testing"
	"time"

	"akk/agents"
	"akk/bridge/rpc"
)

// R15, R171, R172, scenario 55: a human changes the agent's conversation while a
// Turn is open: a decision, never a redirect; the Turn is closed with the fixed
// reason, nothing is typed; then follow_current adopts what the pane shows.
func TestHumanContextSwitch(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	s, err := b.callAs(host("a"), row.ID, "long work")
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.desk.CloseTurn(t.Context(), host("a"), rpc.CloseParams{TurnID: s.TurnID, Reason: reasonSuperseded})
	b.refused(err, "no context switch") // only while the decision stands
	p.set(func(p *player) {             // /clear
		p.native, p.activity = "cleared", agents.Idle
		p.add(agents.LogEvent{Kind: agents.LogSession})
	})
	b.until("the decision stands", func() bool { return b.rowsAs(host("a"))[0].HandoffDecision != nil })
	r := b.rowsAs(rpc.Caller{Kind: "unknown"})[0]
	h := r.HandoffDecision
	a := h.Choices.TakeOverCurrent.Action
	if h.Kind != "active_turn_requires_decision" || h.SourceTurnID != s.TurnID || a.Arguments["reason"] != reasonSuperseded || !a.RequiresExplicit || a.Arguments["turn_id"] != s.TurnID {
		t.Fatalf("%+v", h)
	}
	if r.ManagementState != "conflict" || r.ManagementConflict.Kind != conflictSwitch || r.HandoffState != "external_handoff_blocked" || r.AvailableActions["send"].Tool != "" || r.AvailableActions["reconcile_binding"].Tool != "" {
		t.Fatalf("%+v", r)
	}
	_, err = b.callAs(rpc.Caller{Kind: "unknown"}, row.ID, "next")
	b.refused(err, "changed the agent's conversation") // R171: never a redirect
	_, err = b.desk.Cancel(t.Context(), host("a"), rpc.CancelParams{TurnID: s.TurnID})
	b.refused(err, "changed the agent's conversation") // R14
	_, err = b.desk.CloseTurn(t.Context(), host("b"), rpc.CloseParams{TurnID: s.TurnID, Reason: reasonSuperseded})
	forbidden(t, err)
	written := p.bytes()
	c, err := b.desk.CloseTurn(t.Context(), host("a"), rpc.CloseParams{TurnID: s.TurnID, Reason: reasonSuperseded})
	if err != nil || !c.Closed || c.HandoffDisposition != reasonSuperseded || c.TerminalInputDispatched || c.CodingAgentStopped || c.NextAction == "" || c.Conversation.Status != "closed" {
		t.Fatalf("%v %+v", err, c)
	}
	if p.bytes() != written {
		t.Fatal("close typed something")
	}
	p.set(func(p *player) { p.add(agents.LogEvent{Kind: agents.LogCompleted, TurnID: "t1", Text: "late"}) }) // R14: it changes nothing any more
	b.until("free", func() bool {
		return b.rows()[0].AvailableActions["send"].Scope == scopeFollow && b.rows()[0].HandoffDecision == nil
	})
	next, err := b.callAs(host("a"), row.ID, "next")
	if err != nil || next.SubmissionOutcome != "agent_accepted" || next.SessionID == s.SessionID {
		t.Fatalf("%v %+v", err, next)
	}
	if turn := b.turn(s.TurnID); turn.Outcome != OutcomeClosed || turn.FinalText != "" {
		t.Fatalf("%+v", turn)
	}
	switches := 0
	for _, e := range b.events() {
		if e.Change == "context_switched" && e.TurnID == s.TurnID {
			switches++
		}
	}
	if switches != 1 {
		t.Fatalf("the switch was told %d times", switches)
	}
}

// The human brings the conversation back: the decision ends by itself.
func TestHumanComesBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	s, err := b.callAs(human, row.ID, "work")
	if err != nil {
		t.Fatal(err)
	}
	was := p.native
	for _, native := range []string{"other", was} {
		p.set(func(p *player) { p.native = native; p.add(agents.LogEvent{Kind: agents.LogSession}) })
		b.until("seen", func() bool { return (b.rows()[0].HandoffDecision != nil) == (native != was) })
	}
	p.complete("fine")
	b.until("completed", func() bool { return b.turn(s.TurnID).Outcome == OutcomeCompleted })
}

// Close: always works for who may, types nothing, says what it leaves behind;
// a Turn of a terminal that is gone is closed in the store; twice is quiet
// (B125); a raw terminal only with the one matching message id.
func TestClose(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	p.onEnter = func(*player) {}
	row := b.row(p, agents.Idle)
	s, err := b.send(row.ID, "stays in the composer", withID("m-1"))
	if err != nil || s.Status != "submission_not_accepted" {
		t.Fatalf("%v %+v", err, s)
	}
	for _, bad := range []rpc.CloseParams{{}, {TurnID: "a", ID: "b"}, {TurnID: "turn-none"}, {ID: row.ID}, {ID: row.ID, ExpectedMessageID: "other"}, {ID: row.ID, ExpectedMessageID: "m-1", ExpectedTransitionID: "x"}} {
		if _, err := b.desk.CloseTurn(t.Context(), human, bad); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
	_, err = b.desk.CloseTurn(t.Context(), rpc.Caller{Kind: "agent", TerminalID: "x"}, rpc.CloseParams{TurnID: s.TurnID})
	forbidden(t, err)
	c, err := b.desk.CloseTurn(t.Context(), human, rpc.CloseParams{TurnID: s.TurnID})
	if err != nil || !c.Closed || c.Reason != reasonDefault || b.turn(s.TurnID).Outcome != OutcomeNotAccepted {
		t.Fatalf("%v %+v", err, c)
	}
	if c, err = b.desk.CloseTurn(t.Context(), human, rpc.CloseParams{TurnID: s.TurnID}); err != nil || !c.Closed {
		t.Fatalf("twice: %v %+v", err, c)
	}
	p.accept() // the human presses Enter: the closed Turn stays closed
	p.complete("x")
	b.until("free", func() bool { return b.rows()[0].AvailableActions["send"].Scope == scopeFollow })
	if turn := b.turn(s.TurnID); turn.AcceptedAt != nil {
		t.Fatalf("%+v", turn)
	}
	p.onEnter = func(p *player) { p.set(func(p *player) { p.text, p.activity = "", agents.Working }) } // no line in the log
	q, err := b.send(row.ID, "never heard of again", withID("m-2"), wait(10))
	if err != nil {
		t.Fatal(err)
	}
	b.until("Enter", func() bool { return b.turn(q.TurnID).Entered })
	if c, err = b.desk.CloseTurn(t.Context(), human, rpc.CloseParams{ID: row.ID, ExpectedMessageID: "m-2"}); err == nil {
		if c.Closed || !c.TerminalDispatchResolved || c.ConversationID != row.ID || b.turn(q.TurnID).ClosedAt == nil {
			t.Fatalf("%+v", c)
		}
	} else if turn := b.turn(q.TurnID); turn.open() {
		t.Fatal(err) // it had become uncertain by itself already
	}
	b.w.leave(p)
	b.until("gone", func() bool { return len(b.rows()) == 0 })
	if _, err = b.desk.CloseTurn(t.Context(), human, rpc.CloseParams{TurnID: q.TurnID, Reason: "over\x1b[31m and out"}); err != nil {
		t.Fatal(err)
	}
	if turn := b.turn(q.TurnID); turn.ClosedAt == nil || strings.Contains(turn.Closed, "\x1b") {
		t.Fatalf("%+v", turn)
	}
}

// R15, R173: reconcile detaches a proven stale binding and nothing else.
func TestReconcile(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	s, err := b.callAs(human, row.ID, "one")
	if err != nil {
		t.Fatal(err)
	}
	p.complete("ok")
	b.row(p, agents.Idle)
	_, err = b.desk.Reconcile(t.Context(), human, rpc.ReconcileParams{ID: row.ID, ConflictingSessionID: s.SessionID})
	b.refused(err, "not proven stale")
	p.set(func(p *player) { p.native = "another"; p.add(agents.LogEvent{Kind: agents.LogSession}) })
	b.until("offered", func() bool {
		return b.rowsAs(human)[0].AvailableActions["reconcile_binding"].Arguments["conflicting_session_id"] == s.SessionID
	})
	_, err = b.desk.Reconcile(t.Context(), rpc.Caller{Kind: "agent"}, rpc.ReconcileParams{ID: row.ID, ConflictingSessionID: s.SessionID})
	forbidden(t, err)
	written := b.w.writes
	r, err := b.desk.Reconcile(t.Context(), human, rpc.ReconcileParams{ID: row.ID, ConflictingSessionID: s.SessionID})
	if err != nil || r.Status != "reconciled" || r.Outcome != "detached_conflicting_binding" || r.TerminalInputSent || r.TurnCreated || !r.RefreshRequired || b.w.writes != written {
		t.Fatalf("%v %+v", err, r)
	}
	now := b.rows()[0]
	if now.Managed.SessionID != nil || now.ManagementState != "unmanaged" { // it adopts nothing
		t.Fatalf("%+v", now)
	}
	b.restart()
	if now = b.row(p, agents.Idle); now.Managed.SessionID != nil {
		t.Fatal("the detached session came back")
	}
	// A dead agent's Session is stale for the one that resumed its conversation.
	two, err := b.callAs(human, row.ID, "two")
	if err != nil {
		t.Fatal(err)
	}
	p.complete("ok")
	b.row(p, agents.Idle)
	b.w.leave(p)
	b.until("gone", func() bool { return len(b.rows()) == 0 })
	again := b.w.playIn(p.id)
	again.set(func(q *player) { q.native = "another"; q.add(agents.LogEvent{Kind: agents.LogSession}) })
	b.row(again, agents.Idle)
	b.until("offered for the predecessor", func() bool {
		return b.rowsAs(human)[0].AvailableActions["reconcile_binding"].Arguments["conflicting_session_id"] == two.SessionID
	})
	if r, err = b.desk.Reconcile(t.Context(), human, rpc.ReconcileParams{ID: b.rows()[0].ID, ConflictingSessionID: two.SessionID}); err != nil || r.ConflictKind != conflictStale {
		t.Fatalf("%v %+v", err, r)
	}
}

// retry_submission: text proven in the composer, Enter never pressed: one Enter.
// An Enter that was pressed and not taken is never pressed again (scenario 44).
func TestRetrySubmission(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.w.agent.plan.SettleMillis = 1500
	p := b.w.play()
	row := b.row(p, agents.Idle)
	done := make(chan rpc.Send, 1)
	go func() { s, _ := b.callAs(host("a"), row.ID, "the task"); done <- s }()
	b.until("the text stands there", func() bool { return p.bytes() == "the task" })
	_, _ = b.desk.Takeover(t.Context(), human, rpc.HoldParams{ID: row.ID})
	s := <-done
	_, err := b.desk.RetrySubmission(t.Context(), host("a"), rpc.TurnParams{TurnID: s.TurnID})
	b.refused(err, "a human holds")
	_, _ = b.desk.Handback(t.Context(), human, rpc.HoldParams{ID: row.ID})
	b.until("offered", func() bool {
		return b.rowsAs(host("a"))[0].AvailableActions["retry_submission"].Arguments["turn_id"] == s.TurnID
	})
	_, err = b.desk.RetrySubmission(t.Context(), host("b"), rpc.TurnParams{TurnID: s.TurnID})
	forbidden(t, err)
	r, err := b.desk.RetrySubmission(t.Context(), host("a"), rpc.TurnParams{TurnID: s.TurnID})
	if err != nil || r.TurnID != s.TurnID || r.SubmissionOutcome != "agent_accepted" || p.bytes() != "the task\r" {
		t.Fatalf("%v %+v %q", err, r, p.bytes())
	}
	_, err = b.desk.RetrySubmission(t.Context(), host("a"), rpc.TurnParams{TurnID: s.TurnID})
	b.refused(err, "does not lack")
	p.complete("ok")
	b.row(p, agents.Idle)
	p.onEnter = func(*player) {}
	b.w.agent.plan.SettleMillis = 20
	again, err := b.callAs(host("a"), row.ID, "swallowed")
	if err != nil || again.Status != "submission_not_accepted" {
		t.Fatalf("%v %+v", err, again)
	}
	_, err = b.desk.RetrySubmission(t.Context(), host("a"), rpc.TurnParams{TurnID: again.TurnID})
	b.refused(err, "does not lack")
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.enters != 2 {
		t.Fatalf("%d Enters", p.enters)
	}
}

// R61, R69, R70, R71: an answer goes into the waiting Turn as a message in the
// composer and stays there; by its Host only; not while a dialog has the keys;
// nothing for a Turn that waits not. An ordinary send is no way to answer.
func TestRespond(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	s, err := b.callAs(host("a"), row.ID, "work")
	if err != nil {
		t.Fatal(err)
	}
	answer := func(c rpc.Caller, text string) (rpc.Send, error) {
		return b.desk.Respond(t.Context(), c, rpc.RespondParams{TurnID: s.TurnID, Request: text, RequestID: "answer-1", AcceptWaitMillis: 10_000})
	}
	_, err = answer(host("a"), "Blue")
	b.refused(err, "does not wait for an answer")
	p.set(func(p *player) { p.asks = true }) // an async question: the composer stays free
	b.until("it waits", func() bool { turn := b.turn(s.TurnID); return turnStatus(&turn, nil) == "waiting_for_openclaw" })
	b.until("respond is offered", func() bool {
		return b.rowsAs(host("a"))[0].AvailableActions["respond"].Arguments["turn_id"] == s.TurnID
	})
	_, err = answer(host("b"), "Blue")
	forbidden(t, err)
	_, err = b.callAs(rpc.Caller{Kind: "unknown"}, row.ID, "Blue") // R61
	b.refused(err, "working")
	_, err = answer(host("a"), "/clear")
	b.refused(err, "begins with") // R71
	p.mu.Lock()
	p.onEnter = func(p *player) {
		p.set(func(p *player) {
			p.tasks, p.text, p.asks = append(p.tasks, p.text), "", false
			p.add(agents.LogEvent{Kind: agents.LogAccepted, Hash: agents.HashRequest("Blue"), TurnID: "t1"})
		})
	}
	p.mu.Unlock()
	r, err := answer(host("a"), "Blue")
	if err != nil || r.TurnID != s.TurnID || r.SubmissionOutcome != "agent_accepted" || r.MessageID != "answer-1" || r.Conversation.Rounds != 1 {
		t.Fatalf("%v %+v", err, r)
	}
	if again, err := answer(host("a"), "Blue"); err != nil || !again.Replayed || again.TurnID != s.TurnID { // scenario 49
		t.Fatalf("%v %+v", err, again)
	}
	if got := p.bytes(); got != "work\rBlue\r" {
		t.Fatalf("typed %q", got)
	}
	p.set(func(p *player) {
		p.add(agents.LogEvent{Kind: agents.LogCompleted, TurnID: "t1", Text: "a blue button"})
		p.activity = agents.Idle
	})
	b.until("completed", func() bool { return b.turn(s.TurnID).FinalText == "a blue button" })
	if again, err := b.callAs(host("a"), row.ID, "work", withID(b.turn(s.TurnID).RequestID)); err == nil {
		t.Fatalf("the answer's id for the task's text: %+v", again)
	}
}

// R71: an answer that is refused before its first byte leaves the Turn as it was.
func TestRespondRefused(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	before := Dispatch{Phase: PhaseRunning, Turn: Turn{ID: "turn-1", Stage: StageAccepted, AcceptedAt: &now, Hash: "h"}}
	d := Dispatch{Turn: Turn{ID: "turn-1", Hash: "other"}, Text: "x", Answer: true, Before: &before}
	f := idleFacts()
	d, _ = d.Step(Event{Kind: EvStart, Now: now, Facts: f})
	f.Reading.Owner = agents.OwnerApproval
	d, effs := d.Step(Event{Kind: EvAudited, Now: now, Facts: f})
	if d.Phase != PhaseRunning || d.Turn.Hash != "h" || !d.Turn.open() || len(effs) != 1 || effs[0].Change != "answer_refused" {
		t.Fatalf("%+v %+v", d, effs)
	}
}

// A Turn that was given up stays so when the log shows later that the agent has
// its text: that is told, nobody waits for its end, and no decision about it
// stands in the way (R172).
func TestClosedThenAccepted(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	for _, was := range []string{"", OutcomeUncertain, OutcomeNotAccepted} {
		d := Dispatch{Phase: PhaseWatch, Turn: Turn{ID: "turn-1", Stage: StageEntered, Dispatched: true, Entered: true, Hash: "h", Outcome: was}}
		d, _ = d.closeAs(now, "closed by request")
		d, effects := d.log(Event{Kind: EvLog, Now: now.Add(time.Second), Logs: []agents.LogEvent{{Kind: agents.LogAccepted, Hash: "h", SessionID: "s", TurnID: "n", Time: now}}})
		if x := d.Turn; x.open() || x.Outcome != OutcomeClosed || x.Stage != StageAccepted || x.AcceptedAt == nil || x.ClosedAt == nil || d.Phase != PhaseDone || len(effects) != 1 {
			t.Errorf("%q: %+v %v", was, d, effects)
		}
		if d, effects = d.log(Event{Kind: EvLog, Now: now.Add(time.Minute), Logs: []agents.LogEvent{{Kind: agents.LogCompleted, SessionID: "s", TurnID: "n"}}}); len(effects) != 0 || d.Turn.Outcome != OutcomeClosed {
			t.Errorf("%q: its end changes %+v %v", was, d, effects)
		}
	}
}
