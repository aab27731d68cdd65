package panes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"akk/vtparse"
)

// This file changes a server under the mirrors: sessions, windows, sizes,
// processes. What must hold: a mirror never shows anything but its pane.

// patience bounds every wait on another process: it is long, for a machine may be
// busy with other tests, and costs only when something fails.
const patience = 60 * time.Second

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// until looks at what is known of a pane at every update until ok.
func until(t *testing.T, s *Server, pane, what string, ok func(Info, bool) bool) Info {
	t.Helper()
	sub := s.Subscribe()
	defer sub.Close()
	ctx := within(t)
	for {
		if in, known := s.Pane(pane); ok(in, known) {
			return in
		}
		if _, err := sub.Next(ctx); err != nil {
			in, known := s.Pane(pane)
			t.Fatalf("waited in vain: %s: %s %v %+v: %v", what, pane, known, in, err)
		}
	}
}

func audited(t *testing.T, s *Server, pane string) *vtparse.Screen {
	t.Helper()
	scr, err := s.Audit(within(t), pane)
	if err != nil {
		t.Fatalf("audit of %s: %v", pane, err)
	}
	return scr
}

// say makes the pane's cat show a text.
func (ts *tmuxServer) say(pane, text string) { ts.run("send-keys", "-t", pane, "-l", text) }

// No byte is lost or doubled: the recorder begins in the middle of the stream
// and sees every number once.
func TestTapInAStreamIsWhole(t *testing.T) {
	// The stream goes on until the test has seen enough of it, so that no
	// machine is too fast or too slow for it.
	stop := filepath.Join(t.TempDir(), "stop")
	ts := newTmux(t, "sh", "-c", "stty raw; i=1; while [ ! -e "+stop+" ]; do seq $i $((i+999)); i=$((i+1000)); done; echo END; exec cat")
	s := openServer(t, ts)
	waitScreen(t, s, "%0", func(*vtparse.Screen) bool { return true })
	tap, err := s.Tap("%0")
	if err != nil {
		t.Fatal(err)
	}
	defer tap.Close()
	ctx := within(t)
	const enough = 300_000 // bytes
	var all []byte
	for !strings.Contains(string(all[max(0, len(all)-100):]), "END") {
		if len(all) > enough {
			if err := os.WriteFile(stop, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		data, _, err := tap.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, data...)
	}
	// The start's last row and the first bytes meet in the middle of a number.
	start := tap.Start()
	y := min(start.Cursor.Y, start.Rows-1)
	head := start.Line(y)
	for ; y > 0 && start.Row(y-1).Wrapped(); y-- { // the number itself may be wrapped
		head = start.Line(y-1) + head
	}
	head = strings.TrimSpace(head)
	words := strings.Fields(head + string(all))
	last := 0
	for i, w := range words {
		if w == "END" {
			break
		}
		n, err := strconv.Atoi(w)
		if err != nil || i > 0 && n != last+1 {
			t.Fatalf("number %d is %q after %d", i, w, last)
		}
		last = n
	}
	if last%1000 != 0 {
		t.Errorf("the last number is %d", last)
	}
}

// A seed in the middle of characters of several bytes and of sequences.
func TestSyncAmongWideCharacters(t *testing.T) {
	script := `i=0; while [ $i -lt 3000 ]; do i=$((i+1)); printf '\033[3%dm日本語テキスト\033[0m漢字%d\n' $((i%8)) $i; done; echo END; exec cat`
	ts := newTmux(t, "sh", "-c", script)
	for range 3 {
		ts.run("split-window", "-t", "one", "sh", "-c", script)
	}
	s := openServer(t, ts)
	for _, p := range []string{"%0", "%1", "%2", "%3"} {
		waitScreen(t, s, p, shows("END"))
		audited(t, s, p)
	}
	if n, err := s.Audits(within(t)); err != nil || n.Mismatches != 0 {
		t.Errorf("%+v %v", n, err)
	}
}

func TestResizeInAStream(t *testing.T) {
	ts := newTmux(t, "sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); printf '%d some words that wrap when the pane is narrow ' $i; done; echo END; exec cat")
	s := openServer(t, ts)
	for _, size := range []string{"60x20", "100x30", "33x7", "80x24", "81x24", "80x24"} {
		x, y, _ := strings.Cut(size, "x")
		ts.run("resize-window", "-t", "one", "-x", x, "-y", y)
	}
	waitScreen(t, s, "%0", shows("END"))
	scr := audited(t, s, "%0")
	if scr.Cols != 80 || scr.Rows != 24 {
		t.Errorf("%dx%d", scr.Cols, scr.Rows)
	}
	// A list that was under way at the last resize may still tell the size
	// before it; the list after it does not.
	until(t, s, "%0", "the list to tell the last size", func(in Info, _ bool) bool { return in.Cols == 80 && in.Rows == 24 })
	// There and back again reflows, though the size is the same afterwards.
	ts.run("resize-window", "-t", "one", "-x", "20", "-y", "24", ";", "resize-window", "-t", "one", "-x", "80", "-y", "24")
	audited(t, s, "%0")
}

// A window that moves to another session is fed by that session's client.
func TestWindowMovesToAnotherSession(t *testing.T) {
	ts := newTmux(t, "cat")
	ts.run("new-window", "-d", "-t", "one:", "cat")
	ts.run("new-session", "-d", "-s", "two", "cat")
	s := openServer(t, ts)
	waitScreen(t, s, "%1", func(*vtparse.Screen) bool { return true })
	ts.say("%1", "before")
	waitScreen(t, s, "%1", shows("before"))
	ts.run("move-window", "-s", "one:1", "-t", "two:9")
	until(t, s, "%1", "the session to be the new one", func(in Info, _ bool) bool { return in.SessionName == "two" })
	ts.say("%1", "after")
	waitScreen(t, s, "%1", shows("beforeafter"))
	audited(t, s, "%1")
}

// A pane that several sessions show is one pane, fed once.
func TestLinkedAndGroupedWindows(t *testing.T) {
	ts := newTmux(t, "cat")
	ts.run("new-session", "-d", "-s", "two", "cat")
	ts.run("link-window", "-s", "one:0", "-t", "two:5")
	ts.run("new-session", "-d", "-t", "one", "-s", "grouped")
	s := openServer(t, ts)
	waitScreen(t, s, "%0", func(*vtparse.Screen) bool { return true })
	if n := len(s.Panes()); n != 2 {
		t.Fatalf("%d panes: %+v", n, s.Panes())
	}
	ts.say("%0", "once")
	waitScreen(t, s, "%0", shows("once"))
	if got := audited(t, s, "%0").Line(0); got != "once" {
		t.Errorf("%q", got)
	}
	// The session that feeds it ends; the window lives on in the others.
	ts.run("kill-session", "-t", "one")
	until(t, s, "%0", "another session", func(in Info, ok bool) bool { return ok && in.SessionName != "one" })
	ts.say("%0", "twice")
	waitScreen(t, s, "%0", shows("oncetwice"))
	audited(t, s, "%0")
}

func TestRespawnIsAnotherIdentity(t *testing.T) {
	ts := newTmux(t, "cat")
	ts.run("set-option", "-g", "remain-on-exit", "on")
	s := openServer(t, ts)
	waitScreen(t, s, "%0", func(*vtparse.Screen) bool { return true })
	old, _ := s.Pane("%0")
	if old.PaneBorn.IsZero() {
		t.Error("no start time")
	}
	if err := syscall.Kill(old.PanePID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	until(t, s, "%0", "the pane to be dead", func(in Info, _ bool) bool { return in.Dead })
	refused(t, s, Write{Identity: old.Identity, Paste: "x"}, "dead", "identity")
	ts.run("respawn-pane", "-k", "-t", "%0", "cat")
	in := until(t, s, "%0", "another process", func(in Info, _ bool) bool { return in.PanePID != old.PanePID && !in.Dead })
	refused(t, s, Write{Identity: old.Identity, Paste: "x"}, "identity")
	if _, err := s.Input(within(t), Write{Identity: in.Identity, Paste: "new"}); err != nil {
		t.Fatal(err)
	}
	waitScreen(t, s, "%0", shows("new"))
}

func refused(t *testing.T, s *Server, w Write, reasons ...string) {
	t.Helper()
	_, err := s.Input(within(t), w)
	var r *Refused
	if !errors.As(err, &r) {
		t.Errorf("not refused: %v", err)
		return
	}
	for _, want := range reasons {
		if r.Reason == want {
			return
		}
	}
	t.Errorf("refused for %q (%s), want %q", r.Reason, r.Detail, reasons)
}

// The program in a pane changes: the desk looks again.
func TestCommandChangeIsTold(t *testing.T) {
	ts := newTmux(t, "sh", "-c", "read x; exec sleep 1000")
	s := openServer(t, ts)
	until(t, s, "%0", "the shell", func(in Info, ok bool) bool { return ok && in.Command == "sh" })
	ts.run("send-keys", "-t", "%0", "Enter")
	until(t, s, "%0", "sleep", func(in Info, _ bool) bool { return in.Command == "sleep" })
}

func TestModesAreTold(t *testing.T) {
	ts := newTmux(t, "cat")
	s := openServer(t, ts)
	until(t, s, "%0", "the pane", func(_ Info, ok bool) bool { return ok })
	ts.run("copy-mode", "-t", "%0")
	until(t, s, "%0", "copy mode", func(in Info, _ bool) bool { return in.InMode })
	ts.run("send-keys", "-t", "%0", "-X", "cancel")
	until(t, s, "%0", "the end of copy mode", func(in Info, _ bool) bool { return !in.InMode })
	// These two are announced by nothing; the gate tests them, and a refusal
	// makes them known.
	in, _ := s.Pane("%0")
	ts.run("set-option", "-w", "-t", "%0", "synchronize-panes", "on")
	refused(t, s, Write{Identity: in.Identity, Paste: "x"}, "synchronized")
	until(t, s, "%0", "synchronize-panes", func(in Info, _ bool) bool { return in.Synced })
	ts.run("set-option", "-w", "-t", "%0", "synchronize-panes", "off")
	ts.run("select-pane", "-d", "-t", "%0")
	refused(t, s, Write{Identity: in.Identity, Paste: "x"}, "input_off")
	until(t, s, "%0", "input off", func(in Info, _ bool) bool { return in.InputOff })
}

// A dead server takes everything with it; the next one on the same socket is
// another, and nothing of the old one answers for it (B40).
func TestServerCrashRebindsNothing(t *testing.T) {
	ts := newTmux(t, "cat")
	s := openServer(t, ts)
	waitScreen(t, s, "%0", func(*vtparse.Screen) bool { return true })
	old, _ := s.Pane("%0")
	sub := s.Subscribe()
	defer sub.Close()
	if err := syscall.Kill(s.ID().PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	ctx := within(t)
	var kinds []UpdateKind
	for {
		ups, err := sub.Next(ctx)
		for _, u := range ups {
			kinds = append(kinds, u.Kind)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err, kinds)
		}
	}
	if len(kinds) == 0 || kinds[len(kinds)-1] != UpdateServerGone {
		t.Errorf("updates %v", kinds)
	}
	os.Remove(ts.socket)
	ts.run("-f", "/dev/null", "new-session", "-d", "-s", "one", "cat")
	if _, err := s.Input(within(t), Write{Identity: old.Identity, Paste: "x"}); err == nil {
		t.Error("the dead server took a text")
	}
	n := openServer(t, ts)
	if n.ID() == s.ID() {
		t.Errorf("the new server has the old one's identity: %+v", n.ID())
	}
	refused(t, n, Write{Identity: old.Identity, Paste: "x"}, "identity")
	if got := ts.run("capture-pane", "-p", "-t", "%0"); strings.TrimSpace(got) != "" {
		t.Errorf("the new pane shows %q", got)
	}
}

// Our tmux client dies, or a human throws it out: we come back, and no byte is
// wrong afterwards.
func TestClientIsLost(t *testing.T) {
	for name, lose := range map[string]func(ts *tmuxServer){
		"kill -9": func(ts *tmuxServer) {
			pid, err := strconv.Atoi(ts.run("list-clients", "-F", "#{client_pid}"))
			if err != nil {
				ts.t.Fatal(err)
			}
			syscall.Kill(pid, syscall.SIGKILL)
		},
		"detach-client -a": func(ts *tmuxServer) { ts.run("detach-client", "-s", "one") },
	} {
		t.Run(name, func(t *testing.T) {
			if transport == Pipe {
				t.Skip("there is no client")
			}
			ts := newTmux(t, "cat")
			s := openServer(t, ts)
			waitScreen(t, s, "%0", func(*vtparse.Screen) bool { return true })
			lose(ts)
			ts.say("%0", "meanwhile")
			waitScreen(t, s, "%0", shows("meanwhile"))
			audited(t, s, "%0")
		})
	}
}

// Values that users choose forge nothing (facts 0.6).
func TestHostileNames(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "x\n%exit\n%end 1 2 1\t%9")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	ts := newTmux(t, "cat")
	ts.run("split-window", "-d", "-t", "one", "-c", dir, "cat")
	ts.run("rename-window", "-t", "one:0", "w\n%exit\t$9")
	ts.run("select-pane", "-t", "%0", "-T", "title %end 1 2 1")
	ts.run("set-option", "-p", "-t", "%0", "@akk_demo", "demo\n%exit")
	s := openServer(t, ts)
	waitScreen(t, s, "%0", func(*vtparse.Screen) bool { return true })
	waitScreen(t, s, "%1", func(*vtparse.Screen) bool { return true })
	if n := len(s.Panes()); n != 2 {
		t.Errorf("%d panes", n)
	}
	for _, in := range s.Panes() {
		for _, v := range []string{in.WindowName, in.SessionName, in.Demo, in.Command} {
			if strings.ContainsAny(v, "\n\t") {
				t.Errorf("%q", v)
			}
		}
	}
	audited(t, s, "%1")
}

// The sidebar is ours: it is not listed and not mirrored, also if its mark
// comes after the pane.
func TestSidebarIsLeftOut(t *testing.T) {
	ts := newTmux(t, "cat")
	s := openServer(t, ts)
	ts.run("split-window", "-d", "-t", "one", "cat")
	until(t, s, "%1", "the split", func(_ Info, ok bool) bool { return ok })
	ts.run("set-option", "-p", "-t", "%1", "@akk_sidebar", "1")
	until(t, s, "%1", "the sidebar to be left out", func(in Info, ok bool) bool { return !ok || in.Sidebar })
}

func TestManyCycles(t *testing.T) {
	ts := newTmux(t, "cat")
	ts.run("new-session", "-d", "-s", "two", "cat")
	before := ts.state()
	for i := range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		s, err := Open(ctx, Options{Socket: ts.socket})
		if err != nil {
			t.Fatal(i, err)
		}
		sub := s.Subscribe()
		if i%5 == 0 {
			if _, err := s.Audit(ctx, "%0"); err != nil {
				t.Fatal(i, err)
			}
		}
		s.Close()
		for {
			if _, err := sub.Next(ctx); err != nil {
				if !errors.Is(err, io.EOF) {
					t.Fatal(err)
				}
				break
			}
		}
		cancel()
	}
	if after := ts.state(); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

// state is everything of the server that must be the same afterwards.
func (ts *tmuxServer) state() string {
	var b strings.Builder
	for _, cmd := range [][]string{
		{"show-options", "-s"}, {"show-options", "-g"}, {"show-options", "-gw"}, {"show-options", "-t", "one"}, {"show-options", "-w", "-t", "one"},
		{"show-options", "-p", "-t", "%0"}, {"show-hooks", "-g"}, {"show-environment", "-t", "one"}, {"show-environment", "-g"}, {"show-environment", "-gh"}, {"list-keys"}, {"list-buffers"}, {"list-clients"},
		{"list-panes", "-a", "-F", "#{session_name} #{window_id} #{pane_id} #{pane_width}x#{pane_height} #{pane_active} #{pane_input_off} #{pane_pipe} #{window_layout}"},
	} {
		fmt.Fprintf(&b, "== %s\n%s\n", strings.Join(cmd, " "), ts.run(cmd...))
	}
	return b.String()
}
