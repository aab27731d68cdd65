package codex

import "akk/agents"

// Match implements agents.Agent.
func (Agent) Match(p *agents.Process) (string, bool) { return "", false }

// OpenLog implements agents.Agent.
func (Agent) OpenLog(p *agents.Process) (agents.Log, error) { return nil, agents.ErrNoLog }
