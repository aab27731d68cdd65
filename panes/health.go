package panes

import (
	"context"
	"fmt"
)

// This file tells doctor how a server's mirrors fare, and which faults of tmux
// itself one has to live with.

// Health is what doctor shows of a server.
type Health struct {
	Transport  Transport
	Audits     AuditCount
	Unreadable map[string]string // pane -> why its mirror does not follow it, "; ", the cure
	WatchOnly  string            // why nothing can be typed here: who else may; "" = it can
}

// Health implements what doctor asks a Provider for.
func (s *Server) Health(ctx context.Context) (Health, error) {
	a, err := s.Audits(ctx)
	if err != nil {
		return Health{}, err
	}
	h := Health{Transport: Control, Audits: a}
	if s.pipe != nil {
		h.Transport = Pipe
	}
	if err := s.own(); err != nil {
		h.WatchOnly = err.Error()
	}
	s.pub.RLock()
	defer s.pub.RUnlock()
	for id, p := range s.pub.byID {
		why := p.info.UnsyncedWhy
		if why == "" && p.why != nil {
			why = p.why.Error()
		}
		if why != "" {
			if h.Unreadable == nil {
				h.Unreadable = map[string]string{}
			}
			h.Unreadable[id] = why
		}
	}
	return h, nil
}

// Crash is a known way in which tmux itself dies, with all panes.
type Crash struct {
	Issue   string // of tmux
	When    string
	Control bool // only while a control client is attached
	Quiet   bool // we avoid it ourselves; nobody has to do anything
	from    [2]int
	fixed   [2]int // first version without it; 0 = none yet
}

// Fixed is the first version without it, as "3.6"; "" = none yet.
func (c Crash) Fixed() string {
	if c.fixed[0] == 0 {
		return ""
	}
	return fmt.Sprintf("%d.%d", c.fixed[0], c.fixed[1])
}

// crashes were reproduced, or read in tmux's source, with the versions that
// they name.
var crashes = []Crash{
	{Issue: "5243", When: "a session dies in the moment in which its current window changed (all programs of a session with several windows are killed at once)", Control: true, fixed: [2]int{3, 8}},
	{Issue: "4980", When: "something is announced while a control client is half attached", Control: true, Quiet: true, fixed: [2]int{3, 8}},
	{Issue: "5499", When: "a pane is respawned (respawn-pane, respawn-window) while it writes: a control client has not taken all of it yet", Control: true, fixed: [2]int{3, 8}},
	{Issue: "5444", When: "several control clients leave at once while panes write", Control: true, Quiet: true, fixed: [2]int{3, 8}},
	{Issue: "5551", When: "a second popup opens on a control client", Control: true, Quiet: true, from: [2]int{3, 6}},
	{Issue: "4562", When: "a pane's width changes while it has an empty line that counts as wrapped: a wide character in a pane of one column, or what a program wrote", fixed: [2]int{3, 6}},
	// Our own clients neither attach there nor leave in that way (focus.go,
	// controlmode/relay.go); what others do beside them can't be kept away.
	{Issue: "3776", When: "your client attaches to a session, or is the last to leave it, whose active pane is dead (remain-on-exit) and whose program had asked for focus events; akk's clients keep away", fixed: [2]int{3, 5}},
	{Issue: "3776", When: "a dead pane whose program had asked for focus events becomes the active one when its neighbour is closed, or, with focus-events on, is selected or left", Control: true, fixed: [2]int{3, 5}},
	{Issue: "window-size", When: "a window is made while window-size is manual for all windows", from: [2]int{3, 3}, fixed: [2]int{3, 4}},
}

// KnownCrashes lists those of a version that a transport is exposed to.
func KnownCrashes(version string, t Transport) []Crash {
	var out []Crash
	for _, c := range crashes {
		if c.Control && t == Pipe || !atLeast(version, c.from[0], c.from[1]) || c.fixed[0] != 0 && atLeast(version, c.fixed[0], c.fixed[1]) {
			continue
		}
		out = append(out, c)
	}
	return out
}
