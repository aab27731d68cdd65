package main

import (
	"strings"

	"akk/bridge/rpc"

	"github.com/spf13/cobra"
)

func newClose(a *app) *cobra.Command {
	var p rpc.CloseParams
	c := &cobra.Command{
		Use:   "close TURN|ID",
		Short: "Give the management of a task up; nothing is typed, the agent goes on",
		Long: `Closes a turn: its end is not told any more and it stands in nobody's way. The
agent is not stopped (akk interrupt does that).

When a human has changed an agent's conversation while a turn was open, close it
with --reason superseded_by_human_context_switch to go on in the new one.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			d, srv, err := a.connectSettled(c.Context())
			if err != nil {
				return err
			}
			defer d.Close()
			p.TurnID = args[0]
			if !strings.HasPrefix(args[0], "turn-") {
				p.TurnID, p.ID, p.Socket = "", args[0], a.narrow(args[0], srv)
			}
			r, err := d.CloseTurn(c.Context(), p)
			if err != nil {
				return err
			}
			if a.json {
				return a.print(r)
			}
			a.printf("closed: %s (%s)\n", r.TurnID, r.Reason)
			for _, w := range r.Warnings {
				a.printf("  note: %s\n", w)
			}
			if r.NextAction != "" {
				a.printf("  next: %s\n", r.NextAction)
			}
			return nil
		},
	}
	c.Flags().StringVar(&p.Reason, "reason", "", "the `text` that says why, at most 300 characters")
	c.Flags().StringVar(&p.ExpectedMessageID, "expected-message-id", "", "with a terminal instead of a turn: the `id` of the message that stands in its way")
	return c
}
