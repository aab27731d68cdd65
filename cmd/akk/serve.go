package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"akk/agents/registry"
	"akk/bridge/daemon"
	"akk/bridge/rpc"
	"akk/panes"

	"github.com/spf13/cobra"
)

// stopLimit is how long the daemon may take to finish what it types and writes.
const stopLimit = 20 * time.Second

func newServe(a *app) *cobra.Command {
	var stop, status, debug bool
	c := &cobra.Command{
		Use:   "serve",
		Short: "The daemon; every other command starts it when it is not there",
		Long: `Runs the daemon in the foreground. There is one per store; every other command
starts it in the background when it is not there. It ends when no tmux server is
left, nobody is connected and nothing is owed. An open sidebar or Host starts the
next one at once after --stop.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case stop && status:
				return usagef("--stop can't be used with --status")
			case stop:
				return a.stopDaemon(c.Context())
			case status:
				return a.daemonStatus(c.Context())
			}
			o, err := a.daemonOptions("")
			if err != nil {
				return err
			}
			cfg, err := a.config()
			if err != nil {
				return err
			}
			p, err := daemon.PathsFor(o.StoreDir)
			if err != nil {
				return err
			}
			panes.PaceCollector()
			o.Agents = registry.All()
			o.Attach = attachTmux(cfg.Transport, p.Store)
			if debug {
				o.Level = slog.LevelDebug
			}
			return daemon.Run(c.Context(), o)
		},
	}
	c.Flags().BoolVar(&stop, "stop", false, "end the running daemon; agents go on (an open sidebar starts the next one)")
	c.Flags().BoolVar(&status, "status", false, "tell whether it runs, without starting it")
	c.Flags().BoolVar(&debug, "debug", false, "log more")
	return c
}

func (a *app) stopDaemon(ctx context.Context) error {
	o, err := a.daemonOptions("")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	pid, err := daemon.End(ctx, o)
	switch {
	case err != nil:
		return err
	case a.json:
		return a.print(stopped{Ended: pid != 0, PID: pid})
	case pid == 0:
		a.printf("no daemon was running\n")
	default:
		a.printf("the daemon (pid %d) has ended\n", pid)
	}
	return nil
}

// stopped is printed by serve --stop.
type stopped struct {
	Ended bool `json:"ended"`
	PID   int  `json:"pid,omitempty"`
}

// daemonStatus is printed by serve --status.
type daemonStatus struct {
	Running bool         `json:"running"`
	PID     int          `json:"pid,omitempty"`
	Version string       `json:"version,omitempty"`
	Store   string       `json:"store_dir"`
	Started *time.Time   `json:"started,omitempty"`
	Servers []rpc.Server `json:"servers"`
}

func (a *app) daemonStatus(ctx context.Context) error {
	o, err := a.daemonOptions("")
	if err != nil {
		return err
	}
	s := daemonStatus{Servers: []rpc.Server{}}
	p, err := daemon.PathsFor(o.StoreDir)
	if err != nil {
		return err
	}
	s.Store = p.Store
	c, err := rpc.Dial(ctx, p.Socket, rpc.HelloParams{Client: "cli", Version: version})
	switch {
	case errors.Is(err, rpc.ErrNoDaemon):
	case err != nil:
		return err
	default:
		defer c.Close()
		h := c.Hello()
		s.Running, s.PID, s.Version, s.Store, s.Started = true, h.PID, h.Version, h.StoreDir, &h.Started
		if s.Servers, err = c.Servers(ctx); err != nil {
			return err
		}
	}
	if a.json {
		return a.print(s)
	}
	if !s.Running {
		a.printf("no daemon runs for %s\n", s.Store)
		return nil
	}
	a.printf("daemon %d (akk %s) runs since %s, store %s\n", s.PID, s.Version, s.Started.Local().Format("2006-01-02 15:04:05"), s.Store)
	for _, v := range s.Servers {
		a.printf("  tmux %s on %s: %s, %s\n", v.Version, v.Socket, v.State, v.Counts())
	}
	return nil
}
