package handoff

import (
	"slices"
	"strings"
	"testing"

	"akk/agents"
	"akk/bridge/rpc"
	"akk/store"
)

// This file tests what time and deaths do to a Turn, on the whole desk.

// R170, scenario 67: silence stalls, the Host is told once; renewed, it is
// watched again without a byte, and its end is told once.
func TestScenario67Renew(t *testing.T) {
	b := newBench(t)
	p := b.w.play()
	host := hostCaller("s-1")
	in := b.bridge(host, rpc.OutcomeAccepted)
	s := b.sendAs(host, p, "do it", func(p *rpc.SendParams) { p.AgentTimeoutMinutes = 0.01 })
	if _, err := b.desk.Renew(t.Context(), host, rpc.RenewParams{TurnID: s.TurnID}); err == nil {
		t.Error("renewed although it has not stalled")
	}
	p.set(func(p *player) { p.activity = agents.Idle }) // no sign of life any more
	e := in.next("error")
	if !strings.Contains(e.Event.Body, "stalled") || e.Event.RequiresResponse {
		t.Errorf("%+v", e.Event)
	}
	in.quiet()
	if st := b.turnStatus(s.TurnID); st.Status != "stalled" || st.AvailableActions["renew"].Tool == "" {
		t.Errorf("%+v", st)
	}
	bytes := p.bytes()
	if _, err := b.desk.Renew(t.Context(), hostCaller("s-2"), rpc.RenewParams{TurnID: s.TurnID}); err == nil {
		t.Error("another Host renewed it")
	}
	r, err := b.desk.Renew(t.Context(), host, rpc.RenewParams{TurnID: s.TurnID, Minutes: 30})
	if err != nil || !r.Renewed || r.AgentTimeoutMinutes != 30 || r.AgentHardTimeoutMinutes != 720 || r.Conversation.Status != "waiting_for_agent" {
		t.Fatalf("%+v %v", r, err)
	}
	if p.bytes() != bytes {
		t.Error("renewing typed")
	}
	p.work()
	p.complete("late, but done")
	in.next("done")
	in.quiet()
	if _, err := b.desk.Renew(t.Context(), host, rpc.RenewParams{TurnID: s.TurnID}); err == nil {
		t.Error("an ended turn was renewed")
	}
}

// What waited for an agent that ended while no daemon looked is ended, not kept
// for ever.
func TestOrphans(t *testing.T) {
	b := newBench(t)
	p, q := b.w.play(), b.w.play()
	host := hostCaller("s-1")
	s := b.sendAs(host, p, "do it")
	b.row(q, agents.Idle)
	r, err := b.desk.Watch(t.Context(), host, rpc.WatchParams{ID: q.id})
	if err != nil {
		t.Fatal(err)
	}
	b.close()
	b.w.leave(p)
	b.w.leave(q)
	b.start()
	b.desk.Forget(ServerRecord{Socket: b.w.id.Socket, PID: b.w.id.PID, Start: b.w.id.Start})
	in := b.bridge(host, rpc.OutcomeAccepted)
	kinds := []string{(<-in.got).Event.Type, (<-in.got).Event.Type}
	slices.Sort(kinds)
	if !slices.Equal(kinds, []string{"error", "invalidated"}) {
		t.Errorf("told %v", kinds)
	}
	if got := b.turnStatus(s.TurnID); got.Status != "stalled" || got.Outcome != OutcomeLost {
		t.Errorf("%+v", got)
	}
	got, err := b.desk.WatchStatus(t.Context(), host, rpc.WatchIDParams{WatchID: r.Watch.WatchID})
	if err != nil || got.Watch.Status != WatchInvalid {
		t.Errorf("%+v %v", got, err)
	}
}

// CONTRACT-outputs §5: an idle Turn is closed after seven days, by a deadline.
func TestIdleRetention(t *testing.T) {
	b := newBench(t)
	p := b.w.play()
	s := b.sendAs(rpc.Caller{Kind: "human"}, p, "do it")
	p.complete("done")
	b.until("idle", func() bool { return b.turnStatus(s.TurnID).Status == "idle" })
	b.close()
	db, err := store.Open(b.dir, store.Options{Schema: Schema()})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Update(func(tx *store.Tx) error {
		turn, rev, err := turns.Get(tx, s.TurnID)
		if err != nil {
			return err
		}
		at := turn.EndedAt.Add(-idleRetention)
		turn.EndedAt = &at
		_, err = turns.Put(tx, s.TurnID, turn, rev)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	b.open()
	b.until("closed", func() bool { return b.turnStatus(s.TurnID).Status == "closed" })
	list, err := b.desk.Turns(t.Context(), rpc.Caller{}, rpc.TurnsParams{All: true})
	if err != nil || len(list) != 1 || list[0].Status != "closed" {
		t.Errorf("%+v %v", list, err)
	}
}
