package handoff

// This file finds a terminal server again that somebody asked for and that was not
// there then, or went away since. It upholds: who asks for the list sees a server
// that has come up meanwhile; nobody asks a server that is not there.

import (
	"context"
	"net"
	"sync"
	"time"

	"akk/bridge/rpc"
)

const (
	// seekGap is the least time between two looks for a server, seekAgain that
	// after one that was there and could not be used.
	seekGap, seekAgain = 500 * time.Millisecond, 30 * time.Second
	// seekWait bounds how long who asks waits for a server that has come up.
	seekWait = 2 * time.Second
	// wantedMost bounds the servers that are looked for.
	wantedMost = 64
)

// want remembers a server that was asked for; d.mu is held.
func (d *Desk) want(socket string) {
	if _, ok := d.wanted[socket]; !ok && len(d.wanted) < wantedMost {
		d.wanted[socket] = time.Time{}
	}
}

// missing are the servers to look for now.
func (d *Desk) missing(socket string) (out []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	for s, next := range d.wanted {
		if (socket == "" || socket == s) && d.servers[s] == nil && d.opening[s] == nil && !now.Before(next) {
			d.wanted[s] = now.Add(seekGap)
			out = append(out, s)
		}
	}
	return out
}

// seek attaches the servers that were asked for and are there now.
func (d *Desk) seek(ctx context.Context, socket string) {
	var all sync.WaitGroup
	for _, s := range d.missing(socket) {
		c, err := net.DialTimeout("unix", s, seekGap)
		if err != nil {
			continue
		}
		c.Close()
		all.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, seekWait)
			defer cancel()
			if _, err := d.Attach(ctx, rpc.AttachParams{Socket: s}); err != nil && ctx.Err() == nil {
				d.mu.Lock()
				d.wanted[s] = d.now().Add(seekAgain)
				d.mu.Unlock()
			}
		})
	}
	all.Wait()
}

// ready sees to it that what is there is known before somebody is told of all, and
// tells whether it is.
func (d *Desk) ready(ctx context.Context, socket string, read bool) bool {
	d.seek(ctx, socket)
	return d.whole(ctx, socket, read)
}
