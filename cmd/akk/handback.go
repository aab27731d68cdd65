package main

import (
	"akk/bridge/rpc"

	"github.com/spf13/cobra"
)

func newHandback(a *app) *cobra.Command {
	var p rpc.HoldParams
	c := &cobra.Command{
		Use:   "handback ID",
		Short: "Give a terminal back that you took over; tasks may be typed into it again",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			d, srv, err := a.connectSettled(c.Context())
			if err != nil {
				return err
			}
			defer d.Close()
			p.ID, p.Socket = args[0], a.narrow(args[0], srv)
			r, err := d.Handback(c.Context(), p)
			if err != nil {
				return err
			}
			switch {
			case a.json:
				return a.print(r)
			case !r.Changed:
				a.printf("nobody had taken %s over\n", r.TerminalID)
			default:
				a.printf("%s takes tasks again\n", r.TerminalID)
			}
			if r.Restorable {
				a.printf("  a draft that was cleared is kept: akk restore %s\n", args[0])
			}
			return nil
		},
	}
	c.Flags().StringVar(&p.Note, "note", "", "a `text` for the Hosts, at most 300 characters")
	return c
}
