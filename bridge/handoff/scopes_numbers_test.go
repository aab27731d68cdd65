package handoff

import (
	"strings"
	"testing"
	"time"

	"akk/agents"
	"akk/agents/registry"
	"akk/agents/truth"
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

// R44: real frames of Codex with questions that don't stop the turn: where only
// their summary stands, the composer above takes an explicit send; where one is
// open, in whatever form, it does not.
func TestR44AsyncSummary(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"0.154.0_s08_async", "0.171.0_s08_async"} {
		rec, err := truth.Load("../../agents/codex/testdata/recordings/" + name + ".cast.gz")
		if err != nil {
			t.Fatal(err)
		}
		agent := registry.For(agents.Codex)
		goes, boundary := 0, 0
		err = rec.Play(0, func(s truth.Step) {
			if !s.Marker {
				return
			}
			snap := rec.Snaps[s.At]
			f := Facts{Screen: s.Screen, Frame: true, Reading: agent.Read(agents.Input{Screen: s.Screen, Version: rec.Version}), Plan: agent.Submit(rec.Version)}
			m := explicit(f, noon)
			switch d := snap.Truth.Dialog; {
			case snap.Truth.Owner != "composer":
				if boundary++; len(m) == 0 {
					t.Errorf("%s %s: typed although %s has the keys", name, snap.Label, snap.Truth.Owner)
				}
			case d != nil && d.Hidden && d.Async && snap.Truth.Composer == "empty":
				if goes++; len(m) > 0 {
					t.Errorf("%s %s: %v", name, snap.Label, m)
				}
			}
		})
		if err != nil || goes == 0 || boundary < 2 {
			t.Errorf("%s: %v, %d summaries, %d open questions", name, err, goes, boundary)
		}
	}
}

// R47: what clears Claude Code's composer is not certified for any version: a
// draft refuses its explicit send, an empty composer takes it.
func TestR47ClaudeDraft(t *testing.T) {
	for _, version := range []string{"2.1.218", "2.1.267", "2.1.332", "9.9.9", ""} {
		f := draftFacts("half a thought")
		f.Reading.DraftEnd = true
		f.Plan = registry.For(agents.Claude).Submit(version)
		if m := explicit(f, noon); len(m) != 1 || m[0].Code != "composer" || !strings.Contains(m[0].What, "not certified") {
			t.Errorf("%q: %v", version, m)
		}
		f.Reading = idleFacts().Reading
		if m := explicit(f, noon); len(m) > 0 {
			t.Errorf("%q, empty: %v", version, m)
		}
	}
}

// R46: once the text of an explicit send to Codex is in, no look of the composer
// keeps Enter back, and it is pressed once; of every other send it does. What is
// not a look of the composer stays a boundary: a dialog, a viewer, a human who
// takes the terminal or types into the text (R43; a human is above every send).
func TestR46NoComposerVeto(t *testing.T) {
	const text = "the task of several words"
	look := func(f func(*agents.Reading)) Facts {
		x := draftFacts(text)
		f(&x.Reading)
		return x
	}
	for name, c := range map[string]struct {
		f        Facts
		explicit int // Enters
		follow   int
	}{
		"our text":       {look(func(*agents.Reading) {}), 1, 1},
		"cut":            {look(func(r *agents.Reading) { r.Draft = "the task of sev" }), 1, 0},
		"another marker": {look(func(r *agents.Reading) { r.Draft, r.DraftCollapsed = "[Pasted Content 9999 chars]", true }), 1, 0},
		"not readable":   {look(func(r *agents.Reading) { r.Draft, r.Composer = "", agents.ComposerUnknown }), 1, 0},
		"not shown":      {look(func(r *agents.Reading) { r.Draft, r.Composer = "", agents.ComposerHidden }), 1, 0},
		"nobody knows": {look(func(r *agents.Reading) {
			r.Draft, r.Composer, r.Owner = "", agents.ComposerUnknown, agents.OwnerUnknown
		}), 1, 0},
		"looks empty":      {look(func(r *agents.Reading) { r.Draft, r.Composer = "", agents.ComposerEmpty }), 1, 0},
		"an approval":      {look(func(r *agents.Reading) { r.Owner = agents.OwnerApproval }), 0, 0},
		"a questionnaire":  {look(func(r *agents.Reading) { r.Owner = agents.OwnerQuestionnaire }), 0, 0},
		"an async editor":  {look(func(r *agents.Reading) { r.Owner = agents.OwnerEditor }), 0, 0},
		"a viewer":         {look(func(r *agents.Reading) { r.Owner = agents.OwnerViewer }), 0, 0},
		"a human typed":    {look(func(r *agents.Reading) { r.Draft = text + ", please" }), 0, 0},
		"a human took it":  {func() Facts { x := draftFacts(text); x.Hold = &rpc.Hold{By: "human"}; return x }(), 0, 0},
		"copy mode":        {func() Facts { x := draftFacts(text); x.Info.InMode = true; return x }(), 0, 0},
		"a shell is there": {look(func(r *agents.Reading) { r.Owner = agents.OwnerShell }), 0, 0},
	} {
		for scope, want := range map[string]int{scopeExplicit: c.explicit, scopeFollow: c.follow} {
			d := Dispatch{Turn: Turn{ID: "turn-1", Scope: scope, Hash: agents.HashRequest(text)}, Text: text,
				Plan: agents.SubmitPlan{SettleMillis: 100, DrawMillis: 300, AcceptMillis: 500, Clear: agents.ClearPlan{First: "a", Again: "b"}}}
			now, f, enters, pastes := noon, idleFacts(), 0, 0
			step := func(e Event) {
				now = now.Add(60 * time.Millisecond)
				e.Now, e.Facts = now, f
				var effs []Effect
				d, effs = d.Step(e)
				for _, eff := range effs {
					switch eff.Kind {
					case EffEnter:
						enters++
					case EffPaste:
						pastes++
					}
				}
			}
			step(Event{Kind: EvStart})
			step(Event{Kind: EvAudited})
			step(Event{Kind: EvCommitted, Commit: d.Await})
			f = c.f
			step(Event{Kind: EvInput})
			for range 30 { // far behind every deadline
				switch d.Phase {
				case PhaseConfirm:
					step(Event{Kind: EvCommitted, Commit: d.Await})
				case PhaseEnter:
					step(Event{Kind: EvInput})
				default:
					step(Event{Kind: EvTick})
				}
			}
			if enters != want || pastes != 1 {
				t.Errorf("%s, %s: %d Enters, want %d; %d pastes; %s %s", name, scope, enters, want, pastes, d.Turn.Outcome, d.Turn.Reason)
			}
		}
	}
}
