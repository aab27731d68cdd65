package main

import (
	"time"

	"akk/bridge/rpc"

	"github.com/spf13/cobra"
)

func newRenew(a *app) *cobra.Command {
	var limit time.Duration
	c := &cobra.Command{
		Use:   "renew TURN",
		Short: "Go on watching a task that is marked stalled; nothing is typed",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			d, _, err := a.connectSettled(c.Context())
			if err != nil {
				return err
			}
			defer d.Close()
			r, err := d.Renew(c.Context(), rpc.RenewParams{TurnID: args[0], Minutes: limit.Minutes()})
			if err != nil {
				return err
			}
			if a.json {
				return a.print(r)
			}
			a.printf("%s is watched again; it counts as stalled after %s without a sign of life\n", r.TurnID, time.Duration(r.AgentTimeoutMinutes*float64(time.Minute)).Round(time.Second))
			return nil
		},
	}
	c.Flags().DurationVar(&limit, "limit", 0, "without a sign of life for this `time` it stalls again (default: as before)")
	return c
}
