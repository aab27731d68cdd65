package product

// The binary with private folders. It upholds: one test, one akk; a failing
// test shows what its daemon wrote down.

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
	"syscall"
	"testing"
	"time"

	"akk/agents/lab"
)

// BinEnv names an akk binary to test instead of a fresh build.
const BinEnv = "AKK_LIVE_BIN"

// runTime bounds one command of akk; `status --wait` may take 50 s.
const runTime = 90 * time.Second

// logTail is how much of each log file a failed test shows, in bytes.
const logTail = 6000

var build = sync.OnceValues(func() (string, error) {
	if bin := os.Getenv(BinEnv); bin != "" {
		return filepath.Abs(bin)
	}
	dir, err := os.MkdirTemp("", "akk-live-")
	if err != nil {
		return "", err
	}
	built = filepath.Join(dir, "akk")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", built, "akk/cmd/akk").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build akk: %w: %s", err, out)
	}
	return built, nil
})

var built string // what Main removes

// Main runs the tests of a package, or, when this process is a Host's callback
// command, that. It returns the exit code.
func Main(m *testing.M) int {
	if len(os.Args) > 1 && os.Args[1] == callbackArg {
		return callback(os.Args[2:])
	}
	code := m.Run()
	if built != "" {
		os.RemoveAll(filepath.Dir(built))
	}
	return code
}

// Akk is an akk of its own, beside a lab. Its methods end the test when akk
// itself misbehaves.
type Akk struct {
	T   *testing.T
	Srv *lab.Server
	Bin string
	Dir string   // all that it keeps
	Env []string // the whole environment of its processes
}

// New starts a lab and an akk for it. All ends with the test.
func New(t *testing.T) *Akk {
	t.Helper()
	bin, err := build()
	if err != nil {
		t.Fatal(err)
	}
	srv, err := lab.NewServer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// Short: a socket's path has at most 107 bytes.
	dir, err := os.MkdirTemp("/tmp", "akkp")
	if err != nil {
		t.Fatal(err)
	}
	p := &Akk{T: t, Srv: srv, Bin: bin, Dir: dir, Env: []string{
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
			p.logs()
		}
		if err := srv.Close(); err != nil { // the daemon carries the lab's mark
			t.Error(err)
		}
		os.RemoveAll(dir)
	})
	return p
}

// With is the same akk for a subtest.
func (p *Akk) With(t *testing.T) *Akk {
	q := *p
	q.T = t
	return &q
}

// Environ is Env by name.
func (p *Akk) Environ() map[string]string {
	m := map[string]string{}
	for _, e := range p.Env {
		k, v, _ := strings.Cut(e, "=")
		m[k] = v
	}
	return m
}

// logs shows what daemon and bridges wrote down.
func (p *Akk) logs() {
	filepath.WalkDir(p.Dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.Contains(filepath.Base(path), ".log") {
			b, _ := os.ReadFile(path)
			p.T.Logf("%s:\n%s", filepath.Base(path), b[max(0, len(b)-logTail):])
		}
		return nil
	})
}

// Command is akk with args on the lab's server. It has no terminal: whoever it
// is, akk can't know it for the human.
func (p *Akk) Command(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, p.Bin, append([]string{"-S", p.Srv.Socket}, args...)...)
	c.Env, c.Dir, c.WaitDelay = p.Env, "/", 5*time.Second
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return c
}

// Run runs akk and returns what it said.
func (p *Akk) Run(args ...string) (stdout, stderr string, code int) {
	p.T.Helper()
	ctx, cancel := context.WithTimeout(p.T.Context(), runTime)
	defer cancel()
	c := p.Command(ctx, args...)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		return out.String(), errs.String(), exit.ExitCode()
	}
	if err != nil {
		p.T.Fatalf("akk %q: %v", args, err)
	}
	return out.String(), errs.String(), 0
}
