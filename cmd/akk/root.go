package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
)

// newRoot declares the program: global flags and the list of commands.
func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "akk",
		Short: "See the coding agents in your tmux live, and send them tasks when it is proven safe",
		Long: `akk watches the panes of a tmux server and reads the coding agents in them
(OpenAI Codex, Claude Code) from the live screen and their own logs.

Without a command it opens the sidebar: inside tmux in the current window,
outside of tmux in a session named "akk".

ID is a full terminal id, a pane ("%3"), or a short ref as ` + "`akk list`" + ` shows it.`,
		Version:       version,
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(c *cobra.Command, _ []string) error { return open(c.Context(), a) },
	}
	root.SetVersionTemplate("akk {{.Version}}\n")
	f := root.PersistentFlags()
	f.StringVarP(&a.server, "server", "L", "", "tmux server by `name`, as in tmux -L")
	f.StringVarP(&a.socket, "socket", "S", "", "tmux server by the `path` of its socket, as in tmux -S")
	f.StringVar(&a.storeDir, "store-dir", "", "`folder` of the store (default $XDG_STATE_HOME/akk)")
	f.StringVar(&a.configPath, "config", "", "settings `file` (default $XDG_CONFIG_HOME/akk/config.toml)")
	f.BoolVar(&a.json, "json", false, "print JSON")
	root.PersistentPreRunE = func(*cobra.Command, []string) error {
		if a.server != "" && a.socket != "" {
			return usagef("-L/--server can't be used with -S/--socket: both name the tmux server")
		}
		a.useProfiles()
		return nil
	}

	root.AddCommand(
		newSidebar(a), newList(a), newStatus(a), newScreen(a), newExplain(a), newEvents(a), newSend(a),
		newWatch(a), newUnwatch(a), newTurns(a), newRenew(a), newCallbacks(a), newStore(a),
		newTakeover(a), newHandback(a), newInterrupt(a), newRespond(a), newRetrySubmission(a), newClose(a), newReconcile(a), newRestore(a),
		newRecord(a), newReplay(a), newDemo(a), newCertify(a),
		newServe(a), newHostBridge(a), newHostProfile(a), newHostCallback(a), newDoctor(a), newConfig(a), newVersion(a), newMan(a),
	)
	usageErrors(root)
	return root
}

// usageErrors marks every error about the command line itself, so that it
// gives exit code 2 and names the help of its command.
func usageErrors(c *cobra.Command) {
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if strings.Contains(c.Use, "TEXT") {
			err = &failure{err.Error(), "put -- before a text that begins with -, as in `akk send ID -- TEXT`; for the options see `akk " + c.Name() + " --help`", err}
		}
		return &usage{err, c.CommandPath()}
	})
	if args := c.Args; args != nil {
		c.Args = func(c *cobra.Command, a []string) error {
			if err := args(c, a); err != nil {
				return &usage{err, c.CommandPath()}
			}
			return nil
		}
	}
	if run := c.RunE; run != nil {
		c.RunE = func(c *cobra.Command, a []string) error {
			err := run(c, a)
			if u, ok := errors.AsType[*usage](err); ok && u.command == "" {
				u.command = c.CommandPath()
			}
			return err
		}
	}
	for _, sub := range c.Commands() {
		usageErrors(sub)
	}
}
