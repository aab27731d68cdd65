package main

import (
	"akk/bridge/rpc"

	"github.com/spf13/cobra"
)

func newUnwatch(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "unwatch WATCH",
		Short: "End a watch; the agent goes on",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			d, _, err := a.connect(c.Context())
			if err != nil {
				return err
			}
			defer d.Close()
			r, err := d.Unwatch(c.Context(), rpc.WatchIDParams{WatchID: args[0]})
			if err != nil {
				return err
			}
			return a.printWatch(r)
		},
	}
}
