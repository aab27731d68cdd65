package panes

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"akk/vtparse"
)

// tmuxServer starts a private tmux server that ends with the test.
type tmuxServer struct {
	t      testing.TB
	socket string
}

func newTmux(t testing.TB, command ...string) *tmuxServer {
	t.Helper()
	dir, err := os.MkdirTemp("", "akkp")
	if err != nil {
		t.Fatal(err)
	}
	ts := &tmuxServer{t, filepath.Join(dir, "s")}
	ts.run(append([]string{"-f", "/dev/null", "new-session", "-d", "-s", "one", "-x", "80", "-y", "24"}, command...)...)
	t.Cleanup(func() {
		exec.Command("tmux", "-S", ts.socket, "kill-server").Run()
		os.RemoveAll(dir)
	})
	return ts
}

func (ts *tmuxServer) run(args ...string) string {
	ts.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-S", ts.socket}, args...)...)
	cmd.Env = clientEnv()
	out, err := cmd.CombinedOutput()
	if err != nil {
		ts.t.Fatalf("tmux %v: %v: %s", args, err, out)
	}
	return strings.TrimRight(string(out), "\n")
}

func openServer(t *testing.T, ts *tmuxServer) *Server {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s, err := Open(ctx, Options{Socket: ts.socket, Logger: testLog(t), Transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// waitScreen waits until a pane's screen fulfils ok.
func waitScreen(t *testing.T, s *Server, pane string, ok func(*vtparse.Screen) bool) *vtparse.Screen {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	sub := s.Subscribe()
	defer sub.Close()
	for {
		ups, err := sub.Next(ctx)
		if err != nil {
			scr, serr := s.Screen(pane)
			if scr != nil {
				t.Fatalf("%v: screen of %s is %q", err, pane, scr.Lines())
			}
			t.Fatalf("%v: %v", err, serr)
		}
		for _, u := range ups {
			if u.Pane == pane && u.Screen != nil && ok(u.Screen) {
				return u.Screen
			}
		}
	}
}

func shows(text string) func(*vtparse.Screen) bool {
	return func(s *vtparse.Screen) bool { return strings.Contains(strings.Join(s.Lines(), "\n"), text) }
}

func TestMirrorAndInput(t *testing.T) {
	ts := newTmux(t, "cat")
	s := openServer(t, ts)
	waitScreen(t, s, "%0", func(*vtparse.Screen) bool { return true })
	in, ok := s.Pane("%0")
	if !ok {
		t.Fatal("no pane %0")
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	scr, err := s.Audit(ctx, "%0")
	if err != nil {
		t.Fatal(err)
	}
	text := `it's "quoted"; $HOME #{pane_id} ~ \n ünïcödé`
	if _, err := s.Input(ctx, Write{Identity: in.Identity, Cursor: &scr.Cursor, Paste: text, Hold: true}); err != nil {
		t.Fatal(err)
	}
	if got := ts.run("display-message", "-p", "-t", "%0", "#{pane_input_off}"); got != "1" {
		t.Errorf("input off is %q while held", got)
	}
	waitScreen(t, s, "%0", shows(text))
	if _, err := s.Input(ctx, Write{Identity: in.Identity, Keys: []byte("\r")}); err != nil {
		t.Fatal(err)
	}
	waitScreen(t, s, "%0", func(scr *vtparse.Screen) bool { return scr.Line(1) == text })
	if got := ts.run("display-message", "-p", "-t", "%0", "#{pane_input_off}"); got != "0" {
		t.Errorf("input off is %q after the last write", got)
	}
	if got := ts.run("list-buffers"); got != "" {
		t.Errorf("buffers left behind: %q", got)
	}
	ts.run("copy-mode", "-t", "%0")
	_, err = s.Input(ctx, Write{Identity: in.Identity, Paste: "x"})
	if r, ok := err.(*Refused); !ok || r.Reason != "mode" {
		t.Errorf("in copy mode: %v", err)
	}
	if got := ts.run("list-buffers"); got != "" {
		t.Errorf("buffers left behind by a refusal: %q", got)
	}
	procs := s.Processes("%0")
	if len(procs) == 0 || procs[0].Args[0] != "cat" || procs[0].StartTime.IsZero() {
		t.Errorf("processes: %+v", procs)
	}
}

func TestFirstSyncInAStream(t *testing.T) {
	// A program counts upwards without a pause; the mirror attaches in the
	// middle and must show the same screen as tmux in the end.
	ts := newTmux(t, "sh", "-c", "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); printf '\\033[3%dm%d\\033[0m ' $((i%8)) $i; done; echo END; exec cat")
	s := openServer(t, ts)
	waitScreen(t, s, "%0", shows("END"))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := s.Audit(ctx, "%0"); err != nil {
		t.Fatal(err)
	}
	n, err := s.Audits(ctx)
	if err != nil || n.Mismatches != 0 {
		t.Errorf("audits %+v, %v", n, err)
	}
}

func TestServerComesAndGoes(t *testing.T) {
	ts := newTmux(t, "cat")
	s := openServer(t, ts)
	ts.run("new-session", "-d", "-s", "two", "cat")
	ts.run("split-window", "-t", "one", "cat")
	sub := s.Subscribe()
	defer sub.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	seen := map[string]bool{}
	for len(seen) < 3 {
		ups, err := sub.Next(ctx)
		if err != nil {
			t.Fatal(err, seen)
		}
		for _, u := range ups {
			if u.Kind == UpdateFrame {
				seen[u.Pane] = true
			}
		}
	}
	ts.run("kill-pane", "-t", "%2")
	for gone := false; !gone; {
		ups, err := sub.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range ups {
			gone = gone || u.Kind == UpdateGone && u.Pane == "%2"
		}
	}
	if got := fmt.Sprint(len(s.Panes())); got != "2" {
		t.Errorf("%s panes", got)
	}
	ts.run("kill-server")
	for gone := false; !gone; {
		ups, err := sub.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range ups {
			gone = gone || u.Kind == UpdateServerGone
		}
	}
}
