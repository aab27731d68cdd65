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
			if c.Flags().Changed("status") {
				own, ok := statusNamed(p.Status)
				if !ok {
					return usagef("--status %q is no status of a task or a watch, use one of: %s", p.Status, strings.Join(statuses(), ", "))
				}
				p.Status = own
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
// when a server was attached just now is it asked for again.
func (a *app) listJSON(ctx context.Context, p rpc.ListParams) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	type answer struct {
		raw json.RawMessage
		err error
	}
	var first chan answer
	if len(cfg.Servers) == 0 {
		a.ahead = func(c *rpc.Client, socket string) {
			p, ch := p, make(chan answer, 1)
			if a.named() {
				p.Socket = socket
			}
			first = ch
			go func() {
				raw, err := c.ListJSON(ctx, p)
				ch <- answer{raw, err}
			}()
		}
	}
	d, srv, err := a.connectSettled(ctx)
	if err != nil {
		return err
	}
	defer d.Close()
	if first != nil && !a.fresh {
		got := <-first
		if got.err != nil {
			return got.err
		}
		return a.printRaw(got.raw)
	}
	if a.named() {
		p.Socket = srv
	}
	raw, err := d.ListJSON(ctx, p)
	if err != nil {
		return err
	}
	return a.printRaw(raw)
}
