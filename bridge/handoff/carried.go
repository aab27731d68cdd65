package handoff

// This file keeps the Turns that a terminal follows: the newest, and those
// before it that have not ended (a task sent into a running one leaves it
// running). It upholds: one user message of the log is one Turn's.

import (
	"slices"

	"akk/agents"
)

// maxOlder bounds the Turns before the newest; what is beyond stays in the
// store as it is.
const maxOlder = 8

// carried is one dispatch with its Session and its waiters.
type carried struct {
	disp    *Dispatch
	live    *liveTurn
	session Session
}

// following is what the terminal follows, newest first.
func (t *terminal) following() []*carried {
	if t.cur == nil {
		return nil
	}
	out := []*carried{t.cur}
	for _, c := range slices.Backward(t.older) {
		out = append(out, c)
	}
	return out
}

// carries returns the dispatch of a Turn, nil if it is not followed.
func (t *terminal) carries(turn string) *carried {
	for _, c := range t.following() {
		if c.disp.Turn.ID == turn {
			return c
		}
	}
	return nil
}

// push makes c the newest; of those before it only what may still hear from
// the log is kept.
func (t *terminal) push(c *carried) {
	if old := t.cur; old != nil {
		if turn := old.disp.Turn; !turn.open() {
			t.recent = &turn
		}
		t.older = append(t.older, old)
	}
	t.cur = c
	t.prune()
}

// prune leaves out what is done.
func (t *terminal) prune() {
	t.older = slices.DeleteFunc(t.older, func(c *carried) bool { return c.disp.Phase == PhaseDone })
	if n := len(t.older) - maxOlder; n > 0 {
		t.older = slices.Delete(t.older, 0, n)
	}
}

// openTurn is the newest Turn that has not ended, nil if there is none.
func (t *terminal) openTurn() *Turn {
	for _, c := range t.following() {
		if c.disp.Turn.open() {
			return &c.disp.Turn
		}
	}
	return nil
}

// step tells every Turn what happened. A user message that the newer one takes
// is not offered to the older.
func (t *terminal) step(e Event) {
	for _, c := range t.following() {
		before := c.disp.Turn.AcceptedAt
		t.stepOne(c, e)
		if e.Kind == EvLog && before == nil && c.disp.Turn.AcceptedAt != nil {
			e.Logs = without(e.Logs, c.disp)
		}
	}
	t.prune()
}

// without leaves out the user message that d was accepted with.
func without(logs []agents.LogEvent, d *Dispatch) []agents.LogEvent {
	for i, l := range logs {
		if l.Kind == agents.LogAccepted && (l.Hash == d.Turn.Hash || l.Hash == d.Turn.AltHash) {
			return slices.Delete(slices.Clone(logs), i, i+1)
		}
	}
	return logs
}
