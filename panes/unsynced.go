package panes

import (
	"strings"
	"time"
)

// This file tells of a mirror that can't follow its pane. Rule: a screen that
// may be old is never taken for what the pane shows now: Info says since when
// and why, and whoever reads the screen has to ask it.

// unsyncedGrace is how long a mirror may be between two syncs until that is
// told: a sync takes milliseconds, seconds on a machine that is short of CPU,
// and a client that was thrown out comes back after backoffMin.
const unsyncedGrace = 3 * time.Second

// doubt notes that the mirror follows no more, or not yet.
func (m *mirror) doubt() {
	if !m.doubted.IsZero() {
		return
	}
	at := time.Now()
	m.doubted = at
	m.s.after(unsyncedGrace, func() {
		if m.s.mirrors[m.id] == m && m.doubted.Equal(at) {
			m.tellUnsynced()
		}
	})
}

// tellUnsynced makes it known. A pane whose program has ended shows its last
// screen for ever: nothing is unknown there.
func (m *mirror) tellUnsynced() {
	if m.doubted.IsZero() || m.info.Dead || m.s.gone {
		return
	}
	since, why := m.doubted.UTC().Round(0), m.unsyncedWhy()
	if m.info.Unsynced.Equal(since) && m.info.UnsyncedWhy == why {
		return
	}
	m.info.Unsynced, m.info.UnsyncedWhy = since, why
	m.s.log.Info("pane is not mirrored", "pane", m.id, "since", since, "why", why)
	m.republish()
}

// unsyncedWhy is the reason in words, with the cure behind "; ".
func (m *mirror) unsyncedWhy() string {
	if m.why != nil {
		why := strings.TrimPrefix(m.why.Error(), ErrNotSynced.Error()+": ")
		return strings.ReplaceAll(why, "-t PANE", "-t "+m.id)
	}
	if m.differs != "" {
		return "it differs from tmux's own screen even after a new sync (" + m.differs + "); nothing is typed there: keep akk's log and report it"
	}
	const cure = "; try again in a moment, and if it stays so run akk doctor"
	switch b := m.s.barred.bars[m.info.SessionID]; {
	case m.barred():
		return "no client of akk's may attach to session \"" + strings.ReplaceAll(m.info.SessionName, ";", ",") + "\": its active pane " + b.pane + " is dead, and tmux " + m.s.version +
			" can end, with all sessions, when any client attaches there (tmux 3776); close that pane (tmux kill-pane -t " + b.pane + ") or respawn it (tmux respawn-pane -t " + b.pane + ")"
	case m.feeder == nil || m.feeder.lost:
		return "no client of akk's is attached to its session" + cure
	case m.cause != nil:
		return "tmux's answer to a new sync could not be used (" + strings.ReplaceAll(m.cause.Error(), "; ", ", ") + ")" + cure
	}
	return "tmux has not answered a new sync yet" + cure
}

// synced is the end of doubt.
func (m *mirror) synced() {
	m.cause = nil
	if m.differs != "" {
		return // until an audit agrees
	}
	m.doubted = time.Time{}
	if m.info.Unsynced.IsZero() {
		return
	}
	m.info.Unsynced, m.info.UnsyncedWhy = time.Time{}, ""
	m.republish()
}

// disagrees is told at once: the mirror is live, and known to be wrong.
func (m *mirror) disagrees(diff string) {
	place, _, _ := strings.Cut(diff, ":") // the rest may quote the screen
	if m.doubted.IsZero() {
		m.doubted = time.Now()
	}
	m.differs = place
	m.tellUnsynced()
}

// agrees ends that.
func (m *mirror) agrees() {
	if m.differs != "" {
		m.differs = ""
		m.synced()
	}
}

// republish tells what is known of the pane ahead of the next list.
func (m *mirror) republish() {
	s := m.s
	s.pub.Lock()
	if p := s.pub.byID[m.id]; p != nil {
		p.info = m.info
	}
	for i := range s.pub.panes {
		if s.pub.panes[i].Pane == m.id {
			s.pub.panes[i] = m.info
		}
	}
	s.pub.Unlock()
	s.tell(m.news())
}

// unread refuses to type into a pane that can't be read: no proof about it
// would hold.
func (m *mirror) unread() *Refused {
	return &Refused{"unread", "the pane can't be read: " + m.unsyncedWhy()}
}
