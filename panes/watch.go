package panes

import (
	"context"
	"time"
)

// This file learns what tmux does not announce: the end of a pane's process, a
// respawn, another program, another directory, a mark on a pane. Rule: no
// subscription (refresh-client -B). Its timer runs over the windows of the
// client's session, which is NULL while a killed session's client leaves, and
// then the whole server dies with it (measured on 3.3a: 2 crashes in 60
// kill-session with a subscription to %*, none in 63 without). So the kernel is
// asked instead, after something happened.

const (
	// lookGap is how long after output a pane's program is looked at.
	lookGap = 250 * time.Millisecond
	// lookMost is how often at least while it goes on writing: a program that
	// streams is the same program, and a look costs more than a screen.
	lookMost = 3 * time.Second
)

// relisting is when the list is read again after a pane appeared (its creator
// marks it afterwards) or its process ended (tmux hears of it by itself).
var relisting = []time.Duration{50 * time.Millisecond, 300 * time.Millisecond, 1500 * time.Millisecond}

// relistSoon reads the list now and some times more.
func (s *Server) relistSoon() {
	s.changed()
	for _, d := range relisting {
		s.after(d, s.changed)
	}
}

// watchProcess waits for the end of the pane's process.
func (m *mirror) watchProcess(pid int) {
	if m.unwatch != nil {
		m.unwatch()
	}
	ctx, cancel := context.WithCancel(m.s.life)
	m.unwatch = cancel
	if pid <= 0 {
		return
	}
	m.s.background.Go(func() {
		if processEnd(ctx, pid) {
			m.s.post(func() {
				if !m.s.gone {
					m.s.relistSoon()
				}
			})
		}
	})
}

// look compares the program and its directory with what they were; it is
// called at frame ends and looks a little later.
func (m *mirror) look() {
	if m.looking {
		return
	}
	m.looking = true
	if now := time.Now(); now.Sub(m.looked) > lookGap {
		m.lookGap = lookGap // it was silent
	}
	m.s.afterAbout(m.lookGap, func() {
		m.looking = false
		if m.s.mirrors[m.id] != m {
			return
		}
		m.looked, m.lookGap = time.Now(), min(2*m.lookGap, lookMost)
		if now := foreground(m.info.PanePID); now != m.program {
			m.program, m.lookGap = now, lookGap
			m.s.changed()
		}
	})
}
