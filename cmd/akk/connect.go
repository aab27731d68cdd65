package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"akk/agents"
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
	o := daemon.Options{StoreDir: dir, Version: version, Client: client}
	if a.configPath != "" { // a daemon that has to be started reads the same settings
		p, err := daemon.PathsFor(dir)
		if err != nil {
			return daemon.Options{}, err
		}
		self, err := os.Executable()
		if err != nil {
			return daemon.Options{}, err
		}
		o.Self = []string{self, "serve", "--store-dir", p.Store, "--config", absolute(a.configPath)}
	}
	return o, nil
}

// dial reaches the daemon and starts it if nobody is there.
func (a *app) dial(ctx context.Context, client string) (*rpc.Client, error) {
	return a.dialAs(ctx, rpc.HelloParams{Client: client}, nil)
}

// dialAs is dial; ahead (nil = nothing) may ask before the daemon has answered
// the greeting.
func (a *app) dialAs(ctx context.Context, h rpc.HelloParams, ahead func(*rpc.Client)) (*rpc.Client, error) {
	o, err := a.daemonOptions(h.Client)
	if err != nil {
		return nil, err
	}
	return daemon.Dial(ctx, o, h, ahead)
}

// attachAll attaches the servers of the settings; one that does not run now is
// no failure.
func (a *app) attachAll(ctx context.Context, c *rpc.Client) {
	cfg, err := a.config()
	if err != nil {
		return
	}
	for _, s := range cfg.Servers {
		if !filepath.IsAbs(s) {
			s = socketPath(s)
		}
		_, _ = c.Attach(ctx, rpc.AttachParams{Socket: s})
	}
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
	type answer struct {
		srv rpc.Server
		err error
	}
	var own chan answer
	c, err := a.dialAs(ctx, rpc.HelloParams{Client: "cli"}, func(c *rpc.Client) {
		ch := make(chan answer, 1)
		own = ch
		go func() {
			srv, err := c.Attach(ctx, rpc.AttachParams{Socket: at.socket})
			ch <- answer{srv, err}
		}()
		if a.ahead != nil {
			a.ahead(c, at.socket)
		}
	})
	if err != nil {
		return nil, "", err
	}
	a.attachAll(ctx, c)
	got := <-own
	srv, err := got.srv, got.err
	if err != nil {
		if err = a.notAttached(ctx, c, at, err); err != nil {
			c.Close()
			return nil, "", err
		}
	}
	a.fresh = srv.Fresh || srv.Socket == "" // the latter: another server serves
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

const (
	// firstLook bounds the wait for the first readings of a server that was
	// attached just now; lookMin is how long the search for agents takes at
	// least: a wrapper needs a while until the agent itself runs.
	firstLook, lookMin = 2 * time.Second, 600 * time.Millisecond
	// mirrorWait bounds the wait for a pane's first picture.
	mirrorWait, mirrorGap = 3 * time.Second, 30 * time.Millisecond
)

// connectSettled is connect for commands that answer once: when the server was
// attached just now it waits for the first readings, so that the first answer
// is not "nothing" on a machine full of agents.
func (a *app) connectSettled(ctx context.Context) (desk, string, error) {
	d, socket, err := a.connect(ctx)
	if err != nil || !a.fresh {
		return d, socket, err
	}
	second, err := a.dial(ctx, "cli") // a stream has a connection of its own
	if err != nil {
		return d, socket, nil
	}
	defer second.Close()
	wait, cancel := context.WithTimeout(ctx, firstLook)
	defer cancel()
	began, last := time.Now(), rpc.List{}
	ready := func(l rpc.List) bool {
		return time.Since(began) >= lookMin && !slices.ContainsFunc(l.Terminals, func(r rpc.Row) bool {
			return r.Reading.Provisional || r.Reading.Activity == agents.ActivityUnknown
		})
	}
	least, stop := context.WithTimeout(wait, lookMin)
	defer stop()
	keep := func(l rpc.List) error {
		last = l
		if ready(l) {
			return errSettled
		}
		return nil
	}
	_ = second.Follow(least, rpc.ListParams{}, keep)
	if !ready(last) && wait.Err() == nil {
		_ = second.Follow(wait, rpc.ListParams{}, keep)
	}
	return d, socket, nil
}

// errSettled ends a follow early: it is no failure.
var errSettled = errors.New("settled")

// mirrored repeats a call while the pane's first picture is not there yet.
func mirrored(ctx context.Context, call func() error) error {
	for end := time.Now().Add(mirrorWait); ; {
		err := call()
		e, ok := errors.AsType[*rpc.Error](err)
		if !ok || e.Code != rpc.CodeUnavailable || time.Now().After(end) {
			return err
		}
		select {
		case <-time.After(mirrorGap):
		case <-ctx.Done():
			return err
		}
	}
}

// narrow is the server that an ID is looked for on: "%3" means the command's
// own server, a full id and a short ref are unique by themselves.
func (a *app) narrow(id, socket string) string {
	if a.named() || strings.HasPrefix(id, "%") {
		return socket
	}
	return ""
}
