package panes

import (
	"bufio"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"akk/vtparse"
)

// This file keeps a real server alive whose active pane is dead and had asked
// for focus events (tmux 3776): when we come, while we stay out, when we leave.

// focusServer is a server with a session "one" whose current window has such a
// pane, %1; how it ended is in p.
func focusServer(t *testing.T) (*tmuxServer, *serverProc) {
	t.Helper()
	dir, err := os.MkdirTemp("", "akkx")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	ts := &tmuxServer{t, filepath.Join(dir, "s")}
	p := startTmux(t, ts.socket)
	t.Cleanup(func() { p.cmd.Process.Kill(); <-p.done })
	eventually(t, "the server", func() bool { _, err := os.Stat(ts.socket); return err == nil })
	ts.run("new-session", "-d", "-s", "one", "-x", "80", "-y", "24", "cat")
	ts.run("set-option", "-g", "remain-on-exit", "on")
	return ts, p
}

// wantsFocus opens a pane that asks for focus events and ends when file is there.
func (ts *tmuxServer) wantsFocus(file string) {
	ts.t.Helper()
	ts.run("new-window", "-t", "one:", `printf '\033[?1004h\033]2;asked\033\\'; while ! [ -e '`+file+`' ]; do sleep 0.05; done`)
}

func awaitDead(t *testing.T, ts *tmuxServer) {
	t.Helper()
	eventually(t, "a dead pane", func() bool { return ts.run("display-message", "-p", "-t", "one:", "#{pane_dead}") == "1" })
}

// counter counts the log lines that hold a text.
type counter struct {
	text string
	n    atomic.Int32
}

func (c *counter) Write(p []byte) (int, error) {
	c.n.Add(int32(strings.Count(string(p), c.text)))
	return len(p), nil
}

// openAs opens a server, over control mode whatever the suite runs over.
func openAs(t *testing.T, ts *tmuxServer, terminal bool, log io.Writer) *Server {
	t.Helper()
	s, err := Open(within(t), Options{Socket: ts.socket, Logger: slog.New(slog.NewTextHandler(log, nil)), Terminal: terminal})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func stillRuns(t *testing.T, p *serverProc) {
	t.Helper()
	select {
	case <-p.done:
		t.Fatalf("the server ended: %v", p.death())
	default:
	}
}

// The pane is dead when we come: alone in its server, or beside a session that
// is mirrored meanwhile. Closed or respawned, all goes on by itself.
func TestAttachBesideDeadFocusPane(t *testing.T) {
	for _, c := range []struct {
		name            string
		second          bool
		terminal        bool
		cure            []string
		closed, current string // the pane that is gone; the one that shows a text after the cure
	}{
		{"alone, closed", false, false, []string{"kill-pane", "-t", "%1"}, "%1", "%0"},
		{"beside another, closed, on a terminal", true, true, []string{"kill-pane", "-t", "%1"}, "%1", "%0"},
		{"beside another, respawned", true, false, []string{"respawn-pane", "-t", "%1", "cat"}, "", "%1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // they wait for unsyncedGrace and barredRetry
			ts, p := focusServer(t)
			ts.wantsFocus("/dev/null")
			awaitDead(t, ts)
			if c.second {
				ts.run("new-session", "-d", "-s", "two", "cat") // %2
			}
			ts.run("set-buffer", "-b", bufferPrefix+"left", "by a daemon that was killed")
			told := &counter{text: "session is not attached to"}
			s := openAs(t, ts, c.terminal, told)
			if !quirk(s.Version()).deadFocus {
				t.Skip("this tmux does not mind")
			}
			stillRuns(t, p)
			in := until(t, s, "%0", "the session to be told as unread", func(in Info, _ bool) bool { return strings.Contains(in.UnsyncedWhy, "3776") })
			eventually(t, "what was left to be removed", func() bool { return ts.run("list-buffers") == "" })
			why, cure, _ := strings.Cut(in.UnsyncedWhy, "; ")
			if !strings.Contains(why, `"one"`) || !strings.Contains(why, "pane %1 is dead") || !strings.Contains(cure, "kill-pane -t %1") {
				t.Errorf("why: %q", in.UnsyncedWhy)
			}
			refused(t, s, Write{Identity: in.Identity, Paste: "x"}, "unread")
			if c.second {
				ts.say("%2", "meanwhile")
				waitScreen(t, s, "%2", shows("meanwhile"))
				audited(t, s, "%2")
			}
			if got := ts.clients("#{client_session}"); strings.Contains(got, "one") {
				t.Errorf("clients on %s", got)
			}
			// Some tries later it is told once, and nothing has happened.
			var tried time.Time
			post(t, s, func() { tried = s.barred.bars["$0"].tried; s.tryBarred("$0") })
			eventually(t, "another try", func() (again bool) {
				post(t, s, func() { again = s.barred.bars["$0"].tried.After(tried) })
				return again
			})
			if n := told.n.Load(); n != 1 {
				t.Errorf("logged %d times", n)
			}
			stillRuns(t, p)
			ts.run(c.cure...)
			until(t, s, "%0", "the session to be mirrored", func(in Info, _ bool) bool { return in.Unsynced.IsZero() && in.UnsyncedWhy == "" })
			ts.say(c.current, "cured")
			waitScreen(t, s, c.current, shows("cured"))
			audited(t, s, c.current)
			if c.closed != "" {
				until(t, s, c.closed, "the pane to be gone", func(_ Info, ok bool) bool { return !ok })
			}
			s.Close()
			stillRuns(t, p)
			if got := ts.clients("#{client_pid}"); got != "" {
				t.Errorf("left behind: clients %s", got)
			}
		})
	}
}

// The pane dies while we are attached, alone in its session. However we go, the
// server lives on; that it would have met the fault is shown at the end.
func TestLeaveBesideDeadFocusPane(t *testing.T) {
	leave := func(t *testing.T, _ *tmuxServer, s *Server) { s.Close() }
	thrownOut := func(t *testing.T, ts *tmuxServer, s *Server) {
		ts.run("detach-client", "-s", "one")
		until(t, s, "%0", "the session to be told as unread", func(in Info, _ bool) bool { return strings.Contains(in.UnsyncedWhy, "3776") })
	}
	for _, c := range []struct {
		name     string
		terminal bool
		going    func(*testing.T, *tmuxServer, *Server)
	}{
		{"by itself", false, leave},
		{"by itself, from a terminal", true, leave},
		{"thrown out", false, thrownOut},
		{"thrown out, from a terminal", true, thrownOut},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ts, p := focusServer(t)
			end := ts.socket + ".end"
			ts.wantsFocus(end)
			eventually(t, "the wish for focus events", func() bool { return ts.run("display-message", "-p", "-t", "one:", "#{pane_title}") == "asked" })
			s := openAs(t, ts, c.terminal, io.Discard)
			if !quirk(s.Version()).deadFocus {
				t.Skip("this tmux does not mind")
			}
			waitScreen(t, s, "%1", func(*vtparse.Screen) bool { return true })
			if err := os.WriteFile(end, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			until(t, s, "%1", "the program to have ended", func(in Info, _ bool) bool { return in.Dead })
			c.going(t, ts, s)
			if got := ts.clients("#{client_pid}"); got != "" {
				t.Errorf("left behind: clients %s", got)
			}
			s.Close()
			stillRuns(t, p)
			// Comes again, leaves again: nothing was attached.
			s = openAs(t, ts, c.terminal, io.Discard)
			s.Close()
			stillRuns(t, p)
			ts.trapped(p)
		})
	}
}

// The same with a daemon that is killed.
func TestKilledBesideDeadFocusPane(t *testing.T) {
	ts, p := focusServer(t)
	if _, version, err := Probe(t.Context(), ts.socket); err != nil || !quirk(version).deadFocus {
		t.Skip("this tmux does not mind")
	}
	end := ts.socket + ".end"
	ts.wantsFocus(end)
	eventually(t, "the wish for focus events", func() bool { return ts.run("display-message", "-p", "-t", "one:", "#{pane_title}") == "asked" })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), victimEnv+"="+ts.socket)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "holding\n" {
		t.Fatalf("the victim says %q", line)
	}
	if err := os.WriteFile(end, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	awaitDead(t, ts)
	cmd.Process.Kill()
	eventually(t, "its clients to go", func() bool { return ts.run("list-clients") == "" })
	stillRuns(t, p)
	ts.trapped(p)
}

// trapped proves that the pane was still waiting for its focus events: the next
// one ends the server.
func (ts *tmuxServer) trapped(p *serverProc) {
	ts.t.Helper()
	ts.run("set-option", "-g", "focus-events", "on")
	cmd := exec.Command("tmux", "-S", ts.socket, "select-window", "-t", "one:0")
	cmd.Env = clientEnv()
	cmd.Run()
	if d := p.death(); d.running {
		ts.t.Error("the pane was no danger: nothing was tested")
	}
}

// tmux 3776 by a human's acts on a bare server: no akk, no control client.
func TestFocusCrashIsRecognised(t *testing.T) {
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		t.Fatal(err)
	}
	if tmux, err = filepath.EvalSymlinks(tmux); err != nil {
		t.Fatal(err)
	}
	if b := buildID(tmux); b != knownBuild {
		t.Skipf("the tmux here is build %.12s; the place is known of build %.12s alone", b, knownBuild)
	}
	for _, c := range []struct {
		op  string
		act func(*testing.T, *tmuxServer)
	}{
		{"kill-pane", func(t *testing.T, ts *tmuxServer) {
			ts.wantsFocus("/dev/null")
			awaitDead(t, ts)
			ts.run("split-window", "-t", "one:", "cat") // %2
			attachHuman(t, ts, 24, 80)
			cmd := exec.Command("tmux", "-S", ts.socket, "kill-pane", "-t", "%2")
			cmd.Env = clientEnv()
			cmd.Run()
		}},
		{"human goes", func(t *testing.T, ts *tmuxServer) {
			end := ts.socket + ".end"
			ts.wantsFocus(end)
			eventually(t, "the wish for focus events", func() bool { return ts.run("display-message", "-p", "-t", "one:", "#{pane_title}") == "asked" })
			h := attachHuman(t, ts, 24, 80)
			if err := os.WriteFile(end, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			awaitDead(t, ts)
			h.leave()
		}},
	} {
		t.Run(c.op, func(t *testing.T) {
			ts, p := focusServer(t)
			c.act(t, ts)
			d := p.death()
			if d.signal == syscall.SIGSEGV && d.core == nil {
				t.Skip("no core was left here, so nothing tells where it stood")
			}
			if d.core != nil && filepath.Base(d.core.file) != "tmux" && knownLibevent[d.core.build] == 0 {
				t.Skipf("%v: the place is not known of this build of the library", d)
			}
			issue, why := verdict(d, []chaosOpAt{{c.op, c.op, d.at}})
			if issue != "3776" {
				t.Errorf("%v: %q %s", d, issue, why)
			}
			t.Logf("%v; %s", d, why)
		})
	}
}
