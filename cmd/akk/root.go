package main

import "github.com/spf13/cobra"

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
	root.SetIn(a.in) // completion takes it as it is now
	root.SetOut(a.out)
	root.SetErr(a.errs)
	ownWords(root)
	usageErrors(root)
	return root
}
