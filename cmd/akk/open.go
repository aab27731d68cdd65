package main

import (
	"context"
	"os"
	"syscall"
	"time"

	"akk/bridge/rpc"
	"akk/ui"
	"akk/ui/launch"

	"golang.org/x/term"
)

const (
	// openCols and openRows are the size of a session that is opened without a
	// terminal; it takes its human's size when he attaches.
	openCols, openRows = 160, 48
)

// open is akk without a command. Inside of tmux: the sidebar in the current
// window. Outside: the session "akk" with the sidebar, attached; without a
// terminal on stdout, or inside of another tmux, it stays detached and says
// how to attach.
func open(ctx context.Context, a *app) error {
	if err := launch.CheckVersion(ctx); err != nil {
		return err
	}
	at, err := a.where()
	if err != nil {
		return err
	}
	t := a.tmux(at.socket)
	out, tty := terminal(a.out)
	if at.inside {
		if err := a.alive(ctx, at); err != nil {
			return err
		}
		if !tty {
			if err := a.printOnce(ctx); err != nil {
				return err
			}
			a.printf("\nThe sidebar opens with `akk` in a terminal, or `akk sidebar --open`.\n")
			return nil
		}
		if err := at.known(); err != nil {
			return err
		}
		_, err := t.Sidebar(ctx, at.pane)
		return err
	}

	cols, rows := openCols, openRows
	if tty {
		if w, h, err := term.GetSize(int(out.Fd())); err == nil && w > 0 && h > 0 {
			cols, rows = w, h
		}
	}
	folder, _ := os.Getwd()
	if _, err := t.Open(ctx, cols, rows, folder); err != nil {
		return err
	}
	if tty && !at.nested {
		return attach(t, launch.Session)
	}
	if err := a.printOnce(ctx); err != nil {
		return err
	}
	a.printf("\nThe session %q with the sidebar is open", launch.Session)
	if at.nested {
		a.printf("; it is on another tmux server than the one you are in,\nso attach from a terminal outside of tmux (or detach here first)")
	}
	a.printf(":\n  %s\n", t.Command("attach", "-t", launch.Session))
	return nil
}

// attach replaces this process by tmux.
func attach(t launch.Tmux, session string) error {
	path, argv, env, err := t.Attach(session)
	if err != nil {
		return err
	}
	return syscall.Exec(path, argv, env)
}

// printOnce is the sidebar as text.
func (a *app) printOnce(ctx context.Context) error {
	d, _, err := a.connectSettled(ctx)
	if err != nil {
		return err
	}
	defer d.Close()
	l, err := d.List(ctx, rpc.ListParams{})
	if err != nil {
		return err
	}
	if a.json {
		return a.print(l)
	}
	return ui.Text(a.out, l, time.Now())
}
