package handoff

import (
	"strings"
	"testing"
	"time"

	"akk/agents"
	"akk/bridge/rpc"
	"akk/panes"
)

// This file holds tests of what a send may and may not (R26, R30, R32, R33, R44,
// R46, R47).

// R26: an offer that has run out is neither a reason to refuse nor taken as it
// was: the call is judged on the live screen, as an ordinary send. (Offers to
// answer a question or an approval are not made by this version.)
func TestR26ExpiredOffer(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	b.sendAs(host("a"), p, "long work")
	row := b.row(p, agents.Working)
	expire := func() {
		if a := b.rowsAs(host("b"))[0].AvailableActions["send"]; a.Scope != scopeExplicit {
			t.Fatalf("offered: %+v", a)
		}
		b.desk.offers.mu.Lock()
		defer b.desk.offers.mu.Unlock()
		for k, at := range b.desk.offers.m {
			b.desk.offers.m[k] = at.Add(-offerTTL - time.Second)
		}
	}
	expire()
	_, err := b.callAs(host("b"), row.ID, "me too")
	b.refused(err, "working")
	expire()
	p.complete("ok")
	b.row(p, agents.Idle)
	s, err := b.callAs(host("b"), row.ID, "me too")
	if err != nil || s.SubmissionOutcome != "agent_accepted" || s.Scope != scopeFollow {
		t.Fatalf("%v %+v", err, s)
	}
	if p.bytes() != "long work\rme too\r" {
		t.Errorf("typed %q", p.bytes())
	}
}

// R30, R128: a Watch needs no offer: by its id it is begun whatever the terminal
// shows and whoever has it; where it is offered it still asks for the user.
func TestR30WatchNeedsNoOffer(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	for name, change := range map[string]func(){
		"an approval":       func() { p.ask("x") },
		"a viewer":          func() { p.set(func(p *player) { p.activity, p.owner = agents.Idle, agents.OwnerViewer }) },
		"an unknown screen": func() { p.set(func(p *player) { p.activity, p.owner = agents.ActivityUnknown, agents.OwnerUnknown }) },
		"copy mode":         func() { b.w.change(p.id, func(i *panes.Info) { i.InMode = true }) },
		"a human's hold":    func() { _, _ = b.desk.Takeover(t.Context(), human, rpc.HoldParams{ID: p.id}) },
	} {
		change()
		b.until(name, func() bool { return b.rows()[0].AvailableActions["send"].Tool == "" })
		r, err := b.desk.Watch(t.Context(), host(name), rpc.WatchParams{ID: row.ID}) // this Host has listed nothing
		if err != nil || r.Watch.Status != WatchActive {
			t.Errorf("%s: %v %+v", name, err, r.Watch)
		}
		if a := b.rowsAs(host(name))[0].AvailableActions["watch"]; a.Tool != toolWatch || !a.RequiresUserIntent {
			t.Errorf("%s: %+v", name, a)
		}
	}
	if p.bytes() != "" {
		t.Errorf("typed %q", p.bytes())
	}
}

// R32: what an explicit send does with a draft is told in the contract; it is no
// argument (the closed schema: TestClosedSchemas of package mcp).
func TestR32ComposerPolicy(t *testing.T) {
	send := contracts().Actions["send"].(map[string]any)
	if send["terminal_user_explicit_composer_policy"] != "replace_current_composer_and_submit" {
		t.Errorf("%v", send)
	}
	for _, a := range []string{"composer_policy", "policy"} {
		if strings.Contains(strings.Join(send["required"].([]string), " "), a) {
			t.Errorf("%v", send["required"])
		}
	}
}

// R33, R71: an agent's own command as the first line is refused as a task in
// every scope and as an answer, before there is any record: the request id is
// still free.
func TestR33SlashCommands(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	commands := []string{"/clear", "/new", "/resume", "/resume 11111111-1111-4111-8111-111111111111", "/status", "/fork", "/side", "/branch x", "/compact", "/model gpt", "/quit", "/anything",
		" /clear", "\t/clear", "\n\n/clear", "\r\n /clear", "\u00a0/clear", "/clear\nand then do the work"}
	for _, text := range commands {
		for _, more := range []func(*rpc.SendParams){func(*rpc.SendParams) {}, explicitly, func(q *rpc.SendParams) { q.ID = "" }} {
			_, err := b.callAs(human, row.ID, text, withID("msg-1"), more)
			b.refused(err, "begins with")
		}
	}
	tables := map[string]int{}
	if err := b.desk.StoreExport(t.Context(), human, func(r rpc.StoreRow) error { tables[r.Table]++; return nil }); err != nil || tables["sessions"]+tables["turns"]+tables["receipts"] != 0 || b.w.writes != 0 {
		t.Fatalf("%v %v, %d writes", err, tables, b.w.writes)
	}
	s, err := b.callAs(human, row.ID, "not a /clear", withID("msg-1"))
	if err != nil || s.SubmissionOutcome != "agent_accepted" {
		t.Fatalf("%v %+v", err, s)
	}
	p.set(func(p *player) { p.asks = true })
	b.until("it waits", func() bool { turn := b.turn(s.TurnID); return turn.Asked != "" })
	for _, text := range commands {
		_, err := b.desk.Respond(t.Context(), human, rpc.RespondParams{TurnID: s.TurnID, Request: text})
		b.refused(err, "begins with")
	}
	if p.bytes() != "not a /clear\r" {
		t.Errorf("typed %q", p.bytes())
	}
}
