package rpc

import "testing"

// Recordings are counted apart: they are no agents.
func TestCounts(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]Server{
		"5 panes, 0 agents, 4 recordings": {Panes: 5, Recordings: 4},
		"1 pane, 1 agent":                 {Panes: 1, Agents: 1},
		"2 panes, 1 agent, 1 recording":   {Panes: 2, Agents: 1, Recordings: 1},
	} {
		if got := s.Counts(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
