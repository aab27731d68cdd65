// Package live has a real agent as the Host of akk: it decides to send a task to
// another real agent's pane, is called back by its profile's command, and reads
// the result. Nothing here runs without AKK_LIVE.
package live

import (
	"bytes"
	"context"
	"errors"
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

// The real binary with private folders: no test touches the user's daemon,
// store or settings.

var liveFlag = os.Getenv("AKK_LIVE") != ""

func envOr(k, d string) string {
	if v := os.Getenv(k); v != "" {
		return v
	}
	return d
}

// version of an agent under test.
func version(k agents.Kind) string {
	if k == agents.Claude {
		return envOr("AKK_LIVE_CLAUDE", "2.1.332")
	}
	return envOr("AKK_LIVE_CODEX", "0.171.0")
}

var build = sync.OnceValues(func() (string, error) {
	if bin := os.Getenv("AKK_LIVE_BIN"); bin != "" {
		return filepath.Abs(bin)
	}
	dir, err := os.MkdirTemp("", "akk-live-")
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "akk")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", bin, "akk/cmd/akk").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build akk: %w: %s", err, out)
	}
	return bin, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if os.Getenv("AKK_LIVE_BIN") == "" && liveFlag {
		if bin, err := build(); err == nil {
			os.RemoveAll(filepath.Dir(bin))
		}
	}
	os.Exit(code)
}

// product is an akk of its own, beside a lab.
type product struct {
	t   *testing.T
	srv *lab.Server
	bin string
	dir string
	env map[string]string
}

func newLab(t *testing.T) *product {
	t.Helper()
	if !liveFlag {
		t.Skip("live: set AKK_LIVE=1")
	}
	bin, err := build()
	if err != nil {
		t.Fatal(err)
	}
	srv, err := lab.NewServer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("/tmp", "akkh") // short: a socket's path has at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	mark, value, _ := strings.Cut(srv.Mark(), "=")
	p := &product{t: t, srv: srv, bin: bin, dir: dir, env: map[string]string{
		"XDG_STATE_HOME": dir + "/s", "XDG_RUNTIME_DIR": dir + "/r", "XDG_CONFIG_HOME": dir + "/c", "XDG_CACHE_HOME": dir + "/h", mark: value,
	}}
	for _, d := range []string{"s", "r", "c", "h"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if t.Failed() {
			p.logs()
		}
		if err := srv.Close(); err != nil { // the daemon carries the lab's mark
			t.Error(err)
		}
		os.RemoveAll(dir)
	})
	return p
}

// logs shows what daemon and bridge wrote down.
func (p *product) logs() {
	filepath.WalkDir(p.dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.Contains(filepath.Base(path), ".log") {
			b, _ := os.ReadFile(path)
			p.t.Logf("%s:\n%s", filepath.Base(path), b[max(0, len(b)-6000):])
		}
		return nil
	})
}

// run runs akk on the lab's server and returns what it said.
func (p *product) run(args ...string) (stdout, stderr string, code int) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 90*time.Second)
	defer cancel()
	c := exec.CommandContext(ctx, p.bin, append([]string{"-S", p.srv.Socket}, args...)...)
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.dir, "LANG=C.UTF-8", "TERM=xterm-256color", "SHELL=/bin/sh", "USER=lab", "TMPDIR=" + p.dir}
	for k, v := range p.env {
		c.Env = append(c.Env, k+"="+v)
	}
	c.Dir, c.WaitDelay = "/", 5*time.Second
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

// install returns an agent's binary.
func install(t *testing.T, k agents.Kind) lab.Binary {
	t.Helper()
	b, err := lab.Install(t.Context(), k, version(k), "")
	if err != nil {
		t.Fatal(err)
	}
	return b
}
