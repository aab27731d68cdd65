package panes

import "time"

// This file keeps our clients off a session whose active pane is dead, with a
// tmux that ends of such an attaching (quirks.deadFocus, tmux 3776): the dead
// pane's program may have asked for focus events, and the server writes one to
// where the program was. The server itself tests and attaches in one go
// (controlmode.Config.SkipDead). Meanwhile the session's panes are told as not
// mirrored, with the cure. Everything here runs on the loop.

// barredRetry is when such a session is tried again without a sign: without a
// client of ours there nothing tells of a pane that is closed or respawned.
const barredRetry = 5 * time.Second

// barred are the sessions that no client may attach to, by id.
type barred struct {
	bars map[string]*bar
	lone *session // commands without a client, as long as there is none
}

type bar struct {
	pane  string    // the dead one
	tried time.Time // the newest try
	wait  bool      // no try before barredRetry is over, or a sign came
}

// waits tells whether a session is not to be tried now.
func (b *barred) waits(id string) bool { return b.bars[id] != nil && b.bars[id].wait }

// barred tells whether that is why the mirror has no client.
func (m *mirror) barred() bool {
	return (m.feeder == nil || m.feeder.lost) && m.s.barred.bars[m.info.SessionID] != nil
}

// bar notes that tmux did not attach to a session, and tries again later.
func (s *Server) bar(id, pane string) {
	b := s.barred.bars[id]
	news := b == nil || b.pane != pane
	if b == nil {
		b = &bar{}
		if s.barred.bars == nil {
			s.barred.bars = map[string]*bar{}
		}
		s.barred.bars[id] = b
	}
	at := time.Now()
	b.pane, b.tried, b.wait = pane, at, true
	s.after(barredRetry, func() {
		if b.tried.Equal(at) {
			s.tryBarred(id)
		}
	})
	if news {
		s.log.Info("session is not attached to: its active pane is dead, and this tmux would end (tmux 3776)", "session", id, "pane", pane)
		s.changed() // its panes are told
	}
}

// tryBarred tries a session again.
func (s *Server) tryBarred(id string) {
	if b := s.barred.bars[id]; b != nil && b.wait {
		b.wait = false
		s.attach(id)
	}
}

// tryAlive tries those that a list shows no dead pane of. dead has the others.
func (s *Server) tryAlive(dead map[string]bool) {
	for id := range s.barred.bars {
		if isDead, listed := dead[id]; listed && !isDead {
			s.tryBarred(id)
		}
	}
}

// unbar is the end of it.
func (s *Server) unbar(id string) {
	if s.barred.bars[id] == nil {
		return
	}
	delete(s.barred.bars, id)
	s.log.Info("session is attached to again", "session", id)
}

// withoutClient is how commands go out while all sessions are barred: a tmux
// process for each. nil: not needed.
func (s *Server) withoutClient() *session {
	if len(s.barred.bars) == 0 || s.starting != nil || len(s.wanted) > 0 || s.pipe != nil {
		return nil // a client may come in a moment
	}
	if s.barred.lone == nil {
		s.barred.lone = &session{s: s, id: "none", client: newRunner(s), ready: true}
	}
	return s.barred.lone
}
