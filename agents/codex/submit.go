package codex

import (
	"maps"

	"akk/agents"
)

// This file tells how a text is sent. Rule: a bracketed paste, then the draft
// on the screen, then Enter (facts: Enter within a burst is taken as text).

// Submit implements agents.Agent.
func (ag Agent) Submit(version string) agents.SubmitPlan {
	p, verification := ag.profiles().For(version)
	var clear agents.ClearPlan
	if verification == agents.Certified { // what a key clears was measured for a version, not for its neighbours
		clear = p.Submit.Clear
	}
	interrupt := p.Submit.Interrupt
	interrupt.Shows = p.Composer.Interrupt
	return agents.SubmitPlan{
		Clear:         clear,
		Interrupt:     interrupt,
		SettleMillis:  p.Submit.SettleMillis,
		DrawMillis:    p.Submit.DrawMillis,
		AcceptMillis:  p.Submit.AcceptMillis,
		Enter:         p.Submit.Enter,
		Refuse:        maps.Clone(p.Submit.Refuse),
		CollapseChars: p.Submit.CollapseChars,
	}
}
