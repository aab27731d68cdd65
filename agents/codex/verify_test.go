package codex

import (
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"akk/agents"
)

// TestUserVerification: what asks a human to prove who they are is blocked and
// never answered (R109). No recording has it: its rows are known by words only,
// so they are put below a real prompt's heading, in both of their forms.
func TestUserVerification(t *testing.T) {
	row := func(y int, s string) string { return "\x1b[" + itoa(y) + ";1H\x1b[0m\x1b[2K" + s }
	for name, write := range map[string]string{
		"choice":  row(36, "› 1. Verify and approve (y)") + row(37, "  2. Cancel this request (c)") + row(38, "") + row(39, "  Press enter to confirm or esc to cancel"),
		"waiting": row(36, "  Waiting for verification…") + row(37, "") + row(38, "") + row(39, "  Press esc to cancel this request"),
	} {
		term := playTo(t, "0.155.1_s04_exec_approval", "approval")
		s := term.Screen()
		clear := ""
		for y := 1; y <= s.Rows; y++ {
			clear += row(y, "")
		}
		term.Write([]byte(clear + row(30, "  The notes server asks you to verify that it is you") + write))
		for _, version := range []string{"0.155.1", ""} {
			r := Agent{}.Read(agents.Input{Screen: term.Screen(), Version: version})
			if r.Activity != agents.Blocked || r.Dialog == nil || r.Dialog.Kind != "verification" || len(r.Dialog.Options) > 0 {
				t.Errorf("%s as %q: %s/%s %+v %v", name, version, r.Activity, r.Owner, r.Dialog, r.Why)
			}
			for _, a := range []agents.Action{agents.ApproveOnce, agents.Reject, agents.ConfirmYes, agents.ConfirmNo, agents.FreeText} {
				if p, err := (Agent{}).Answer("0.155.1", r.Dialog, agents.Answer{Action: a, Text: "x"}); !errors.Is(err, agents.ErrManual) {
					t.Errorf("%s: %s has keys %+v, %v", name, a, p, err)
				}
			}
		}
	}
}

// TestNarrow: in a pane of 40 columns the prompt is wrapped by Codex or cut:
// still blocked, nobody's composer, and its keys stay closed unless it is whole
// (scenario 20). The frame is that of a real prompt at 50 columns, cut by tmux.
func TestNarrow(t *testing.T) {
	for _, label := range []string{"approval-50x14", "approval-80"} {
		term := playTo(t, "0.147.0_s13_resize", label)
		r := Agent{}.Read(agents.Input{Screen: term.Screen(), Version: "0.147.0"})
		if r.Activity != agents.Blocked || r.Owner != agents.OwnerApproval {
			t.Errorf("%s: %s/%s %v", label, r.Activity, r.Owner, r.Why)
		}
		term.Resize(40, term.Screen().Rows)
		r = Agent{}.Read(agents.Input{Screen: term.Screen(), Version: "0.147.0"})
		if r.Activity != agents.Blocked || r.Owner == agents.OwnerComposer || r.Composer == agents.ComposerEmpty {
			t.Errorf("%s at 40 columns: %s/%s %v", label, r.Activity, r.Owner, r.Why)
		}
	}
}

// TestBackgroundTerminal: a turn that waits for a background terminal runs
// (scenario 19).
func TestBackgroundTerminal(t *testing.T) {
	term := playTo(t, "0.155.1_s03_turns", "working-silent")
	s := term.Screen()
	for y := range s.Rows {
		if strings.Contains(s.Line(y), "esc to interrupt") {
			term.Write([]byte("\x1b7\x1b[" + itoa(y+1) + ";1H• Waiting for background terminal \x1b[2m(3s • esc to interrupt) · 1 background terminal running · /ps to view · /stop to close\x1b[0m\x1b[K\x1b8"))
		}
	}
	if r := (Agent{}).Read(agents.Input{Screen: term.Screen()}); r.Activity != agents.Working || r.Composer != agents.ComposerEmpty {
		t.Errorf("%s/%s %v", r.Activity, r.Composer, r.Why)
	}
}

// TestWrappers: a wrapper's or a shell's own process is not the agent (B55).
func TestWrappers(t *testing.T) {
	for _, c := range []struct {
		p    agents.Process
		want bool
	}{
		{agents.Process{Exe: "/usr/bin/node", Args: []string{"node", "/usr/lib/node_modules/@openai/codex/bin/codex.js"}}, true},
		{agents.Process{Exe: "/usr/bin/node", Args: []string{"node", "server.js", "codex"}}, false},
		{agents.Process{Exe: "/usr/bin/bash", Args: []string{"bash", "-lc", "codex"}}, false},
		{agents.Process{Exe: "/usr/bin/script", Args: []string{"script", "-c", "codex", "/dev/null"}}, false},
	} {
		if _, ok := (Agent{}).Match(&c.p); ok != c.want {
			t.Errorf("%v: %v", c.p.Args, ok)
		}
	}
}

// TestEventsFrom: reading on from any line of a real rollout gives the rest.
func TestEventsFrom(t *testing.T) {
	path := t.TempDir() + "/rollout-x.jsonl"
	writeRollout(t, path, "testdata/rollouts/0.155.1_s10_errors_2026-11-29T23-55-12.jsonl.gz")
	all, _, err := Agent{}.EventsFrom(agents.Anchor{Path: path})
	if err != nil || len(all) < 10 {
		t.Fatalf("%d events, %v", len(all), err)
	}
	tail, err := agents.OpenTail(path)
	if err != nil {
		t.Fatal(err)
	}
	defer tail.Close()
	end, err := agents.Anchor{}, error(nil)
	if err := tail.Poll(func([]byte, int64) {}); err != nil {
		t.Fatal(err)
	}
	if end, err = tail.Anchor(); err != nil {
		t.Fatal(err)
	}
	if rest, next, err := (Agent{}).EventsFrom(end); err != nil || len(rest) != 0 || next != end {
		t.Errorf("behind the end: %d events, %+v, %v", len(rest), next, err)
	}
}

func itoa(n int) string { return strconv.Itoa(n) }

func writeRollout(t *testing.T, path, from string) {
	t.Helper()
	b, err := io.ReadAll(unzip(t, from))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
