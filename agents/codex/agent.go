// Package codex reads Codex (see agents).
package codex

import "akk/agents"

// Agent implements agents.Agent.
type Agent struct{}

// Kind is agents.Codex.
func (Agent) Kind() agents.Kind { return agents.Codex }

// Read says unknown until something is proven.
func (Agent) Read(in agents.Input) agents.Reading {
	return agents.Reading{Agent: agents.Codex, Activity: agents.ActivityUnknown, Owner: agents.OwnerUnknown, Composer: agents.ComposerUnknown}
}

// Match recognises the process.
func (Agent) Match(p *agents.Process) (string, bool) { return "", false }

// OpenLog finds the log.
func (Agent) OpenLog(p *agents.Process) (agents.Log, error) { return nil, agents.ErrNoLog }

// Submit is the certified way to send a text.
func (Agent) Submit(version string) agents.SubmitPlan { return agents.SubmitPlan{Enter: "\r"} }
