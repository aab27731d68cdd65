package handoff

// This file says what an agent asks for on its screen, as far as somebody has
// to be told. It upholds R136: one question is one question, however often its
// screen is drawn, and its text is kept as a digest only (R226).

import (
	"akk/agents"
	"akk/bridge/outbox"
)

// Question kinds.
const (
	askApproval    = "approval"
	askInteraction = "interaction"
)

// ask is one question of the agent. It lives in memory; a record keeps its key.
type ask struct {
	// Key stays the same while the same question stands, whatever row is marked
	// and however it is wrapped.
	Key string
	// Print is the digest of the exact region, unredacted (R136).
	Print  string
	Kind   string
	Async  bool          // the agent works on meanwhile
	Dialog agents.Dialog // redacted: it is what is told
}

// asked returns the question of a reading, nil when there is none. A dialog of
// which rows are missing is one too: it waits for a human all the same.
func asked(r agents.Reading) *ask {
	d := r.Dialog
	if d == nil && r.Activity == agents.Blocked {
		d = &agents.Dialog{Kind: "unknown"}
	}
	if d == nil || r.Activity != agents.Blocked && !d.Async {
		return nil
	}
	r.Dialog = d
	a := &ask{Kind: askApproval, Async: d.Async, Dialog: *publicReading(r).Dialog}
	switch r.Owner {
	case agents.OwnerQuestionnaire, agents.OwnerEditor:
		a.Kind = askInteraction
	}
	switch d.Kind {
	case "question", "multi_question", "free_text", "confirm", "elicitation":
		a.Kind = askInteraction
	}
	same := *d
	same.Top, same.Bottom, same.Selected, same.Fingerprint, same.Clipped = 0, 0, nil, "", false
	same.Options = nil
	for _, o := range d.Options {
		o.Checked = false
		same.Options = append(same.Options, o)
	}
	a.Key = outbox.Digest(same)
	a.Print = d.Fingerprint
	if a.Print == "" {
		a.Print = a.Key
	}
	return a
}
