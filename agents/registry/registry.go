// Package registry is the one list of the agents that akk knows. It exists so
// that agents need not import its own implementations.
package registry

import (
	"akk/agents"
	"akk/agents/claude"
	"akk/agents/codex"
)

var all = []agents.Agent{codex.Agent{}, claude.Agent{}}

// All returns every known agent.
func All() []agents.Agent {
	if load := own.Load(); load != nil {
		list, _ := (*load)()
		return list
	}
	return all
}

// For returns the agent of that kind, nil if akk knows none.
func For(k agents.Kind) agents.Agent {
	for _, a := range All() {
		if a.Kind() == k {
			return a
		}
	}
	return nil
}
