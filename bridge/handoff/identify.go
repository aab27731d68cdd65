package handoff

// This file says who a peer process is. It upholds: whatever runs under an
// agent is that agent, also while no terminal of it is known; a process of a
// terminal's own session on a pane without an agent is the human; what can't be
// told is unknown, never the human.

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"akk/agents"
	"akk/bridge/rpc"
)

const (
	// ancestryMax bounds the walk up to the first process. Who stands deeper is
	// unknown: an agent may be above the bound.
	ancestryMax = 64
	// ancestryTries is how often the walk begins anew because an ancestor ended
	// under its eyes.
	ancestryTries = 4
)

// Identify derives the caller from the ancestry and the terminal of pid.
func (d *Desk) Identify(_ context.Context, pid int) rpc.Caller {
	for range ancestryTries {
		if line, ok := ancestry(pid); ok {
			if c, ok := d.identify(pid, line); ok {
				return c
			}
		}
	}
	return rpc.Caller{Kind: "unknown", PID: pid}
}

// Discovered grows with the terminals that were ever found: while it is the
// same, Identify says the same about who is not known to run in one.
func (d *Desk) Discovered() uint64 { return d.found.Load() }

// ancestor is a process of a line.
type ancestor struct {
	pid int
	stat
}

// ancestry is the process and those above it; false if that can't be told: it
// is gone, its line changed meanwhile, or is too long.
func ancestry(pid int) (line []ancestor, ok bool) {
	for at := pid; len(line) < ancestryMax; {
		s, ok := procStat(at)
		if !ok {
			if len(line) == 0 {
				return nil, false
			}
			// Hidden (another user's), or just gone: then the child has another parent.
			below, ok := procStat(line[len(line)-1].pid)
			return line, ok && below.ppid == at
		}
		line = append(line, ancestor{at, s})
		if s.ppid < 1 {
			return line, true
		}
		at = s.ppid
	}
	return nil, false
}

// identify is Identify for a line; false if it is not true any more.
func (d *Desk) identify(pid int, line []ancestor) (c rpc.Caller, ok bool) {
	c = rpc.Caller{Kind: "unknown", PID: pid}
	all := d.unordered("")
	tty := 0
	leader, _ := unix.Getsid(pid) // of the process that its terminal was opened for; 0 if it is gone
	led, opener := false, 0
	for _, a := range line {
		for _, v := range all {
			if v.key.PID == a.pid {
				c.Kind, c.TerminalID = "agent", v.id
				return c, true
			}
		}
		if a.pid == 1 && pid != 1 {
			break // who has lost his ancestry is below it too
		}
		if a.pid == leader {
			led, opener = true, a.ppid
		}
		if tty == 0 && a.tty > 0 {
			tty = a.tty
		}
	}
	// A process that lost its ancestry (its parent ended) is still on the
	// agent's terminal.
	for _, v := range all {
		if tty != 0 && v.tty == tty {
			c.Kind, c.TerminalID = "agent", v.id
			return c, true
		}
	}
	// An agent whose terminal is not known: not yet, or there is none.
	switch m, ok := d.matchLine(line); {
	case !ok:
		return c, false
	case m != nil:
		c.Kind, c.AgentPID, c.InPane = "agent", m.proc.PID, d.inPane(line, m.proc.PID)
		return c, true
	}
	// On another terminal only a descendant of the process that it was opened
	// for is surely its user: one whose ancestry is lost may be anybody's.
	if line[0].tty > 0 && led && !d.borrowed(leader, opener, all) {
		c.Kind = "human"
	}
	return c, true
}

// matchLine is match for a line, by the agents' own recognisers; false if a
// process has ended meanwhile.
func (d *Desk) matchLine(line []ancestor) (*match, bool) {
	procs := make([]agents.Process, 0, len(line))
	for _, a := range slices.Backward(line) {
		exe, args, ok := procImage(a.pid)
		if !ok {
			return nil, false
		}
		procs = append(procs, agents.Process{PID: a.pid, Exe: exe, Args: args})
	}
	return d.match(procs), true
}

// inPane tells whether the agent's process is below a terminal server, attached
// or not.
func (d *Desk) inPane(line []ancestor, agent int) bool {
	above := false
	for _, a := range line {
		if above && (strings.HasPrefix(a.name, "tmux") || d.serves(a.pid)) {
			return true
		}
		above = above || a.pid == agent
	}
	return false
}

// serves tells whether pid is an attached terminal server.
func (d *Desk) serves(pid int) bool {
	return slices.ContainsFunc(d.serverList(), func(s *server) bool { return s.id.PID == pid })
}

// borrowed tells whether a terminal was opened from within an agent's pane
// (script, a nested tmux) and its opener cut loose from that agent: what its
// first process was started with names the pane.
func (d *Desk) borrowed(leader, opener int, all []*view) bool {
	if d.serves(opener) {
		return false // a pane or popup of that server itself
	}
	env, err := procEnviron(leader)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return false // another user's (login, su): no agent of ours started it
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ESRCH):
		return true // it has ended meanwhile: nothing tells whose it was
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
