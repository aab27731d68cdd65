package main

import (
	"time"

	"akk/bridge/rpc"

	"github.com/spf13/cobra"
)

func newRespond(a *app) *cobra.Command {
	var p rpc.RespondParams
	var wait time.Duration
	c := &cobra.Command{
		Use:   "respond TURN [TEXT|-]",
		Short: "Answer a task that waits for its sender, in the same turn",
		Args:  cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkWait(wait); err != nil {
				return err
			}
			text, err := a.request(c.Context(), args[1:])
			if err != nil {
				return err
			}
			d, _, err := a.connectSettled(c.Context())
			if err != nil {
				return err
			}
			defer d.Close()
			p.TurnID, p.Request, p.AcceptWaitMillis = args[0], text, int(wait/time.Millisecond)
			s, err := d.Respond(c.Context(), p)
			if err != nil {
				return err
			}
			return a.printSend(s)
		},
	}
	c.Flags().StringVar(&p.RequestID, "request-id", "", "repeat with the same `id` to get the same receipt instead of a second answer")
	c.Flags().DurationVar(&wait, "wait", 0, "the `time` to wait for acceptance (default 5s, at most 50s)")
	return c
}
