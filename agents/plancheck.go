package agents

import (
	"fmt"
	"strings"
)

// This file checks the keys that a profile names. A profile is data that a user
// may write: it can't make akk type anything but what its keys are for.

// maxPlanMillis bounds every time of a plan, in ms.
const maxPlanMillis = 10 * 60 * 1000

// KeyChecker is a profile with keys and times; DecodeProfile asks it.
type KeyChecker interface {
	CheckKeys() error
}

// CheckPlan tells what a plan may not say: Enter is one carriage return or line
// feed, an interrupt one Ctrl-C or Escape, a draft is cleared by control keys
// that submit and end nothing, and no time is negative or above ten minutes.
func CheckPlan(p SubmitPlan) error {
	for name, ms := range map[string]int{"settle_ms": p.SettleMillis, "draw_ms": p.DrawMillis, "accept_ms": p.AcceptMillis,
		"clear.step_ms": p.Clear.StepMillis, "interrupt.effect_ms": p.Interrupt.EffectMillis} {
		if ms < 0 || ms > maxPlanMillis {
			return fmt.Errorf("submit.%s is %d: it must be from 0 to %d", name, ms, maxPlanMillis)
		}
	}
	switch p.Enter {
	case "", "\r", "\n":
	default:
		return fmt.Errorf("submit.enter is %q: it must be \"\\r\" or \"\\n\"", p.Enter)
	}
	switch p.Interrupt.Key {
	case "", "\x03", "\x1b":
	default:
		return fmt.Errorf("submit.interrupt.key is %q: it must be \"\\u0003\" or \"\\u001b\"", p.Interrupt.Key)
	}
	for _, keys := range []string{p.Clear.First, p.Clear.Again} {
		if strings.ContainsFunc(keys, func(r rune) bool {
			return r >= ' ' && r != 0x7f || r == '\r' || r == '\n' || r == 0x1b || r == 0x03 || r == 0x04 || r == 0x1a || r == 0x1c
		}) {
			return fmt.Errorf("submit.clear holds %q: only control keys that neither submit nor end anything", keys)
		}
	}
	return nil
}
