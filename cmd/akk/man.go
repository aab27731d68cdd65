package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newMan(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "man",
		Short: "Print the manual page (roff), e.g. akk man > akk.1",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			root := c.Root()
			w := a.out
			fmt.Fprintf(w, ".TH AKK 1 \"\" \"akk %s\"\n.SH NAME\nakk \\- %s\n.SH DESCRIPTION\n%s\n", version, roff(root.Short), roff(root.Long))
			fmt.Fprint(w, ".SH GLOBAL OPTIONS\n")
			manFlags(w, root.PersistentFlags())
			fmt.Fprint(w, ".SH COMMANDS\n")
			manCommands(w, root)
			fmt.Fprint(w, ".SH EXIT STATUS\n0 done, 1 refused or failed (the reason and the cure on standard error), 2 wrong usage.\n")
			return nil
		},
	}
}

func manCommands(w io.Writer, c *cobra.Command) {
	for _, sub := range c.Commands() {
		if !sub.IsAvailableCommand() {
			continue
		}
		fmt.Fprintf(w, ".SS %s\n%s\n", roff(strings.TrimSuffix(sub.UseLine(), " [flags]")), roff(sub.Short))
		if sub.Long != "" {
			fmt.Fprintf(w, ".PP\n%s\n", roff(sub.Long))
		}
		manFlags(w, sub.LocalNonPersistentFlags())
		manCommands(w, sub)
	}
}

func manFlags(w io.Writer, fs *pflag.FlagSet) {
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		name, usage := pflag.UnquoteUsage(f)
		head := "--" + f.Name
		if f.Shorthand != "" {
			head = "-" + f.Shorthand + ", " + head
		}
		fmt.Fprintf(w, ".TP\n.B %s\n%s\n", roff(strings.TrimSpace(head+" "+name)), roff(usage))
	})
}

// roff escapes what the formatter would take as its own.
func roff(s string) string {
	s = strings.ReplaceAll(s, `\`, `\e`)
	s = strings.ReplaceAll(s, "-", `\-`)
	s = strings.ReplaceAll(s, "\n\n", "\n.PP\n")
	return strings.ReplaceAll(s, "\n'", "\n\\&'")
}
