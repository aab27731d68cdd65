package main

import (
	"context"
	"encoding/json"
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
			if a.json {
				return a.listJSON(c.Context(), p)
			}
			d, srv, err := a.connectSettled(c.Context())
			if err != nil {
				return err
			}
			defer d.Close()
			if a.named() {
				p.Socket = srv
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

// listJSON passes the daemon's own document on. It asks for it at once: only
// when the server was not attached before is it asked for again.
func (a *app) listJSON(ctx context.Context, p rpc.ListParams) error {
	type answer struct {
		raw json.RawMessage
		err error
	}
	first := make(chan answer, 1)
	a.ahead = func(c *rpc.Client, socket string) {
		p := p
		if a.named() {
			p.Socket = socket
		}
		go func() {
			raw, err := c.ListJSON(ctx, p)
			first <- answer{raw, err}
		}()
	}
	d, srv, err := a.connectSettled(ctx)
	if err != nil {
		return err
	}
	defer d.Close()
	got := <-first
	if a.fresh && got.err == nil {
		if a.named() {
			p.Socket = srv
		}
		got.raw, got.err = d.ListJSON(ctx, p)
	}
	if got.err != nil {
		return got.err
	}
	return a.printRaw(got.raw)
}
