package panes

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"akk/controlmode"
	"akk/vtparse"
)

// This file proves a mirror before somebody relies on it: a capture and the
// cursor, compared at their place in the stream, at the end of a frame. After
// the third mismatch the pane is seeded again, which is exact by itself.

// maxMismatch is how often an audit may differ before the pane is seeded
// again: once can be an answer overtaken by output.
const maxMismatch = 3

// AuditCount counts the audits of a server and what they found.
type AuditCount struct{ Audits, Mismatches, Reseeds int }

// Audit implements Provider.
func (s *Server) Audit(ctx context.Context, id string) (*vtparse.Screen, error) {
	scr, err := call(ctx, s, func(done func(*vtparse.Screen, error)) {
		m := s.mirrors[id]
		if m == nil {
			done(nil, ErrNoPane)
			return
		}
		s.audit(ctx, m, 0, done)
	})
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, ErrMoving
	}
	return scr, err
}

func (s *Server) audit(ctx context.Context, m *mirror, bad int, done func(*vtparse.Screen, error)) {
	if ctx.Err() != nil {
		done(nil, ErrMoving)
		return
	}
	again := func(err error) {
		if err != nil {
			done(nil, err)
			return
		}
		s.audit(ctx, m, bad, done)
	}
	if m.state != live {
		if m.state == unsynced {
			s.seed(m)
		}
		m.waiters = append(m.waiters, again)
		return
	}
	if m.torn || m.frame || m.timing && time.Since(m.last) < frameDelay {
		m.waiters = append(m.waiters, again) // a half frame is no proof
		return
	}
	c := m.feeder
	if c == nil || c.lost {
		m.stale()
		m.waiters = append(m.waiters, again)
		return
	}
	if m.dirty {
		m.show() // so that the frame's end is looked for
		m.waiters = append(m.waiters, again)
		return
	}
	line := "display-message -p -t " + m.id + " '#{pane_height} #{cursor_x} #{cursor_y} #{pane_width}' ; capture-pane -p -e -N -t " + m.id
	count := func(i int, before []controlmode.Reply) int {
		if i == 0 {
			return 1
		}
		h, _, _ := strings.Cut(before[0].Text(), " ")
		if n, err := strconv.Atoi(h); err == nil {
			return n
		}
		return -1
	}
	c.do(controlmode.Command{Line: line, Blocks: 2, Count: count}, func(r []controlmode.Reply, err error) {
		switch {
		case s.gone:
			done(nil, ErrServerGone)
			return
		case err != nil:
			done(nil, refusal(err))
			return
		case m.state != live || s.mirrors[m.id] != m:
			again(nil)
			return
		}
		var f [4]int
		for i, v := range strings.Fields(r[0].Text()) {
			if i < len(f) {
				f[i], _ = strconv.Atoi(v)
			}
		}
		s.audits.Audits++
		scr := m.term.Screen()
		diff, equal := "size", false
		if scr.Rows == f[0] && scr.Cols == f[3] {
			diff, equal = scr.Mismatch(lines(r[1]), f[1], f[2])
		}
		if equal {
			if scr.Torn {
				again(nil)
				return
			}
			done(scr, nil)
			return
		}
		s.audits.Mismatches++
		s.log.Info("mirror differs", "pane", m.id, "diff", diff, "try", bad+1)
		bad++
		if bad >= maxMismatch {
			bad = 0
			s.audits.Reseeds++
			s.seed(m)
		}
		// Once more when the pane is quiet: the answer may have been overtaken.
		m.waiters = append(m.waiters, again)
		if !m.timing && m.state == live {
			m.timing = true
			s.after(frameDelay, m.quiet)
		}
	})
}

// Audits tells what was found so far; for doctor.
func (s *Server) Audits(ctx context.Context) (AuditCount, error) {
	return call(ctx, s, func(done func(AuditCount, error)) { done(s.audits, nil) })
}
