package truth

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"akk/agents"
)

// This file knows the spans in which a scenario passed through another state.
// Rule: a span is excused only for the states that the scenario's keys led
// through; every other answer in it is held against the truth.

//go:embed passes.tsv
var passesFile string

// pass is one line of passes.tsv.
type pass struct {
	agent, scenario, from, to string
	states                    []string // activity/owner/composer
}

var passes = func() (out []pass) {
	for i, line := range strings.Split(passesFile, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) != 6 {
			panic(fmt.Sprintf("passes.tsv:%d: %d fields, want 6", i+1, len(f)))
		}
		out = append(out, pass{f[0], f[1], f[2], f[3], strings.Fields(f[4])})
	}
	return out
}()

// Passed tells whether the scenario went through the state that was read on
// its way from snapshot i to the next one.
func (r *Recording) Passed(i int, g agents.Reading) bool {
	if i < 0 || i+1 >= len(r.Snaps) {
		return false
	}
	state := string(g.Activity) + "/" + string(g.Owner) + "/" + string(g.Composer)
	for _, p := range passes {
		if p.agent == r.Agent && p.scenario == r.Scenario && p.from == r.Snaps[i].Label && p.to == r.Snaps[i+1].Label && slices.Contains(p.states, state) {
			return true
		}
	}
	return false
}
