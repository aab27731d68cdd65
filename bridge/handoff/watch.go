package handoff

// This file is the Watch as a pure function: (Watch, WatchEvent) -> (Watch,
// notices, when to look again). It upholds R133 to R137: it settles once, a
// completion that the log holds wins over everything after it, nothing is ever
// anchored anew, an idle screen counts only after work was seen and only when
// it stays idle; it never types.

import (
	"slices"
	"time"

	"akk/agents"
	"akk/bridge/rpc"
)

// Stable idle of an activity Watch. The agent's own word (title, status file,
// progress) needs only to outlast a change of tools; a screen that looks idle
// may be an agent that streams or thinks without a mark, so it gets the two
// looks of 5 s that the contract's sweeps are apart.
const (
	stableExact = time.Second
	stableGuess = 5 * time.Second
	seenMax     = 256 // prints of one Watch
)

// WatchEvent is what happened, with what is known at that moment.
type WatchEvent struct {
	Now        time.Time
	Whole      bool // the reading rests on a whole frame
	Activity   agents.Activity
	Background bool // idle, but its background work goes on
	TurnOpen   bool // the log says that a turn runs
	Exact      bool // the activity is the agent's own word
	Ask        *ask

	Logs     []agents.LogEvent
	Path     string // of the log, "" if there is none
	Replaced bool   // the log was truncated or replaced

	Gone   bool // the process, the pane or the server is gone
	Cancel bool
}

// notice is one thing to tell about a Watch.
type notice struct {
	Kind     string // approval | interaction_manual_required | a settlement
	Evidence string // digest that makes the notice one of a kind
	Ask      *ask
}

// Step is the machine; next is when to look again. A settled Watch stays as it
// is.
func (w Watch) Step(e WatchEvent) (out Watch, notices []notice, next time.Time) {
	if w.Status != WatchActive {
		return w, nil, time.Time{}
	}
	settle := func(kind, reason, text, id string) (Watch, []notice, time.Time) {
		w.Status, w.UpdatedAt = kind, e.Now
		w.Settlement = &rpc.Settlement{Kind: kind, ObservedAt: e.Now, ReasonCode: reason, CompletionText: clip(redact(text), finalTextMax), CompletionID: id}
		return w, append(notices, notice{Kind: kind, Evidence: reason + "\x00" + id}), time.Time{}
	}
	if w.Mode == modeExact && !e.Replaced {
		for _, l := range e.Logs {
			switch w.follows(l, e.Path) {
			case logEnd:
				if l.Kind == agents.LogCompleted {
					return settle(WatchCompleted, reasonCompleted, l.Text, l.TurnID)
				}
				return settle(WatchFailed, reasonFailed, l.Err, l.TurnID)
			case logSuccessor:
				return settle(WatchInvalid, reasonAnchor, "", "")
			case logAccept:
				w.Anchor.Pending, w.Anchor.Turn, w.Anchor.Path, w.Anchor.Offset, w.NativeID, w.UpdatedAt = false, l.TurnID, e.Path, l.Offset, l.SessionID, e.Now
			}
		}
	}
	switch {
	case e.Cancel:
		return settle(WatchCancelled, reasonCancel, "", "")
	case e.Gone:
		return settle(WatchInvalid, reasonProcess, "", "")
	case w.Mode == modeExact && !w.Anchor.Pending && (e.Replaced || e.Path != "" && e.Path != w.Anchor.Path):
		return settle(WatchInvalid, reasonAnchor, "", "")
	case !e.Now.Before(w.DeadlineAt):
		return settle(WatchTimedOut, reasonDeadline, "", "")
	}
	next = w.DeadlineAt
	if len(e.Logs) > 0 {
		w.LastActivityAt = e.Now
	}
	if !e.Whole {
		return w, notices, next
	}
	w, notices = w.ask(e, notices)
	if e.Activity == agents.Working || e.Activity == agents.Blocked {
		w.SawWork, w.LastActivityAt, w.IdleSince = true, e.Now, time.Time{}
		return w, notices, next
	}
	if w.Mode != modeActivity || !w.SawWork || e.Activity != agents.Idle || e.Background || e.TurnOpen {
		w.IdleSince = time.Time{}
		return w, notices, next
	}
	if w.IdleSince.IsZero() {
		w.IdleSince = e.Now
	}
	stable := stableGuess
	if e.Exact {
		stable = stableExact
	}
	at := w.IdleSince.Add(stable)
	if !e.Now.Before(at) {
		return settle(WatchCompleted, reasonStableIdle, "", "") // R135: no text
	}
	if at.Before(next) {
		next = at
	}
	return w, notices, next
}

// ask tells a question once (R136).
func (w Watch) ask(e WatchEvent, notices []notice) (Watch, []notice) {
	switch {
	case e.Ask == nil:
		if e.Activity != agents.ActivityUnknown {
			w.Asked = ""
		}
	case e.Ask.Key != w.Asked:
		w.Asked = e.Ask.Key
		if slices.Contains(w.Seen, e.Ask.Print) {
			break
		}
		w.Seen = append(slices.Clone(w.Seen), e.Ask.Print)
		if n := len(w.Seen) - seenMax; n > 0 {
			w.Seen = w.Seen[n:]
		}
		kind := "approval"
		if e.Ask.Kind == askInteraction {
			kind = "interaction_manual_required" // R52: nothing can be answered through a Watch yet
		}
		w.UpdatedAt = e.Now
		notices = append(notices, notice{Kind: kind, Evidence: e.Ask.Print, Ask: e.Ask})
	}
	return w, notices
}

type logMeaning int

const (
	logNothing   logMeaning = iota
	logAccept               // the pending task was taken
	logEnd                  // the anchored task ended
	logSuccessor            // another task runs: the anchored one is over without an end
)

// follows says what a log entry means to an exact Watch.
func (w Watch) follows(l agents.LogEvent, path string) logMeaning {
	a := w.Anchor
	if a.Pending {
		if l.Kind != agents.LogAccepted || l.Hash != a.Hash && (a.AltHash == "" || l.Hash != a.AltHash) {
			return logNothing
		}
		if path == a.Path && l.Offset <= a.Offset || path != a.Path && !l.Time.IsZero() && l.Time.Before(a.Since.Add(-anchorSkew)) {
			return logNothing // history
		}
		return logAccept
	}
	if path == a.Path && l.Offset <= a.Offset {
		return logNothing
	}
	mine := a.Turn == "" || l.TurnID == "" || l.TurnID == a.Turn
	switch l.Kind {
	case agents.LogCompleted, agents.LogFailed, agents.LogAborted:
		if mine {
			return logEnd
		}
	case agents.LogTurnStarted:
		if !mine {
			return logSuccessor
		}
	case agents.LogAccepted:
		if a.Turn == "" && l.Hash != a.Hash && l.Hash != a.AltHash {
			return logSuccessor
		}
	}
	return logNothing
}
