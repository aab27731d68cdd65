package launch

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server starts a tmux server of the test's own and ends it.
func server(t *testing.T, size string) (Tmux, context.Context) {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	dir, err := os.MkdirTemp("", "akk") // short: a socket's path is bounded
	if err != nil {
		t.Fatal(err)
	}
	x := Tmux{Socket: filepath.Join(dir, "s"), Self: []string{"/bin/sh", "-c", "exec sleep 1000", "akk"}}
	ctx := t.Context()
	t.Setenv("LC_ALL", "C.UTF-8")
	t.Setenv("SHELL", "/bin/sh")
	cols, rows, _ := strings.Cut(size, "x")
	if _, err := x.Run(ctx, "-f", "/dev/null", "new-session", "-d", "-s", "w o r k", "-x", cols, "-y", rows); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = x.Run(context.Background(), "kill-server")
		os.RemoveAll(dir)
	})
	return x, ctx
}

func (t Tmux) must(tb testing.TB, args ...string) string {
	tb.Helper()
	out, err := t.Run(context.Background(), args...)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

func until(tb testing.TB, what string, ok func() bool) {
	tb.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			tb.Fatalf("never saw %s", what)
		}
	}
}

// One sidebar per window, 34 cells wide at the left, found again.
func TestSidebarOnce(t *testing.T) {
	x, ctx := server(t, "120x30")
	work := x.must(t, "display-message", "-p", "-t", "=w o r k:", "#{pane_id}")
	a, err := x.Sidebar(ctx, work)
	if err != nil {
		t.Fatal(err)
	}
	if got := x.must(t, "display-message", "-p", "-t", a, "#{pane_left} #{pane_width} #{@akk_sidebar} #{pane_active}"); got != "0 34 1 1" {
		t.Errorf("the sidebar is at %q", got)
	}
	x.must(t, "select-pane", "-t", work)
	b, err := x.Sidebar(ctx, work)
	if err != nil || a != b {
		t.Errorf("second call: %s, %v; first made %s", b, err, a)
	}
	if got := x.must(t, "display-message", "-p", "-t", b, "#{pane_active} #{window_panes}"); got != "1 2" {
		t.Errorf("after the second call: %q", got)
	}
}

func TestSidebarNeedsRoom(t *testing.T) {
	x, ctx := server(t, "38x10")
	if _, err := x.Sidebar(ctx, ""); !errors.Is(err, ErrNoRoom) {
		t.Errorf("in 38 cells: %v", err)
	}
	y, ctx := server(t, "45x10")
	pane, err := y.Sidebar(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	if got := y.must(t, "display-message", "-p", "-t", pane, "#{pane_width}"); got != "25" {
		t.Errorf("in 45 cells it is %s wide", got)
	}
}

// The width comes back after the window's size changed, and a width that the
// human dragged is left alone.
func TestKeeper(t *testing.T) {
	x, ctx := server(t, "100x30")
	pane, err := x.Sidebar(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	width := func() string { return x.must(t, "display-message", "-p", "-t", pane, "#{pane_width}") }
	k := Keeper{Tmux: x, Pane: pane}
	k.Resized(ctx)
	x.must(t, "resize-window", "-t", pane, "-x", "200", "-y", "30")
	if width() == "34" {
		t.Fatal("tmux kept the width by itself: nothing is tested")
	}
	k.Resized(ctx)
	if width() != "34" {
		t.Errorf("after growing: %s", width())
	}
	k.Resized(ctx) // our own resize
	x.must(t, "resize-pane", "-t", pane, "-x", "50")
	k.Resized(ctx)
	if width() != "50" {
		t.Errorf("the human's drag was undone: %s", width())
	}
}

func TestOpenTwice(t *testing.T) {
	x, ctx := server(t, "80x24")
	for i, want := range []bool{true, false} {
		made, err := x.Open(ctx, 100, 30, t.TempDir())
		if err != nil || made != want {
			t.Errorf("call %d: made %v, %v", i, made, err)
		}
	}
	if got := x.must(t, "list-panes", "-s", "-t", "="+Session, "-F", "#{@akk_sidebar}"); got != "1\n" && got != "1" {
		t.Errorf("panes of the session: %q", got)
	}
}

// A jump moves the client that looks at the sidebar, and no other one.
func TestJump(t *testing.T) {
	x, ctx := server(t, "80x24")
	x.must(t, "new-session", "-d", "-s", "other", "-x", "80", "-y", "24")
	target := x.must(t, "split-window", "-d", "-t", "=other:", "-P", "-F", "#{pane_id}")
	from := x.must(t, "display-message", "-p", "-t", "=w o r k:", "#{pane_id}")

	note, err := x.Jump(ctx, "", target, "other")
	if err != nil || !strings.Contains(note, "attach -t other") {
		t.Errorf("without a client: %q, %v", note, err)
	}
	if got := x.must(t, "display-message", "-p", "-t", target, "#{pane_active}"); got != "1" {
		t.Errorf("the pane is not current")
	}

	human := exec.Command("tmux", "-S", x.Socket, "attach-session", "-t", "=w o r k")
	human.Env = append(environ(), "TERM=xterm")
	tty, err := pty.Start(human)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { // a terminal that reads
		defer close(done)
		b := make([]byte, 4096)
		for {
			if _, err := tty.Read(b); err != nil {
				return
			}
		}
	}()
	defer func() { human.Process.Kill(); human.Wait(); tty.Close(); <-done }()
	session := func() string { return x.must(t, "list-clients", "-F", "#{session_name}") }
	until(t, "the client", func() bool { return session() == "w o r k" })
	if note, err := x.Jump(ctx, from, target, "other"); err != nil || note != "" {
		t.Errorf("with a client: %q, %v", note, err)
	}
	until(t, "the switch", func() bool { return session() == "other" })
	// A pane that vanished under the human's finger is told as such.
	x.must(t, "kill-pane", "-t", target)
	for _, from := range []string{"", from} {
		if _, err := x.Jump(ctx, from, target, "other"); !errors.Is(err, ErrGone) || !strings.Contains(err.Error(), target) {
			t.Errorf("to a pane that is gone, from %q: %v", from, err)
		}
	}
}

// A recording's pane has its exact size and its mark; stopping ends only those.
func TestDemo(t *testing.T) {
	x, ctx := server(t, "80x24")
	panes, err := x.Demo(ctx, "=w o r k", []Recording{{"a", "codex", "0.155.1", 120, 40}, {"b", "claude", "2.1.267", 60, 20}})
	if err != nil || len(panes) != 2 {
		t.Fatal(panes, err)
	}
	if got := x.must(t, "display-message", "-p", "-t", panes[0], "#{pane_width}x#{pane_height} #{@akk_demo} #{window_name}"); got != "120x40 codex 0.155.1 RECORDING codex" {
		t.Errorf("the pane is %q", got)
	}
	// The global option is as it was: only our own windows have a fixed size.
	if got := x.must(t, "show-options", "-gwv", "window-size"); got != "latest" {
		t.Errorf("window-size is %q", got)
	}
	x.must(t, "new-window", "-t", "=w o r k:") // 3.3a dies here if it were global
	if n, err := x.StopDemo(ctx); err != nil || n != 2 {
		t.Errorf("stopped %d, %v", n, err)
	}
	if got := x.must(t, "list-windows", "-t", "=w o r k", "-F", "x"); strings.Count(got, "x") != 2 {
		t.Errorf("windows left: %q", got)
	}
}

func TestNoServer(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	x := Tmux{Socket: filepath.Join(t.TempDir(), "none")}
	if _, err := x.Sidebar(t.Context(), ""); !errors.Is(err, ErrNoServer) {
		t.Errorf("no socket: %v", err)
	}
}

func TestCheckVersion(t *testing.T) {
	for _, c := range []struct {
		says string
		want error
	}{
		{"tmux 3.2", nil}, {"tmux 3.3a", nil}, {"tmux next-3.8", nil}, {"tmux master", nil}, {"tmux 10.0", nil}, {"tmux openbsd-7.6", nil},
		{"tmux 3.1c", ErrOldTmux}, {"tmux 2.9a", ErrOldTmux}, {"tmux 3.0-rc", ErrOldTmux}, {"hello", ErrOldTmux},
	} {
		dir := t.TempDir()
		t.Setenv("PATH", dir)
		if err := CheckVersion(t.Context()); !errors.Is(err, ErrNoTmux) {
			t.Fatalf("empty PATH: %v", err)
		}
		script := "#!/bin/sh\necho " + strconv.Quote(c.says) + "\n"
		if err := os.WriteFile(filepath.Join(dir, "tmux"), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := CheckVersion(t.Context()); !errors.Is(err, c.want) || (c.want == nil) != (err == nil) {
			t.Errorf("%s: %v", c.says, err)
		}
	}
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{"a-b/c": "a-b/c", "": "''", "it's": `'it'\''s'`, "a b": "'a b'"} {
		if got := Quote(in); got != want {
			t.Errorf("%q: %s", in, got)
		}
	}
}
