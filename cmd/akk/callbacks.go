package main

import (
	"strconv"
	"strings"
	"time"

	"akk/bridge/rpc"
	"akk/ui"

	"github.com/spf13/cobra"
)

func newCallbacks(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "callbacks",
		Short: "What hosts were told, and what could not be delivered",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return needsOne(c) },
	}
	c.AddCommand(newCallbacksList(a), newCallbacksRetry(a))
	return c
}

func newCallbacksList(a *app) *cobra.Command {
	var p rpc.CallbacksParams
	c := &cobra.Command{
		Use:   "list",
		Short: "List deliveries, newest first: those that are not settled",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := checkLimit(c, p.Limit); err != nil {
				return err
			}
			d, _, err := a.connect(c.Context())
			if err != nil {
				return err
			}
			defer d.Close()
			list, err := d.Callbacks(c.Context(), p)
			if err != nil {
				return err
			}
			if a.json {
				return a.print(list)
			}
			if len(list) == 0 {
				a.printf("nothing waits to be delivered\n")
				return nil
			}
			return ui.Table(a.out, callbacksTable(list, time.Now()))
		},
	}
	c.Flags().BoolVar(&p.All, "all", false, "accepted and superseded ones, too")
	c.Flags().IntVar(&p.Limit, "limit", 0, "at most `n` (default 50, at most 1000)")
	return c
}

func newCallbacksRetry(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "retry DELIVERY|TURN",
		Short: "Deliver once more what failed or is uncertain (it may arrive twice)",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			d, _, err := a.connect(c.Context())
			if err != nil {
				return err
			}
			defer d.Close()
			p := rpc.RetryCallbackParams{DeliveryID: args[0]}
			if strings.HasPrefix(args[0], "turn-") {
				p = rpc.RetryCallbackParams{TurnID: args[0]}
			}
			r, err := d.RetryCallback(c.Context(), p)
			if err != nil {
				return err
			}
			if a.json {
				return a.print(r)
			}
			if r.Duplicate {
				a.printf("it was accepted already (%s)\n", r.Delivery.AcceptanceID)
				return nil
			}
			a.printf("%s is delivered when its host's bridge is there\n", r.Delivery.DeliveryID)
			return nil
		},
	}
}

// callbacksTable are the deliveries for a human.
func callbacksTable(list []rpc.Delivery, now time.Time) [][]string {
	table := [][]string{{"STATUS", "TYPE", "ABOUT", "TRIES", "MADE", "WHY", "DELIVERY"}}
	for _, one := range list {
		about := one.TurnID
		if one.WatchID != "" {
			about = one.WatchID
		}
		why := strings.TrimSpace(one.LastErrorCode + " " + one.LastError)
		if one.NextAttemptAt != nil {
			why = "again in " + max(one.NextAttemptAt.Sub(now), 0).Round(time.Second).String() + " " + why
		}
		table = append(table, []string{plain(deliveries, one.Status), one.Type, about, strconv.Itoa(one.Attempts) + "×", ui.Age(now, one.CreatedAt) + " ago", ui.Clean(ui.Cut(why, 60)), one.DeliveryID})
	}
	return table
}
