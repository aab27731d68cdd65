package controlmode

import (
	"sync/atomic"
	"time"
)

// This file measures time that we really had. Rule: neither a busy machine nor
// a SIGSTOP of our own makes somebody else late. So a limit is counted in
// ticks: while we do not run, no tick is counted, and after a stop there is
// still time to read what has come meanwhile.

// tickParts is into how many ticks a limit is cut.
const tickParts = 5

// countdown calls f once, after its ticks, unless it is stopped.
type countdown struct {
	t    *time.Timer
	left atomic.Int32 // < 0: stopped
	each time.Duration
	f    func()
}

// after starts a countdown of about d.
func after(d time.Duration, f func()) *countdown {
	c := &countdown{each: d / tickParts, f: f}
	c.left.Store(tickParts)
	c.t = time.AfterFunc(time.Hour, c.tick)
	c.t.Reset(c.each)
	return c
}

func (c *countdown) tick() {
	switch left := c.left.Add(-1); {
	case left == 0:
		c.f()
	case left > 0:
		c.t.Reset(c.each)
	}
}

func (c *countdown) stop() {
	c.left.Store(-1)
	c.t.Stop()
}

// restart begins anew.
func (c *countdown) restart() {
	c.left.Store(tickParts)
	c.t.Reset(c.each)
}
