package truth_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"akk/agents"
	"akk/agents/registry"
	"akk/agents/truth"
)

// This file tests key plans on dialogs of real versions, and their
// postconditions on what those versions drew after the keys.

var byName = sync.OnceValues(func() (map[string]*truth.Recording, error) {
	paths, err := truth.Find("../codex/testdata/recordings", "../claude/testdata/recordings")
	out := map[string]*truth.Recording{}
	for _, p := range paths {
		rec, err := truth.Load(p)
		if err != nil {
			return nil, err
		}
		out[rec.Name()] = rec
	}
	return out, err
})

// readings are those at the snapshots of a recording, the first of each label.
var readings sync.Map

// at is what is read at a snapshot of a recording ("codex 0.155.1 s04_exec_approval").
func at(t *testing.T, name, label string) agents.Reading {
	t.Helper()
	all, err := byName()
	if err != nil {
		t.Fatal(err)
	}
	rec := all[name]
	if rec == nil {
		t.Fatalf("no recording %q", name)
	}
	known, ok := readings.Load(name)
	if !ok {
		of := map[string]agents.Reading{}
		err := rec.Play(0, func(s truth.Step) {
			if label := rec.Snaps[max(s.At, 0)].Label; s.Marker && of[label].Agent == "" {
				of[label] = registry.For(agents.Kind(rec.Agent)).Read(agents.Input{Screen: s.Screen, Version: rec.Version})
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		known, _ = readings.LoadOrStore(name, of)
	}
	r, ok := known.(map[string]agents.Reading)[label]
	if !ok {
		t.Fatalf("%s has no snapshot %q", name, label)
	}
	return r
}

// answer plans an answer to what is shown at a snapshot; option is a label.
func answer(t *testing.T, name, label string, a agents.Answer, option string) (agents.KeyPlan, error) {
	t.Helper()
	r := at(t, name, label)
	for _, c := range agents.Choices(r.Dialog) {
		if c.Label == option {
			a.Choice = c.ID
		}
	}
	if option != "" && a.Choice == "" {
		t.Fatalf("%s %s: no option %q: %+v", name, label, option, r.Dialog)
	}
	f := strings.Fields(name)
	return registry.For(agents.Kind(f[0])).(agents.Answerer).Answer(f[1], r.Dialog, a)
}

// TestPlans: scenarios 23, 32, 34 and 76 to 79, B29, B38, B70, B79, B88, B91:
// the keys are those of the plan and no others; what is not certified is manual.
func TestPlans(t *testing.T) {
	const down = "\x1b[B"
	for _, c := range []struct {
		name, label string
		a           agents.Answer
		option      string
		keys        string // steps joined by "|", "" = manual
		why         string // part of the error
	}{
		{"codex 0.155.1 s04_exec_approval", "approval", agents.Answer{Action: agents.ApproveOnce}, "", "y", ""},
		{"codex 0.171.0 s04_exec_approval", "approval", agents.Answer{Action: agents.ApproveOnce}, "", "y", ""},
		{"codex 0.155.1 s04_exec_approval", "approval", agents.Answer{Action: agents.Reject}, "", "n", ""},
		{"codex 0.155.1 s04_exec_approval", "approval-huge", agents.Answer{Action: agents.ApproveOnce}, "", "", "off the screen"},
		{"codex 0.155.1 s04_exec_approval", "approval", agents.Answer{Action: agents.SingleSelect}, "Yes, proceed", "", "no certified keys"},
		{"codex 0.171.0 s05_patch_approval", "patch-approval", agents.Answer{Action: agents.ApproveOnce}, "", "y", ""},
		{"codex 0.171.0 s05_patch_approval", "patch-approval", agents.Answer{Action: agents.Reject}, "", "", "no certified keys"},
		{"codex 0.155.1 s40_mcp_approval", "mcp-approval", agents.Answer{Action: agents.ApproveOnce}, "", "\r", ""},
		{"codex 0.155.1 s40_mcp_approval", "mcp-approval-second", agents.Answer{Action: agents.ApproveOnce}, "", "", "the mark is not on"},
		{"codex 0.155.1 s40_mcp_approval", "mcp-approval-second", agents.Answer{Action: agents.Reject}, "", "4", ""},
		{"codex 0.155.1 s40_mcp_approval", "mcp-approval-long", agents.Answer{Action: agents.ApproveOnce}, "", "", "off the screen"},
		{"codex 0.155.1 s40_mcp_approval", "confirm", agents.Answer{Action: agents.ConfirmYes}, "", "1", ""},
		{"codex 0.155.1 s40_mcp_approval", "confirm", agents.Answer{Action: agents.ConfirmNo}, "", down + "|\r", ""},
		{"codex 0.155.1 s40_mcp_approval", "url", agents.Answer{Action: agents.ConfirmYes}, "", "", "no certified keys"},
		{"codex 0.155.1 s40_mcp_approval", "form-color", agents.Answer{Action: agents.SingleSelect}, "red", "", "no certified keys"},
		{"codex 0.153.4 s06_ask_one", "question", agents.Answer{Action: agents.SingleSelect}, "Blue", "2", ""},
		{"codex 0.153.4 s06_ask_one", "question", agents.Answer{Action: agents.OpenText}, "", down + "|" + down + "|\r", ""},
		{"codex 0.153.4 s06_ask_one", "question-notes-empty", agents.Answer{Action: agents.FreeText, Text: "navy"}, "", "navy|\r", ""},
		{"codex 0.153.4 s06_ask_one", "question-notes-typed", agents.Answer{Action: agents.FreeText, Text: "navy"}, "", "", "already"},
		{"codex 0.153.4 s06_ask_one", "question", agents.Answer{Action: agents.FreeText, Text: "navy"}, "", "", "no text field"},
		{"codex 0.153.4 s06_ask_one", "question-notes-empty", agents.Answer{Action: agents.FreeText, Text: "two\nlines"}, "", "", "one line"},
		{"codex 0.153.4 s06_ask_one", "question", agents.Answer{Action: agents.SingleSelect, Queue: true}, "Blue", "", "can't be queued"},
		{"codex 0.154.0 s07_ask_three", "q2", agents.Answer{Action: agents.SingleSelect}, "None of the above", "4", ""},
		{"codex 0.154.0 s07_ask_three", "q3-enter-unanswered", agents.Answer{Action: agents.ConfirmYes}, "", "\r", ""},
		{"codex 0.154.0 s07_ask_three", "q3-enter-unanswered", agents.Answer{Action: agents.ConfirmNo}, "", down + "|\r", ""},
		{"codex 0.154.0 s08_async", "async-two-opened", agents.Answer{Action: agents.OpenText}, "", "3", ""},
		{"codex 0.154.0 s08_async", "async-other-editor", agents.Answer{Action: agents.FreeText, Text: "navy please", Queue: true}, "", "navy please|\t", ""},
		{"codex 0.154.0 s08_async", "async-one-collapsed", agents.Answer{Action: agents.SingleSelect}, "", "", "not on the screen"},

		{"claude 2.1.218 bashperm", "bash-permission", agents.Answer{Action: agents.ApproveOnce}, "", "\r", ""},
		{"claude 2.1.267 bashperm-fs", "bash-permission", agents.Answer{Action: agents.Reject}, "", "4", ""},
		{"claude 2.1.332 bashperm", "bash-permission-down", agents.Answer{Action: agents.ApproveOnce}, "", "", "the mark is not on"},
		{"claude 2.1.267 editperm", "edit-permission", agents.Answer{Action: agents.ApproveOnce}, "", "\r", ""},
		{"claude 2.1.267 mcp", "mcp-permission", agents.Answer{Action: agents.Reject}, "", "3", ""},
		{"claude 2.1.332 ask", "ask1", agents.Answer{Action: agents.SingleSelect}, "PostgreSQL", "2", ""},
		{"claude 2.1.332 ask", "ask1", agents.Answer{Action: agents.SingleSelect}, "Chat about this", "", "no answer by itself"},
		{"claude 2.1.332 ask", "ask1", agents.Answer{Action: agents.OpenText}, "", down + "|" + down + "|" + down, ""},
		{"claude 2.1.332 ask", "ask1-type-something", agents.Answer{Action: agents.FreeText, Text: "my own words"}, "", "my own words|\r", ""},
		{"claude 2.1.332 ask", "ask1-type-something", agents.Answer{Action: agents.FreeText, Text: strings.Repeat("x", 800)}, "", "", "takes 799"},
		{"claude 2.1.332 ask", "ask1-editor-text", agents.Answer{Action: agents.FreeText, Text: "more"}, "", "", "already"},
		{"claude 2.1.332 ask", "multi", agents.Answer{Action: agents.SingleSelect}, "Metrics", "", "several options"},
		{"claude 2.1.332 ask", "mix-review", agents.Answer{Action: agents.ConfirmYes}, "", "\r", ""},
		{"claude 2.1.332 ask", "mix-review", agents.Answer{Action: agents.ConfirmNo}, "", "", "no certified keys"},
		{"claude 2.1.332 plan", "plan-approval", agents.Answer{Action: agents.ApproveOnce}, "", "", "no certified keys"},
		{"claude 2.1.267 mcp", "choice-form", agents.Answer{Action: agents.ConfirmYes}, "", "", "no certified keys"},
	} {
		p, err := answer(t, c.name, c.label, c.a, c.option)
		var keys []string
		for _, s := range p.Steps {
			keys = append(keys, s.Keys)
		}
		if got := strings.Join(keys, "|"); got != c.keys || (err == nil) != (c.keys != "") || err != nil && !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s %s %+v: %q, %v; want %q, %s", c.name, c.label, c.a, got, err, c.keys, c.why)
		}
		if err == nil && p.Steps[len(p.Steps)-1].Post.Expect == "" {
			t.Errorf("%s %s: the last key has no postcondition", c.name, c.label)
		}
	}
}

// TestPlanUncertified: a version that nobody certified gets no key, however
// well its dialog is read (scenario 85, R84).
func TestPlanUncertified(t *testing.T) {
	for _, c := range []struct{ name, label, version string }{
		{"codex 0.155.1 s04_exec_approval", "approval", "0.156.0"}, {"codex 0.155.1 s04_exec_approval", "approval", ""},
		{"claude 2.1.267 editperm", "edit-permission", "2.1.300"},
	} {
		r := at(t, c.name, c.label)
		a := registry.For(r.Agent).(agents.Answerer)
		if p, err := a.Answer(c.version, r.Dialog, agents.Answer{Action: agents.ApproveOnce}); !errors.Is(err, agents.ErrManual) || len(p.Steps) > 0 {
			t.Errorf("%s as %q: %+v, %v", c.name, c.version, p, err)
		}
	}
}

// TestEffects: what the agents drew after a key, judged by the postcondition
// (B88: a surprise stops the plan).
func TestEffects(t *testing.T) {
	post := func(e agents.Expect, i int, text string) agents.Postcondition {
		return agents.Postcondition{Expect: e, Index: i, Text: text}
	}
	for _, c := range []struct {
		name, before, after string
		post                agents.Postcondition
		want                agents.Effect
	}{
		{"codex 0.153.4 s06_ask_one", "question", "question", post(agents.ExpectMarked, 1, ""), agents.EffectPending},
		{"codex 0.153.4 s06_ask_one", "question", "question-down", post(agents.ExpectMarked, 1, ""), agents.EffectMet},
		{"codex 0.153.4 s06_ask_one", "question", "question-down", post(agents.ExpectMarked, 2, ""), agents.EffectSurprise},
		{"codex 0.153.4 s06_ask_one", "none-selected", "none-enter", post(agents.ExpectEditor, 2, ""), agents.EffectMet},
		{"codex 0.153.4 s06_ask_one", "none-enter", "none-notes-typed", post(agents.ExpectText, 0, "my own words"), agents.EffectMet},
		{"codex 0.153.4 s06_ask_one", "none-enter", "none-notes-typed", post(agents.ExpectText, 0, "my own words."), agents.EffectPending},
		{"codex 0.153.4 s06_ask_one", "none-enter", "none-notes-typed", post(agents.ExpectText, 0, "something else"), agents.EffectSurprise},
		{"codex 0.153.4 s06_ask_one", "none-notes-typed", "none-answered", post(agents.ExpectGone, 0, ""), agents.EffectMet},
		{"codex 0.154.0 s07_ask_three", "q1", "q2", post(agents.ExpectGone, 0, ""), agents.EffectMet},
		{"codex 0.155.1 s04_exec_approval", "approval", "approval", post(agents.ExpectGone, 0, ""), agents.EffectPending},
		{"codex 0.155.1 s40_mcp_approval", "mcp-approval", "mcp-approval-second", post(agents.ExpectGone, 0, ""), agents.EffectSurprise},
		{"claude 2.1.332 ask", "ask1", "ask1-down", post(agents.ExpectMarked, 1, ""), agents.EffectMet},
		{"claude 2.1.332 ask", "ask1-down", "ask1-type-something", post(agents.ExpectEditor, 3, ""), agents.EffectMet},
		{"claude 2.1.332 ask", "ask1-type-something", "ask1-editor-text", post(agents.ExpectText, 0, "my own words"), agents.EffectMet},
		{"claude 2.1.332 ask", "ask1-editor-text", "ask1-editor-sent", post(agents.ExpectGone, 0, ""), agents.EffectMet},
		{"claude 2.1.332 ask", "ask3-q1", "ask3-q2", post(agents.ExpectGone, 0, ""), agents.EffectMet},
	} {
		before, now := at(t, c.name, c.before), at(t, c.name, c.after)
		if got := c.post.Check(&before, &now); got != c.want {
			t.Errorf("%s, %s -> %s, %+v: %s, want %s", c.name, c.before, c.after, c.post, got, c.want)
		}
	}
}

// TestChoiceIDs: an id stays with its label while the mark moves, and no index
// or label is one (R75, B77).
func TestChoiceIDs(t *testing.T) {
	ids := func(r agents.Reading) (out []string) {
		for _, c := range agents.Choices(r.Dialog) {
			out = append(out, c.ID)
		}
		return out
	}
	a, b := at(t, "claude 2.1.332 ask", "ask1"), at(t, "claude 2.1.332 ask", "ask1-down")
	if len(ids(a)) != 5 || !slices.Equal(ids(a), ids(b)) || a.Dialog.Fingerprint == b.Dialog.Fingerprint {
		t.Errorf("%v, then %v", ids(a), ids(b))
	}
	other := *a.Dialog
	other.Options = slices.Clone(other.Options)
	other.Options[0].Label += "!"
	other.Options[1].Label = other.Options[2].Label
	c := agents.Choices(&other)
	if c[0].ID == ids(a)[0] || c[1].ID == c[2].ID {
		t.Errorf("%v", c)
	}
	rules := []agents.KeyRule{{Action: agents.SingleSelect, Kinds: []string{"question"}, Press: "{n}", Expect: agents.ExpectGone}}
	for _, id := range []string{"", "1", "SQLite", ids(a)[0] + "x"} {
		if _, err := agents.Plan(a.Dialog, agents.Answer{Action: agents.SingleSelect, Choice: id}, rules, agents.Certified); err == nil {
			t.Errorf("%q was taken for an id", id)
		}
	}
}

// TestArguments: two calls of one tool are two questions, and what a tool is
// given is told (B76: a newer request under the finger).
func TestArguments(t *testing.T) {
	for _, c := range []struct{ name, first, second, want string }{
		{"codex 0.155.1 s40_mcp_approval", "mcp-approval", "mcp-approval-long", "body: buy milk and bread\ntitle: today"},
		{"claude 2.1.267 mcp", "mcp-permission", "mcp-long-permission", "text: \"hello from the lab\""},
	} {
		a, b := at(t, c.name, c.first).Dialog, at(t, c.name, c.second).Dialog
		if a.Arguments != c.want || a.SameQuestion(b) || !a.SameQuestion(a) {
			t.Errorf("%s: %q, then %q", c.name, a.Arguments, b.Arguments)
		}
	}
}
