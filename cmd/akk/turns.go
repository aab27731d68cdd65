package main

import (
	"strings"
	"time"

	"akk/bridge/rpc"
	"akk/ui"

	"github.com/spf13/cobra"
)

func newTurns(a *app) *cobra.Command {
	var p rpc.TurnsParams
	c := &cobra.Command{
		Use:   "turns",
		Short: "List the tasks that were sent, newest first",
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
			list, err := d.Turns(c.Context(), p)
			if err != nil {
				return err
			}
			if a.json {
				return a.print(list)
			}
			if len(list) == 0 && p.All {
				a.printf("no task was sent yet\n")
				return nil
			}
			if len(list) == 0 {
				a.printf("no task is open; ended ones: akk turns --all\n")
				return nil
			}
			return ui.Table(a.out, turnsTable(list, time.Now()))
		},
	}
	c.Flags().BoolVar(&p.All, "all", false, "ended tasks, too")
	c.Flags().StringVar(&p.TerminalID, "terminal", "", "only those of one terminal, by its full `id`")
	c.Flags().IntVar(&p.Limit, "limit", 0, "at most `n` (default 50, at most 1000)")
	return c
}

// turnsTable are the tasks for a human.
func turnsTable(list []rpc.Turn, now time.Time) [][]string {
	table := [][]string{{"TURN", "STATUS", "AGENT", "CHANGED", "ABOUT"}}
	for _, t := range list {
		why := t.Reason
		if t.FinalText != "" {
			why = t.FinalText
		}
		table = append(table, []string{t.TurnID, turnWord(&t), t.Agent, ui.Age(now, t.UpdatedAt) + " ago", ui.Clean(ui.Cut(strings.Join(strings.Fields(why), " "), 60))})
	}
	return table
}
