package claude

import (
	"strings"

	"akk/agents"
)

// This file takes a prompt's command from the transcript where the screen does
// not tell it. Rule: only if what the screen does show is part of it.

// leastShown is how many characters of a command must be on the screen to
// recognise it when its head is cut off.
const leastShown = 8

func (v *view) fromLog(in agents.Input, r *agents.Reading, why *reasons) {
	d := r.Dialog
	if d == nil || d.Kind != "exec" || d.Hidden || d.Command != "" || in.Log == nil || in.Log.Pending == nil {
		return
	}
	p := in.Log.Pending
	want := bare(p.Detail)
	if p.Tool != "Bash" || want == "" {
		return
	}
	shown := ""
	for y := d.Top; y <= d.Bottom; y++ {
		if containsAny(v.line(y), v.w.Approval.Questions) {
			break
		}
		if !v.inset(y) {
			shown += bare(v.line(y))
		}
	}
	if !strings.Contains(shown, want) && !(d.Clipped && tailShown(want, shown)) {
		return
	}
	d.Command = p.Detail
	why.add("log", "the command of the pending tool call is the one that the screen shows", d.Top, d.Bottom)
}

// tailShown tells whether shown begins with the end of want.
func tailShown(want, shown string) bool {
	for n := min(len(want), len(shown)); n >= leastShown; n-- {
		if strings.HasPrefix(shown, want[len(want)-n:]) {
			return true
		}
	}
	return false
}

// bare is a text without white space and bars.
func bare(s string) string {
	return strings.NewReplacer(" ", "", "\n", "", "\t", "", "│", "", "\u00a0", "").Replace(s)
}
