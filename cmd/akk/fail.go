package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"akk/bridge/rpc"
	"akk/cmd/akk/config"
	"akk/store"
	"akk/ui"
	"akk/ui/launch"
)

// This file turns every error into what the caller sees. Rule: one line says
// what was tried and what stood in the way, the next one what to do.

// failure is an error with its cure.
type failure struct {
	what string
	cure string
	err  error // kept for errors.Is
}

func (f *failure) Error() string { return f.what }
func (f *failure) Unwrap() error { return f.err }

func fail(cure, format string, args ...any) error {
	return &failure{what: fmt.Sprintf(format, args...), cure: cure}
}

// usage is a wrong command line.
type usage struct {
	err     error
	command string // whose, as "akk send"; "" = not known
}

func (u *usage) Error() string { return u.err.Error() }
func (u *usage) Unwrap() error { return u.err }

func usagef(format string, args ...any) error { return &usage{err: fmt.Errorf(format, args...)} }

// reported is a failure whose words are already on stdout or stderr.
type reported struct{}

func (reported) Error() string { return "already reported" }

const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// exit reports err and returns the exit code.
func (a *app) exit(err error) int {
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, new(reported)):
		return exitFailed
	case errors.Is(err, context.Canceled), errors.Is(err, syscall.EPIPE), errors.Is(err, io.ErrClosedPipe):
		return exitFailed // the human pressed Ctrl-C, or the reader has gone
	}
	what, cure := explainError(err)
	fmt.Fprintf(a.errs, "akk: %s\n", oneLine(what))
	if cure != "" {
		fmt.Fprintf(a.errs, "  cure: %s\n", oneLine(cure))
	}
	if u, ok := errors.AsType[*rpc.Error](err); errors.As(err, new(*usage)) || ok && u.Code == rpc.CodeUsage {
		return exitUsage
	}
	return exitFailed
}

// explainError finds the words for an error.
func explainError(err error) (what, cure string) {
	what = err.Error()
	if f, ok := errors.AsType[*failure](err); ok {
		return what, f.cure
	}
	if e, ok := errors.AsType[*rpc.Error](err); ok {
		return what, e.Cure
	}
	if c, ok := errors.AsType[*store.Cured](err); ok {
		return what, c.Cure
	}
	if p, ok := errors.AsType[*config.Problem](err); ok {
		return what, p.Cure
	}
	switch {
	case errors.Is(err, rpc.ErrClosed), errors.Is(err, rpc.ErrNoDaemon):
		return what, "run the command again: the daemon is started anew; if it ends again, `akk doctor` says why"
	case errors.As(err, new(*usage)):
		u, _ := errors.AsType[*usage](err)
		return what, "see `" + cmp.Or(u.command, "akk") + " --help`"
	case errors.Is(err, launch.ErrNoTmux):
		return what, "install tmux 3.2 or newer, e.g. sudo apt-get install tmux"
	case errors.Is(err, launch.ErrOldTmux):
		return what, "install tmux 3.2 or newer and start a new server with it"
	case errors.Is(err, launch.ErrNoServer):
		return what, "start one with `akk` or `tmux`, or name another one with -L or -S"
	case errors.Is(err, launch.ErrGone):
		return what, "choose another one: `akk list` shows those that are there"
	case errors.Is(err, launch.ErrNoRoom):
		return what, "make the terminal wider, or run `akk sidebar` in a pane of its own"
	}
	return what, ""
}

// oneLine keeps a message from others on its line and free of control bytes.
func oneLine(s string) string { return ui.Clean(strings.Join(strings.Fields(s), " ")) }
