package truth_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"akk/agents"
	"akk/agents/registry"
	"akk/agents/truth"
	"akk/vtparse"
)

// This file holds public bug reports (B...) and black-box scenarios against the
// readers. Frames are of real versions; what a test writes over one is in the
// test. Reports about the desk, the panes or tmux are tested there.

// screenAt is the screen at a snapshot, with some bytes written on top.
func screenAt(t *testing.T, name, label, write string) (agents.Agent, string, *vtparse.Screen) {
	t.Helper()
	all, err := byName()
	if err != nil {
		t.Fatal(err)
	}
	rec := all[name]
	if rec == nil {
		t.Fatalf("no recording %q", name)
	}
	s, err := rec.After(label, write)
	if err != nil {
		t.Fatal(err)
	}
	return registry.For(agents.Kind(rec.Agent)), rec.Version, s
}

// state is "activity owner composer kind flags".
func state(r agents.Reading) string {
	s := string(r.Activity) + " " + string(r.Owner) + " " + string(r.Composer)
	if r.Dialog != nil {
		s += " " + r.Dialog.Kind
	}
	if r.Background {
		s += " background"
	}
	if r.LimitedUntil != "" {
		s += " limited"
	}
	return s
}

const (
	codexIdle = "codex 0.155.1 s03_turns"
	composer  = "\x1b[17;3H\x1b[0m\x1b[K" // its row in that recording's completed-first, cleared
)

func TestReports(t *testing.T) {
	for _, c := range []struct{ number, name, label, write, want string }{
		// Text that nobody of ours typed is a draft, in whatever colour.
		{"B34", codexIdle, "completed-first", composer + "a suggestion in normal colour\x1b[17;3H", "idle composer draft"},
		{"B34", "claude 2.1.267 compose", "empty", "\x1b[0ma suggestion\x1b[11G", "idle composer draft"},
		{"B119", codexIdle, "completed-first", composer + "[I", "idle composer draft"},
		{"B119", "claude 2.1.267 compose", "empty", "[I", "idle composer draft"},
		// At a picker the mark is on an option, not in a composer.
		{"B38", "codex 0.153.4 s11_menus", "menu-model", "", "idle menu hidden"},
		{"B38", "claude 2.1.332 menus", "model-picker", "", "idle menu hidden"},
		{"B38", "codex 0.154.0 s18_resume_cli", "resume-picker-start", "", "starting menu hidden"},
		{"B94", "codex 0.154.0 s18_resume_cli", "resume-picker-start", "", "starting menu hidden"},
		// Work that does not look like it, and the reverse.
		{"B56", codexIdle, "working-silent", "", "working composer empty"},
		{"B61", "claude 2.1.267 bg", "background-shell-idle", "", "idle composer empty background"},
		{"B62", "claude 2.1.332 bashperm", "bash-digit-1", "", "idle composer empty"},
		{"B67", "codex 0.155.1 s42_imitations", "imit-exec-done", "", "idle composer empty"},
		{"B67", "claude 2.1.267 imitations", "perm-imitation", "", "idle composer empty"},
		{"B73", "claude 2.1.267 imitations", "ask-imitation", "", "idle composer empty"},
		{"B74", "codex 0.155.1 s04_exec_approval", "approval", "", "blocked approval hidden exec"},
		{"B74", codexIdle, "completed-first", composer + "1. Yes, proceed (y)", "idle composer draft"},
		{"B65", "codex 0.171.0 s26_errors_only", "error-err-429", "", "idle composer empty limited"},
		{"B65", "claude 2.1.332 errors", "error-http429", "\x1b7\x1b[{API Error}H\x1b[38;5;220m●\x1b[39m \x1b[38;5;220mYou've hit your session limit · resets 3pm\x1b[K\x1b8", "idle composer empty limited"},
		{"B65", "claude 2.1.332 errors", "error-http429", "\x1b7\x1b[{API Error}H\x1b[38;5;231m●\x1b[39m You've hit your session limit · resets 3pm\x1b[K\x1b8", "idle composer empty"},
		// Prompts with other words are blocked all the same, and nobody's composer.
		{"B70", "codex 0.155.1 s04_exec_approval", "approval", "\x1b7\x1b[{3. No}H    3. Deny (esc)\x1b[K\x1b8", "blocked approval hidden exec"},
		{"B70", "claude 2.1.267 editperm", "edit-permission", "\x1b7\x1b[{Edit file}H\x1b[2K Browser action\x1b8", "blocked approval hidden edit"},
		// Modes of the footer are no prompts.
		{"B71", "claude 2.1.267 plan-fs", "mode-1", "", "idle composer empty"},
		{"B71", "claude 2.1.267 plan-fs", "mode-2", "", "idle composer empty"},
		{"B71", "claude 2.1.267 plan-fs", "mode-3", "", "idle composer empty"},
		// Modals that are no permission.
		{"B86", "claude 2.1.218 viewer", "rewind-list", "", "idle viewer hidden"},
		{"B86", "claude 2.1.332 plan", "plan-approval", "", "blocked approval hidden plan"},
		{"B86", "claude 2.1.332 menus", "status-panel", "", "idle menu hidden"},
		{"B92", "codex 0.155.1 s02_trust", "trust-prompt", "", "starting startup hidden"},
		{"B92", "claude 2.1.267 mcp", "mcp-trust", "", "starting startup hidden startup"},
		{"B97", "claude 2.1.267 leave", "left-exit", "", "exited shell hidden"},
		// Scenarios.
		{"13", codexIdle, "completed-first", "\x1b[17;1H\x1b[1m»\x1b[0m\x1b[17;3H", "idle composer empty"},
		{"14", codexIdle, "completed-first", composer + "\x1b[18;3Htext\x1b[17;3H", "idle composer draft"},
		{"14", "claude 2.1.267 compose", "multiline-ctrl-j", "\x1b[1A\x1b[3G\x1b[K", "idle composer draft"},
		{"16", codexIdle, "working-silent", "\x1b7\x1b[{Working}H\x1b[0m◦ Thinking about it \x1b[2m(3s • esc to interrupt)\x1b[0m\x1b[K\x1b8", "working composer empty"},
		{"17", "codex 0.155.1 s42_imitations", "imit-exec-done", "", "idle composer empty"},
		{"17", codexIdle, "completed-first", "\x1b7\x1b[14;1H• Working\x1b8", "idle composer empty"},
		{"22", "codex 0.154.0 s28_known_background", "idle", "", "idle composer empty"},
		{"22", "codex 0.154.0 s28_known_background", "draft", "", "idle composer draft"},
	} {
		a, version, s := screenAt(t, c.name, c.label, c.write)
		for _, v := range []string{version, ""} {
			r := a.Read(agents.Input{Screen: s, Version: v})
			if got := state(r); got != c.want {
				t.Errorf("%s: %s %s as %q: %q, want %q; %v", c.number, c.name, c.label, v, got, c.want, r.Why)
			}
		}
	}
}

// TestQuiet: no output for a while, or a hook that has been silent, is no idle;
// the source of the state is told (B58, B59).
func TestQuiet(t *testing.T) {
	for _, name := range []string{"codex 0.155.1 s03_turns/working-silent", "claude 2.1.263 work/working"} {
		rec, label, _ := strings.Cut(name, "/")
		a, _, s := screenAt(t, rec, label, "")
		for _, later := range []time.Duration{0, 30 * time.Second, 10 * time.Minute} {
			r := a.Read(agents.Input{Screen: s, Now: time.Unix(1e9, 0).Add(later)})
			if r.Activity != agents.Working || !slices.ContainsFunc(r.Why, func(w agents.Reason) bool { return w.Layer == "signal" || w.Layer == "frame" }) {
				t.Errorf("%s after %v: %s %v", name, later, r.Activity, r.Why)
			}
		}
	}
}

// TestContradictions: two parts of one screen, or the screen and the log, say
// different things: unknown, with both sides told (B64, B68).
func TestContradictions(t *testing.T) {
	for _, c := range []struct {
		name, label, write string
		log                *agents.LogState
		status             *agents.AppStatus
	}{
		{codexIdle, "working-silent", "\x1b]0;project\x07", nil, nil},
		{"codex 0.171.0 s03_turns", "completed-first", "\x1b]0;⠧ project\x07", nil, nil},
		{codexIdle, "completed-first", "", &agents.LogState{Path: "rollout", TurnOpen: true}, nil},
		{"claude 2.1.267 compose", "empty", "", nil, &agents.AppStatus{Status: "busy"}},
		{"claude 2.1.267 compose", "empty", "", nil, &agents.AppStatus{Status: "waiting", WaitingFor: "permission prompt"}},
	} {
		a, version, s := screenAt(t, c.name, c.label, c.write)
		r := a.Read(agents.Input{Screen: s, Version: version, Log: c.log, Status: c.status})
		var work, idle bool
		for _, w := range r.Why {
			work = work || strings.Contains(w.Rule, "working") || strings.Contains(w.Rule, "spinner") || strings.Contains(w.Rule, "turn is open") || strings.Contains(w.Rule, "busy") || strings.Contains(w.Rule, "waiting") || strings.Contains(w.Rule, "interrupted")
			idle = idle || strings.Contains(w.Rule, "idle") || strings.Contains(w.Rule, "no spinner") || strings.Contains(w.Rule, "no turn") || strings.Contains(w.Rule, "at rest")
		}
		if r.Activity != agents.ActivityUnknown || !work || !idle {
			t.Errorf("%s %s: %s %v", c.name, c.label, r.Activity, r.Why)
		}
	}
	// A title that a dead agent left behind neither allows nor blocks a send.
	a, _, s := screenAt(t, codexIdle, "completed-first", "\x1b[2J\x1b[Huser@host:~$ ")
	if r := a.Read(agents.Input{Screen: s}); r.Activity != agents.ActivityUnknown || r.Owner == agents.OwnerComposer {
		t.Errorf("stuck title: %s", state(r))
	}
}

// TestUnanswerable: options that are cut, wrapped or several at once are told
// whole or closed (B79, B89, B91, scenario 20, 25).
func TestUnanswerable(t *testing.T) {
	r := at(t, "claude 2.1.332 ask", "multi")
	if !r.Dialog.MultiSelect {
		t.Errorf("multi-select: %+v", r.Dialog)
	}
	r = at(t, "claude 2.1.267 tiny-60x20", "bash-permission")
	if r.Activity != agents.Blocked || r.Dialog == nil || !r.Dialog.Clipped && len(r.Dialog.Options) < 3 {
		t.Errorf("60 columns: %s %+v", state(r), r.Dialog)
	}
	for _, write := range []string{
		"\x1b7\x1b[{1. Yes}H\x1b[2K\x1b8",                            // the first choice is missing
		"\x1b7\x1b[{2. Yes}H    1. Yes, and don't\x1b8",              // a number twice
		"\x1b7\x1b[{Press enter}H  Press enter to conf\x1b[K\x1b8",   // the footer is cut
		"\x1b7\x1b[{Press enter}H\x1b[1B\r• Ran something else\x1b8", // later activity
	} {
		a, version, s := screenAt(t, "codex 0.155.1 s04_exec_approval", "approval", write)
		r := a.Read(agents.Input{Screen: s, Version: version})
		if r.Owner == agents.OwnerComposer || r.Activity == agents.Idle {
			t.Errorf("%q: unsafe: %s", write, state(r))
		}
		if p, err := a.(agents.Answerer).Answer(version, r.Dialog, agents.Answer{Action: agents.ApproveOnce}); err == nil {
			t.Errorf("%q: %v for %+v", write, p, r.Dialog)
		}
	}
}

// TestSplitCharacters: a recording with wide characters and emoji gives the
// same readings whether its bytes come one by one or in chunks (B116, B118).
func TestSplitCharacters(t *testing.T) {
	all, err := byName()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"codex 0.147.0 s01_composer", "claude 2.1.267 compose"} {
		rec := all[name]
		a := registry.For(agents.Kind(rec.Agent))
		play := func(piece int) (out []string) {
			if err := rec.Play(piece, func(s truth.Step) {
				if s.Marker {
					r := a.Read(agents.Input{Screen: s.Screen})
					out = append(out, state(r)+" "+r.Draft)
				}
			}); err != nil {
				t.Fatal(err)
			}
			return out
		}
		whole := play(0)
		if !slices.Equal(whole, play(1)) || !slices.ContainsFunc(whole, func(s string) bool { return strings.ContainsAny(s, "日你🚀🎉") }) {
			t.Errorf("%s: other readings byte by byte: %q", name, whole)
		}
	}
}
