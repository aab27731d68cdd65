package handoff

// This file says who a peer process is. It upholds: whatever runs under an
// agent is that agent; a process of a terminal's own session on a pane without
// an agent is the human; what can't be told is unknown, never the human.

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"github.com/shirou/gopsutil/v4/process"
	"golang.org/x/sys/unix"

	"akk/bridge/rpc"
)

// ancestryMax bounds the walk up to the first process.
const ancestryMax = 64

// Identify derives the caller from the ancestry and the terminal of pid.
func (d *Desk) Identify(_ context.Context, pid int) rpc.Caller {
	c := rpc.Caller{Kind: "unknown", PID: pid}
	all := d.unordered("")
	at, tty := pid, 0
	leader, _ := unix.Getsid(pid) // of the process that its terminal was opened for; 0 if it is gone
	led, opener := false, 0
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
		if at == leader {
			led, opener = true, s.ppid
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
		if v.tty == tty {
			c.Kind, c.TerminalID = "agent", v.id
			return c
		}
	}
	// On another terminal only a descendant of the process that it was opened
	// for is surely its user: one whose ancestry is lost may be anybody's.
	if s, ok := procStat(pid); ok && s.tty > 0 && led && !d.borrowed(leader, opener, all) {
		c.Kind = "human"
	}
	return c
}

// borrowed tells whether a terminal was opened from within an agent's pane
// (script, a nested tmux) and its opener cut loose from that agent: what its
// first process was started with names the pane.
func (d *Desk) borrowed(leader, opener int, all []*view) bool {
	for _, v := range all {
		if v.Info.Server.PID == opener {
			return false // a pane or popup of that server itself
		}
	}
	p, err := process.NewProcess(int32(leader))
	if err != nil {
		return true // it has ended meanwhile: nothing tells whose it was
	}
	env, err := p.Environ()
	switch {
	case errors.Is(err, fs.ErrPermission):
		return false // another user's (login, su): no agent of ours started it
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ESRCH):
		return true // as above
	case err != nil:
		return false // this system tells nobody: the ancestry alone has to do
	}
	pane, socket := "", ""
	for _, kv := range env {
		switch k, val, _ := strings.Cut(kv, "="); k {
		case "TMUX_PANE":
			pane = val
		case "TMUX":
			socket, _, _ = strings.Cut(val, ",")
		}
	}
	return pane != "" && slices.ContainsFunc(all, func(v *view) bool { return v.Info.Pane == pane && v.Info.Server.Socket == socket })
}
