package main

import (
	"context"
	"errors"
	"strings"

	"akk/testdata/demo"
	"akk/ui/launch"

	"github.com/spf13/cobra"
)

func newDemo(a *app) *cobra.Command {
	var stop bool
	c := &cobra.Command{
		Use:   "demo",
		Short: "Open windows that play recorded sessions of real agents, labelled as recordings",
		Long: `Opens one window per recording, beside the current one (inside of tmux) or in
the session "akk". The windows are labelled RECORDING, the panes are marked with
the pane option @akk_demo, and akk never sends anything to them. "q" in such a
window, or akk demo --stop, ends it. Each call opens one more of each.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if stop {
				return a.stopDemo(c.Context())
			}
			return a.demo(c.Context())
		},
	}
	c.Flags().BoolVar(&stop, "stop", false, "end the recordings of this server")
	return c
}

func (a *app) stopDemo(ctx context.Context) error {
	at, err := a.where()
	if err != nil {
		return err
	}
	n, err := a.tmux(at.socket).StopDemo(ctx)
	if err != nil {
		return gone(at, err)
	}
	a.printf("ended %d recordings\n", n)
	return nil
}

func (a *app) demo(ctx context.Context) error {
	if err := launch.CheckVersion(ctx); err != nil {
		return err
	}
	at, err := a.where()
	if err != nil {
		return err
	}
	t := a.tmux(at.socket)
	session := "=" + launch.Session
	if at.inside {
		if err := errors.Join(a.alive(ctx, at), at.known()); err != nil {
			return err
		}
		name, err := t.SessionOf(ctx, at.pane)
		if err != nil {
			return err
		}
		session = "=" + name
	} else if _, err := t.Open(ctx, openCols, openRows, ""); err != nil {
		return err
	}
	var recs []launch.Recording
	for _, r := range demo.All() {
		recs = append(recs, launch.Recording{Name: r.Name, Agent: r.Agent, Version: r.Version, Cols: r.Cols, Rows: r.Rows})
	}
	panes, err := t.Demo(ctx, session, recs)
	if err != nil {
		return err
	}
	if a.json {
		return a.print(map[string]any{"panes": panes, "session": strings.TrimPrefix(session, "=")})
	}
	a.printf("%d recordings of real agents play in session %s, panes %s.\n", len(panes), strings.TrimPrefix(session, "="), strings.Join(panes, " "))
	a.printf("See them: akk list\n")
	if !at.inside {
		a.printf("Attach:   %s\n", t.Command("attach", "-t", launch.Session))
	}
	return nil
}
