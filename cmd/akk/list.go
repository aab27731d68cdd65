package main

import (
	"strings"
	"time"

	"akk/bridge/rpc"
	"akk/ui"

	"github.com/spf13/cobra"
)

func newList(a *app) *cobra.Command {
	var p rpc.ListParams
	c := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the agents that run in tmux panes, those that need you first",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("status") && !knownStatus(p.Status) {
				return usagef("--status %q is no status of a task or a watch, use one of: %s", p.Status, strings.Join(statuses(), ", "))
			}
			d, srv, err := a.connectSettled(c.Context())
			if err != nil {
				return err
			}
			defer d.Close()
			if a.named() {
				p.Socket = srv
			}
			if a.json {
				raw, err := d.ListJSON(c.Context(), p)
				if err != nil {
					return err
				}
				return a.printRaw(raw)
			}
			l, err := d.List(c.Context(), p)
			if err != nil {
				return err
			}
			return ui.Text(a.out, l, time.Now())
		},
	}
	c.Flags().StringVar(&p.Agent, "agent", "", "only `codex` or claude")
	c.Flags().StringVar(&p.Status, "status", "", "only turns and watches with this `status`")
	c.Flags().BoolVar(&p.All, "all", false, "closed turns too")
	return c
}
