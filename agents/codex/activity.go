package codex

import "akk/agents"

// This file decides what the agent does. Rules: a missing status row proves
// nothing; idle needs a signal that says so and none that says otherwise.

func (f *frame) activity() {
	g := &f.sig
	f.logTurn()
	switch {
	case f.r.Activity != agents.ActivityUnknown:
		return // the panel or the composer said it: starting
	case f.r.Dialog != nil && !f.r.Dialog.Async:
		f.r.Activity = agents.Blocked
		f.why("frame", "a dialog waits")
		return
	case f.r.Dialog != nil && f.r.Dialog.Async:
		f.asyncTurn()
		return
	case g.title == saysBlock || g.status == saysBlock:
		f.r.Activity = agents.Blocked
		if f.r.Owner == agents.OwnerComposer || f.r.Owner == agents.OwnerUnknown {
			f.why("signal", "title: a human is asked, but no dialog is drawn")
			f.r.Owner, f.r.Composer = agents.OwnerUnknown, agents.ComposerUnknown
			if l := f.log(); l != nil && !l.TurnOpen {
				// An answer can set the title where the agent lets its bytes through.
				f.r.Activity = agents.ActivityUnknown
				f.why("log", "but no turn is open")
			}
			return
		}
		f.why("signal", "title: a human is asked; the dialog is hidden")
		f.r.Dialog = &agents.Dialog{Kind: f.hiddenKind(), Hidden: true}
		return
	}
	work, idle := f.votes()
	switch {
	case work != "" && idle != "":
		f.why("signal", work)
		f.why("signal", "but "+idle)
	case work != "":
		f.r.Activity = agents.Working
		f.why("signal", work)
	case idle != "" && f.r.Owner == agents.OwnerUnknown:
		// A dead agent leaves its title behind.
		f.why("signal", idle)
		f.why("frame", "but the frame is not the agent's own")
	case idle != "":
		f.r.Activity = agents.Idle
		f.why("signal", idle)
	case !g.named && g.status == says && f.r.Owner != agents.OwnerUnknown && f.footerPath() == "":
		f.r.Activity = agents.Starting
		f.why("signal", "no title yet")
	default:
		f.why("signal", "no signal that is provably Codex's own")
	}
}

// votes returns the strongest word for and against a running turn, "" if
// there is none.
func (f *frame) votes() (work, idle string) {
	g := &f.sig
	path := f.footerPath()
	switch {
	case g.status == saysWork:
		work = "program status: working"
	case g.title == saysWork:
		work = "title: spinner"
	case g.row == saysWork:
		work = "status row: a turn can be interrupted"
	}
	switch {
	case g.status == saysIdle:
		idle = "program status: idle"
	case g.title == saysIdle && f.ownTitle(path):
		idle = "title: no spinner"
	case f.log() != nil && !f.log().TurnOpen && (g.title == saysIdle || !g.named) && g.row == says:
		idle = "log: no turn is open"
	}
	if l := f.log(); l != nil && l.TurnOpen && idle != "" && work == "" {
		work = "log: a turn is open"
	}
	return work, idle
}

// asyncTurn tells the turn's state while a question that does not stop it is
// open: the title asks for a human, so other signals must say.
func (f *frame) asyncTurn() {
	switch g := &f.sig; {
	case g.status == saysIdle || g.title == saysIdle:
		f.r.Activity = agents.Idle
		f.why("signal", "idle beside an open question")
	default:
		f.r.Activity = agents.Working
		f.why("signal", "title: a human is asked; the question does not stop the turn")
	}
}

// log is the log that is proven to be this process's, else nil.
func (f *frame) log() *agents.LogState {
	if f.in.Log == nil || f.in.Log.Path == "" {
		return nil
	}
	return f.in.Log
}

func (f *frame) logTurn() {
	if l := f.log(); l != nil {
		if l.TurnOpen {
			f.why("log", "a turn is open")
		} else {
			f.why("log", "no turn is open")
		}
	}
}

// hiddenKind is the kind of a dialog that waits behind something else, as far
// as the log tells.
func (f *frame) hiddenKind() string {
	if l := f.in.Log; l != nil && l.Pending != nil {
		switch l.Pending.Tool {
		case "apply_patch":
			return "patch"
		case "request_user_input":
			return "question"
		}
	}
	return "exec"
}
