package handoff

// This file says who a peer process is. It upholds: whatever runs under an
// agent is that agent; a process on the terminal of a pane without an agent is
// the human; what can't be told is unknown, never the human.

import (
	"context"

	"akk/bridge/rpc"
)

// ancestryMax bounds the walk up to the first process.
const ancestryMax = 64

// Identify derives the caller from the ancestry and the terminal of pid.
func (d *Desk) Identify(_ context.Context, pid int) rpc.Caller {
	c := rpc.Caller{Kind: "unknown", PID: pid}
	all := d.views("")
	at, tty := pid, 0
	for range ancestryMax {
		for _, v := range all {
			if v.key.PID == at {
				c.Kind, c.TerminalID = "agent", v.id
				return c
			}
		}
		s, ok := procStat(at)
		if !ok {
			break
		}
		if tty == 0 && s.tty > 0 {
			tty = s.tty
		}
		if s.ppid <= 1 {
			break
		}
		at = s.ppid
	}
	if tty == 0 {
		return c
	}
	// A process that lost its ancestry (its parent ended) is still on the
	// agent's terminal.
	for _, v := range all {
		if s, ok := procStat(v.key.PID); ok && s.tty == tty {
			c.Kind, c.TerminalID = "agent", v.id
			return c
		}
	}
	if s, ok := procStat(pid); ok && s.tty > 0 {
		c.Kind = "human"
	}
	return c
}
