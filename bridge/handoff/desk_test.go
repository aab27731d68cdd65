package handoff

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"akk/agents"
	"akk/bridge/rpc"
	"akk/panes"
	"akk/store"
)

// bench is a desk over a world, on a store of its own.
type bench struct {
	t    *testing.T
	w    *world
	dir  string
	db   *store.DB
	desk *Desk
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, w: newWorld(), dir: t.TempDir()}
	b.open()
	t.Cleanup(b.close)
	return b
}

// open begins a daemon that is attached to the world.
func (b *bench) open() {
	b.t.Helper()
	b.start()
	if _, err := b.desk.Attach(b.t.Context(), rpc.AttachParams{Socket: b.w.id.Socket}); err != nil {
		b.t.Fatal(err)
	}
}

// start begins one that is attached to nothing.
func (b *bench) start() {
	b.t.Helper()
	db, err := store.Open(b.dir, store.Options{Schema: Schema()})
	if err != nil {
		b.t.Fatal(err)
	}
	b.db = db
	b.desk, err = New(Options{DB: db, Agents: []agents.Agent{b.w.agent}, Attach: func(context.Context, string) (panes.Provider, error) { return b.w, nil }})
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) close() {
	b.t.Helper()
	if b.desk == nil {
		return
	}
	b.desk.Close()
	for _, err := range b.db.Check() {
		b.t.Errorf("store check: %v", err)
	}
	if err := b.db.Close(); err != nil {
		b.t.Error(err)
	}
	b.desk = nil
}

// restart is a daemon that ends in an orderly way and begins again.
func (b *bench) restart() { b.close(); b.open() }

// until waits for a predicate.
func (b *bench) until(what string, f func() bool) {
	b.t.Helper()
	for end := time.Now().Add(60 * time.Second); ; time.Sleep(2 * time.Millisecond) {
		if f() {
			return
		}
		if time.Now().After(end) {
			b.t.Fatalf("never: %s", what)
		}
	}
}

func (b *bench) rows() []rpc.Row {
	b.t.Helper()
	l, err := b.desk.List(b.t.Context(), rpc.Caller{}, rpc.ListParams{})
	if err != nil {
		b.t.Fatal(err)
	}
	return l.Terminals
}

// row waits until the player's pane is listed with that activity.
func (b *bench) row(p *player, a agents.Activity) rpc.Row {
	b.t.Helper()
	var got rpc.Row
	b.until(fmt.Sprintf("%s is %s", p.id, a), func() bool {
		for _, r := range b.rows() {
			if r.TerminalControl.PaneID == p.id && r.PID == p.pid && r.Reading.Activity == a && b.whole(r.ID) {
				got = r
				return true
			}
		}
		return false
	})
	return got
}

// whole tells whether the newest reading rests on a whole frame: only then has
// everybody looked at it.
func (b *bench) whole(id string) bool {
	v, bad := b.desk.resolve(id, "")
	return bad == nil && v.Frame
}

func (b *bench) send(id, text string, more ...func(*rpc.SendParams)) (rpc.Send, error) {
	p := rpc.SendParams{ID: id, Request: text, AcceptWaitMillis: 5000}
	for _, f := range more {
		f(&p)
	}
	return b.desk.Send(b.t.Context(), rpc.Caller{Kind: "human"}, p)
}

func (b *bench) refused(err error, part string) {
	b.t.Helper()
	var e *rpc.Error
	if !errors.As(err, &e) || !strings.Contains(e.Message, part) || e.Cure == "" {
		b.t.Fatalf("want a refusal with %q and a cure, got %#v", part, err)
	}
}

func (b *bench) turn(id string) Turn {
	b.t.Helper()
	t, _, err := b.desk.turn(id)
	if err != nil {
		b.t.Fatal(err)
	}
	return t
}

func (b *bench) events() []rpc.Event {
	b.t.Helper()
	var out []rpc.Event
	err := b.desk.Events(b.t.Context(), rpc.Caller{}, rpc.EventsParams{All: true}, func(rpc.EventsResult) error { return nil }, func(e rpc.Event) error { out = append(out, e); return nil })
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

// R39, R60: a task from the list's offer to its end, then the next one.
func TestSendAcceptedCompleted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	if row.AvailableActions["send"].Arguments["terminal_id"] != row.ID {
		t.Fatalf("no send on an idle row: %+v", row)
	}
	s, err := b.send(row.ID, "write a haiku\nabout\ttests")
	if err != nil {
		t.Fatal(err)
	}
	if s.Status != "async_pending" || s.SubmissionOutcome != "agent_accepted" || !s.Delivered || s.AgentAcceptance != "proven" {
		t.Fatalf("not accepted: %+v", s)
	}
	if got := p.bytes(); got != "write a haiku\nabout\ttests\r" {
		t.Fatalf("the pane read %q", got)
	}
	if r := b.row(p, agents.Working); r.Managed.CurrentTurn == nil || r.Managed.CurrentTurn.TurnID != s.TurnID || r.AvailableActions["send"].Tool != "" {
		t.Fatalf("row of a running turn: %+v", r)
	}
	_, err = b.send(row.ID, "another")
	b.refused(err, "working")
	p.complete("done: TOKEN=abc")
	st, err := b.desk.Status(t.Context(), rpc.Caller{}, rpc.StatusParams{TurnID: s.TurnID, WaitMillis: 5000})
	if err != nil || st.Conversation.Outcome != OutcomeCompleted || st.Conversation.FinalText != "done: TOKEN=[redacted]" || st.Conversation.Status != "idle" {
		t.Fatalf("%v %+v", err, st.Conversation)
	}
	var changes []string
	for _, e := range b.events() {
		if e.Type == "turn" {
			changes = append(changes, e.Change)
		}
	}
	if got := strings.Join(changes, " "); got != "prepared text_injected sent accepted completed" {
		t.Fatalf("turn events: %s", got)
	}
	b.row(p, agents.Idle)
	if s, err = b.send(row.ID, "write a haiku\nabout\ttests"); err != nil || s.SubmissionOutcome != "agent_accepted" {
		t.Fatalf("the same text again: %v %+v", err, s) // scenario 46: the old line is history
	}
	if len(p.tasks) != 2 {
		t.Fatalf("%d tasks", len(p.tasks))
	}
	data, _ := os.ReadFile(b.dir + "/" + store.FileName)
	if strings.Contains(string(data), "haiku") {
		t.Fatal("the request's text is in the store (R226)")
	}
}

// TestRefusedWithZeroBytes is issue 2's fourth proof at the desk: whatever
// stands in the way, nothing is typed. R40: a managed send needs an idle agent
// and an empty composer.
func TestRefusedWithZeroBytes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, part string
		set        func(*bench, *player)
	}{
		{"approval", "an approval has the keys", func(_ *bench, p *player) {
			p.set(func(p *player) { p.activity, p.owner = agents.Blocked, agents.OwnerApproval })
		}},
		{"questionnaire", "a question has the keys", func(_ *bench, p *player) {
			p.set(func(p *player) { p.activity, p.owner = agents.Blocked, agents.OwnerQuestionnaire })
		}},
		{"menu", "a menu has the keys", func(_ *bench, p *player) { p.set(func(p *player) { p.owner = agents.OwnerMenu }) }},
		{"viewer", "a viewer has the keys", func(_ *bench, p *player) { p.set(func(p *player) { p.owner = agents.OwnerViewer }) }},
		{"shell", "a shell has the keys", func(_ *bench, p *player) { p.set(func(p *player) { p.owner = agents.OwnerShell }) }},
		{"unknown", "not known", func(_ *bench, p *player) { p.set(func(p *player) { p.activity = agents.ActivityUnknown }) }},
		{"working", "working", func(_ *bench, p *player) { p.set(func(p *player) { p.activity = agents.Working }) }},
		{"draft", "is typing", func(_ *bench, p *player) { p.set(func(p *player) { p.text = "half a thought" }) }},
		{"copy mode", "copy mode", func(b *bench, p *player) { b.w.change(p.id, func(i *panes.Info) { i.InMode = true }) }},
		{"synchronize", "synchronize-panes", func(b *bench, p *player) { b.w.change(p.id, func(i *panes.Info) { i.Synced = true }) }},
		{"input off", "switched off", func(b *bench, p *player) { b.w.change(p.id, func(i *panes.Info) { i.InputOff = true }) }},
		{"demo", "recording", func(b *bench, p *player) { b.w.change(p.id, func(i *panes.Info) { i.Demo = "codex" }) }},
		{"dead", "dead", func(b *bench, p *player) { b.w.change(p.id, func(i *panes.Info) { i.Dead = true }) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			p := b.w.play()
			row := b.row(p, agents.Idle)
			c.set(b, p)
			b.until("the send is no longer offered", func() bool {
				rows := b.rows()
				return len(rows) == 1 && rows[0].AvailableActions["send"].Tool == ""
			})
			_, err := b.send(row.ID, "do it")
			b.refused(err, c.part)
			e, err := b.desk.Explain(t.Context(), rpc.Caller{}, rpc.TargetParams{ID: row.ID})
			if err != nil || e.Sendable || len(e.Missing) == 0 || !strings.Contains(strings.Join(e.Missing, "\n"), c.part) {
				t.Fatalf("explain: %v %+v", err, e.Missing)
			}
			if p.bytes() != "" || b.w.writes != 0 {
				t.Fatalf("typed %q in %d writes", p.bytes(), b.w.writes)
			}
		})
	}
}

// B23, R33: what is no task is refused before any record.
func TestRefusedText(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	for text, part := range map[string]string{
		"": "empty", " \n\t": "empty", "/clear": "begins with", "  /model": "begins with", "!ls": "begins with", "a\x1b[201~b": "U+001B at byte 1",
		"a\x03": "U+0003", "a\x00": "U+0000", "\xff": "UTF-8", strings.Repeat("a", maxRequest+1): "at most", "a\u009bb": "U+009B",
	} {
		_, err := b.send(row.ID, text)
		b.refused(err, part)
	}
	if p.bytes() != "" || b.rows()[0].Managed.SessionID != nil {
		t.Fatal("something was typed or recorded")
	}
}

// rowsAs is the list as a caller gets it.
func (b *bench) rowsAs(c rpc.Caller) []rpc.Row {
	b.t.Helper()
	l, err := b.desk.List(b.t.Context(), c, rpc.ListParams{})
	if err != nil {
		b.t.Fatal(err)
	}
	return l.Terminals
}
