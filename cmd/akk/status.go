package main

import (
	"strings"
	"time"

	"akk/bridge/rpc"
	"akk/ui"

	"github.com/spf13/cobra"
)

func newStatus(a *app) *cobra.Command {
	var wait time.Duration
	var turn bool
	c := &cobra.Command{
		Use:   "status ID",
		Short: "What one agent does, and what has become of the last task",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkWait(wait); err != nil {
				return err
			}
			d, srv, err := a.connectSettled(c.Context())
			if err != nil {
				return err
			}
			defer d.Close()
			if strings.HasPrefix(args[0], "terminal-watch-") {
				w, err := d.WatchStatus(c.Context(), rpc.WatchIDParams{WatchID: args[0]})
				if err != nil {
					return err
				}
				return a.printWatch(w)
			}
			p := rpc.StatusParams{ID: args[0], Socket: a.narrow(args[0], srv), WaitMillis: int(wait / time.Millisecond)}
			if turn || strings.HasPrefix(args[0], "turn-") {
				p.ID, p.TurnID = "", args[0]
			}
			s, err := d.Status(c.Context(), p)
			if err != nil {
				return err
			}
			if a.json {
				return a.print(s)
			}
			return a.printStatus(s)
		},
	}
	c.Flags().DurationVar(&wait, "wait", 0, "wait up to this `time` (at most 50s) until the agent is neither working nor starting")
	c.Flags().BoolVar(&turn, "turn", false, "ID is a turn's id")
	return c
}

func (a *app) printStatus(s rpc.Status) error {
	var table [][]string
	add := func(k, v string) {
		if v != "" {
			table = append(table, []string{k, v})
		}
	}
	if r := s.Terminal; r != nil {
		st := ui.StateOf(*r)
		add("agent", strings.TrimSpace(r.Agent+" "+r.AgentVersion))
		if r.Demo != "" {
			add("recording", "this pane plays a recording; nothing is ever sent to it")
		}
		state := st.Word
		if at := ui.Since(*r); !at.IsZero() {
			state += " since " + since(at)
		}
		add("state", state)
		add("keys go to", string(r.Reading.Owner))
		add("composer", string(r.Reading.Composer))
		table = append(table, textRows("asks", ui.AskText(*r))...)
		if r.Hold != nil {
			add("held by", r.Hold.By)
		}
		add("pane", r.TerminalControl.PaneID+" at "+ui.Place(*r))
		add("folder", r.Cwd)
		add("id", r.ID+" ("+r.ShortRef+")")
	} else {
		add("agent", s.Agent)
		add("state", s.TerminalStatus.ActivityState)
	}
	if t := s.Conversation; t != nil {
		add("turn", t.TurnID+" ("+strings.TrimSuffix(turnWord(t)+"; "+stageWord(t), "; ")+")")
		add("outcome", plain(outcomes, t.Outcome))
		add("reason", t.Reason)
		add("answer", strings.Join(strings.Fields(t.FinalText), " "))
	}
	add("limits", strings.Join(s.Limitations, "; "))
	if s.TimedOut {
		add("waited", "the time ended without a change")
	}
	return ui.Table(a.out, table)
}

func since(t time.Time) string {
	if t.IsZero() {
		return "an unknown time"
	}
	return t.Local().Format("15:04:05") + " (" + ui.Age(time.Now(), t) + " ago)"
}
