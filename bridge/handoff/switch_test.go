package handoff

// A human's /clear between two tasks, as the two agents show it.

import (
	"testing"

	"akk/agents"
)

// R38, R48: Codex shows a cleared conversation only with its first task. That
// task goes to a Session of its own, the next one too; nothing is in conflict,
// and the old Session has lost nothing and keeps nothing.
func TestSwitchSeenWithTheTask(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	one, err := b.callAs(host("a"), row.ID, "one")
	if err != nil {
		t.Fatal(err)
	}
	p.complete("ok")
	b.until("completed", func() bool { return b.turn(one.TurnID).Outcome == OutcomeCompleted })
	b.row(p, agents.Idle)
	p.set(func(p *player) { p.native = "cleared" }) // not a word in the log
	two, err := b.callAs(host("a"), row.ID, "two")
	if err != nil || two.SubmissionOutcome != "agent_accepted" || two.SessionID == one.SessionID || two.Conversation.SessionID != two.SessionID {
		t.Fatalf("%v %+v", err, two)
	}
	p.complete("fine")
	b.until("completed", func() bool { return b.turn(two.TurnID).Outcome == OutcomeCompleted })
	r := b.row(p, agents.Idle)
	if r.ManagementState != "managed" || r.ManagementConflict != nil || r.HandoffDecision != nil || *r.Managed.SessionID != two.SessionID || r.Managed.TurnCount != 1 {
		t.Fatalf("%s %+v %+v", r.ManagementState, r.ManagementConflict, r.Managed)
	}
	three, err := b.callAs(host("a"), row.ID, "three")
	if err != nil || three.SessionID != two.SessionID {
		t.Fatalf("%v %+v", err, three)
	}
	v, _ := b.desk.resolve(row.ID, "")
	if v.session.Lineage != "human_observed" || v.session.Generation != 2 || v.session.NativeID != "cleared" { // R7
		t.Fatalf("%+v", v.session)
	}
	b.desk.mu.Lock()
	defer b.desk.mu.Unlock()
	if n := b.desk.tallies[one.SessionID]; n.count != 1 || len(n.open) != 0 {
		t.Fatalf("the old session has %+v", n)
	}
}

// R48: after Claude's /clear the new transcript holds no turn yet: a place in
// the old file is no anchor in the new one, and a task is accepted in it.
func TestSwitchToAnEmptyLog(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.w.agent.kind = agents.Claude
	p := b.w.play()
	row := b.row(p, agents.Idle)
	for range 3 { // the old log is longer than the new one will be
		one, err := b.callAs(host("a"), row.ID, "one")
		if err != nil {
			t.Fatal(err)
		}
		p.complete("ok")
		b.until("completed", func() bool { return b.turn(one.TurnID).Outcome == OutcomeCompleted })
		b.row(p, agents.Idle)
	}
	p.set(func(p *player) { p.native, p.log, p.file = "cleared", nil, 1 })
	b.until("seen", func() bool { return b.rows()[0].NativeAgentSessionID == "cleared" })
	two, err := b.callAs(host("a"), row.ID, "two")
	if err != nil || two.SubmissionOutcome != "agent_accepted" {
		t.Fatalf("%v %+v", err, two)
	}
}
