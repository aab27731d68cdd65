package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"akk/agents"
	"akk/bridge/rpc"
	"akk/ui"

	"github.com/spf13/cobra"
)

func newExplain(a *app) *cobra.Command {
	var agent, version string
	c := &cobra.Command{
		Use:   "explain ID|FILE.cast",
		Short: "Show the evidence for a reading: of a live pane, or of each marker of a recording",
		Long: `Shows what was read of a pane, rule by rule with the rows that decided, and what
a task would lack. Of a recording (FILE.cast, also packed as FILE.cast.gz) each
marker's screen is read, of one without markers its last screen.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if strings.HasSuffix(args[0], ".cast") || strings.HasSuffix(args[0], ".cast.gz") {
				return a.explainCast(c.Context(), args[0], agent, version)
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
			return a.printExplain(e, e.Screen.Lines, nil)
		},
	}
	c.Flags().StringVar(&agent, "agent", "", "of a recording: whose it is, `codex` or claude (default: by its title)")
	c.Flags().StringVar(&version, "agent-version", "", "of a recording: the agent's `version` (default: by its title)")
	return c
}

// printExplain prints one reading: what was read, rule by rule with the rows of
// the screen that decided, and what would have to be different. answers are rows
// about the dialog's key plans.
func (a *app) printExplain(e rpc.Explain, screen []string, answers [][]string) error {
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
		table = append(table, textRows("  command", d.Command)...)
		add("  tool", strings.TrimSpace(d.Server+" "+d.Tool))
		table = append(table, textRows("  gets", d.Arguments)...)
		add("  path", d.Path)
		add("  address", d.URL)
		for _, f := range d.Fields {
			mark := "  "
			if f.Focused {
				mark = "> "
			}
			add("  field", mark+f.Label+": "+f.Value)
		}
		var is []string
		for name, on := range map[string]bool{"clipped": d.Clipped, "hidden": d.Hidden, "several can be chosen": d.MultiSelect, "the turn goes on": d.Async} {
			if on {
				is = append(is, name)
			}
		}
		slices.Sort(is)
		add("  is", strings.Join(is, ", "))
		for i, o := range d.Options {
			mark := "  "
			if d.Selected != nil && *d.Selected == i {
				mark = "> "
			}
			add("  option", strings.TrimRight(mark+o.Label+"  "+o.Key, " "))
		}
	}
	table = append(table, answers...)
	for i, ev := range e.Evidence {
		k := ""
		if i == 0 {
			k = "because"
		}
		table = append(table, []string{k, ev.Layer + ": " + ev.Rule})
		for n, y := range ev.Rows {
			if n == maxRows {
				table = append(table, []string{"", "     | ... to row " + strconv.Itoa(ev.Rows[len(ev.Rows)-1])})
				break
			}
			if y >= 0 && y < len(screen) {
				table = append(table, []string{"", fmt.Sprintf("%4d | %s", y, printable(screen[y]))})
			}
		}
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

// maxRows is how many rows of one rule are shown.
const maxRows = 6

// answerRows tell which answers to a dialog have certified keys, and why the
// others have none.
func answerRows(agent agents.Agent, version string, d *agents.Dialog) (out [][]string) {
	by, ok := agent.(agents.Answerer)
	if !ok || d == nil || d.Hidden {
		return nil
	}
	manual := "no certified keys for a prompt of this kind with these options"
	for _, action := range []agents.Action{agents.ApproveOnce, agents.Reject, agents.ConfirmYes, agents.ConfirmNo, agents.SingleSelect, agents.OpenText, agents.FreeText} {
		a := agents.Answer{Action: action, Text: "text"}
		if c := agents.Choices(d); len(c) > 0 {
			a.Choice = c[0].ID
		}
		p, err := by.Answer(version, d, a)
		if err != nil {
			if _, reason, _ := strings.Cut(err.Error(), ": "); !strings.HasPrefix(reason, "no certified keys") {
				manual = reason
			}
			continue
		}
		var keys []string
		for _, s := range p.Steps {
			keys = append(keys, fmt.Sprintf("%q, then %s", s.Keys, s.Post.Expect))
		}
		out = append(out, []string{"  " + string(action), strings.Join(keys, "; ")})
	}
	if len(out) == 0 {
		out = [][]string{{"  manual", manual}}
	}
	return out
}
