package main

import (
	"context"
	"strconv"
	"strings"

	"akk/bridge/rpc"
	"akk/ui"

	"github.com/spf13/cobra"
)

func newEvents(a *app) *cobra.Command {
	var since uint64
	var all, follow bool
	c := &cobra.Command{
		Use:   "events",
		Short: "The journal: a line per change, as it happens",
		Long: `Prints a line per change: readings, terminals, turns, holds, servers. With
--json each line is one object; "seq" grows by one and survives restarts, so
--since SEQ goes on where a reader stopped. If the journal no longer holds what
is missing, the first line has the type "gap". When the daemon ends, the next one
is started and the journal is read on behind the last event.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			p := rpc.EventsParams{Since: since, All: all, Follow: follow}
			if c.Flags().Changed("since") && since == 0 {
				p.All = true
			}
			open := func(ctx context.Context) (stream, error) {
				d, srv, err := a.connect(ctx)
				if a.named() {
					p.Socket = srv
				}
				return d, err
			}
			return a.journal(c.Context(), &p, open, nil, func(e rpc.Event) error {
				if a.json {
					return a.line(e)
				}
				a.printf("%s\n", eventLine(e))
				return nil
			})
		},
	}
	c.Flags().Uint64Var(&since, "since", 0, "begin behind this `seq` (0: with the oldest kept; without the option: from now on)")
	c.Flags().BoolVar(&all, "all", false, "begin with the oldest kept event")
	c.Flags().BoolVar(&follow, "follow", true, "go on with what happens; --follow=false ends with the newest")
	return c
}

func seq(n uint64) string { return strconv.FormatUint(n, 10) }

// eventLine is an event for a human.
func eventLine(e rpc.Event) string {
	words := []string{e.Time.Local().Format("15:04:05.000"), "#" + seq(e.Seq), e.Type}
	add := func(s string) {
		if s != "" {
			words = append(words, s)
		}
	}
	add(e.Pane)
	if e.Demo != "" {
		add("RECORDING of " + e.Agent)
	} else {
		add(e.Agent)
	}
	add(plain(nil, e.Change))
	if g := e.Reading; g != nil {
		add(string(g.Activity) + ", keys go to " + string(g.Owner) + ", composer " + string(g.Composer))
		if g.Dialog != nil {
			add("(" + g.Dialog.Kind + ")")
		}
	}
	add(e.TurnID)
	if e.Type == "gap" {
		add("events " + seq(e.From) + " to " + seq(e.To) + " are no longer kept")
	}
	if e.Type == "watch" {
		add(plain(settlements, e.Reason))
	} else {
		add(e.Reason)
	}
	if t := strings.Join(strings.Fields(e.Text), " "); t != "" {
		add("“" + ui.Cut(ui.Clean(t), 200) + "”")
	}
	return ui.Clean(strings.Join(words, "  "))
}
