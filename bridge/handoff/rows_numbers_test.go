package handoff

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	fast "github.com/segmentio/encoding/json"

	"akk/agents"
	"akk/bridge/rpc"
	"akk/vtparse"
)

// This file holds tests of rows and of the view of a screen (R22, R23, R28, R35).

// R22: one row a live agent pane, its Session and current or newest Turn in it;
// the Turns before are nested with all=true only, and are one call away.
func TestR22OneRowAPane(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.w.pane() // a shell
	p, q := b.w.play(), b.w.play()
	b.w.mu.Lock() // a tool of the agent that is an agent itself
	wp := b.w.panes[q.id]
	wp.procs = append(wp.procs, agents.Process{PID: q.pid + 1000, Exe: "/opt/player", StartTime: time.Unix(1_800_000_300, 0)})
	b.w.mu.Unlock()
	one := b.sendAs(human, p, "one")
	p.complete("ok")
	two := b.sendAs(human, p, "two")
	b.row(q, agents.Idle)
	at := map[string]rpc.Row{}
	for _, r := range b.rows() {
		at[r.TerminalControl.PaneID] = r
	}
	if len(b.rows()) != 2 || len(at) != 2 || at[q.id].Managed.SessionID != nil {
		t.Fatalf("%d rows of %d panes", len(b.rows()), len(at))
	}
	if m := at[p.id].Managed; m.SessionID == nil || *m.SessionID != two.SessionID || m.CurrentTurn == nil || m.CurrentTurn.TurnID != two.TurnID || m.RecentTurn != nil || m.HiddenTurnCount != 1 {
		t.Errorf("%+v", m)
	}
	p.complete("ok")
	b.until("it has ended", func() bool {
		m := b.row(p, agents.Idle).Managed
		return m.CurrentTurn == nil && m.RecentTurn != nil && m.RecentTurn.TurnID == two.TurnID
	})
	list, err := b.desk.Turns(t.Context(), human, rpc.TurnsParams{All: true, TerminalID: at[p.id].ID})
	if err != nil || len(list) != 2 || list[0].TurnID != two.TurnID || list[1].TurnID != one.TurnID {
		t.Errorf("history: %+v %v", list, err)
	}
	all, err := b.desk.List(t.Context(), human, rpc.ListParams{All: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all.Terminals {
		h := r.Managed.History
		if r.ID != at[p.id].ID {
			if len(h) > 0 {
				t.Errorf("%s: %+v", r.ID, h)
			}
			continue
		}
		if len(h) != 1 || h[0].TurnID != one.TurnID || len(h[0].AvailableActions) != 2 || h[0].AvailableActions["close"].Tool == "" || h[0].AvailableActions["status"].Tool == "" {
			t.Errorf("history %+v", h)
		}
	}
	if h := b.row(p, agents.Idle).Managed.History; h != nil {
		t.Errorf("history without all: %+v", h)
	}
	if v := b.listOf(human).ActionContracts.Version; v != 28 { // R28
		t.Errorf("action contract %d", v)
	}
}

// The writer of lists and statuses writes what encoding/json does.
func TestRowsAreWrittenAlike(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p, q, r := b.w.play(), b.w.play(), b.w.play()
	one := b.sendAs(host("a"), p, "one <b>&\u2028\"\\ ä")
	p.complete("<i>done</i> & \u2029 \x7f 日本\n")
	b.sendAs(human, p, "two")
	b.row(q, agents.Idle)
	r.set(func(p *player) { p.activity, p.owner = agents.Blocked, agents.OwnerApproval })
	if _, err := b.desk.Takeover(t.Context(), human, rpc.HoldParams{ID: b.row(q, agents.Idle).ID, Note: `a "note" <x>`}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []rpc.Caller{human, host("a"), {Kind: "agent", TerminalID: b.row(q, agents.Idle).ID}} {
		l, err := b.desk.List(t.Context(), c, rpc.ListParams{All: true})
		if err != nil {
			t.Fatal(err)
		}
		s, err := b.desk.Status(t.Context(), c, rpc.StatusParams{TurnID: one.TurnID})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range []any{l, s} {
			want, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := fast.Marshal(v); err != nil || string(got) != string(want) {
				t.Fatalf("%v\n%s\n%s", err, got, want)
			}
		}
	}
}

// R23: the status of a Turn is its state and a bounded, redacted view of the
// screen; the agent gets no command for it.
func TestR23StatusIsBounded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.w.pane()
	b.w.mu.Lock()
	b.w.panes[id].term = vtparse.New(200, 60, vtparse.Options{})
	b.w.panes[id].screen = b.w.panes[id].term.Screen()
	b.w.mu.Unlock()
	p := b.w.playIn(id)
	s := b.sendAs(human, p, "work")
	b.w.feed(id, "\x1b[25;1H"+strings.Repeat(strings.Repeat("x", 190)+"\r\n", 33)+"MY_API_KEY=hushhush1234 the end")
	var st rpc.Status
	b.until("the screen is known", func() bool {
		var err error
		st, err = b.desk.Status(t.Context(), human, rpc.StatusParams{TurnID: s.TurnID})
		return err == nil && strings.Contains(st.TerminalStatus.Screen.Excerpt, "the end")
	})
	if c := st.Conversation; c == nil || c.TurnID != s.TurnID || c.Status != "waiting_for_agent" || c.Stage != StageAccepted {
		t.Errorf("%+v", st.Conversation)
	}
	if x := st.TerminalStatus.Screen.Excerpt; len([]rune(x)) > excerptMax || len([]rune(x)) < excerptMax/2 || strings.Contains(x, "hush") {
		t.Errorf("%d characters: %.80q", len([]rune(x)), x)
	}
	if p.bytes() != "work\r" {
		t.Errorf("typed %q", p.bytes())
	}
}

// R35: a version that nobody certified keeps its send and its watch, with a
// warning; no version, certified or not, is offered a native operation by it.
func TestR35Versions(t *testing.T) {
	t.Parallel()
	native := []string{"new_thread", "list_resumable_threads", "resume_thread", "native_inspect", "model_options", "set_model", "identify_foreground", "identify_and_send"}
	for version, c := range map[string]struct {
		generic bool
		warns   string
	}{"1.0.0": {false, ""}, "9.9.9": {true, "9.9.9 is not certified"}, "": {true, "version is not known"}} {
		b := newBench(t)
		b.w.agent.version, b.w.agent.generic = &version, c.generic
		p := b.w.play()
		r := b.row(p, agents.Idle)
		if got := strings.Join(r.CompatibilityWarnings, "; "); (got != "") != (c.warns != "") || !strings.Contains(got, c.warns) {
			t.Errorf("%q: warnings %q", version, got)
		}
		if r.AvailableActions["send"].Tool == "" || r.AvailableActions["watch"].Tool == "" {
			t.Errorf("%q: %v", version, r.AvailableActions)
		}
		for _, name := range native {
			if _, ok := r.AvailableActions[name]; ok {
				t.Errorf("%q: %s is offered", version, name)
			}
		}
		w, err := b.desk.Watch(t.Context(), human, rpc.WatchParams{ID: p.id})
		if err != nil || (w.Watch.CompatibilityWarning != "") != (c.generic && version != "") { // R125
			t.Errorf("%q: %v %q", version, err, w.Watch.CompatibilityWarning)
		}
		b.sendAs(human, p, "work")
	}
}
