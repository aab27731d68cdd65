package handoff

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"akk/agents"
	"akk/bridge/rpc"
	"akk/panes"
)

// This file holds tests of what a terminal, a native session, a Session, a Turn
// and a Watch are (R1 to R8, R12).

// R1: each part of a terminal's identity makes it another one.
func TestR1Key(t *testing.T) {
	k := Key{Pane: panes.Identity{Server: panes.ServerID{Socket: "/s", PID: 1, Start: noon}, Pane: "%1", PanePID: 2, PaneBorn: noon}, PID: 3, Start: noon}
	if !k.Same(k) {
		t.Fatal("it is not itself")
	}
	for name, spoil := range map[string]func(*Key){
		"another socket":              func(k *Key) { k.Pane.Server.Socket = "/t" },
		"the server was restarted":    func(k *Key) { k.Pane.Server.PID++ },
		"a server with the old pid":   func(k *Key) { k.Pane.Server.Start = noon.Add(time.Minute) },
		"another pane":                func(k *Key) { k.Pane.Pane = "%2" },
		"the pane was respawned":      func(k *Key) { k.Pane.PanePID++ },
		"another agent process":       func(k *Key) { k.PID++ },
		"an agent with the old pid":   func(k *Key) { k.Start = noon.Add(time.Minute) },
		"an agent of before the pane": func(k *Key) { k.Start = noon.Add(-time.Hour) },
	} {
		o := k
		spoil(&o)
		if k.Same(o) || o.Same(k) {
			t.Errorf("%s: still the same terminal", name)
		}
	}
}

// R1, R4: a name that tools take: one word, whatever the tmux session is called.
func TestR4TerminalIDs(t *testing.T) {
	t.Parallel()
	for _, session := range []string{"main", "my work", "a\u00a0b", "日本 語", "x%20y"} {
		id := terminalID(agents.Codex, panes.Info{SessionName: session, WindowIndex: 1, PaneIndex: 2}, 77)
		f := strings.Fields(id)
		if len(f) != 1 || !strings.HasPrefix(id, "terminal:v2:tmux:codex:") || !strings.HasSuffix(id, ":1.2:77") {
			t.Errorf("session %q: %q", session, id)
		}
	}
	b := newBench(t)
	p := b.w.play()
	b.w.change(p.id, func(i *panes.Info) { i.SessionName = "my work" })
	row := b.row(p, agents.Idle)
	b.until("the new name", func() bool { row = b.row(p, agents.Idle); return row.TerminalControl.Session == "my work" })
	if s, err := b.send(row.AvailableActions["send"].Arguments["terminal_id"].(string), "go"); err != nil || s.TerminalID != row.ID {
		t.Fatalf("%v %+v", err, s)
	}
}

// R2: the native session is what the agent's log tells, never made up.
func TestR2Native(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	if row.NativeAgentSessionID != "" || row.NativeIdentityState != "verified_absent" || row.Managed.NativeThreadID != "" {
		t.Errorf("before the first line: %q %s", row.NativeAgentSessionID, row.NativeIdentityState)
	}
	s := b.sendAs(human, p, "hello")
	row = b.row(p, agents.Working)
	v, err := b.desk.resolve(p.id, "")
	if err != nil || row.NativeAgentSessionID != p.native || row.NativeIdentityState != "resolved" || v.session.NativeID != p.native || b.turn(s.TurnID).NativeID != p.native {
		t.Errorf("%v %q, session %+v", err, row.NativeAgentSessionID, v.session)
	}
	if row.Managed.SessionID == nil || *row.Managed.SessionID == p.native {
		t.Error("akk's session is the agent's") // R3, R8: two ids
	}
}

// R3, R7, R8, R60: one conversation is one Session with many Turns, which
// nothing clears; each conversation that the human begins is a new generation,
// without a Turn of its own; the old Session's id does not follow the pane.
func TestR8Chain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	one := b.sendAs(human, p, "one")
	p.complete("ok")
	two := b.sendAs(human, p, "two")
	p.complete("ok")
	row := b.row(p, agents.Idle)
	if one.SessionID != two.SessionID || one.TurnID == two.TurnID || b.turn(one.TurnID).NativeID != b.turn(two.TurnID).NativeID {
		t.Errorf("%+v %+v", one, two)
	}
	if row.Managed.TurnCount != 2 || row.Managed.SessionCount != 1 || p.bytes() != "one\rtwo\r" {
		t.Errorf("%+v, typed %q", row.Managed, p.bytes())
	}
	for _, native := range []string{"second", "third"} {
		p.set(func(p *player) { p.native = native; p.add(agents.LogEvent{Kind: agents.LogSession}) })
		b.until("seen", func() bool { return b.rows()[0].NativeAgentSessionID == native })
	}
	if list, err := b.desk.Turns(t.Context(), human, rpc.TurnsParams{All: true}); err != nil || len(list) != 2 {
		t.Errorf("a change of the conversation made a Turn: %d %v", len(list), err)
	}
	_, err := b.callAs(human, "", "three", func(q *rpc.SendParams) { q.SessionID = one.SessionID })
	b.refused(err, "no longer what the agent shows")
	three := b.sendAs(human, p, "three")
	v, _ := b.desk.resolve(p.id, "")
	if three.SessionID == one.SessionID || v.session.Generation != 3 || b.turn(three.TurnID).Generation != 3 {
		t.Errorf("%+v, session %+v", three, v.session)
	}
}

// R5: a Turn is one dispatch; its id is no target, while it runs and after.
func TestR5TurnIsNoTarget(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	s := b.sendAs(human, p, "once")
	for range 2 {
		before := b.turn(s.TurnID)
		_, err := b.callAs(human, s.TurnID, "again")
		b.refused(err, "no agent's terminal")
		_, err = b.callAs(human, "", "again", func(q *rpc.SendParams) { q.SessionID = s.TurnID })
		b.refused(err, "no terminal has the session")
		_, err = b.desk.RetrySubmission(t.Context(), human, rpc.TurnParams{TurnID: s.TurnID})
		b.refused(err, "does not lack")
		if after := b.turn(s.TurnID); p.bytes() != "once\r" || after.Stage != before.Stage || after.Outcome != before.Outcome {
			t.Fatalf("typed %q, %+v", p.bytes(), after)
		}
		p.complete("ok")
		b.until("ended", func() bool { return b.turn(s.TurnID).Outcome == OutcomeCompleted })
	}
	_, err := b.desk.Respond(t.Context(), human, rpc.RespondParams{TurnID: s.TurnID, Request: "again"})
	b.refused(err, "")
}

// R6, R8: a Watch hangs off the terminal: it is no Session, Turn, receipt or
// owner, and its id means nothing but itself.
func TestR6WatchIsNothingElse(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	r, err := b.desk.Watch(t.Context(), hostCaller("s-1"), rpc.WatchParams{ID: row.ID})
	if err != nil {
		t.Fatal(err)
	}
	id := r.Watch.WatchID
	if text, _ := json.Marshal(r); r.Watch.TerminalID != row.ID || strings.Contains(string(text), `"session_id"`) || strings.Contains(string(text), `"turn_id"`) {
		t.Errorf("%s", text)
	}
	if m := b.row(p, agents.Idle).Managed; m.SessionID != nil || m.TurnCount != 0 || m.CurrentTurn != nil || b.rows()[0].Hold != nil {
		t.Errorf("the terminal belongs to the watch: %+v", m)
	}
	tables := map[string]int{}
	if err := b.desk.StoreExport(t.Context(), human, func(r rpc.StoreRow) error { tables[r.Table]++; return nil }); err != nil || tables["watches"] != 1 || tables["sessions"]+tables["turns"]+tables["receipts"] != 0 {
		t.Errorf("the store holds %v %v", tables, err)
	}
	_, err = b.callAs(human, id, "x")
	b.refused(err, "no agent's terminal")
	_, err = b.desk.Status(t.Context(), human, rpc.StatusParams{TurnID: id})
	b.refused(err, "no turn is called")
	_, err = b.desk.CloseTurn(t.Context(), human, rpc.CloseParams{TurnID: id})
	b.refused(err, "no turn is called")
	b.sendAs(hostCaller("s-2"), p, "another Host's task") // it owns nothing
}

// R12: what a managed Turn is bound to is in its record, over a restart. The
// monitor's owner and lease are one goroutine per terminal here.
func TestR12Bound(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	s := b.sendAs(hostCaller("s-1"), p, "work", withID("msg-7"))
	b.restart()
	b.row(p, agents.Working)
	turn := b.turn(s.TurnID)
	want := Key{Pane: panes.Identity{Server: b.w.id, Pane: p.id, PanePID: row.TerminalControl.PanePID}, PID: p.pid, Start: time.Unix(1_800_000_200, 0)}
	for what, ok := range map[string]bool{
		"agent kind": turn.Agent == "codex", "working directory": turn.Workspace == row.TerminalControl.CurrentPath && turn.Workspace != "",
		"endpoint, pane, processes": turn.Key.Same(want) && !turn.Key.Pane.PaneBorn.IsZero(), "pane target": turn.TerminalID == row.ID,
		"native evidence": turn.NativeID == p.native && turn.NativeTurn == "t1" && turn.Hash == agents.HashRequest("work"),
		"session":         turn.SessionID == s.SessionID, "message": turn.RequestID == "msg-7", "generation": turn.Generation == 1,
		"owner": turn.Host == "host" && turn.Owner == "s-1" && turn.Route != nil,
	} {
		if !ok {
			t.Errorf("%s: %+v", what, turn)
		}
	}
}
