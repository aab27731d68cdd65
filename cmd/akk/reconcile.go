package main

import (
	"akk/bridge/rpc"

	"github.com/spf13/cobra"
)

func newReconcile(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "reconcile ID SESSION",
		Short: "Detach a session that is proven not to be what the terminal shows; nothing is typed",
		Args:  cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			d, srv, err := a.connectSettled(c.Context())
			if err != nil {
				return err
			}
			defer d.Close()
			r, err := d.Reconcile(c.Context(), rpc.ReconcileParams{ID: args[0], Socket: a.narrow(args[0], srv), ConflictingSessionID: args[1]})
			if err != nil {
				return err
			}
			if a.json {
				return a.print(r)
			}
			a.printf("%s is detached from %s (%s)\n", r.SessionID, r.TerminalID, r.ConflictKind)
			return nil
		},
	}
}
