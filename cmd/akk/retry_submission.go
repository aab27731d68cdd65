package main

import (
	"akk/bridge/rpc"

	"github.com/spf13/cobra"
)

func newRetrySubmission(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "retry-submission TURN",
		Short: "Press the one Enter that a task lacks whose exact text stands in the prompt",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			d, _, err := a.connectSettled(c.Context())
			if err != nil {
				return err
			}
			defer d.Close()
			s, err := d.RetrySubmission(c.Context(), rpc.TurnParams{TurnID: args[0]})
			if err != nil {
				return err
			}
			return a.printSend(s)
		},
	}
}
