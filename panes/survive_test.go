package panes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"akk/vtparse"
)

// This file holds what a mirror must survive, one test each; chaos_test.go does
// all of it at once. Numbers are those of public reports.

// attachHuman is a human's client on a terminal of its own; what it is shown
// goes to nobody.
func attachHuman(t *testing.T, ts *tmuxServer, rows, cols uint16) *human {
	t.Helper()
	h := &human{once: new(sync.Once), cmd: exec.Command("tmux", "-S", ts.socket, "attach-session", "-t", "one")}
	h.cmd.Env = append(clientEnv(), "TERM=xterm-256color")
	var err error
	if h.tty, err = pty.StartWithSize(h.cmd, &pty.Winsize{Rows: rows, Cols: cols}); err != nil {
		t.Fatal(err)
	}
	h.wg.Go(func() {
		buf := make([]byte, 32<<10)
		for {
			if _, err := h.tty.Read(buf); err != nil {
				return
			}
		}
	})
	t.Cleanup(h.leave)
	eventually(t, "the human's client", func() bool {
		return ts.clients("#{?client_control_mode,,#{client_pid}}") == strconv.Itoa(h.cmd.Process.Pid)
	})
	return h
}

// clients lists what format gives for the clients, those without left out.
func (ts *tmuxServer) clients(format string) string {
	return strings.Join(strings.Fields(ts.run("list-clients", "-F", format)), "\n")
}

// B98: whatever has the keys instead of the program, nothing is typed.
func TestModesRefuse(t *testing.T) {
	ts, s, read := logger(t, "")
	in, _ := s.Pane("%0")
	for _, mode := range [][]string{{"copy-mode"}, {"copy-mode", "-u"}, {"clock-mode"}, {"choose-tree"}, {"choose-buffer"}, {"choose-client"}, {"customize-mode"}} {
		if mode[0] == "choose-client" && s.pipe != nil {
			continue // there is none to choose
		}
		if mode[0] == "choose-buffer" {
			ts.run("set-buffer", "-b", "x", "x")
		}
		ts.run(append(append([]string{}, mode...), "-t", "%0")...)
		if ts.run("display-message", "-p", "-t", "%0", "#{pane_in_mode}") == "0" {
			t.Fatalf("%s did not begin", mode)
		}
		refused(t, s, Write{Identity: in.Identity, Paste: "x"}, "mode")
		refused(t, s, Write{Identity: in.Identity, Keys: []byte("\r")}, "mode")
		ts.run("copy-mode", "-q", "-t", "%0")
	}
	if got := arrived(t, s, read); len(got) != 0 {
		t.Errorf("the program read %q", got)
	}
}

// B107: a configuration that is broken leaves its pane in a view mode.
func TestBrokenConfig(t *testing.T) {
	ts := newTmux(t, "cat")
	conf := filepath.Join(t.TempDir(), "conf")
	if err := os.WriteFile(conf, []byte("bogus-command\nset -g nonsense on\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	attachHuman(t, ts, 24, 80)
	exec.Command("tmux", "-S", ts.socket, "source-file", conf).Run()
	ts.run("run-shell", "-t", "%0", "echo a config error") // 3.3a shows it as a view mode
	s := openServer(t, ts)
	in := until(t, s, "%0", "the view mode", func(in Info, ok bool) bool { return ok && in.InMode })
	refused(t, s, Write{Identity: in.Identity, Paste: "x"}, "mode")
	audited(t, s, "%0") // the mirror is the pane's own screen all the same
}

// B115: the configuration is read again 20 times: the same clients, the same
// panes, and what is on the screen stays.
func TestConfigReload(t *testing.T) {
	ts := newTmux(t, "cat")
	conf := filepath.Join(t.TempDir(), "conf")
	if err := os.WriteFile(conf, []byte("set -g status-interval 7\nset-hook -g after-select-pane[9] 'run-shell true'\nbind x display-message x\nset -g history-limit 3000\nset -g default-terminal tmux-256color\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ts.run("source-file", conf)
	s := openServer(t, ts)
	waitScreen(t, s, "%0", func(*vtparse.Screen) bool { return true })
	clients, before := ts.run("list-clients", "-F", "#{client_pid}"), ts.state()
	for i := range 20 {
		ts.say("%0", fmt.Sprintf("%d.", i))
		ts.run("source-file", conf)
		ts.run("select-pane", "-t", "%0") // the hook's blocks are nobody's answer (B104)
	}
	waitScreen(t, s, "%0", shows("18.19."))
	audited(t, s, "%0")
	if now := ts.run("list-clients", "-F", "#{client_pid}"); now != clients {
		t.Errorf("clients were %s, are %s", clients, now)
	}
	if after := ts.state(); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

// B35: a popup over the pane is not in its mirror.
func TestPopupIsNotMirrored(t *testing.T) {
	ts := newTmux(t, "cat")
	s := openServer(t, ts)
	h := attachHuman(t, ts, 24, 80)
	ts.say("%0", "below")
	waitScreen(t, s, "%0", shows("below"))
	tty := ts.clients("#{?client_control_mode,,#{client_tty}}")
	ready := filepath.Join(t.TempDir(), "ready")
	popup := exec.Command("tmux", "-S", ts.socket, "display-popup", "-E", "-c", tty, "echo IN THE POPUP; touch '"+ready+"'; exec cat")
	popup.Env = clientEnv()
	if err := popup.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the popup", func() bool { _, err := os.Stat(ready); return err == nil })
	if scr := audited(t, s, "%0"); shows("POPUP")(scr) || !shows("below")(scr) {
		t.Errorf("%q", scr.Lines())
	}
	in, _ := s.Pane("%0")
	if _, err := s.Input(within(t), Write{Identity: in.Identity, Paste: " our text"}); err != nil { // to the pane, not to the popup
		t.Error(err)
	}
	waitScreen(t, s, "%0", shows("below our text"))
	ts.run("display-popup", "-C", "-c", tty)
	defer time.AfterFunc(patience, func() { popup.Process.Kill() }).Stop()
	popup.Wait()
	h.leave()
}

// A tmux within a pane is a program like others; its panes are not ours.
func TestNestedTmux(t *testing.T) {
	inner := newTmux(t, "cat")
	inner.run("split-window", "-h", "-t", "one", "cat")
	ts := newTmux(t, "sh", "-c", "unset TMUX; exec tmux -S '"+inner.socket+"' attach-session -t one")
	s := openServer(t, ts)
	if n := len(s.Panes()); n != 1 {
		t.Fatalf("%d panes", n)
	}
	eventually(t, "the inner client", func() bool { return inner.run("list-clients") != "" })
	inner.run("set-option", "-g", "status", "off") // its clock would move
	inner.say("%1", "within")
	waitScreen(t, s, "%0", shows("within"))
	inner.run("resize-pane", "-t", "%1", "-x", "20")
	inner.run("resize-pane", "-Z", "-t", "%1")
	audited(t, s, "%0")
}

// B43, B44, B47: a pane keeps its identity whatever its window goes through,
// and its mirror equals the server's screen after each step.
func TestPaneIsMovedAbout(t *testing.T) {
	ts := newTmux(t, "cat")
	ts.run("set-option", "-g", "renumber-windows", "on")
	ts.run("new-window", "-d", "-t", "one:", "cat")                                              // %1
	ts.run("new-window", "-d", "-t", "one:", "cat")                                              // %2
	ts.run("new-session", "-d", "-s", "two", "-x", "70", "-y", "20", "cat")                      // %3
	ts.run("split-window", "-d", "-t", "two", "i=0; while :; do echo $((i=i+1)); sleep 1; done") // %4
	s := openServer(t, ts)
	waitScreen(t, s, "%2", func(*vtparse.Screen) bool { return true })
	old, _ := s.Pane("%2")
	ts.say("%2", "mine ")
	for i, step := range [][]string{
		{"split-window", "-d", "-h", "-t", "%2", "cat"}, // %5
		{"split-window", "-d", "-t", "%2", "-b", "cat"}, // %6, before it
		{"resize-pane", "-Z", "-t", "%2"},
		{"resize-pane", "-Z", "-t", "%2"},
		{"kill-window", "-t", "%1"}, // renumbers
		{"swap-pane", "-d", "-s", "%2", "-t", "%0"},
		{"break-pane", "-d", "-s", "%2"},
		{"rename-session", "-t", "one", "other name"},
		{"join-pane", "-d", "-s", "%2", "-t", "%3"},
		{"rotate-window", "-t", "%2"},
		{"select-layout", "-t", "%2", "even-horizontal"},
		{"move-pane", "-d", "-s", "%2", "-t", "%5"},
		{"swap-window", "-d", "-s", "two:0", "-t", "%2"},
		{"link-window", "-d", "-s", "two:0", "-t", "other name:7"},
		{"copy-mode", "-t", "%2"},
		{"copy-mode", "-q", "-t", "%2"},
		{"clear-history", "-t", "%2"},
		{"kill-session", "-t", "two"},
	} {
		ts.run(step...)
		if step[0] == "copy-mode" && step[1] == "-t" { // it has the keys now
			audited(t, s, "%2")
			continue
		}
		mark := string(rune('A' + i)) // one character never wraps
		ts.say("%2", mark)
		waitScreen(t, s, "%2", shows(mark))
		audited(t, s, "%2")
		if in, _ := s.Pane("%2"); in.Identity != old.Identity {
			t.Fatalf("after %s it is %+v, was %+v", step, in.Identity, old.Identity)
		}
	}
	in := until(t, s, "%2", "its session's new name", func(in Info, _ bool) bool { return in.SessionName == "other name" })
	if _, err := s.Input(within(t), Write{Identity: in.Identity, Paste: "typed"}); err != nil {
		t.Error(err)
	}
	waitScreen(t, s, "%2", shows("typed"))
}

// B41: a pane that is gone has no substitute: the active one gets nothing.
func TestGonePaneHasNoSubstitute(t *testing.T) {
	ts, s, read := logger(t, "")
	ts.run("split-window", "-d", "-t", "%0", "cat")
	in := until(t, s, "%1", "the split", func(_ Info, ok bool) bool { return ok })
	ts.run("kill-pane", "-t", "%1")
	refused(t, s, Write{Identity: in.Identity, Paste: "x"}, "identity")
	until(t, s, "%1", "its end", func(_ Info, ok bool) bool { return !ok })
	refused(t, s, Write{Identity: in.Identity, Keys: []byte("x")}, "identity")
	if got := arrived(t, s, read); len(got) != 0 {
		t.Errorf("the active pane read %q", got)
	}
}

// B100: our coming, going and dying changes no window's size.
func TestSizesStay(t *testing.T) {
	ts := newTmux(t, "cat")
	ts.run("new-session", "-d", "-s", "two", "-x", "90", "-y", "30", "cat")
	h := attachHuman(t, ts, 50, 200)
	sizes := func() string {
		return ts.run("list-windows", "-a", "-F", "#{window_id} #{window_width}x#{window_height} #{window-size}")
	}
	before := sizes()
	if !strings.Contains(before, "@0 200x49") {
		t.Fatalf("sizes %s", before)
	}
	s := openServer(t, ts)
	audited(t, s, "%0")
	if now := sizes(); now != before {
		t.Errorf("attached: %s, before %s", now, before)
	}
	s.Close()
	if now := sizes(); now != before {
		t.Errorf("detached: %s, before %s", now, before)
	}
	p := startVictim(t, ts)
	p.Process.Kill()
	p.Wait()
	eventually(t, "the dead one's clients to go (B109)", func() bool { return ts.clients("#{?client_control_mode,#{client_pid},}") == "" })
	if now := sizes(); now != before {
		t.Errorf("killed: %s, before %s", now, before)
	}
	h.leave()
}

// startVictim starts a daemon that holds pane %0.
func startVictim(t *testing.T, ts *tmuxServer) *exec.Cmd {
	t.Helper()
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
	buf := make([]byte, 100)
	if n, _ := out.Read(buf); string(buf[:n]) != "holding\n" {
		t.Fatalf("the victim says %q", buf[:n])
	}
	return cmd
}

// A human throws everybody else out, again and again.
func TestDetachAll(t *testing.T) {
	ts := newTmux(t, "cat")
	ts.run("new-session", "-d", "-s", "two", "cat")
	s := openServer(t, ts)
	attachHuman(t, ts, 24, 80)
	tty := ts.clients("#{?client_control_mode,,#{client_tty}}")
	for i := range 2 {
		waitScreen(t, s, "%1", func(*vtparse.Screen) bool { return true })
		ts.run("detach-client", "-a", "-t", tty)
		ts.say("%1", fmt.Sprintf("after %d.", i))
		waitScreen(t, s, "%1", shows(fmt.Sprintf("after %d.", i)))
		audited(t, s, "%1")
	}
}

// B116: characters that programs and terminals measure differently, redrawn in
// place.
func TestOddWidths(t *testing.T) {
	ts := newTmux(t, "sh", "-c", `stty raw -echo; for i in 1 2 3; do printf '\033[H[가][😀][❤️][⚠️][✅][🇰🇷][👨‍👩‍👧]\033[K\r\n%s' "$i"; done; printf '\033[HEND'; exec cat`)
	s := openServer(t, ts)
	waitScreen(t, s, "%0", shows("END"))
	audited(t, s, "%0")
	if n, err := s.Audits(within(t)); err != nil || n.Mismatches != 0 {
		t.Errorf("%+v %v", n, err)
	}
}

// B118: a character or a sequence that is cut at every byte.
func TestCutAtEveryByte(t *testing.T) {
	ts := newTmux(t, "sh", "-c", "stty raw -echo; exec sleep 1000")
	s := openServer(t, ts)
	waitScreen(t, s, "%0", func(*vtparse.Screen) bool { return true })
	in, _ := s.Pane("%0")
	tty, err := os.OpenFile(in.TTY, os.O_WRONLY|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	for _, c := range []byte("\x1b[38;2;1;2;3m日本\x1b[0m\x1b]0;title é\x07😀\x1b[2;5H\x1b(0lqk\x1b(B\x1b[?1049hE\u0301ND") {
		if _, err := tty.Write([]byte{c}); err != nil {
			t.Fatal(err)
		}
	}
	waitScreen(t, s, "%0", shows("E\u0301ND"))
	audited(t, s, "%0")
	if n, err := s.Audits(within(t)); err != nil || n.Mismatches != 0 {
		t.Errorf("%+v %v", n, err)
	}
}

// We are stopped while the panes write, and go on: nothing is wrong afterwards.
func TestOwnStop(t *testing.T) {
	ts := newTmux(t, "sh", "-c", "read x; seq 1 200000; echo END; exec cat")
	c := &chaos{t: t, socket: ts.socket, dir: t.TempDir()}
	c.startDaemon()
	c.daemon.stop()
	ts.run("send-keys", "-t", "%0", "Enter")
	ts.run("run-shell", "-d", "2", "true") // longer than the reader's guard
	c.daemon.cont()
	eventually(t, "the program to come to its end", func() bool { return strings.Contains(ts.run("capture-pane", "-p", "-t", "%0"), "END") })
	all := c.standStill()
	tell, ok := c.daemon.ask(chaosAsk{Do: "check", Panes: all})
	if !ok || len(tell.Diffs) > 0 || len(tell.Unproven) > 0 {
		t.Errorf("%v %+v\n%s", ok, tell, c.daemon.errors())
	}
	c.closeDaemon()
	eventually(t, "the clients to go", func() bool { return ts.run("list-clients") == "" })
}

// B110: no server is told as such, whatever tmux says.
func TestNoServerIsToldAsSuch(t *testing.T) {
	ts := newTmux(t, "cat")
	pid, _ := strconv.Atoi(ts.run("display-message", "-p", "#{pid}"))
	for what, socket := range map[string]string{"no socket": filepath.Join(t.TempDir(), "none"), "a dead server's socket": ts.socket} {
		if socket == ts.socket {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Open(within(t), Options{Socket: socket}); !errors.Is(err, ErrNoServer) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// B40: nothing of a dead server is listed or answers.
func TestAllGoWithTheServer(t *testing.T) {
	ts := newTmux(t, "cat")
	ts.run("split-window", "-t", "one", "cat")
	s := openServer(t, ts)
	waitScreen(t, s, "%1", func(*vtparse.Screen) bool { return true })
	sub := s.Subscribe()
	defer sub.Close()
	if err := syscall.Kill(s.ID().PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	gone := map[string]bool{}
	for {
		ups, err := sub.Next(within(t))
		if err != nil {
			break
		}
		for _, u := range ups {
			if u.Kind == UpdateGone {
				gone[u.Pane] = true
			}
		}
	}
	if len(gone) != 2 {
		t.Errorf("gone: %v", gone)
	}
	if got := s.Panes(); len(got) != 0 {
		t.Errorf("still listed: %+v", got)
	}
	if _, err := s.Audit(within(t), "%0"); !errors.Is(err, ErrServerGone) {
		t.Errorf("audit: %v", err)
	}
}

// fds counts our own open files.
func fds(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc: the count of files is not known here")
	}
	return len(all)
}

// Many times: no file, goroutine (goleak in TestMain), client or setting stays
// (B112).
func TestManyCyclesLeaveNothing(t *testing.T) {
	ts := newTmux(t, "cat")
	before := ts.state()
	files := 0
	cycles := 15 // in the suite; controlmode has 200
	if os.Getenv(chaosTimeEnv) != "" {
		cycles = 200
	}
	for i := range cycles {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		s, err := Open(ctx, Options{Socket: ts.socket})
		cancel()
		if err != nil {
			t.Fatal(i, err)
		}
		s.Close()
		if i == 5 {
			files = fds(t)
		}
	}
	if now := fds(t); now > files {
		t.Errorf("%d files are open, %d after the first cycles", now, files)
	}
	if after := ts.state(); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

// The same mirror through tmux -CC on a terminal.
func TestMirrorOnATerminal(t *testing.T) {
	ts := newTmux(t, "sh", "-c", "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); printf '\\033[3%dm日本語 %d\\033[0m\\r\\n' $((i%8)) $i; done; echo END; exec cat")
	ts.run("new-session", "-d", "-s", "two", "cat")
	before := ts.run("list-windows", "-a", "-F", "#{window_width}x#{window_height}")
	s, err := Open(within(t), Options{Socket: ts.socket, Terminal: true, Logger: testLog(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	waitScreen(t, s, "%0", shows("END"))
	audited(t, s, "%0")
	waitScreen(t, s, "%1", func(*vtparse.Screen) bool { return true })
	in, _ := s.Pane("%1")
	text := strings.Repeat("a long text ", 5000)
	if _, err := s.Input(within(t), Write{Identity: in.Identity, Paste: "short", Hold: true}); err != nil {
		t.Error(err)
	}
	if _, err := s.Input(within(t), Write{Identity: in.Identity, Keys: []byte("\r")}); err != nil {
		t.Error(err)
	}
	waitScreen(t, s, "%1", func(scr *vtparse.Screen) bool { return scr.Line(1) == "short" })
	in, _ = s.Pane("%0")
	ts.run("respawn-pane", "-k", "-t", "%0", "stty raw -echo; echo READY; exec cat")
	waitScreen(t, s, "%0", shows("READY"))
	in = until(t, s, "%0", "the new process", func(now Info, _ bool) bool { return now.PanePID != in.PanePID })
	if _, err := s.Input(within(t), Write{Identity: in.Identity, Paste: text + "LAST"}); err != nil {
		t.Error(err)
	}
	waitScreen(t, s, "%0", shows("LAST"))
	audited(t, s, "%0")
	if n, err := s.Audits(within(t)); err != nil || n.Mismatches != 0 {
		t.Errorf("%+v %v", n, err)
	}
	s.Close()
	if now := ts.run("list-windows", "-a", "-F", "#{window_width}x#{window_height}"); now != before {
		t.Errorf("sizes were %s, are %s", before, now)
	}
	if now := ts.run("list-clients"); now != "" {
		t.Errorf("clients stayed: %s", now)
	}
}

// tmux 5499: a window that left a client's session counts there as not read for
// ever, and a respawn of its pane then kills the server. Ours are told to pause.
func TestMovedPaneIsRespawned(t *testing.T) {
	ts := newTmux(t, "cat")
	ts.run("new-window", "-d", "-t", "one:", "cat")
	ts.run("new-session", "-d", "-s", "two", "cat")
	s := openServer(t, ts)
	waitScreen(t, s, "%1", func(*vtparse.Screen) bool { return true })
	ts.run("move-window", "-s", "one:1", "-t", "two:9")
	until(t, s, "%1", "the session to be the new one", func(in Info, _ bool) bool { return in.SessionName == "two" })
	ts.say("%1", "after the move")
	waitScreen(t, s, "%1", shows("after the move"))
	audited(t, s, "%1")
	in, _ := s.Pane("%1")
	ts.run("respawn-pane", "-k", "-t", "%1", "echo AGAIN; exec cat")
	until(t, s, "%1", "the new process", func(now Info, _ bool) bool { return now.PanePID != in.PanePID })
	waitScreen(t, s, "%1", shows("AGAIN"))
	audited(t, s, "%1")
}

// B95: answers to a program's own questions to its terminal come from tmux
// alone: a mirror answers nothing, so none arrives twice or as typed text.
func TestB95QueriesAreAnsweredByTmuxAlone(t *testing.T) {
	ask := func(watched bool) string {
		ts := newTmux(t, "sh", "-c", `stty raw -echo; printf READY; dd bs=1 count=1 2>/dev/null >&2; printf '\033[2J\033[H\033[c\033[>c\033[>q\033[6n\033]10;?\033\\\033]11;?\033\\'; exec cat -v`)
		if watched {
			s := openServer(t, ts)
			waitScreen(t, s, "%0", func(*vtparse.Screen) bool { return true })
		}
		eventually(t, "the program", func() bool { return strings.Contains(ts.run("capture-pane", "-p", "-t", "%0"), "READY") })
		ts.say("%0", "g")
		for _, w := range []string{"1R", "END"} { // END comes behind every answer
			if w == "END" {
				ts.say("%0", w)
			}
			eventually(t, "the answers", func() bool { return strings.Contains(ts.run("capture-pane", "-p", "-t", "%0"), w) })
		}
		return ts.run("capture-pane", "-p", "-t", "%0")
	}
	without := ask(false)
	if !strings.Contains(without, "[?1;2c") {
		t.Fatalf("tmux itself answers nothing: %q", without)
	}
	if with := ask(true); with != without {
		t.Errorf("beside a mirror the program read %q, alone %q", with, without)
	}
}
