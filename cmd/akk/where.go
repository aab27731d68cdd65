package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"akk/ui/launch"
)

// This file decides which tmux server is meant: -S, -L, $TMUX, tmux's default,
// in this order, as tmux itself does.

// place is where a command runs and which server it is about.
type place struct {
	socket string // absolute path
	from   string // what named it: "-S", "-L", "$TMUX", "default"
	inside bool   // we run in a pane of this very server
	nested bool   // we run in a pane of another server
	pane   string // inside: our pane
}

// named tells whether a human named the server on the command line.
func (a *app) named() bool { return a.server != "" || a.socket != "" }

func (a *app) where() (place, error) {
	var p place
	own := ""
	if env := os.Getenv("TMUX"); env != "" {
		own, _, _ = strings.Cut(env, ",")
	}
	switch {
	case a.socket != "":
		abs, err := filepath.Abs(a.socket)
		if err != nil {
			return p, fail("give an absolute path with -S", "path of -S can't be resolved: %v", err)
		}
		p.socket, p.from = abs, "-S"
	case a.server != "":
		if strings.Contains(a.server, "/") {
			return p, usagef("-L takes a name, not a path: use -S %s", a.server)
		}
		p.socket, p.from = socketPath(a.server), "-L"
	case own != "":
		p.socket, p.from = own, "$TMUX"
	default:
		p.socket, p.from = socketPath("default"), "default"
	}
	if own != "" {
		p.inside = sameFile(own, p.socket)
		p.nested = !p.inside
	}
	if p.inside {
		p.pane = os.Getenv("TMUX_PANE")
	}
	return p, nil
}

// known fails unless the pane that we run in is known: tmux would take the
// active one for it (B46).
func (p place) known() error {
	if p.inside && p.pane == "" {
		return fail("run it in a pane as tmux opens it, or name the server with -S "+p.socket+" from outside of tmux", "$TMUX is set but $TMUX_PANE is not, so that it can't be told which pane this is")
	}
	return nil
}

// socketPath is where tmux puts the socket of a named server.
func socketPath(name string) string {
	dir := os.Getenv("TMUX_TMPDIR")
	if dir == "" {
		dir = "/tmp"
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return filepath.Join(dir, "tmux-"+strconv.Itoa(os.Getuid()), name)
}

func sameFile(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

// tmux is the server with the way to start akk on it.
func (a *app) tmux(socket string) launch.Tmux {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	argv := []string{self}
	if socket != "" {
		argv = append(argv, "-S", socket)
	}
	if a.storeDir != "" {
		argv = append(argv, "--store-dir", absolute(a.storeDir))
	}
	if a.configPath != "" {
		argv = append(argv, "--config", absolute(a.configPath))
	}
	return launch.Tmux{Socket: socket, Self: argv}
}

func absolute(p string) string {
	if abs, err := filepath.Abs(p); err == nil {
		return abs
	}
	return p
}

// alive tells whether the server answers, in words that fit who named it.
func (a *app) alive(ctx context.Context, p place) error {
	_, err := launch.Tmux{Socket: p.socket}.Run(ctx, "display-message", "-p", "#{version}")
	if err == nil {
		return nil
	}
	return gone(p, err)
}

func gone(p place, err error) error {
	if errors.Is(err, launch.ErrNoTmux) {
		return err
	}
	if p.from == "$TMUX" {
		return &failure{"$TMUX names a tmux server that does not answer (" + p.socket + ")", "unset TMUX, or name a server with -L or -S", err}
	}
	return &failure{"no tmux server answers on " + p.socket, "start one with `akk` or `tmux`, or name another one with -L or -S", err}
}
