package live

// The real binary with private folders. It upholds: no test touches the user's
// daemon, store or settings.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"akk/agents"
	"akk/agents/lab"
)

var (
	liveFlag = flag.Bool("live", os.Getenv("AKK_LIVE") != "", "run real agents (also AKK_LIVE=1)")
	codexV   = flag.String("codex", envOr("AKK_LIVE_CODEX", "0.155.1"), "version of Codex")
	claudeV  = flag.String("claude", envOr("AKK_LIVE_CLAUDE", "2.1.267"), "version of Claude Code")
	binFlag  = flag.String("akk", os.Getenv("AKK_LIVE_BIN"), "akk binary to test; empty = build it")
)

func envOr(k, d string) string {
	if v := os.Getenv(k); v != "" {
		return v
	}
	return d
}

var (
	buildOnce sync.Once
	built     string
	buildErr  error
)

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if built != "" && *binFlag == "" {
		os.RemoveAll(filepath.Dir(built))
	}
	os.Exit(code)
}

// program is the akk binary.
func program(t *testing.T) string {
	t.Helper()
	buildOnce.Do(func() {
		if *binFlag != "" {
			built, buildErr = filepath.Abs(*binFlag)
			return
		}
		dir, err := os.MkdirTemp("", "akk-live-")
		if err != nil {
			buildErr = err
			return
		}
		built = filepath.Join(dir, "akk")
		if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", built, "akk/cmd/akk").CombinedOutput(); err != nil {
			buildErr = fmt.Errorf("build akk: %w: %s", err, out)
		}
	})
	if buildErr != nil {
		t.Fatal(buildErr)
	}
	return built
}

// product is an akk of its own, beside a lab.
type product struct {
	t   *testing.T
	srv *lab.Server
	bin string
	env []string
}

// newLab starts a lab and an akk for it. All ends with the test.
func newLab(t *testing.T) (*lab.Server, *product) {
	t.Helper()
	if !*liveFlag {
		t.Skip("live: set AKK_LIVE=1 or -live")
	}
	bin := program(t)
	srv, err := lab.NewServer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// Short: a socket's path has at most 107 bytes.
	dir, err := os.MkdirTemp("/tmp", "akkp")
	if err != nil {
		t.Fatal(err)
	}
	p := &product{t: t, srv: srv, bin: bin, env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LANG=C.UTF-8", "TERM=xterm-256color", "SHELL=/bin/sh", "USER=lab",
		"XDG_STATE_HOME=" + dir + "/s", "XDG_RUNTIME_DIR=" + dir + "/r", "XDG_CONFIG_HOME=" + dir + "/c", "XDG_CACHE_HOME=" + dir + "/h",
		"TMPDIR=" + dir, srv.Mark(),
	}}
	for _, d := range []string{"s", "r", "c", "h"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if t.Failed() {
			p.logs(dir)
		}
		if err := srv.Close(); err != nil { // the daemon carries the lab's mark
			t.Error(err)
		}
		os.RemoveAll(dir)
	})
	return srv, p
}

// logs shows what the daemon wrote down.
func (p *product) logs(dir string) {
	filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.Contains(filepath.Base(path), ".log") {
			b, _ := os.ReadFile(path)
			p.t.Logf("%s:\n%s", filepath.Base(path), b[max(0, len(b)-6000):])
		}
		return nil
	})
}

// command is akk with args on the lab's server.
func (p *product) command(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, p.bin, append([]string{"-S", p.srv.Socket}, args...)...)
	c.Env, c.Dir, c.WaitDelay = p.env, "/", 5*time.Second
	return c
}

// run runs akk and returns what it said.
func (p *product) run(args ...string) (stdout, stderr string, code int) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 90*time.Second)
	defer cancel()
	c := p.command(ctx, args...)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		return out.String(), errs.String(), exit.ExitCode()
	}
	if err != nil {
		p.t.Fatalf("akk %q: %v", args, err)
	}
	return out.String(), errs.String(), 0
}

// row is what the tests need of a list row.
type row struct {
	ID              string `json:"id"`
	Agent           string `json:"agent"`
	TerminalControl struct {
		PaneID string `json:"paneId"`
	} `json:"terminal_control"`
	Reading struct {
		Activity string   `json:"activity"`
		Owner    string   `json:"owner"`
		Composer string   `json:"composer"`
		Why      []string `json:"why"`
	} `json:"reading"`
	Hold             *struct{ By string } `json:"hold"`
	AvailableActions map[string]action    `json:"available_actions"`
}

func (r row) held() bool { return r.Hold != nil }

type action struct {
	Tool            string         `json:"tool"`
	Arguments       map[string]any `json:"arguments"`
	MissingRequired []string       `json:"missing_required"`
}

type list struct {
	Terminals []row `json:"terminals"`
}

func (l list) pane(id string) (row, bool) {
	for _, r := range l.Terminals {
		if r.TerminalControl.PaneID == id {
			return r, true
		}
	}
	return row{}, false
}

// waitRow asks `akk list` until the pane's row is as wanted.
func (p *product) waitRow(pane, what string, ok func(row) bool) row {
	p.t.Helper()
	end := time.Now().Add(30 * time.Second)
	for {
		out, errs, code := p.run("list", "--json")
		var l list
		if code != 0 || json.Unmarshal([]byte(out), &l) != nil {
			p.t.Fatalf("akk list --json: exit %d, %s\n%s", code, errs, out)
		}
		r, found := l.pane(pane)
		if found && ok(r) {
			return r
		}
		if time.Now().After(end) {
			scr, _ := p.srv.Look(p.t.Context(), pane)
			p.t.Fatalf("pane %s never became %s; its row (found %v) is %+v; the screen:\n%s", pane, what, found, r, scr.Text())
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func idle(r row) bool {
	return r.Reading.Activity == string(agents.Idle) && r.Reading.Owner == string(agents.OwnerComposer) &&
		r.Reading.Composer == string(agents.ComposerEmpty)
}

// ready is idle, and akk offers a send.
func ready(r row) bool { return idle(r) && r.AvailableActions["send"].Tool != "" }

// binary installs an agent.
func binary(t *testing.T, k agents.Kind) lab.Binary {
	t.Helper()
	v := *codexV
	if k == agents.Claude {
		v = *claudeV
	}
	b, err := lab.Install(t.Context(), k, v, "")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var kinds = []agents.Kind{agents.Codex, agents.Claude}
