package main

import (
	"strings"

	"akk/bridge/rpc"

	"github.com/spf13/cobra"
)

func newInterrupt(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "interrupt ID|TURN",
		Aliases: []string{"cancel"},
		Short:   "Interrupt what an agent works on: one key, only while it is proven working",
		Long: `Presses the agent's own interrupt key once (Codex Ctrl-C, Claude Code Escape) and
looks for its effect. Nothing is pressed unless the agent is proven working and
its prompt is empty: an idle Codex would end. The pane stays.

Exit code 0: the agent was seen to stop. 1: refused, or it was not seen to stop.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			d, srv, err := a.connectSettled(c.Context())
			if err != nil {
				return err
			}
			defer d.Close()
			p := rpc.CancelParams{ID: args[0], Socket: a.narrow(args[0], srv)}
			if strings.HasPrefix(args[0], "turn-") {
				p = rpc.CancelParams{TurnID: args[0]}
			}
			r, err := d.Cancel(c.Context(), p)
			if err != nil {
				return err
			}
			if a.json {
				if err := a.print(r); err != nil {
					return err
				}
				if r.Interrupted != "seen" {
					return reported{}
				}
				return nil
			}
			switch {
			case r.Interrupted == "seen":
				a.printf("interrupted: %s was sent to %s, the agent stopped\n", r.Key, r.TerminalID)
				return nil
			case !r.CancelRequested:
				return fail("look at it: akk status "+args[0], "nothing was typed into %s: %s", r.TerminalID, r.Reason)
			}
			return fail("look at the pane; do not repeat it before", "%s was sent once to %s: %s", r.Key, r.TerminalID, r.Reason)
		},
	}
}
