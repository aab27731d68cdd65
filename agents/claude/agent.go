package claude

import "akk/agents"

// Agent implements agents.Agent for Claude Code. It has no state.
type Agent struct{}

// Kind is agents.Claude.
func (Agent) Kind() agents.Kind { return agents.Claude }
