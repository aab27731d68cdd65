package panes

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"akk/controlmode"
	"akk/vtparse"
)

// This file tests the pipe transport on real servers: exact from the first
// byte, the user's own pipes and hooks untouched, nothing left behind.

func openPipes(t *testing.T, ts *tmuxServer) *Server {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s, err := Open(ctx, Options{Socket: ts.socket, Transport: Pipe, Logger: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestPipeMirrorAndInput(t *testing.T) {
	ts := newTmux(t, "cat")
	s := openPipes(t, ts)
	waitScreen(t, s, "%0", func(*vtparse.Screen) bool { return true })
	if got := ts.run("list-clients"); got != "" {
		t.Errorf("clients: %q", got)
	}
	in, _ := s.Pane("%0")
	scr, err := s.Audit(within(t), "%0")
	if err != nil {
		t.Fatal(err)
	}
	text := `it's "quoted"; $HOME #{pane_id} %d ~ \n ünïcödé`
	if _, err := s.Input(within(t), Write{Identity: in.Identity, Cursor: &scr.Cursor, Paste: text, Hold: true}); err != nil {
		t.Fatal(err)
	}
	if got := ts.run("display-message", "-p", "-t", "%0", "#{pane_input_off}"); got != "1" {
		t.Errorf("input off is %q while held", got)
	}
	waitScreen(t, s, "%0", shows(text))
	if _, err := s.Input(within(t), Write{Identity: in.Identity, Keys: []byte("\r")}); err != nil {
		t.Fatal(err)
	}
	waitScreen(t, s, "%0", func(scr *vtparse.Screen) bool { return scr.Line(1) == text })
	if got := ts.run("display-message", "-p", "-t", "%0", "#{pane_input_off}"); got != "0" {
		t.Errorf("input off is %q after the last write", got)
	}
	refused(t, s, Write{Identity: in.Identity, Cursor: &vtparse.Cursor{X: 3, Y: 3}, Paste: "x"}, "cursor")
	ts.run("copy-mode", "-t", "%0")
	refused(t, s, Write{Identity: in.Identity, Paste: "x"}, "mode")
	ts.run("send-keys", "-t", "%0", "-X", "cancel")
	ts.run("set-option", "-w", "-t", "%0", "synchronize-panes", "on")
	refused(t, s, Write{Identity: in.Identity, Paste: "x"}, "synchronized")
	ts.run("set-option", "-wu", "-t", "%0", "synchronize-panes")
	in.PanePID++
	refused(t, s, Write{Identity: in.Identity, Paste: "x"}, "identity")
	if got := ts.run("list-buffers"); got != "" {
		t.Errorf("buffers left behind: %q", got)
	}
}

// A pane that writes without a pause is seeded again and again; in the end the
// mirror equals tmux without one mismatch.
func TestPipeSyncInAStream(t *testing.T) {
	ts := newTmux(t, "sh", "-c", "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); printf '\\033[3%dm%d\\033[0m 日本 ' $((i%8)) $i; done; echo END; exec cat")
	s := openPipes(t, ts)
	seeds := 0
	waitScreen(t, s, "%0", func(*vtparse.Screen) bool { return true })
	for end := false; !end; {
		seeds++
		post(t, s, func() { s.seed(s.mirrors["%0"]) })
		eventually(t, "the new sync", func() bool {
			is := false
			post(t, s, func() { is = s.mirrors["%0"].state == live })
			return is
		})
		scr, err := s.Screen("%0")
		if err != nil {
			t.Fatal(err)
		}
		end = shows("END")(scr)
	}
	ctx := within(t)
	if _, err := s.Audit(ctx, "%0"); err != nil {
		t.Fatal(err)
	}
	n, err := s.Audits(ctx)
	if err != nil || n.Mismatches != 0 {
		t.Errorf("audits %+v, %v", n, err)
	}
	t.Logf("%d times seeded in the stream", seeds)
}

// The user's own pipe-pane goes on, whenever it began; when it is over the pane
// is read again.
func TestPipeNeverTakesAnothersPipe(t *testing.T) {
	ts := newTmux(t, "cat")
	file := filepath.Join(t.TempDir(), "log")
	ts.run("pipe-pane", "-o", "-t", "%0", "exec cat >'"+file+"'")
	ts.run("split-window", "-t", "%0", "cat")
	s := openPipes(t, ts)
	waitScreen(t, s, "%1", func(*vtparse.Screen) bool { return true })
	eventually(t, "the pane is called unreadable", func() bool { return errors.Is(s.Unreadable("%0"), ErrTaken) })
	if _, err := s.Screen("%0"); !errors.Is(err, ErrTaken) || !errors.Is(err, ErrNotSynced) {
		t.Error(err)
	}
	// What is known of it says so, and a text is refused for the true reason.
	in := until(t, s, "%0", "the pane to be told as not mirrored", func(in Info, _ bool) bool { return !in.Unsynced.IsZero() })
	if !strings.Contains(in.UnsyncedWhy, "in use by another pipe-pane") || !strings.Contains(in.UnsyncedWhy, "; end that one (tmux pipe-pane -t %0)") {
		t.Errorf("why: %q", in.UnsyncedWhy)
	}
	refused(t, s, Write{Identity: in.Identity, Paste: "NEVER"}, "unread")
	refused(t, s, Write{Identity: in.Identity, Keys: []byte("NEVER")}, "unread")
	if _, err := s.Input(within(t), Write{Identity: in.Identity, Paste: "NEVER"}); !strings.Contains(err.Error(), "tmux pipe-pane -t %0") {
		t.Errorf("no cure: %v", err)
	}
	ts.run("send-keys", "-t", "%0", "hello", "Enter")
	logged := func(text string) func() bool {
		return func() bool { b, _ := os.ReadFile(file); return strings.Contains(string(b), text) }
	}
	eventually(t, "the user's pipe goes on", logged("hello"))
	// Theirs replaces ours in the other pane.
	other := filepath.Join(t.TempDir(), "log")
	waitScreen(t, s, "%1", func(*vtparse.Screen) bool { return true })
	ts.run("pipe-pane", "-t", "%1", "exec cat >'"+other+"'")
	eventually(t, "the other pane is called unreadable", func() bool { return errors.Is(s.Unreadable("%1"), ErrTaken) })
	post(t, s, func() {
		s.pipe.gap = 10 * time.Millisecond
		clear(s.pipe.away)
		s.pipe.leave(s.mirrors["%0"], ErrTaken)
	})
	ts.run("pipe-pane", "-t", "%0")
	waitScreen(t, s, "%0", shows("hello"))
	if err := s.Unreadable("%0"); err != nil {
		t.Error(err)
	}
	in = until(t, s, "%0", "the pane to be mirrored", func(in Info, _ bool) bool { return in.Unsynced.IsZero() })
	if in.UnsyncedWhy != "" {
		t.Errorf("still: %q", in.UnsyncedWhy)
	}
	if b, _ := os.ReadFile(file); strings.Contains(string(b), "NEVER") {
		t.Error("a refused text was typed")
	}
	if got := ts.run("display-message", "-p", "-t", "%1", "#{pane_pipe}"); got != "1" {
		t.Error("the user's second pipe is gone")
	}
}

func post(t *testing.T, s *Server, do func()) {
	t.Helper()
	if _, err := call(within(t), s, func(done func(struct{}, error)) { do(); done(struct{}{}, nil) }); err != nil {
		t.Fatal(err)
	}
}

// pipeState is what the pipe transport could have changed.
func (ts *tmuxServer) pipeState() string {
	return ts.state() + ts.run("list-panes", "-a", "-F", "#{pane_id} #{pane_pipe}") + ts.run("show-hooks", "-g") + ts.run("show-hooks", "-gw")
}

func TestPipeLeavesNothing(t *testing.T) {
	ts := newTmux(t, "cat")
	ts.run("set-hook", "-g", "window-layout-changed", "display-message layout")
	ts.run("set-hook", "-ga", "pane-exited", "display-message 'one; two'")
	ts.run("set-hook", "-g", "after-pipe-pane[8732]", "display-message \"quoted 'text'\"")
	before := ts.pipeState()
	for range 2 {
		s := openPipes(t, ts)
		waitScreen(t, s, "%0", func(*vtparse.Screen) bool { return true })
		if ts.pipeState() == before {
			t.Fatal("nothing was set, nothing is tested")
		}
		s.Close()
		eventually(t, "tmux notices the end of our pipe", func() bool { return ts.run("display-message", "-p", "-t", "%0", "#{pane_pipe}") == "0" })
		if after := ts.pipeState(); after != before {
			t.Errorf("before:\n%s\nafter:\n%s", before, after)
		}
	}
}

// killVictim ends a daemon that holds pane %0 by kill -9.
func killVictim(t *testing.T, ts *tmuxServer, transport Transport) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), victimEnv+"="+ts.socket, victimEnv+"_TRANSPORT="+string(transport))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	cmd.Process.Kill()
	cmd.Wait()
	if line != "holding\n" {
		t.Fatalf("the victim says %q", line)
	}
}

// After kill -9 of the daemon the pipes are free at once and the next start
// removes the hooks, whatever its transport is.
func TestPipeAfterKill(t *testing.T) {
	for _, next := range []Transport{Pipe, Control} {
		t.Run(string(next), func(t *testing.T) {
			ts := newTmux(t, "cat")
			before := ts.pipeState()
			killVictim(t, ts, Pipe)
			eventually(t, "the pipe is free", func() bool { return ts.run("display-message", "-p", "-t", "%0", "#{pane_pipe}") == "0" })
			if !strings.Contains(ts.pipeState(), hookIndex) {
				t.Error("no hooks were left, nothing is tested")
			}
			s, err := Open(within(t), Options{Socket: ts.socket, Transport: next})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.Close() })
			waitScreen(t, s, "%0", shows("held"))
			s.Close()
			eventually(t, "the server is as before", func() bool { return ts.pipeState() == before })
		})
	}
}

// Sessions, splits, sizes, respawns and ends are learned by hooks, also after
// somebody replaced a whole list of them.
func TestPipeLearnsOfChanges(t *testing.T) {
	ts := newTmux(t, "cat")
	s := openPipes(t, ts)
	waitScreen(t, s, "%0", func(*vtparse.Screen) bool { return true })
	ts.run("set-hook", "-g", "window-layout-changed", "display-message x")
	ts.run("set-hook", "-gu", "session-created")
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(ts.run("show-hooks", "-g") + ts.run("show-hooks", "-gw"))
		}
	})
	eventually(t, "the hooks are set again", func() bool {
		h := ts.run("show-hooks", "-g") + ts.run("show-hooks", "-gw")
		return strings.Contains(h, "window-layout-changed"+hookIndex) && strings.Contains(h, "session-created"+hookIndex)
	})
	ts.run("new-session", "-d", "-s", "two", "-x", "60", "-y", "20", "echo two; exec cat")
	waitScreen(t, s, "%1", shows("two"))
	ts.run("split-window", "-t", "two", "echo three; exec cat")
	waitScreen(t, s, "%2", shows("three"))
	waitScreen(t, s, "%1", func(scr *vtparse.Screen) bool { return scr.Rows == 10 && scr.Cols == 60 })
	ts.run("resize-window", "-t", "two", "-x", "50", "-y", "30")
	waitScreen(t, s, "%2", func(scr *vtparse.Screen) bool { return scr.Cols == 50 })
	ts.run("respawn-pane", "-k", "-t", "%2", "echo again; exec cat")
	waitScreen(t, s, "%2", shows("again"))
	ts.run("rename-session", "-t", "two", "zwei")
	eventually(t, "the new name", func() bool { in, _ := s.Pane("%2"); return in.SessionName == "zwei" })
	ts.run("copy-mode", "-t", "%2")
	eventually(t, "the mode", func() bool { in, _ := s.Pane("%2"); return in.InMode })
	ts.run("kill-pane", "-t", "%1")
	eventually(t, "the end of a pane", func() bool { _, ok := s.Pane("%1"); return !ok })
	ts.run("send-keys", "-X", "-t", "%2", "cancel")
	for _, id := range []string{"%0", "%2"} {
		if _, err := s.Audit(within(t), id); err != nil {
			t.Error(id, err)
		}
	}
	ts.run("kill-server")
	sub := s.Subscribe()
	defer sub.Close()
	for {
		ups, err := sub.Next(within(t))
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range ups {
			if u.Kind == UpdateServerGone {
				return
			}
		}
	}
}

// A window that is made smaller and back again keeps its size and not its
// text.
func TestPipeThereAndBack(t *testing.T) {
	ts := newTmux(t, "sh", "-c", "seq -s' ' 1 200; exec cat")
	s := openPipes(t, ts)
	waitScreen(t, s, "%0", shows("200"))
	for i := range 5 {
		ts.run("resize-window", "-t", "one", "-x", fmt.Sprint(20+i), "-y", "5", ";", "resize-window", "-t", "one", "-x", "80", "-y", "24")
	}
	want := ts.run("capture-pane", "-p", "-t", "%0")
	waitScreen(t, s, "%0", func(scr *vtparse.Screen) bool {
		return strings.TrimRight(strings.Join(scr.Lines(), "\n"), "\n") == strings.TrimRight(want, "\n")
	})
}

// A second daemon neither reads nor removes anything.
func TestPipeAloneOnAServer(t *testing.T) {
	ts := newTmux(t, "cat")
	s := openPipes(t, ts)
	waitScreen(t, s, "%0", func(*vtparse.Screen) bool { return true })
	before := ts.pipeState()
	if _, err := Open(within(t), Options{Socket: ts.socket, Transport: Pipe}); err == nil || !strings.Contains(err.Error(), "another akk daemon") {
		t.Error(err)
	}
	if after := ts.pipeState(); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

func TestUnquote(t *testing.T) {
	text := "a\"b\\c$d\te\nf\x1b\x7f é'#{x}"
	args, stdin := argv("set-buffer -b akk-paste-x -- " + controlmode.Quote(text))
	if strings.Join(args, " ") != "load-buffer -b akk-paste-x -" || string(stdin) != text {
		t.Errorf("%q %q", args, stdin)
	}
}

// A capture comes by another way than the pane's bytes, and on a busy machine
// ahead of them: that is no mismatch, and no reason for a new sync.
func TestPipeAuditWaitsForThePipe(t *testing.T) {
	ts := newTmux(t, "sh", "-c", `i=0; while :; do i=$((i+1)); printf '%d some words 日本\n' $i; sleep 0.02; done`)
	s := openPipes(t, ts)
	waitScreen(t, s, "%0", func(*vtparse.Screen) bool { return true })
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	for range 2 * runtime.GOMAXPROCS(0) { // the machine is busy with us
		go func() {
			for ctx.Err() == nil {
				for range 1 << 20 {
				}
			}
		}()
	}
	for range 2 {
		if _, err := s.Audit(within(t), "%0"); err != nil {
			t.Fatal(err)
		}
	}
	n, err := s.Audits(within(t))
	if err != nil || n.Mismatches != 0 || n.Reseeds != 0 {
		t.Errorf("%+v %v", n, err)
	}
	t.Logf("%+v", n)
}
