package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"akk/bridge/daemon"
	"akk/bridge/rpc"
	"akk/ui/launch"
)

// daemonOptions name the daemon of this command line's store.
func (a *app) daemonOptions(client string) (daemon.Options, error) {
	cfg, err := a.config()
	if err != nil {
		return daemon.Options{}, err
	}
	dir := a.storeDir
	if dir == "" {
		dir = cfg.Store.Dir
	}
	return daemon.Options{StoreDir: dir, Version: version, Client: client}, nil
}

// dial reaches the daemon and starts it if nobody is there.
func (a *app) dial(ctx context.Context, client string) (*rpc.Client, error) {
	o, err := a.daemonOptions(client)
	if err != nil {
		return nil, err
	}
	socket, err := daemon.Ensure(ctx, o)
	if err != nil {
		return nil, err
	}
	return rpc.Dial(ctx, socket, rpc.HelloParams{Client: client, Version: version})
}

// connect is dial, and attaches the daemon to the tmux server that the command
// is about and to those of the settings. It returns the command's socket. A
// server that nobody named and that does not run is no failure while the daemon
// has another one.
func (a *app) connect(ctx context.Context) (desk, string, error) {
	at, err := a.where()
	if err != nil {
		return nil, "", err
	}
	cfg, err := a.config()
	if err != nil {
		return nil, "", err
	}
	c, err := a.dial(ctx, "cli")
	if err != nil {
		return nil, "", err
	}
	for _, s := range cfg.Servers {
		if !filepath.IsAbs(s) {
			s = socketPath(s)
		}
		_, _ = c.Attach(ctx, rpc.AttachParams{Socket: s}) // it may not run now
	}
	if _, err := c.Attach(ctx, rpc.AttachParams{Socket: at.socket}); err != nil {
		err = a.notAttached(ctx, c, at, err)
		if err != nil {
			c.Close()
			return nil, "", err
		}
	}
	return c, at.socket, nil
}

// notAttached finds the words for a server that could not be attached, or nil
// when another one serves.
func (a *app) notAttached(ctx context.Context, c *rpc.Client, at place, err error) error {
	if ctx.Err() != nil || errors.Is(err, rpc.ErrClosed) {
		return err
	}
	if verr := launch.CheckVersion(ctx); verr != nil {
		return verr
	}
	if at.from == "default" {
		servers, serr := c.Servers(ctx)
		for _, s := range servers {
			if serr == nil && s.State == "attached" {
				return nil
			}
		}
	}
	if dead := a.alive(ctx, at); dead != nil {
		return dead
	}
	return err
}

// narrow is the server that an ID is looked for on: "%3" means the command's
// own server, a full id and a short ref are unique by themselves.
func (a *app) narrow(id, socket string) string {
	if a.named() || strings.HasPrefix(id, "%") {
		return socket
	}
	return ""
}
