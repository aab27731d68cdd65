package doctor

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"akk/bridge/rpc"
	"akk/panes"
)

// Every line that is not ok names its cure.
func TestCrashes(t *testing.T) {
	for _, c := range []struct {
		version   string
		transport panes.Transport
		state     string
		says      string
	}{
		{"3.3a", "", Warning, "#5243"},
		{"3.3a", panes.Control, Warning, "akk avoids #4980, #5444"},
		{"3.7c", panes.Control, Warning, "#5551"},
		{"3.8", panes.Control, OK, "no known crash"},
		{"3.3a", panes.Pipe, OK, "no known crash"},
	} {
		l := Crashes(c.version, c.transport)
		if l.Status != c.state || !strings.Contains(l.Detail, c.says) || (l.Status != OK) != (l.Cure != "") {
			t.Errorf("%s over %q: %+v", c.version, c.transport, l)
		}
	}
}

// A fault that is there without akk, too (4562), is told over either transport
// and is no warning of its own; one that takes a setting is not told here.
func TestFaultsWithoutAkk(t *testing.T) {
	known := []panes.Crash{{Issue: "4562", When: "a width changes"}, {Issue: windowSize, When: "a window is made"}}
	for _, c := range []struct {
		transport panes.Transport
		known     []panes.Crash
		state     string
		says      string
	}{
		{panes.Pipe, known, OK, "no known crash that akk's presence makes possible\nwith or without akk this tmux can crash:\n#4562: a width changes"},
		{panes.Control, append(known, panes.Crash{Issue: "5243", When: "a session dies", Control: true}), Warning, "its successor\n#5243: a session dies\nwith or without akk this tmux can crash:\n#4562: a width changes"},
	} {
		l := faults("3.3a", c.transport, c.known)
		if l.Status != c.state || !strings.Contains(l.Detail, c.says) || strings.Contains(l.Detail, "a window is made") || (l.Status != OK) != (l.Cure != "") {
			t.Errorf("%q: %+v", c.transport, l)
		}
	}
}

// A fault is one line, its number is there once, and where it is fixed is said
// in plain words (N8).
func TestFaultsOncePerLine(t *testing.T) {
	l := Crashes("3.3a", panes.Control)
	for _, issue := range []string{"#5243", "#5499", "#4562", "#3776", "#4980", "#5444"} {
		if strings.Count(l.Detail, issue) != 1 {
			t.Errorf("%s in\n%s", issue, l.Detail)
		}
	}
	for _, want := range []string{"\n#4562 (fixed in 3.6): a pane", "\n#3776 (fixed in 3.5): your client", "\n  while a control client is attached, also: a dead pane"} {
		if !strings.Contains(l.Detail, want) {
			t.Errorf("want %q in\n%s", want, l.Detail)
		}
	}
	if strings.Contains(l.Detail+l.Cure, "mending") {
		t.Errorf("%+v", l)
	}
	if got := Unique([]rpc.Check{l, {Name: "x"}, l}); len(got) != 2 {
		t.Errorf("%+v", got)
	}
}

type mirrors struct {
	h   panes.Health
	err error
}

func (m mirrors) Version() string                              { return "3.8" }
func (m mirrors) Health(context.Context) (panes.Health, error) { return m.h, m.err }

func TestServer(t *testing.T) {
	taken := panes.Health{Transport: panes.Pipe, Audits: panes.AuditCount{Audits: 5, Mismatches: 2, Reseeds: 1}, Unreadable: map[string]string{"%2": panes.ErrTaken.Error()}}
	lines := Server(t.Context(), "s", mirrors{h: taken})
	if len(lines) != 3 || lines[0].Status != OK || lines[1].Status != Warning || !strings.Contains(lines[1].Detail, "5 audits, 2 mismatches, 1 new syncs") ||
		lines[2].Status != Warning || !strings.Contains(lines[2].Detail, "%2") || !strings.Contains(lines[2].Cure, "end that one") {
		t.Errorf("%+v", lines)
	}
	lines = Server(t.Context(), "s", mirrors{h: panes.Health{WatchOnly: "another akk daemon types into this server (akk, pid 7): stop it first"}})
	if len(lines) != 3 || lines[2].Status != Warning || !strings.HasSuffix(lines[2].Detail, "only watches: another akk daemon types into this server (akk, pid 7)") || !strings.Contains(lines[2].Cure, "serve --stop") {
		t.Errorf("%+v", lines) // N9
	}
	lines = Server(t.Context(), "s", mirrors{err: errors.New("gone")})
	if len(lines) != 1 || lines[0].Status != Failed || lines[0].Cure == "" {
		t.Errorf("%+v", lines)
	}
}

// Without the daemon: no server, and a real one whose setting is dangerous.
func TestOffline(t *testing.T) {
	dir, err := os.MkdirTemp("", "akkd")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	socket := filepath.Join(dir, "s")
	if lines := Offline(t.Context(), socket, panes.Control); len(lines) != 1 || lines[0].Status != Warning || lines[0].Cure == "" {
		t.Errorf("%+v", lines)
	}
	run := func(args ...string) {
		if out, err := exec.Command("tmux", append([]string{"-S", socket, "-f", "/dev/null"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	run("new-session", "-d", "cat")
	defer exec.Command("tmux", "-S", socket, "kill-server").Run()
	lines := Offline(t.Context(), socket, panes.Control)
	if len(lines) != 2 || lines[0].Status != OK || lines[1].Name != "tmux faults" {
		t.Fatalf("%+v", lines)
	}
	_, version, err := panes.Probe(t.Context(), socket)
	if err != nil || !strings.HasPrefix(version, "3.3") {
		t.Skipf("the fault of window-size is one of 3.3, this is %s", version)
	}
	run("set-option", "-gw", "window-size", "manual")
	if lines = Offline(t.Context(), socket, panes.Control); len(lines) != 3 || lines[2].Status != Failed || lines[2].Cure == "" {
		t.Errorf("%+v", lines)
	}
}
