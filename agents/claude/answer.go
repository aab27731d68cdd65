package claude

import "akk/agents"

// This file tells how a dialog is answered. Rule: the running version's own
// certified profile, or no key at all.

var _ agents.Answerer = Agent{}

// Answer implements agents.Answerer. The agent drops keys that come with a
// dialog's first frame, so the plan says how long it must have stood.
func (ag Agent) Answer(version string, d *agents.Dialog, a agents.Answer) (agents.KeyPlan, error) {
	p, verification := ag.known().profiles.For(version)
	plan, err := agents.Plan(d, a, p.Keys, verification)
	if err == nil {
		plan.Still = p.Dialog.StillMillis
	}
	return plan, err
}
