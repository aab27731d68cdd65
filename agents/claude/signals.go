package claude

import (
	"strings"

	"akk/agents"
)

// This file weighs the agent's own signals against the picture. Rule: a signal
// that says less than the picture is late; one that says more takes the
// picture's "idle" away; a contradiction is told with both sides.

// The states of the status file.
const (
	statusIdle    = "idle"
	statusBusy    = "busy"
	statusWaiting = "waiting"

	waitsForHuman = "permission prompt"
	waitsForInput = "input needed"
)

func (v *view) signals(in agents.Input, r *agents.Reading, why *reasons) {
	if r.Activity == agents.Exited || r.Owner == agents.OwnerShell {
		return
	}
	// Versions up to 2.1.250 spin in the title; later ones always show "✳".
	if r.Activity == agents.Idle && !r.Background {
		for _, t := range v.w.Activity.WorkingTitle {
			if strings.HasPrefix(v.s.Title, t) {
				why.add("signal", "contradiction: the title spins, the frame shows no turn")
				r.Activity = agents.ActivityUnknown
			}
		}
	}
	st := in.Status
	if st == nil || st.Status == "" {
		return
	}
	told := "status file: " + st.Status
	if st.WaitingFor != "" {
		told += ", " + st.WaitingFor
	}
	why.add("signal", told)
	waits := st.Status == statusWaiting && (st.WaitingFor == waitsForHuman || st.WaitingFor == waitsForInput)
	switch {
	case waits && (r.Owner == agents.OwnerMenu || r.Owner == agents.OwnerViewer) && r.Activity != agents.Blocked:
		// Its prompt has come while something else is on the screen.
		r.Activity = agents.Blocked
		if r.Dialog == nil {
			r.Dialog = &agents.Dialog{Kind: kindUnknown, Hidden: true, Clipped: true}
		}
	case r.Activity == agents.Idle && st.Status == statusBusy && !r.Background,
		r.Activity == agents.Idle && waits:
		why.add("signal", "contradiction: the frame shows no turn")
		r.Activity = agents.ActivityUnknown
	case r.Activity == agents.ActivityUnknown && r.Owner != agents.OwnerUnknown && st.Status == statusIdle:
		// The picture does not tell (a pager, a list over the spinner).
		if r.Owner == agents.OwnerViewer || r.Owner == agents.OwnerMenu {
			r.Activity = agents.Idle
		}
	case r.Activity == agents.ActivityUnknown && r.Owner != agents.OwnerUnknown && st.Status == statusBusy:
		r.Activity = agents.Working
	}
}
