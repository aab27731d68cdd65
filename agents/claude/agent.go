package claude

import "akk/agents"

// Agent implements agents.Agent for Claude Code. It has no state.
type Agent struct{}

// Kind is agents.Claude.
func (Agent) Kind() agents.Kind { return agents.Claude }

// Match recognises the process.
func (Agent) Match(p *agents.Process) (string, bool) { return "", false }

// OpenLog finds the log.
func (Agent) OpenLog(p *agents.Process) (agents.Log, error) { return nil, agents.ErrNoLog }
