package panes

import (
	"context"
	"time"

	"akk/vtparse"
)

// This file holds the standing audit: the one check that nobody asks for, of a
// pane that changed, once it is quiet. What tmux can't tell a seed (the pen, a
// saved cursor, a charset) may make a mirror differ later; here that ends.

const (
	// auditQuiet is how long a changed pane must be silent.
	auditQuiet = 300 * time.Millisecond
	// auditGap is the least time between two standing audits of a pane, so that
	// 200 blinking panes cost 40 captures a second, not 600.
	auditGap = 5 * time.Second
	// auditLatest is when a pane that is never silent is audited at a frame's end.
	auditLatest = 30 * time.Second
)

// standBy sees to it that what the pane shows is audited in time. It is called
// at frame ends.
func (m *mirror) standBy() {
	if m.standing || m.screen == m.proven {
		return
	}
	m.standing, m.changed = true, time.Now()
	m.s.afterAbout(max(auditQuiet, time.Until(m.stood.Add(auditGap))), m.stand)
}

func (m *mirror) stand() {
	s := m.s
	if s.mirrors[m.id] != m || s.gone {
		return
	}
	if m.state != live || m.screen == m.proven {
		m.standing = false // a seed ends in a frame's end
		return
	}
	now := time.Now()
	if rest := auditQuiet - now.Sub(m.last); rest > 0 && now.Sub(m.changed) < auditLatest {
		s.afterAbout(rest, m.stand)
		return
	}
	m.stood = now
	s.audit(&audit{m: m, ctx: s.life, standing: true, done: func(*vtparse.Screen, error) {
		m.standing = false
		m.standBy()
	}})
}

// Proven tells whether the newest screen of a pane was found equal to the
// server's own. A pane that has just written is not, for a moment.
func (s *Server) Proven(ctx context.Context, id string) (bool, error) {
	return call(ctx, s, func(done func(bool, error)) {
		m := s.mirrors[id]
		if m == nil {
			done(false, ErrNoPane)
			return
		}
		done(m.state == live && !m.dirty && m.screen == m.proven, nil)
	})
}
