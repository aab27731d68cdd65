package codex

import (
	"testing"

	"akk/agents"
)

// What may be pressed at a draft or at a running turn is what was measured
// with that very version (R169; the clear plan of an explicit send).
func TestKeyPlans(t *testing.T) {
	for version, clears := range map[string]bool{"0.147.0": false, "0.154.0": false, "0.155.1": true, "0.171.0": true, "0.162.1": false, "9.9.9": false, "": false} {
		p := Agent{}.Submit(version)
		if p.Interrupt != (agents.InterruptPlan{Key: "\x03", Name: "C-c", EffectMillis: 5000, Shows: "esc to interrupt)"}) {
			t.Errorf("%q interrupts with %+v", version, p.Interrupt)
		}
		if (p.Clear.First == "\x05\x15" && p.Clear.Again == "\x7f\x15" && p.Clear.StepMillis > 0) != clears {
			t.Errorf("%q clears with %+v", version, p.Clear)
		}
	}
}
