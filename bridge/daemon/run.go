package daemon

// This file is the daemon itself: open the store, listen, serve, end. It
// upholds "one per store" and "ends when nothing needs it".

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"gopkg.in/natefinch/lumberjack.v2"

	"akk/agents"
	"akk/bridge/handoff"
	"akk/bridge/rpc"
	"akk/panes"
	"akk/store"
)

const (
	// readyEnv names the descriptor on which the starter waits.
	readyEnv = "AKK_READY_FD"
	// defaultGrace is how long nothing must need the daemon before it ends: one
	// command after the other must not start it again and again.
	defaultGrace = 5 * time.Second
	logSize      = 5 // MB
	logBackups   = 2
	logDays      = 14 // R225
	// stuckGrace is how long open requests may take to end: one that hangs in
	// the kernel must not keep the daemon.
	stuckGrace = 5 * time.Second
)

// Options of Run and Ensure.
type Options struct {
	StoreDir string // "" = DefaultStoreDir
	Version  string // of this binary
	// Attach opens the terminal server behind an absolute socket path. Run only.
	Attach func(ctx context.Context, socket string) (panes.Provider, error)
	Agents []agents.Agent // Run only
	Level  slog.Level
	Grace  time.Duration // 0 = 5 s
	// Self starts a daemon; nil = this executable with "serve --store-dir DIR".
	// Ensure only.
	Self []string
	// Client is told to the daemon: cli | sidebar | host-bridge | hook | test.
	Client string
}

// Run is `akk serve`. It returns when the daemon has ended: by ctx, SIGTERM,
// SIGINT, a request, or because nothing needs it any more.
func Run(ctx context.Context, o Options) (err error) {
	tell := starter()
	defer func() {
		if err != nil {
			tell(ready{Locked: errors.Is(err, store.ErrLocked), Error: problem(err)})
		}
	}()
	p, err := PathsFor(o.StoreDir)
	if err != nil {
		return err
	}
	if o.Grace == 0 {
		o.Grace = defaultGrace
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	defer context.AfterFunc(ctx, stop)() // a second signal ends it at once: nothing is lost by that
	signal.Ignore(syscall.SIGHUP)        // a terminal that closes is no reason
	defer signal.Reset(syscall.SIGHUP)

	db, err := store.Open(p.Store, store.Options{Schema: handoff.Schema()})
	if err != nil {
		return lockedBy(err, p.Store)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	out := &lumberjack.Logger{Filename: p.Log, MaxSize: logSize, MaxBackups: logBackups, MaxAge: logDays}
	defer out.Close()
	log := slog.New(slog.NewJSONHandler(out, &slog.HandlerOptions{Level: o.Level})).With("pid", os.Getpid())

	ln, err := rpc.Listen(p.Socket)
	if err != nil {
		return err
	}
	defer ln.Close()
	started := time.Now()
	if err := writeNote(p.Store, note{PID: os.Getpid(), Socket: p.Socket, Version: o.Version, Started: started}); err != nil {
		return err
	}
	defer os.Remove(filepath.Join(p.Store, noteFile))

	desk, err := handoff.New(handoff.Options{DB: db, Attach: o.Attach, Agents: o.Agents, Log: log})
	if err != nil {
		return err
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	door := &rpc.Door{Desk: desk, Version: o.Version, Store: p.Store, Started: started, Logger: log, Shutdown: end}
	served := make(chan error, 1)
	go func() { served <- door.Serve(ctx, ln) }()
	log.Info("daemon started", "version", o.Version, "store", p.Store, "socket", p.Socket)
	tell(ready{Socket: p.Socket})
	back := make(chan struct{})
	go func() { defer close(back); reattach(ctx, desk, log) }()
	go func() { <-back; linger(ctx, desk, door, o.Grace); end() }()

	select {
	case err = <-served:
	case <-ctx.Done():
		stuck := time.NewTimer(stuckGrace)
		defer stuck.Stop()
		select {
		case err = <-served:
		case <-stuck.C:
			log.Error("a request hangs, the daemon ends without it")
		}
	}
	end()
	<-back
	desk.Close()
	log.Info("daemon ended", "error", err)
	return err
}

// starter returns the way to tell whoever started us; it may be called once.
func starter() func(ready) {
	n, err := strconv.Atoi(os.Getenv(readyEnv))
	_ = os.Unsetenv(readyEnv)
	if err != nil || n < 3 {
		return func(ready) {}
	}
	dropInherited(n)
	syscall.CloseOnExec(n)
	f := os.NewFile(uintptr(n), "ready")
	told := false
	return func(r ready) {
		if !told {
			told = true
			_, _ = f.Write(r.line()) // the starter may have gone
			_ = f.Close()
		}
	}
}

// lockedBy adds who has the store.
func lockedBy(err error, dir string) error {
	if n, ok := readNote(dir); ok && errors.Is(err, store.ErrLocked) {
		return &store.Cured{Err: fmt.Errorf("%w (pid %d, version %s)", err, n.PID, n.Version), Cure: "use the running daemon, end it with: kill " + strconv.Itoa(n.PID) + ", or choose another folder with --store-dir"}
	}
	return err
}

// reattach finds the servers again that the last daemon was attached to.
func reattach(ctx context.Context, desk *handoff.Desk, log *slog.Logger) {
	for _, r := range desk.Remembered() {
		if err := desk.Reattach(ctx, r); err != nil {
			log.Info("a server of before is not there any more", "socket", r.Socket, "error", err)
		}
	}
}

// linger returns when nothing has needed the daemon for the grace, or ctx ends.
func linger(ctx context.Context, desk *handoff.Desk, door *rpc.Door, grace time.Duration) {
	timer := time.NewTimer(grace)
	defer timer.Stop()
	idle := true
	for {
		changed := desk.Changed()
		needed := door.Connections() > 0 || desk.Owed()
		switch {
		case needed && idle:
			timer.Stop()
			idle = false
		case !needed && !idle:
			timer.Reset(grace)
			idle = true
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-door.Changed():
		case <-timer.C:
			if door.Connections() == 0 && !desk.Owed() {
				return
			}
			idle = false
		}
	}
}
