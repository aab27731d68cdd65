package main

import (
	"strings"
	"unicode"

	"akk/bridge/rpc"

	"github.com/spf13/cobra"
)

func newScreen(a *app) *cobra.Command {
	var ansi, svg, audit bool
	c := &cobra.Command{
		Use:   "screen ID",
		Short: "Print the live screen of any pane, agent or not",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if a.json && (ansi || svg) || ansi && svg {
				return usagef("--ansi, --svg and --json can't be used together")
			}
			d, srv, err := a.connect(c.Context())
			if err != nil {
				return err
			}
			defer d.Close()
			p := rpc.ScreenParams{TargetParams: rpc.TargetParams{ID: args[0], Socket: a.narrow(args[0], srv)}, Audit: audit}
			switch {
			case ansi:
				p.Format = rpc.ScreenANSI
			case svg:
				p.Format = rpc.ScreenSVG
			}
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
			case p.Format != "" && s.Export == "":
				return fail("end the old daemon with `akk serve --stop`, then try again", "the daemon is older than this akk: it can't draw a screen as %s", p.Format)
			case p.Format != "":
				a.printf("%s", s.Export)
			default:
				for _, l := range s.Lines {
					a.printf("%s\n", printable(l))
				}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&ansi, "ansi", false, "with colours and attributes, as escape sequences")
	c.Flags().BoolVar(&svg, "svg", false, "as a picture, with colours, attributes and cursor")
	c.Flags().BoolVar(&audit, "audit", false, "prove the screen against tmux's own first")
	return c
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
