package claude

import "akk/agents"

// This file reads a transcript from an anchor on, see agents.Anchor.

var _ agents.Anchored = Agent{}

// EventsFrom implements agents.Anchored. Lines of one flush may be out of order:
// what is held back for a line that has not come is read again from the anchor.
func (Agent) EventsFrom(a agents.Anchor) ([]agents.LogEvent, agents.Anchor, error) {
	t, err := agents.OpenTailAt(a)
	if err != nil {
		return nil, a, err
	}
	defer t.Close()
	var batch []record
	if err := t.Poll(func(text []byte, end int64) {
		if r := parseLine(text, end); r.kind != recNone {
			batch = append(batch, r)
		}
	}); err != nil {
		return nil, a, err
	}
	s := turns{session: a.SessionID}
	out := s.take(batch)
	next, err := t.Anchor()
	next.SessionID = a.SessionID
	return out, next, err
}
