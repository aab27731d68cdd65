package main

import (
	"context"
	"os"

	"akk/bridge/rpc"
	"akk/ui"
	"akk/ui/launch"

	"github.com/gdamore/tcell/v2"
	"github.com/spf13/cobra"
)

func newSidebar(a *app) *cobra.Command {
	var openIt bool
	c := &cobra.Command{
		Use:   "sidebar",
		Short: "Show every agent and its state here; --open does so in a split of the current window",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if openIt {
				return a.openSidebar(c.Context())
			}
			if _, tty := terminal(a.out); !tty {
				return a.printOnce(c.Context())
			}
			return a.runSidebar(c.Context())
		},
	}
	c.Flags().BoolVar(&openIt, "open", false, "open the sidebar beside the current pane, or go to the one that is there")
	return c
}

func (a *app) openSidebar(ctx context.Context) error {
	at, err := a.where()
	if err != nil {
		return err
	}
	if !at.inside {
		return fail("run it in a pane, or run `akk` to open a session with the sidebar", "sidebar --open was run outside of tmux")
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
	return d.Follow(ctx, p, yield)
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
	return x.a.tmux(socket).Jump(ctx, from, tc.PaneID, tc.Session)
}

func (x *actions) Resized(ctx context.Context) {
	if x.at.inside && x.at.pane != "" {
		x.keep.Resized(ctx)
	}
}
