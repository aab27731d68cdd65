package daemon

// This file finds the daemon or starts it. It upholds: whoever needs it gets
// it, or a sentence that says why not; two starters at once start one.

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/mod/semver"

	"akk/bridge/rpc"
)

const (
	startTimeout = 15 * time.Second
	// lockedRetry bounds the wait for a daemon that has the store but does not
	// listen yet, or ends just now.
	lockedRetry = 5 * time.Second
	retryGap    = 25 * time.Millisecond
)

// Ensure returns the socket of the store's daemon and starts one if there is
// none. A daemon that is older than Options.Version is asked to end first. The
// error is an *rpc.Error.
func Ensure(ctx context.Context, o Options) (string, error) {
	c, socket, err := find(ctx, o, rpc.HelloParams{Client: o.client()}, nil)
	if c != nil {
		_ = c.Close()
	}
	if err != nil || socket != "" {
		return socket, err
	}
	return begin(ctx, o)
}

// Dial is Ensure with a connection that introduces itself as h; a daemon that
// runs already is asked only once. ahead is rpc.DialAhead's; it is called for
// each connection that is tried, and only its last one counts.
func Dial(ctx context.Context, o Options, h rpc.HelloParams, ahead func(*rpc.Client)) (*rpc.Client, error) {
	c, _, err := find(ctx, o, h, ahead)
	if err != nil || c != nil {
		return c, err
	}
	socket, err := begin(ctx, o)
	if err != nil {
		return nil, err
	}
	h.Version = o.Version
	return rpc.DialAhead(ctx, socket, h, ahead)
}

// begin starts the daemon unless somebody else just does.
func begin(ctx context.Context, o Options) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	p, err := PathsFor(o.StoreDir)
	if err != nil {
		return "", err
	}
	unlock, err := startLock(ctx, p)
	if err != nil {
		return "", err
	}
	defer unlock()
	for deadline := time.Now().Add(lockedRetry); ; {
		c, socket, err := find(ctx, o, rpc.HelloParams{Client: o.client()}, nil)
		if c != nil { // somebody was faster
			_ = c.Close()
		}
		if err != nil || socket != "" {
			return socket, err
		}
		r, err := start(ctx, p, o)
		switch {
		case err != nil:
			return "", problem(err)
		case r.Error == nil:
			return r.Socket, nil
		case !r.Locked || time.Now().After(deadline):
			return "", r.Error
		}
		select {
		case <-time.After(retryGap):
		case <-ctx.Done():
			return "", r.Error
		}
	}
}

// find returns a connection to a live daemon that is new enough and its socket,
// nil and "" if there is none.
func find(ctx context.Context, o Options, h rpc.HelloParams, ahead func(*rpc.Client)) (*rpc.Client, string, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	p, err := PathsFor(o.StoreDir)
	if err != nil {
		return nil, "", err
	}
	h.Version = o.Version
	for socket := range p.sockets() {
		c, err := rpc.DialAhead(ctx, socket, h, ahead)
		if errors.Is(err, rpc.ErrNoDaemon) || errors.Is(err, rpc.ErrClosed) { // the latter: it was just dying
			continue
		}
		if err != nil {
			return nil, "", problem(err)
		}
		if !older(c.Hello().Version, o.Version) {
			return c, socket, nil
		}
		if err := handOver(ctx, c); err != nil {
			return nil, "", problem(err)
		}
	}
	return nil, "", nil
}

func (o Options) client() string {
	if o.Client == "" {
		return "cli"
	}
	return o.Client
}

// older tells whether a released version is older than another; anything that
// is not a release is never replaced by itself.
func older(have, want string) bool {
	have, want = "v"+strings.TrimPrefix(have, "v"), "v"+strings.TrimPrefix(want, "v")
	return semver.IsValid(have) && semver.IsValid(want) && semver.Compare(have, want) < 0
}

// handOver asks the daemon to end and waits until it has let go.
func handOver(ctx context.Context, c *rpc.Client) error {
	defer c.Close()
	if err := c.Shutdown(ctx); err != nil && !errors.Is(err, rpc.ErrClosed) {
		return fmt.Errorf("asking the older daemon to end: %w", err)
	}
	select {
	case <-c.Done():
		return nil
	case <-ctx.Done():
		return failed(fmt.Sprintf("end it with: kill %d", c.Hello().PID), "the older daemon (pid %d) does not end", c.Hello().PID)
	}
}

// startLock keeps two starters apart. The kernel releases it when we die.
func startLock(ctx context.Context, p Paths) (func(), error) {
	dir := p.Store
	if st, err := os.Stat(dir); err == nil && !st.IsDir() {
		return nil, failed("name a folder with --store-dir, not a file", "the store folder %s is a file", dir)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, failed("choose a folder that you may write with --store-dir", "the store folder %s can't be made: %v", dir, err)
	}
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, failed("choose a folder that you may write with --store-dir", "the store folder %s can't be used: %v", dir, err)
	}
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			_ = f.Close()
			return nil, failed("choose a folder on a local disk with --store-dir", "%s can't be locked: %v", f.Name(), err)
		}
		select {
		case <-time.After(retryGap):
		case <-ctx.Done():
			_ = f.Close()
			return nil, failed("try again", "another process has been starting the daemon for too long")
		}
	}
}

// start runs a daemon in a session of its own and waits for its word.
func start(ctx context.Context, p Paths, o Options) (ready, error) {
	argv := o.Self
	if len(argv) == 0 {
		self, err := os.Executable()
		if err != nil {
			return ready{}, fmt.Errorf("%w: finding this program: %w", ErrNotStarted, err)
		}
		argv = []string{self, "serve", "--store-dir", p.Store}
	}
	r, w, err := os.Pipe()
	if err != nil {
		return ready{}, fmt.Errorf("%w: %w", ErrNotStarted, err)
	}
	defer r.Close()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = "/"
	cmd.Env = append(scrub(os.Environ()), readyEnv+"=3")
	cmd.ExtraFiles = []*os.File{w}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if f, err := os.OpenFile(filepath.Join(p.Store, errFile), os.O_CREATE|os.O_WRONLY|os.O_TRUNC|syscall.O_NOFOLLOW, 0o600); err == nil {
		defer f.Close()
		cmd.Stderr = f // else /dev/null
	}
	err = cmd.Start()
	w.Close()
	if err != nil {
		return ready{}, fmt.Errorf("%w: %w", ErrNotStarted, err)
	}
	go func() { _ = cmd.Wait() }() // no zombie while we live
	stop := context.AfterFunc(ctx, func() { _ = r.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	line, err := bufio.NewReader(r).ReadBytes('\n')
	var out ready
	if err != nil || json.Unmarshal(line, &out) != nil {
		return ready{}, failed("see "+filepath.Join(p.Store, errFile)+" and "+p.Log, "%v: it ended or hung before it was ready", ErrNotStarted)
	}
	return out, nil
}

// scrub takes out what belongs to the starter's own pane: the daemon is not in
// it.
func scrub(env []string) []string {
	var out []string
	for _, kv := range env {
		switch name, _, _ := strings.Cut(kv, "="); name {
		case "TMUX", "TMUX_PANE", readyEnv:
		default:
			out = append(out, kv)
		}
	}
	return out
}

// Stop ends the store's daemon, whatever its version, and waits until the store
// is free. No daemon is no error.
func Stop(ctx context.Context, o Options) error {
	_, err := End(ctx, o)
	return err
}

// End is Stop that tells which process was ended, 0 if no daemon was there.
func End(ctx context.Context, o Options) (pid int, err error) {
	p, err := PathsFor(o.StoreDir)
	if err != nil {
		return 0, err
	}
	n, ok := readNote(p.Store)
	if !ok || n.PID <= 1 || !listens(n.Socket) {
		return 0, nil
	}
	if err := syscall.Kill(n.PID, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
		return n.PID, failed(fmt.Sprintf("end it with: kill %d", n.PID), "the daemon (pid %d) can't be ended: %v", n.PID, err)
	}
	for {
		if _, there := readNote(p.Store); !there && !listens(n.Socket) {
			return n.PID, nil
		}
		select {
		case <-time.After(retryGap):
		case <-ctx.Done():
			return n.PID, failed(fmt.Sprintf("end it with: kill -9 %d", n.PID), "the daemon (pid %d) does not end", n.PID)
		}
	}
}
