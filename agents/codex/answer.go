package codex

import "akk/agents"

// This file tells how a dialog is answered. Rule: the running version's own
// certified profile, or no key at all.

var _ agents.Answerer = Agent{}

// Answer implements agents.Answerer.
func (ag Agent) Answer(version string, d *agents.Dialog, a agents.Answer) (agents.KeyPlan, error) {
	p, verification := ag.profiles().For(version)
	return agents.Plan(d, a, p.Keys, verification)
}
