package mcp

import (
	"strings"
	"testing"
)

// A recording is no agent terminal: it is counted apart.
func TestListTextCountsRecordings(t *testing.T) {
	t.Parallel()
	agent, rec := listEntry{ID: "a", Agent: "codex"}, listEntry{ID: "r", Agent: "claude", Demo: "claude 2.1.267"}
	for want, l := range map[string][]listEntry{
		"No agent terminal is live. 1 recording, no agent runs in it.":    {rec},
		"No agent terminal is live. 2 recordings, no agent runs in them.": {rec, rec},
		"1 agent terminal. 1 recording, no agent runs in it.":             {agent, rec},
		"2 agent terminals.":         {agent, agent},
		"No agent terminal is live.": {},
	} {
		got, _, _ := strings.Cut(listText(&listBrief{Servers: []struct{}{{}}, Terminals: l}), "\n")
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
