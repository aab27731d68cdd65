package main

import (
	"context"
	"errors"
	"os"

	"akk/bridge/rpc"
	"akk/ui"
	"akk/ui/launch"

	"github.com/gdamore/tcell/v2"
	"github.com/spf13/cobra"
)

func newSidebar(a *app) *cobra.Command {
	var openIt, own bool
	c := &cobra.Command{
		Use:   "sidebar",
		Short: "Show every agent and its state here; --open does so in a split of the current window",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if openIt {
				return a.openSidebar(c.Context())
			}
			if own {
				defer a.markPane(c.Context(), launch.MarkSidebar, "1")()
			}
			if _, tty := terminal(a.out); !tty {
				return a.printOnce(c.Context())
			}
			return a.runSidebar(c.Context())
		},
	}
	c.Flags().BoolVar(&openIt, "open", false, "open the sidebar beside the current pane, or go to the one that is there")
	c.Flags().BoolVar(&own, launch.OwnPane, false, "")
	_ = c.Flags().MarkHidden(launch.OwnPane)
	return c
}

// markPane marks the pane that was opened for this process until end is called.
// Whoever opened it may have died before he could (B124).
func (a *app) markPane(ctx context.Context, mark, value string) (end func()) {
	at, err := a.where()
	if err != nil || !at.inside || at.pane == "" {
		return func() {}
	}
	t := a.tmux(at.socket)
	_, _ = t.Run(ctx, "set-option", "-p", "-t", at.pane, mark, value)
	return func() {
		_, _ = t.Run(context.WithoutCancel(ctx), "set-option", "-p", "-u", "-t", at.pane, mark)
	}
}

func (a *app) openSidebar(ctx context.Context) error {
	at, err := a.where()
	if err != nil {
		return err
	}
	if !at.inside {
		return fail("run it in a pane, or run `akk` to open a session with the sidebar", "sidebar --open was run outside of tmux")
	}
	if err := at.known(); err != nil {
		return err
	}
	_, err = a.tmux(at.socket).Sidebar(ctx, at.pane)
	return err
}

func (a *app) runSidebar(ctx context.Context) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	at, err := a.where()
	if err != nil {
		return err
	}
	s, err := tcell.NewScreen()
	if err == nil {
		err = s.Init()
	}
	if err != nil {
		return fail("set TERM to what your terminal is, e.g. TERM=xterm-256color", "terminal %q can't be used: %v", os.Getenv("TERM"), err)
	}
	defer s.Fini()
	act := &actions{a: a, at: at, keep: launch.Keeper{Tmux: a.tmux(at.socket), Pane: at.pane}}
	return ui.Run(ctx, s, source{a}, act, ui.Keys{
		Up: cfg.Keys.Up, Down: cfg.Keys.Down, First: cfg.Keys.First, Last: cfg.Keys.Last, Help: cfg.Keys.Help, Leave: cfg.Keys.Leave,
		Takeover: cfg.Keys.Takeover, Handback: cfg.Keys.Handback, Restore: cfg.Keys.Restore,
	})
}

// source follows the daemon, starting it anew when it has gone.
type source struct{ a *app }

func (s source) Follow(ctx context.Context, yield func(rpc.List) error) error {
	d, srv, err := s.a.connect(ctx)
	if err != nil {
		return err
	}
	defer d.Close()
	var p rpc.ListParams
	if s.a.named() {
		p.Socket = srv
	}
	if err = d.Follow(ctx, p, yield); daemonEnded(err) {
		err = errors.New("the daemon ended")
	}
	return err
}

// actions carries out the sidebar's keys.
type actions struct {
	a    *app
	at   place
	keep launch.Keeper
}

func (x *actions) Jump(ctx context.Context, r rpc.Row) (string, error) {
	tc := r.TerminalControl
	from := ""
	if x.at.inside && (tc.SocketPath == "" || tc.SocketPath == x.at.socket) {
		from = x.at.pane
	}
	socket := tc.SocketPath
	if socket == "" {
		socket = x.at.socket
	}
	note, err := x.a.tmux(socket).Jump(ctx, from, tc.PaneID, tc.Session)
	if err != nil {
		return "", cured(err)
	}
	return note, nil
}

func (x *actions) Resized(ctx context.Context) {
	if x.at.inside && x.at.pane != "" {
		x.keep.Resized(ctx)
	}
}

// Takeover, Handback and Restore are the commands of the same names. Whether the
// human may is decided by the daemon, from the pane that the sidebar runs in.
func (x *actions) Takeover(ctx context.Context, r rpc.Row) (string, error) {
	return x.order(ctx, func(d *rpc.Client) (string, error) {
		h, err := d.Takeover(ctx, rpc.HoldParams{ID: r.ID})
		if err == nil && !h.Changed {
			return ui.Place(r) + " is yours already", nil
		}
		return ui.Place(r) + " is yours: no task goes in until you hand it back", err
	})
}

func (x *actions) Handback(ctx context.Context, r rpc.Row) (string, error) {
	return x.order(ctx, func(d *rpc.Client) (string, error) {
		h, err := d.Handback(ctx, rpc.HoldParams{ID: r.ID})
		switch {
		case err == nil && !h.Changed:
			return "nobody had taken " + ui.Place(r) + " over", nil
		case err == nil && h.Restorable:
			return ui.Place(r) + " takes tasks again; your cleared draft is kept", nil
		}
		return ui.Place(r) + " takes tasks again", err
	})
}

func (x *actions) Restore(ctx context.Context, r rpc.Row) (string, error) {
	return x.order(ctx, func(d *rpc.Client) (string, error) {
		_, err := d.RestoreDraft(ctx, rpc.TargetParams{ID: r.ID})
		return "your draft stands in " + ui.Place(r) + " again", err
	})
}

// order asks the daemon; a refusal is told with its cure.
func (x *actions) order(ctx context.Context, ask func(*rpc.Client) (string, error)) (string, error) {
	d, err := x.a.dial(ctx, "sidebar")
	if err != nil {
		return "", cured(err)
	}
	defer d.Close()
	note, err := ask(d)
	if err != nil {
		return "", cured(err)
	}
	return note, nil
}

// cured is an error in one line, its cure included.
func cured(err error) error {
	what, cure := explainError(err)
	if cure != "" {
		what += ": " + cure
	}
	return errors.New(oneLine(what))
}
