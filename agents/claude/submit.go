package claude

import (
	"maps"

	"akk/agents"
)

// Submit is how this version takes a task: a bracketed paste, the draft seen,
// Enter. Times in ms from the version's profile.
func (ag Agent) Submit(version string) agents.SubmitPlan {
	p, _ := ag.known().profiles.For(version)
	s := p.Submit
	if busy := ag.known().wordsOf(p).Activity.Busy; len(busy) > 0 {
		s.Interrupt.Shows = busy[0]
	}
	return agents.SubmitPlan{
		SettleMillis: s.SettleMillis, DrawMillis: s.DrawMillis, AcceptMillis: s.AcceptMillis, Enter: s.Enter,
		Refuse: maps.Clone(s.Refuse), Interrupt: s.Interrupt, CollapseChars: s.CollapseChars, CollapseLines: s.CollapseLines,
	}
}
