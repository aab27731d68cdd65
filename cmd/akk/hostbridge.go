package main

import (
	"context"
	"log/slog"
	"os"
	gc "runtime/debug"

	"akk/bridge/host"
	"akk/bridge/rpc"

	"github.com/spf13/cobra"
)

func newHostBridge(a *app) *cobra.Command {
	var s host.Selection
	var debug bool
	c := &cobra.Command{
		Use:   "host-bridge",
		Short: "Serve MCP on standard input and output, for a Host that starts this command",
		Long: `Serves the tools agent_knock_knock_* over MCP on standard input and output. A
Host (any MCP client) starts it and ends it; what goes wrong is written to
standard error, never to standard output.

With --profile the Host is called back by a command of its own: see
docs/host-profile.md. A profile that can't be used is told by every tool.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			// A bridge holds next to nothing and answers with much: without more
			// room every third list would wait for a collection.
			gc.SetGCPercent(600)
			out := a.out
			if f, ok := out.(*os.File); ok && f == os.Stdout {
				os.Stdout = os.Stderr // nothing else may print where MCP is spoken
			}
			level := slog.LevelInfo
			if debug {
				level = slog.LevelDebug
			}
			a.own(&s)
			id, problem := host.Resolve(os.LookupEnv, s)
			err := host.RunBridge(c.Context(), a.in, out, a.errs, host.Options{
				Version: version, Identity: id, Problem: problem, Level: level,
				Connect: func(ctx context.Context) (*rpc.Client, error) { return a.bridgeConnect(ctx, id) },
			})
			if err == nil {
				return nil
			}
			last := host.NewLossy(a.errs) // it may be full, and nobody reads it
			a.errs = last
			a.exit(err)
			last.Flush()
			return reported{}
		},
	}
	c.Flags().StringVar(&s.Profile, "profile", "", "host profile `file`, or the id of one from `akk host-profile list`")
	hostFlags(c, &s)
	c.Flags().StringVar(&s.SessionVariable, "session-variable", "", "without a profile: environment `variable` that holds the Host's session (default AKK_HOST_SESSION)")
	c.Flags().BoolVar(&debug, "debug", false, "log more")
	return c
}

// bridgeConnect reaches the daemon for a Host. A tmux server that is not there
// is no failure: the list says so, and it may come later.
func (a *app) bridgeConnect(ctx context.Context, id host.Identity) (*rpc.Client, error) {
	c, err := a.dialAs(ctx, rpc.HelloParams{Client: "host-bridge", Session: id.Session, Route: id.Route}, nil)
	if err != nil {
		return nil, err
	}
	a.attachAll(ctx, c)
	if at, err := a.where(); err == nil {
		_, _ = c.Attach(ctx, rpc.AttachParams{Socket: at.socket})
	}
	return c, nil
}
