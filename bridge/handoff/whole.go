package handoff

// This file waits, in the first moments of a daemon and of a server's attachment,
// until all that is there is known. It upholds: who asks for all terminals, or for
// the only one that is ready, is not answered from half a look.

import (
	"context"
	"time"

	"akk/agents"
)

// wholeTick is the pace of looking whether it is so.
const wholeTick = 10 * time.Millisecond

// whole waits until every pane of a server ("" = of all) was looked at, and with
// read until what was found was read, too; freshFor at most. It tells whether that
// is so: who chooses among all that is there must not choose from less.
func (d *Desk) whole(ctx context.Context, socket string, read bool) bool {
	if !d.growing(socket, read) {
		return true
	}
	late, tick := time.NewTimer(freshFor), time.NewTicker(wholeTick)
	defer late.Stop()
	defer tick.Stop()
	for d.growing(socket, read) {
		select {
		case <-tick.C:
		case <-late.C:
			return !d.growing(socket, read)
		case <-ctx.Done():
			return false
		case <-d.ctx.Done():
			return false
		}
	}
	return true
}

// growing tells whether something that is there may not be known yet. Who needs it
// read is told so for as long as it takes, others in the first moments only.
func (d *Desk) growing(socket string, read bool) bool {
	now := d.now()
	young := func(t time.Time) bool { return now.Sub(t) < freshFor }
	fresh := (read || young(d.started)) && d.awaited(socket)
	for _, s := range d.serverList() {
		if (socket == "" || socket == s.id.Socket) && (read || young(s.since)) {
			if s.unlooked() {
				return true
			}
			fresh = fresh || d.undrawn(s)
		}
	}
	if fresh || !read {
		return fresh
	}
	for _, v := range d.unordered(socket) {
		if v.Reading.Activity == agents.ActivityUnknown && young(v.since) {
			return true
		}
	}
	return false
}

// awaited tells whether a server that the last daemon was attached to is not back
// yet.
func (d *Desk) awaited(socket string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for s := range d.returning {
		if (socket == "" || socket == s) && d.servers[s] == nil {
			return true
		}
	}
	return false
}

// returned takes a server off those that are waited for.
func (d *Desk) returned(socket string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.returning, socket)
}

// undrawn tells whether a terminal was found that nobody sees yet.
func (d *Desk) undrawn(s *server) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for t := range d.terms {
		if t.srv == s && t.view.Load() == nil {
			return true
		}
	}
	return false
}

// unlooked tells whether a pane was not looked at yet.
func (s *server) unlooked() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range s.prov.Panes() {
		if p := s.panes[i.Pane]; !i.Dead && (p == nil || !p.scanned) {
			return !s.gone
		}
	}
	return false
}
