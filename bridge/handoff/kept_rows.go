package handoff

// This file keeps the rows of terminals at rest. It upholds: a kept row is byte
// for byte what would be drawn now. It is kept only while everything that it
// is made of is the same: the view, what the caller may do, the Session that
// could be detached; from when no clock can change it any more, until one does.

import (
	"slices"
	"sync"
	"time"

	"akk/bridge/rpc"
)

const (
	// rowRests is after how long without a new view no predicate of a row waits
	// for time to pass, but for a human's typing (typingQuiet) and for a hard
	// limit (view.restsUntil): the longest such wait is workingQuiet.
	rowRests = 2 * workingQuiet
	// keptMax bounds the kinds of callers that a row is kept for.
	keptMax = 8
)

// keptFor is what a row depends on beside its view.
type keptFor struct {
	kind, terminal, session string // of the caller; session only where a Turn is shown
	inPane                  bool
	agent                   int    // the process of the agent that it runs under, while its terminal is not known
	stale                   string // the Session that reconcile_binding would detach
}

type keptRow struct {
	row      rpc.Row
	explicit bool      // it offers an explicit send
	until    time.Time // when a clock changes it, zero = never
}

// keptRows are the rows of one view and its screen as a status shows it. Safe
// for any goroutine.
type keptRows struct {
	mu     sync.Mutex
	rows   map[keptFor]*keptRow
	status *rpc.TerminalStatus
}

// screen returns what draw makes of the view, which does not change.
func (r *keptRows) screen(draw func() rpc.TerminalStatus) rpc.TerminalStatus {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.status == nil {
		st := draw()
		r.status = &st
	}
	return *r.status
}

// rowOf is row for who looks often: what rests is drawn, and written down, once.
func (d *Desk) rowOf(v *view, c rpc.Caller) rpc.Row {
	if k := d.keptRow(v, c); k != nil {
		return k.row
	}
	return d.row(v, c)
}

// rowsOf is rowOf of each. Nobody changes them: as long as all rest, they are the
// same ones.
func (d *Desk) rowsOf(views []*view, c rpc.Caller) []rpc.Row {
	kept, rest := make([]*keptRow, len(views)), true
	for i, v := range views {
		kept[i] = d.keptRow(v, c)
		rest = rest && kept[i] != nil
	}
	if last := d.resting.Load(); rest && last != nil && slices.Equal(last.kept, kept) {
		return last.rows
	}
	rows := make([]rpc.Row, len(views))
	for i, v := range views {
		if k := kept[i]; k != nil {
			rows[i] = k.row
		} else {
			rows[i] = d.row(v, c)
		}
	}
	if rest {
		d.resting.Store(&restingList{kept, rows})
	}
	return rows
}

// restingList is the newest list of terminals that all rest.
type restingList struct {
	kept []*keptRow
	rows []rpc.Row
}

// keptRow is the row of a view that rests, nil of one that doesn't.
func (d *Desk) keptRow(v *view, c rpc.Caller) *keptRow {
	now := d.now()
	if now.Sub(v.at) < rowRests || now.Sub(v.TypedAt) < typingQuiet {
		return nil
	}
	k := keptFor{kind: c.Kind, terminal: c.TerminalID, inPane: c.InPane, agent: c.AgentPID}
	if v.session != nil || v.current != nil || v.recent != nil || v.Running != nil || v.Handoff != nil {
		k.session = c.Session
	}
	if stale := d.reconcilable(v); len(stale) == 1 {
		for k.stale = range stale {
		}
	}
	if r := v.rows.get(k); r != nil && (r.until.IsZero() || now.Before(r.until)) {
		d.offers.show(c, v.id, r.explicit, now)
		return r
	}
	row := d.row(v, c)
	row.WriteDown()
	r := &keptRow{row, row.AvailableActions["send"].Scope == scopeExplicit, v.restsUntil(now)}
	v.rows.put(k, r)
	return r
}

// restsUntil is when the clock alone changes the row of a view at rest, zero =
// never: from its hard limit on a stalled Turn offers no renew any more. A view
// is published then, but not in the same nanosecond.
func (v *view) restsUntil(now time.Time) (until time.Time) {
	for _, t := range []*Turn{v.current, v.recent} {
		if t != nil && t.StalledAt != nil && t.HardAt != nil && now.Before(*t.HardAt) && (until.IsZero() || t.HardAt.Before(until)) {
			until = *t.HardAt
		}
	}
	return until
}

// get returns what is kept, nil if nothing is. Nobody changes it.
func (r *keptRows) get(k keptFor) *keptRow {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rows[k]
}

func (r *keptRows) put(k keptFor, row *keptRow) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rows == nil || len(r.rows) >= keptMax {
		r.rows = map[keptFor]*keptRow{}
	}
	r.rows[k] = row
}
