package main

import (
	"context"
	"log/slog"
	"os"

	"akk/bridge/host"
	"akk/bridge/rpc"

	"github.com/spf13/cobra"
)

func newHostBridge(a *app) *cobra.Command {
	var variable string
	var debug bool
	c := &cobra.Command{
		Use:   "host-bridge",
		Short: "Serve MCP on standard input and output, for a Host that starts this command",
		Long: `Serves the tools agent_knock_knock_list, _status and _send over MCP on standard
input and output. A Host (any MCP client) starts it and ends it; what goes wrong
is written to standard error, never to standard output.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			out := a.out
			if f, ok := out.(*os.File); ok && f == os.Stdout {
				os.Stdout = os.Stderr // nothing else may print where MCP is spoken
			}
			level := slog.LevelInfo
			if debug {
				level = slog.LevelDebug
			}
			session, problem := host.Session(os.LookupEnv, variable)
			return host.RunBridge(c.Context(), a.in, out, a.errs, host.Options{
				Version: version, Session: session, Problem: problem, Level: level,
				Connect: func(ctx context.Context) (*rpc.Client, error) { return a.bridgeConnect(ctx, session) },
			})
		},
	}
	c.Flags().StringVar(&variable, "session-variable", "", "environment `variable` that holds the Host's session (default AKK_HOST_SESSION)")
	c.Flags().BoolVar(&debug, "debug", false, "log more")
	return c
}

// bridgeConnect reaches the daemon for a Host. A tmux server that is not there
// is no failure: the list says so, and it may come later.
func (a *app) bridgeConnect(ctx context.Context, session string) (*rpc.Client, error) {
	c, err := a.dialAs(ctx, rpc.HelloParams{Client: "host-bridge", Session: session})
	if err != nil {
		return nil, err
	}
	a.attachAll(ctx, c)
	if at, err := a.where(); err == nil {
		_, _ = c.Attach(ctx, rpc.AttachParams{Socket: at.socket})
	}
	return c, nil
}
