package handoff

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"akk/agents"
	"akk/bridge/rpc"
)

// This file holds tests of a terminal's three answers, and that looking changes
// nothing (R17 to R21, R224).

// axes are a row's three answers and the old one.
func axes(r rpc.Row) string {
	return fmt.Sprintf("screen %s, identity %s, durable %s, activity %s", r.ScreenState, r.NativeIdentityState, r.DurableActivityState, r.ActivityState)
}

// R17, R19: screen, identity and durable activity are three answers, the same in
// List and Status; the old activity_state is unknown where they disagree.
// What a screen state is made of is the reading (R18).
func TestR17Axes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	id := b.row(p, agents.Idle).ID
	see := func(want string) {
		t.Helper()
		b.until(want, func() bool { return axes(b.rows()[0]) == want })
		st, err := b.desk.Status(t.Context(), human, rpc.StatusParams{ID: id})
		if err != nil || axes(*st.Terminal) != want {
			t.Errorf("status says %v %s, want %s", err, axes(*st.Terminal), want)
		}
	}
	see("screen idle, identity verified_absent, durable unknown, activity idle")
	b.sendAs(human, p, "work")
	see("screen working, identity resolved, durable working, activity working")
	p.set(func(p *player) { p.activity = agents.Idle }) // it looks idle, its log holds an open turn
	see("screen idle, identity resolved, durable working, activity unknown")
	p.set(func(p *player) { p.activity = agents.ActivityUnknown })
	see("screen unknown, identity resolved, durable working, activity unknown")
	p.complete("ok")
	see("screen idle, identity resolved, durable idle, activity idle")
	p.ask("x")
	see("screen awaiting_approval, identity resolved, durable idle, activity awaiting_approval")
	q := b.w.play() // the same conversation in two terminals: whose it is can't be told
	q.set(func(q *player) { q.native = p.native; q.add(agents.LogEvent{Kind: agents.LogSession}) })
	see("screen awaiting_approval, identity ambiguous, durable idle, activity awaiting_approval")

	claude := newBench(t)
	claude.w.agent.kind = agents.Claude
	r := claude.row(claude.w.play(), agents.Idle)
	if got := axes(r); got != "screen idle, identity unavailable, durable unknown, activity idle" {
		t.Error(got)
	}
}

// R18: whatever is read, the screen's state is one of four words.
func TestR18ScreenStates(t *testing.T) {
	words := []string{"idle", "working", "awaiting_approval", "unknown"}
	for _, a := range []agents.Activity{agents.Starting, agents.Idle, agents.Working, agents.Blocked, agents.Exited, agents.ActivityUnknown, ""} {
		for _, o := range []agents.Owner{agents.OwnerComposer, agents.OwnerApproval, agents.OwnerQuestionnaire, agents.OwnerShell, agents.OwnerUnknown} {
			s, _ := screenState(agents.Reading{Activity: a, Owner: o})
			if !slices.Contains(words, s) || s == "idle" && a != agents.Idle {
				t.Errorf("%s/%s is %q", a, o, s)
			}
		}
	}
}

// R20: three good axes are no permission: without the entry in available_actions
// nothing goes.
func TestR20AxesAllowNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	b.sendAs(human, p, "one")
	p.complete("ok")
	const good = "screen idle, identity resolved, durable idle, activity idle"
	b.until(good, func() bool { return axes(b.rows()[0]) == good })
	if _, err := b.desk.Takeover(t.Context(), human, rpc.HoldParams{ID: p.id}); err != nil {
		t.Fatal(err)
	}
	row := b.rowsAs(host("a"))[0]
	if axes(row) != good {
		t.Fatal(axes(row))
	}
	if _, ok := row.AvailableActions["send"]; ok {
		t.Error("a send is offered")
	}
	_, err := b.callAs(host("a"), row.ID, "two")
	b.refused(err, "a human holds the terminal")
	if p.bytes() != "one\r" {
		t.Errorf("typed %q", p.bytes())
	}
}

// R21, R224: looking types nothing and stores nothing, by whatever name; a send
// types its text and Enter and no probe.
func TestR21LookingChangesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p, q := b.w.play(), b.w.play()
	s := b.sendAs(hostCaller("s-1"), p, "one")
	p.complete("ok")
	row := b.row(p, agents.Idle)
	b.row(q, agents.Idle)
	w, err := b.desk.Watch(t.Context(), human, rpc.WatchParams{ID: p.id})
	if err != nil {
		t.Fatal(err)
	}
	stored := func() string {
		var all strings.Builder
		if err := b.desk.StoreExport(t.Context(), human, func(r rpc.StoreRow) error {
			fmt.Fprintln(&all, r.Table, r.ID, r.Seq, r.Rev, string(r.Value))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return all.String()
	}
	b.until("the store rests", func() bool {
		one := stored()
		_ = b.db.Check()
		return strings.Contains(one, `"completed"`) && one == stored()
	})
	before, writes := stored(), b.w.writes
	for range 3 {
		for _, c := range []rpc.Caller{human, hostCaller("s-1"), host("b"), {Kind: "agent", TerminalID: row.ID}, {Kind: "unknown"}} {
			for _, all := range []bool{false, true} {
				if _, err := b.desk.List(t.Context(), c, rpc.ListParams{All: all}); err != nil {
					t.Fatal(err)
				}
			}
			for _, id := range []string{row.ID, row.ShortRef, p.id, q.id, s.TurnID, "@0000000000", "%99", "only"} {
				_, _ = b.desk.Status(t.Context(), c, rpc.StatusParams{ID: id})
				_, _ = b.desk.Explain(t.Context(), c, rpc.TargetParams{ID: id})
				_, _ = b.desk.Screen(t.Context(), c, rpc.ScreenParams{TargetParams: rpc.TargetParams{ID: id}, Audit: true})
			}
			_, _ = b.desk.WatchStatus(t.Context(), c, rpc.WatchIDParams{WatchID: w.Watch.WatchID})
			_, _ = b.desk.Turns(t.Context(), c, rpc.TurnsParams{All: true})
			_, _ = b.desk.Callbacks(t.Context(), c, rpc.CallbacksParams{All: true})
		}
	}
	if after := stored(); after != before {
		t.Errorf("the store was\n%s\nand is\n%s", before, after)
	}
	if b.w.writes != writes || p.bytes() != "one\r" || q.bytes() != "" {
		t.Errorf("typed %q %q in %d writes", p.bytes(), q.bytes(), b.w.writes-writes)
	}
}

func (b *bench) listOf(c rpc.Caller) rpc.List {
	b.t.Helper()
	l, err := b.desk.List(b.t.Context(), c, rpc.ListParams{})
	if err != nil {
		b.t.Fatal(err)
	}
	return l
}
