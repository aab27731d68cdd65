package handoff

import (
	"strings"
	"testing"
	"time"

	"akk/agents"
	"akk/agents/registry"
	"akk/agents/truth"
	"akk/bridge/rpc"
)

// This file holds tests of what a composer does to an explicit send (R43, R44,
// R46, R47).

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
