package codex

import (
	"time"

	"akk/agents"
)

// This file reads a rollout from an anchor on, see agents.Anchor.

var _ agents.Anchored = Agent{}

// EventsFrom implements agents.Anchored.
func (Agent) EventsFrom(a agents.Anchor) ([]agents.LogEvent, agents.Anchor, error) {
	t, err := agents.OpenTailAt(a)
	if err != nil {
		return nil, a, err
	}
	defer t.Close()
	f := follow{tail: t, sum: newRollout(a.Path, time.Time{})}
	f.sum.state.SessionID = a.SessionID
	out, err := f.poll()
	if err != nil {
		return out, a, err
	}
	next, err := t.Anchor()
	next.SessionID = f.sum.state.SessionID
	return out, next, err
}
