package main

import (
	"akk/bridge/rpc"

	"github.com/spf13/cobra"
)

func newTakeover(a *app) *cobra.Command {
	var p rpc.HoldParams
	c := &cobra.Command{
		Use:   "takeover ID",
		Short: "Have a terminal for yourself: nothing is typed into it until you hand it back",
		Long: `Holds the terminal for the human, over a restart of akk too. Tasks of Hosts are
refused and told who has it; what runs goes on and is watched, its Host is told.
A task between its text and its Enter stops there.

Only a human may: run it in a terminal that is no agent's pane.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			d, srv, err := a.connectSettled(c.Context())
			if err != nil {
				return err
			}
			defer d.Close()
			p.ID, p.Socket = args[0], a.narrow(args[0], srv)
			r, err := d.Takeover(c.Context(), p)
			if err != nil {
				return err
			}
			if a.json {
				return a.print(r)
			}
			word := "yours"
			if !r.Changed {
				word = "yours already"
			}
			a.printf("%s is %s: nothing is typed into it\n", r.TerminalID, word)
			if r.TurnID != "" {
				a.printf("  %s runs on and is watched\n", r.TurnID)
			}
			a.printf("  give it back: akk handback %s\n", args[0])
			return nil
		},
	}
	c.Flags().StringVar(&p.Note, "note", "", "a `text` for the Hosts, at most 300 characters")
	return c
}
