package host

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"akk/bridge/host/command"
	"akk/bridge/mcp"
	"akk/bridge/redact"
	"akk/bridge/rpc"
	"akk/rawio"
)

// This file runs a bridge from its first line to its last.

// endTime is how long the bridge waits for its parts after the drain; what is
// stuck then (a Host that does not read) ends with the process.
const endTime = 150 * time.Millisecond

// Options of RunBridge.
type Options struct {
	Version string
	// Identity is whose bridge this is, see Resolve.
	Identity Identity
	// Lookup reads the environment that the callback's command may get parts
	// of; nil = os.LookupEnv.
	Lookup func(string) (string, bool)
	// Connect reaches the daemon, starting it if needed, and says hello as
	// "host-bridge" with the Identity. It is called again whenever the connection
	// has ended, never twice at once.
	Connect func(context.Context) (*rpc.Client, error)
	// Problem is what is wrong from the start (a bad profile or session): every
	// tool call answers it. nil = nothing.
	Problem error
	// Level of the log on stderr.
	Level slog.Level
}

// RunBridge serves MCP until stdin ends, ctx ends, SIGINT, SIGTERM or SIGHUP
// comes, or the Host closes stdout. These are the ways in which a bridge is
// meant to end: the error is nil for all but the last. It returns less than a
// second after any of them, even if the Host reads nothing any more; while a
// callback's command runs, at most CallbackDrain later. Nor does it wait for a
// stderr that nobody reads: those lines are lost.
func RunBridge(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer, o Options) error {
	lossy := NewLossy(stderr)
	defer lossy.Flush()
	log := slog.New(redact.Handler(slog.NewTextHandler(lossy, &slog.HandlerOptions{Level: o.Level})))
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	pipe := make(chan os.Signal, 1) // a closed stdout is an error of a write, not a death
	signal.Notify(pipe, syscall.SIGPIPE)
	defer signal.Stop(pipe)

	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	l := &link{ctx: run, connect: o.Connect, guard: o.Identity.unchanged, log: log}
	if o.Problem != nil || o.Connect == nil {
		problem := o.Problem
		if problem == nil {
			problem = rpc.ErrNoDaemon
		}
		l.connect = func(context.Context) (*rpc.Client, error) { return nil, problem }
	} else {
		l.keep()
	}
	var called *callbacks
	if p := o.Identity.Profile; p != nil && o.Problem == nil {
		if o.Lookup == nil {
			o.Lookup = os.LookupEnv
		}
		r := &command.Runner{Profile: p, Session: o.Identity.Session, Lookup: o.Lookup, Log: log}
		called = newCallbacks(l, r, o.Identity.unchanged, p.Callback.Timeout, log)
		called.start()
	}
	if f, ok := stdin.(*os.File); ok {
		var undo func()
		stdin, undo = rawio.Stdio(f)
		defer undo()
	}
	if f, ok := stdout.(*os.File); ok {
		var undo func()
		stdout, undo = rawio.Stdio(f)
		defer undo()
	}
	widen(stdout)
	conn := newStdio(stdin, stdout)
	conn.docs = mcp.NewDocuments()
	defer conn.Close()
	stopDrain := context.AfterFunc(ctx, conn.drain)
	defer stopDrain()

	srv := mcp.New(mcp.Options{Desk: l, Version: o.Version, Session: o.Identity.Session, Draining: conn.draining, Logger: log, Context: run, Documents: conn.docs})
	ended := make(chan error, 1)
	go func() {
		ss, err := srv.Connect(run, conn, nil)
		if err != nil {
			ended <- fmt.Errorf("start the MCP server: %w", err)
			return
		}
		ended <- ss.Wait()
	}()
	var err error
	select {
	case err = <-ended:
	case <-conn.draining:
		if called != nil {
			called.halt() // not one more, while the calls are answered
		}
		select {
		case err = <-ended:
		case <-time.After(drainTime + endTime):
			log.Warn("ended with calls unanswered")
		}
	}
	if called != nil {
		called.end()
	}
	cancel()
	go l.close() // a daemon that hangs must not hold us
	if err != nil {
		log.Debug("session ended", "err", err) // the end of stdin in the SDK's words, too
	}
	return conn.broken()
}
