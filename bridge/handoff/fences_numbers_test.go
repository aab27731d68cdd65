package handoff

import (
	"strings"
	"sync"
	"testing"
	"time"

	"akk/agents"
	"akk/bridge/rpc"
	"akk/panes"
)

// This file holds tests of what is looked at again right before a key: R11, R13,
// R15, R31, R57.

// drift makes the pane's process another one (by 1) or the old one again (by
// -1), and tells nobody.
func (w *world) drift(id string, by int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.panes[id].info.Identity.PanePID += by
}

// R11, R31: what changes after a send was taken and before its first byte stops
// it: nothing is carried over from the moment of the offer.
func TestR11BeforeTheFirstByte(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, reason string
		change       func(*bench, *player)
	}{
		{"a draft", "", func(_ *bench, p *player) { p.set(func(p *player) { p.text = "half a thought" }) }},
		{"an approval", "an approval has the keys", func(_ *bench, p *player) { p.ask("x") }},
		{"a question", "a question has the keys", func(_ *bench, p *player) {
			p.set(func(p *player) { p.activity, p.owner = agents.Blocked, agents.OwnerQuestionnaire })
		}},
		{"a viewer", "a viewer has the keys", func(_ *bench, p *player) { p.set(func(p *player) { p.owner = agents.OwnerViewer }) }},
		{"work", "working", func(_ *bench, p *player) { p.set(func(p *player) { p.activity = agents.Working }) }},
		{"an unknown screen", "not known", func(_ *bench, p *player) { p.set(func(p *player) { p.activity = agents.ActivityUnknown }) }},
		{"copy mode", "copy mode", func(b *bench, p *player) { b.w.change(p.id, func(i *panes.Info) { i.InMode = true }) }},
		{"a takeover", "a human holds the terminal", func(b *bench, p *player) {
			if _, err := b.desk.Takeover(b.t.Context(), human, rpc.HoldParams{ID: p.id}); err != nil {
				b.t.Error(err)
			}
		}},
		{"another process in the pane", "another process", func(b *bench, p *player) { b.w.drift(p.id, 1) }},
		{"the agent leaves", "", func(b *bench, p *player) {
			b.w.leave(p)
			for end := time.Now().Add(10 * time.Second); len(b.rows()) > 0 && time.Now().Before(end); { // heard before the proof is answered
				time.Sleep(time.Millisecond)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			p := b.w.play()
			row := b.row(p, agents.Idle)
			if row.AvailableActions["send"].Tool == "" {
				t.Fatal("no offer")
			}
			var once sync.Once
			b.w.mu.Lock()
			b.w.onAudit = func() { once.Do(func() { c.change(b, p) }) }
			b.w.mu.Unlock()
			s, err := b.send(row.ID, "do it")
			if err != nil || s.Status != "submission_aborted" || !strings.Contains(s.Reason, c.reason) || s.TerminalInputDispatched || !s.SafeToRetry || p.bytes() != "" {
				t.Fatalf("%v %+v, typed %q", err, s, p.bytes())
			}
		})
	}
}

// R1, R13: another process is in the pane and nobody has told the desk yet: the
// gate tests the identity with each key; zero input for a task and an interrupt.
func TestR13SilentDrift(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	b.w.drift(p.id, 1)
	s, err := b.send(row.ID, "do it")
	if err != nil || s.Status != "submission_aborted" || s.TerminalInputDispatched || !s.SafeToRetry || p.bytes() != "" {
		t.Fatalf("%v %+v, typed %q", err, s, p.bytes())
	}
	b.w.drift(p.id, -1)
	s = b.sendAs(human, p, "work")
	b.row(p, agents.Working)
	b.w.drift(p.id, 1)
	var c rpc.Cancel
	b.until("the interrupt is tried", func() bool { // an agent is left alone in its first moment of work
		c, err = b.desk.Cancel(t.Context(), human, rpc.CancelParams{TurnID: s.TurnID})
		return err == nil && strings.Contains(c.Reason, "another process")
	})
	if c.CancelRequested || c.Interrupted != "" || p.bytes() != "work\r" {
		t.Fatalf("%+v, typed %q", c, p.bytes())
	}
	b.w.drift(p.id, -1)
}

// R57: the process changes between text and Enter: nothing more is sent, the
// draft stays as it is.
func TestR57DriftBeforeEnter(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	p.onPaste = func(p *player, text string) string { b.w.drift(p.id, 1); return text }
	row := b.row(p, agents.Idle)
	s, err := b.send(row.ID, "do it")
	if err != nil || s.Status != "submission_not_accepted" || !s.DoNotRetry || !strings.Contains(s.Reason, "another process") {
		t.Fatalf("%v %+v", err, s)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if string(p.got) != "do it" || p.enters != 0 || p.text != "do it" {
		t.Fatalf("typed %q, composer %q", p.got, p.text)
	}
}

// R15: reconciling and taking a handoff over are offered as the user's decision
// and judged by what is the case at that moment. The other four (models, residue
// repair, approvals, answers to questionnaires) are not offered by this version,
// and their tools do nothing (TestToolsReachTheDesk of package mcp).
func TestR15IntentAndFreshState(t *testing.T) {
	t.Parallel()
	known := contracts().Actions
	for name, flag := range map[string]string{"reconcile_binding": "requires_user_intent", "close": "requires_explicit_user_confirmation"} {
		if known[name].(map[string]any)[flag] != true {
			t.Errorf("%s: %v", name, known[name])
		}
	}
	later := []string{"model_options", "set_model", "repair_model_control", "approve", "respond_interaction"}
	b := newBench(t)
	p := b.w.play()
	b.sendAs(human, p, "one")
	p.complete("ok")
	row, was := b.row(p, agents.Idle), p.native
	session := *row.Managed.SessionID
	show := func(native string) {
		p.set(func(p *player) { p.native = native; p.add(agents.LogEvent{Kind: agents.LogSession}) })
		b.until("seen", func() bool { return b.rows()[0].NativeAgentSessionID == native })
	}
	show("another")
	if a := b.rowsAs(human)[0].AvailableActions["reconcile_binding"]; a.Arguments["conflicting_session_id"] != session || !a.RequiresUserIntent {
		t.Errorf("%+v", a)
	}
	show(was) // the offer is stale now
	_, err := b.desk.Reconcile(t.Context(), human, rpc.ReconcileParams{ID: row.ID, ConflictingSessionID: session})
	b.refused(err, "not proven stale")
	for _, act := range []func(){func() {}, func() { p.ask("x") }, func() { p.set(func(p *player) { p.owner = agents.OwnerQuestionnaire }) }} {
		act()
		for _, name := range later {
			if _, ok := b.rowsAs(human)[0].AvailableActions[name]; ok || known[name] != nil {
				t.Errorf("%s is offered", name)
			}
		}
	}
}
