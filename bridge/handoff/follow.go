package handoff

// This file is the second half of the send's pure function: what the agent's
// log says about a Turn, and what the end of a process means. It upholds R46
// to R49 and R187: an entry counts only behind the Turn's anchor, with the
// exact hash; nothing else is acceptance.

import (
	"slices"
	"time"

	"akk/agents"
)

// anchorSkew is what the rounding of the agent's time stamps may take away;
// both clocks are this machine's.
const anchorSkew = 100 * time.Millisecond

func (d Dispatch) log(e Event) (Dispatch, []Effect) {
	var out []Effect
	if d.Phase == PhaseProof || d.Phase == PhaseReserve {
		if d.Before != nil && slices.ContainsFunc(e.Logs, d.Before.ends) {
			// The task ended before a byte of the answer went out: that is heard,
			// and there is nothing to answer any more.
			before, out := d.refuse("the task ended before its answer was typed")
			before, end := before.log(e)
			return before, append(out, end...)
		}
		return d, nil // nothing of ours can be in the log yet
	}
	if d.Turn.AcceptedAt == nil && d.Turn.Dispatched && d.claims(e) > 1 {
		if !d.Turn.open() {
			return d, nil
		}
		return d.end(PhaseWatch, OutcomeUncertain, "several conversations of the agent took the text, it can't be told which one works on it")
	}
	for _, l := range e.Logs {
		switch {
		case d.Turn.AcceptedAt == nil:
			if l.Kind != agents.LogAccepted || !d.Turn.Dispatched || !d.mine(l, e.LogPath) {
				continue
			}
			d = d.accepted(l, e)
			out = append(out, d.commit("accepted"))
		case d.Phase == PhaseRunning && d.ends(l):
			var effs []Effect
			d, effs = d.ended(l)
			out = append(out, effs...)
		case d.Phase == PhaseRunning && d.Turn.NativeTurn == "" && l.Kind == agents.LogTurnStarted && l.SessionID == d.Turn.NativeID:
			d.Turn.NativeTurn = l.TurnID
		}
	}
	return d, out
}

// claims counts the conversations that took this Turn's text (R48, R49).
func (d *Dispatch) claims(e Event) int {
	by := map[string]bool{}
	for _, l := range e.Logs {
		if l.Kind == agents.LogAccepted && d.mine(l, e.LogPath) {
			by[l.SessionID] = true
		}
	}
	return len(by)
}

// mine tells whether the user message is this Turn's: right hash, behind the
// anchor.
func (d *Dispatch) mine(l agents.LogEvent, path string) bool {
	if l.Hash != d.Turn.Hash && (d.Turn.AltHash == "" || l.Hash != d.Turn.AltHash) {
		return false
	}
	a := d.Turn.Anchor
	if l.Path != "" {
		path = l.Path
	}
	if a.Path == path && a.Path != "" {
		return l.Offset > a.Offset
	}
	// The log is new, or another one than before (a cleared conversation):
	// only its own time can tell that it is not history.
	return l.Time.IsZero() || !l.Time.Before(a.Time.Add(-anchorSkew))
}

func (d Dispatch) accepted(l agents.LogEvent, e Event) Dispatch {
	t := l.Time
	if t.IsZero() {
		t = e.Now
	}
	d.Turn.Stage, d.Turn.AcceptedAt = StageAccepted, &t
	d.Turn.NativeTurn, d.Turn.NativeID = l.TurnID, l.SessionID
	if d.Turn.ClosedAt != nil { // given up before: it is not taken up again by itself
		d.Turn.Outcome, d.Turn.Reason = OutcomeClosed, d.Turn.Closed
		return d
	}
	d.Phase = PhaseRunning
	d.Turn.Outcome, d.Turn.Reason, d.Turn.EndedAt = "", "", nil
	return d
}

// ends tells whether l is the end of the accepted native turn.
func (d *Dispatch) ends(l agents.LogEvent) bool {
	switch l.Kind {
	case agents.LogCompleted, agents.LogFailed, agents.LogAborted:
	default:
		return false
	}
	return d.Turn.NativeTurn == "" || l.TurnID == "" || l.TurnID == d.Turn.NativeTurn
}

func (d Dispatch) ended(l agents.LogEvent) (Dispatch, []Effect) {
	switch l.Kind {
	case agents.LogCompleted:
		d.Turn.FinalText = clip(redact(l.Text), finalTextMax)
		return d.end(PhaseDone, OutcomeCompleted, "")
	case agents.LogFailed:
		return d.end(PhaseDone, OutcomeFailed, redact(l.Err))
	}
	return d.end(PhaseDone, OutcomeAborted, redact(l.Err))
}

// gone ends a Turn whose agent is no longer there.
func (d Dispatch) gone(e Event) (Dispatch, []Effect) {
	d.Lost = true
	why := "the agent is gone"
	if e.Err != nil {
		why = e.Err.Error()
	}
	switch d.Phase {
	case PhaseProof, PhaseReserve:
		return d.refuse(why)
	case PhaseRunning:
		return d.end(PhaseDone, OutcomeLost, why+" before it wrote the end of the task")
	case PhaseWatch:
		d.Phase = PhaseDone
		return d, nil
	case PhaseDone:
		return d, nil
	}
	why += " while the task was being submitted"
	switch d.Phase {
	case PhaseDraft, PhaseConfirm, PhaseSettle:
		why += "; the text was typed, Enter was not pressed"
	}
	return d.end(PhaseDone, OutcomeUncertain, why)
}

// Resume is a Dispatch for a Turn that was open when the daemon ended. Nothing
// is ever typed for it again: the log decides, or it becomes uncertain.
func Resume(t Turn, plan agents.SubmitPlan, now time.Time) (Dispatch, []Effect) {
	d := Dispatch{Turn: t, Plan: plan}
	d.Turn.UpdatedAt = now
	if t.Stage == StageAccepted {
		d.Phase = PhaseRunning
		return d, []Effect{{Kind: EffPoll}}
	}
	// A prepared Turn may have been pasted, an injected one may have been
	// entered: the stage was written before the key.
	d.Turn.Dispatched = true
	d.Phase = PhaseAccept
	d.Deadline = now.Add(ms(plan.AcceptMillis, acceptDefault))
	return d, []Effect{{Kind: EffPoll}, d.timer()}
}
