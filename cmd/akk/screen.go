package main

import (
	"fmt"
	"strings"
	"unicode"

	"akk/bridge/rpc"

	"github.com/spf13/cobra"
)

func newScreen(a *app) *cobra.Command {
	var ansi, audit bool
	c := &cobra.Command{
		Use:   "screen ID",
		Short: "Print the live screen of any pane, agent or not",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if ansi && a.json {
				return usagef("--ansi can't be used with --json")
			}
			d, srv, err := a.connect(c.Context())
			if err != nil {
				return err
			}
			defer d.Close()
			p := rpc.ScreenParams{TargetParams: rpc.TargetParams{ID: args[0], Socket: a.narrow(args[0], srv)}, Audit: audit}
			var s rpc.Screen
			err = mirrored(c.Context(), func() (err error) {
				s, err = d.Screen(c.Context(), p)
				return err
			})
			switch {
			case err != nil:
				return err
			case a.json:
				return a.print(s)
			case ansi:
				a.printf("%s", ansiScreen(s.Runs))
			default:
				for _, l := range s.Lines {
					a.printf("%s\n", printable(l))
				}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&ansi, "ansi", false, "with colours and attributes, as escape sequences")
	c.Flags().BoolVar(&audit, "audit", false, "prove the screen against tmux's own first")
	return c
}

// ansiScreen draws runs; a run's style is the SGR parameters themselves.
func ansiScreen(runs [][][2]string) string {
	var b strings.Builder
	for _, row := range runs {
		for _, r := range row {
			text, style := printable(r[0]), r[1]
			if style == "" {
				b.WriteString(text)
				continue
			}
			fmt.Fprintf(&b, "\x1b[%sm%s\x1b[0m", style, text)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// printable drops control characters: a screen has none, a broken one might.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
}
