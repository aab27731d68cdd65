package main

import (
	"akk/bridge/rpc"

	"github.com/spf13/cobra"
)

func newRestore(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "restore ID",
		Short: "Put your draft back that an explicit task took the place of; it is not submitted",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			d, srv, err := a.connectSettled(c.Context())
			if err != nil {
				return err
			}
			defer d.Close()
			r, err := d.RestoreDraft(c.Context(), rpc.TargetParams{ID: args[0], Socket: a.narrow(args[0], srv)})
			if err != nil {
				return err
			}
			if a.json {
				return a.print(r)
			}
			a.printf("your draft stands in %s again, not submitted\n", r.TerminalID)
			return nil
		},
	}
}
