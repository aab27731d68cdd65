package codex

import (
	"strings"

	"akk/agents"
)

// This file takes a command from the rollout where the screen cuts it. Rule:
// only if what the screen does show is how it begins.

// leastShown is how many characters of a command must be on the screen to
// recognise it.
const leastShown = 8

// cutCommand is the pending command whose head stands in the rows from top on,
// above the row that says how much is left out; "" if there is none.
func (f *frame) cutCommand(top, cut int) string {
	l := f.in.Log
	if top < 0 || l == nil || l.Pending == nil {
		return ""
	}
	shown := squeeze(agents.RowText(f.s.Row(top), 4))
	for y := top + 1; y < cut; y++ {
		shown += squeeze(agents.RowText(f.s.Row(y), 2))
	}
	if len(shown) < leastShown || !strings.HasPrefix(squeeze(l.Pending.Detail), shown) {
		return ""
	}
	f.why("log", "the command of the pending call begins as the screen shows", top)
	return l.Pending.Detail
}
