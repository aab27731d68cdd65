package main

import (
	"fmt"
	"strings"

	"akk/bridge/rpc"
	"akk/ui"

	"github.com/spf13/cobra"
)

func newExplain(a *app) *cobra.Command {
	var agent, version string
	c := &cobra.Command{
		Use:   "explain ID|FILE.cast",
		Short: "Show the evidence for a reading: of a live pane, or of each marker of a recording",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if strings.HasSuffix(args[0], ".cast") {
				return a.explainCast(args[0], agent, version)
			}
			d, srv, err := a.connectSettled(c.Context())
			if err != nil {
				return err
			}
			defer d.Close()
			e, err := d.Explain(c.Context(), rpc.TargetParams{ID: args[0], Socket: a.narrow(args[0], srv)})
			if err != nil {
				return err
			}
			if a.json {
				return a.print(e)
			}
			return a.printExplain(e)
		},
	}
	c.Flags().StringVar(&agent, "agent", "", "of a recording: whose it is, `codex` or claude (default: by its title)")
	c.Flags().StringVar(&version, "agent-version", "", "of a recording: the agent's `version` (default: by its title)")
	return c
}

func (a *app) printExplain(e rpc.Explain) error {
	g := e.Reading
	var table [][]string
	add := func(k, v string) {
		if v != "" {
			table = append(table, []string{k, v})
		}
	}
	add("pane", e.Pane)
	add("terminal", e.TerminalID)
	add("agent", strings.TrimSpace(e.Agent+" "+e.Version))
	if p := e.Process; p != nil {
		add("process", fmt.Sprintf("%d, since %s: %s", p.PID, p.Start.Local().Format("2006-01-02 15:04:05"), p.Exe))
		add("folder", p.Cwd)
	}
	add("log", e.LogPath)
	add("profile", strings.TrimSpace(g.Profile+" "+g.Verification))
	add("activity", string(g.Activity))
	add("keys go to", string(g.Owner))
	composer := string(g.Composer)
	if len(g.ComposerFlags) > 0 {
		composer += " (" + strings.Join(g.ComposerFlags, ", ") + ")"
	}
	add("composer", composer)
	if d := g.Dialog; d != nil {
		add("dialog", d.Kind)
		add("  asks", strings.Join(strings.Fields(d.Prompt), " "))
		add("  command", strings.Join(strings.Fields(d.Command), " "))
		for i, o := range d.Options {
			mark := "  "
			if d.Selected != nil && *d.Selected == i {
				mark = "> "
			}
			add("  option", strings.TrimRight(mark+o.Label+"  "+o.Key, " "))
		}
	}
	for i, ev := range e.Evidence {
		k := ""
		if i == 0 {
			k = "because"
		}
		v := ev.Layer + ": " + ev.Rule
		if len(ev.Rows) > 0 {
			v += fmt.Sprintf("  (rows %s)", strings.Trim(fmt.Sprint(ev.Rows), "[]"))
		}
		table = append(table, []string{k, v})
	}
	if e.Sendable {
		add("send", "would be allowed now")
	} else {
		for i, m := range e.Missing {
			k := ""
			if i == 0 {
				k = "no send"
			}
			table = append(table, []string{k, m})
		}
	}
	return ui.Table(a.out, table)
}
