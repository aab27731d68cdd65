package codex

import "akk/agents"

// Agent implements agents.Agent.
type Agent struct{}

var _ agents.Agent = Agent{}

// Kind is agents.Codex.
func (Agent) Kind() agents.Kind { return agents.Codex }
