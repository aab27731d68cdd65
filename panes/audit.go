package panes

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"akk/controlmode"
	"akk/vtparse"
)

// This file proves a mirror before somebody relies on it: a capture and the
// cursor, compared at their place in the stream, at the end of a frame. An
// answer that was overtaken by output proves nothing either way (over pipes
// neither does one that came ahead of it: see pipe_order.go); after the
// third true mismatch the pane is seeded again, which is exact by itself; if it
// is not, that is told and no reading rests on it.

// maxMismatch is how often an audit may differ before the pane is seeded
// again: a string that tmux gives up a moment before us differs once or twice.
const maxMismatch = 3

// AuditCount counts the audits of a server and what they found.
type AuditCount struct {
	Audits     int // comparisons that were conclusive
	Standing   int // of these, those that nobody asked for: see standing.go
	Moved      int // answers that output overtook
	Mismatches int
	Reseeds    int
}

// audit is one proof on its way.
type audit struct {
	m        *mirror
	ctx      context.Context
	standing bool // nobody waits: a half frame is compared too
	bad      int
	seeds    int // that it caused
	done     func(*vtparse.Screen, error)
}

// again goes on with an audit that waited, or ends it for err.
func (a *audit) again(err error) {
	if err != nil {
		a.done(nil, err)
		return
	}
	a.m.s.audit(a)
}

// Audit implements Provider.
func (s *Server) Audit(ctx context.Context, id string) (*vtparse.Screen, error) {
	scr, err := call(ctx, s, func(done func(*vtparse.Screen, error)) {
		m := s.mirrors[id]
		if m == nil {
			done(nil, ErrNoPane)
			return
		}
		s.audit(&audit{m: m, ctx: ctx, done: done})
	})
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, ErrMoving
	}
	return scr, err
}

func (s *Server) audit(a *audit) {
	m := a.m
	if a.ctx.Err() != nil {
		a.done(nil, ErrMoving)
		return
	}
	again := a.again
	wait := func() { m.waiters = append(m.waiters, again) }
	if m.state != live {
		if m.state == unsynced {
			s.seed(m)
		}
		wait()
		return
	}
	if m.torn && !a.standing || m.frame || m.timing && time.Since(m.last) < frameDelay {
		wait() // a half frame is no proof
		return
	}
	c := m.feeder
	if c == nil || c.lost {
		m.stale()
		wait()
		return
	}
	if m.dirty {
		m.show(false) // so that the frame's end is looked for
		wait()
		return
	}
	seen := m.seen
	line := "display-message -p -t " + m.id + " '#{pane_height} #{cursor_x} #{cursor_y} #{pane_width}' ; capture-pane -p -e -N -t " + m.id
	c.do(controlmode.Command{Line: line, Blocks: 2, Count: auditLines, Plain: 1}, func(r []controlmode.Reply, err error) {
		switch {
		case s.gone:
			a.done(nil, ErrServerGone)
			return
		case err != nil:
			a.done(nil, refusal(err))
			return
		case m.state != live || s.mirrors[m.id] != m:
			again(nil)
			return
		}
		scr := m.term.Screen()
		diff := compare(scr, r)
		if diff == "" {
			s.audits.count(a)
			m.proven = scr
			m.agrees()
			if scr.Torn && !a.standing {
				again(nil)
				return
			}
			a.done(scr, nil)
			return
		}
		if s.pipe == nil || m.seen != seen {
			s.differs(a, diff, m.seen != seen)
			return
		}
		s.pipe.caughtUp(m, func(yes bool) {
			switch {
			case s.gone:
				a.done(nil, ErrServerGone)
			case m.state != live || s.mirrors[m.id] != m:
				again(nil)
			default:
				s.differs(a, diff, !yes || m.seen != seen)
			}
		})
	})
}

// differs takes a difference in; moved says that it proves nothing. The audit
// is done once more at the next frame's end.
func (s *Server) differs(a *audit, diff string, moved bool) {
	m := a.m
	if moved {
		s.audits.Moved++
	} else {
		s.audits.count(a)
		s.audits.Mismatches++
		a.bad++
		s.log.Info("mirror differs", "pane", m.id, "diff", diff, "try", a.bad)
	}
	if a.bad >= maxMismatch {
		a.bad = 0
		if a.seeds++; a.seeds > 1 {
			m.disagrees(diff)
			if a.standing { // nobody waits: it is looked at again later
				a.done(nil, ErrMoving)
				return
			}
		}
		s.audits.Reseeds++
		s.seed(m)
	}
	m.waiters = append(m.waiters, a.again)
	if !m.timing && m.state == live {
		m.timing = true
		s.after(frameDelay, m.quiet)
	}
}

func (c *AuditCount) count(a *audit) {
	c.Audits++
	if a.standing {
		c.Standing++
	}
}

// auditLines: no screen can end its own block.
func auditLines(i int, before []controlmode.Reply) int {
	if i == 0 {
		return 1
	}
	h, _, _ := strings.Cut(before[0].Text(), " ")
	if n, err := strconv.Atoi(h); err == nil {
		return n
	}
	return -1
}

// compare tells the first difference; "" is none.
func compare(scr *vtparse.Screen, r []controlmode.Reply) string {
	var f [4]int
	for i, v := range strings.Fields(r[0].Text()) {
		if i < len(f) {
			f[i], _ = strconv.Atoi(v)
		}
	}
	if scr.Rows != f[0] || scr.Cols != f[3] {
		return fmt.Sprintf("size: tmux %dx%d, mirror %dx%d", f[3], f[0], scr.Cols, scr.Rows)
	}
	diff, equal := scr.Mismatch(lines(r[1]), f[1], f[2])
	if equal {
		return ""
	}
	return diff
}

// Audits tells what was found so far; for doctor.
func (s *Server) Audits(ctx context.Context) (AuditCount, error) {
	return call(ctx, s, func(done func(AuditCount, error)) { done(s.audits, nil) })
}
