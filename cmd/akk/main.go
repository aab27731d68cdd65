// Command akk is the one binary: the sidebar, the command line, the daemon and
// the Host's bridge. This folder only wires: one command is one file with one
// declaration, and what a command does lives in ui, bridge, vtparse and agents.
//
// Exit codes: 0 done, 1 refused or failed (the reason on stderr, the cure on
// the next line), 2 wrong usage.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"os/user"
	"path/filepath"
	"runtime"
	"syscall"

	"akk/cmd/akk/quick" // must be linked in: its init answers `akk list --json` and ends the process
	"akk/panes"

	"github.com/adrg/xdg"
)

// version is set by the Makefile, in quick.
var version = quick.Version

func main() { os.Exit(akk()) }

// akk is main with an exit code, so that tests can run it as a program.
//
// One core is enough for a command, which asks and prints, and for the daemon,
// which reads for a moment a thousand times a second: handing each moment to
// another core costs a third of all its time.
func akk() int {
	runtime.GOMAXPROCS(1)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	ensureHome()
	if len(os.Args) == 4 && os.Args[1] == panes.PassCommand { // tmux starts us for a moment, see panes.PassPipe
		if panes.PassPipe(os.Args[2], os.Args[3]) != nil {
			return 1
		}
		return 0
	}
	return run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}

// ensureHome finds the home folder where the environment names none, as tmux
// does: cron, systemd and `env -i` start programs without one.
func ensureHome() {
	if os.Getenv("HOME") != "" {
		return
	}
	if u, err := user.Current(); err == nil && filepath.IsAbs(u.HomeDir) && u.HomeDir != "/" {
		_ = os.Setenv("HOME", u.HomeDir)
		xdg.Reload()
	}
}

// run carries out one command line.
func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	a := &app{in: in, out: out, errs: errs}
	root := newRoot(a)
	root.SetArgs(args)
	return a.exit(root.ExecuteContext(ctx))
}
