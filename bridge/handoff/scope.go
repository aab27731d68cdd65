package handoff

// This file holds the predicates beside sendable: the other two scopes of a
// send (R37, R41 to R47), an interrupt (R169), an answer (R69), and who may
// manage a Turn. available_actions offers what they allow; execution asks them
// again (R31).

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"akk/agents"
	"akk/bridge/rpc"
)

// The scopes of a send.
const (
	scopeFollow   = "terminal_follow_current"
	scopeExact    = "session_exact"
	scopeExplicit = "terminal_user_explicit"
)

const (
	// typingQuiet is how long a human must not have typed before something is
	// typed over his head (issue 6: 5 s).
	typingQuiet = 5 * time.Second
	// workingQuiet is how long an agent must have been working before it is
	// interrupted: a Ctrl-C within 15 ms of Enter ends Codex (codex.md §5).
	workingQuiet = 400 * time.Millisecond
	// clearRows bounds a draft that is cleared: what is kept to be put back is
	// what the screen shows, and a higher composer may scroll.
	clearRows = 8
)

// missingFor is what stands in the way of a send in a scope.
func missingFor(scope string, f Facts, now time.Time) []Missing {
	switch scope {
	case scopeExplicit:
		return explicit(f, now)
	case scopeExact:
		return append(exact(f), sendable(f, now)...)
	}
	return sendable(f, now)
}

// exact asks for the proof that the terminal shows the very conversation that
// its Session is bound to (R37): what is not known is not proven.
func exact(f Facts) []Missing {
	one := func(format string, a ...any) []Missing {
		return []Missing{{"binding", fmt.Sprintf(format, a...), "send to the terminal itself: akk send " + f.Info.Pane}}
	}
	switch s := f.Session; {
	case s == nil:
		return one("the terminal has no session")
	case s.Status != "":
		return one("the session %s is %s", s.ID, s.Status)
	case f.NativeID == "" || s.NativeID == "":
		return one("the session %s can't be proven: the agent's own conversation is not known", s.ID)
	case f.NativeID != s.NativeID:
		return one("the session %s is no longer what the agent shows: its conversation was changed", s.ID)
	}
	return nil
}

// bindingMissing keeps managed tasks out of a conversation whose owner is not
// clear (R171, R12).
func bindingMissing(f Facts) []Missing {
	switch {
	case f.Handoff != nil:
		return []Missing{{"handoff", "a human changed the agent's conversation while " + f.Handoff.ID + " was open",
			fmt.Sprintf("decide: akk close %s --reason %s gives that turn up; or bring the agent back to its conversation", f.Handoff.ID, reasonSuperseded)}}
	case f.Shared:
		return []Missing{{"binding", "another terminal shows the same conversation of the agent", "end one of the two agents"}}
	}
	return nil
}

// explicit is the predicate of terminal_user_explicit: akk's own bookkeeping
// (Turns, Sessions, an old draft, work that goes on) does not veto; what has
// the keyboard does.
func explicit(f Facts, now time.Time) []Missing {
	out, end := paneMissing(f)
	if end {
		return out
	}
	out = append(out, busyMissing(f)...)
	if f.Hold != nil && !f.Hold.Soft {
		out = append(out, holdMissing(f, now)...)
	}
	if quiet := now.Sub(f.TypedAt); !f.TypedAt.IsZero() && quiet < typingQuiet {
		out = append(out, Missing{"typing", fmt.Sprintf("a human typed in the pane %s ago", quiet.Truncate(100*time.Millisecond)), "wait until nobody has typed for 5 s"})
	}
	out = append(out, explicitReading(f, now)...)
	return append(out, frameMissing(f, out)...)
}

func explicitReading(f Facts, now time.Time) []Missing {
	r := f.Reading
	if r.Owner != agents.OwnerComposer || r.Activity == agents.Blocked || r.Activity == agents.Starting {
		return readingMissing(f, now) // a dialog, a viewer, the start-up: always a boundary (R43)
	}
	one := func(format string, a ...any) []Missing {
		return []Missing{{"composer", fmt.Sprintf(format, a...), "send or clear it in the pane"}}
	}
	for _, flag := range r.ComposerFlags {
		if flag != "queued" { // the composer above a collapsed question or a queue takes text (R44)
			return one("the composer is not plain: %s", flagName(flag))
		}
	}
	switch r.Composer {
	case agents.ComposerEmpty:
	case agents.ComposerDraft:
		switch {
		case f.Plan.Clear == (agents.ClearPlan{}):
			return one("a draft stands in the composer, and how this version clears one is not certified")
		case !r.DraftEnd:
			return one("a draft stands in the composer and the cursor is not at its end")
		case len(draftLines(r.Draft)) > clearRows:
			return one("a draft of more than %d rows stands in the composer, it could not be put back whole", clearRows)
		}
	default:
		return one("the composer can't be proven empty")
	}
	if f.Screen.Torn || r.Provisional {
		return []Missing{{"torn", "the screen is half drawn", "try again in a moment"}}
	}
	return nil
}

// interruptible is the predicate of an interrupt: the agent is proven working
// and the composer empty, so that the key ends the turn and nothing else.
func interruptible(f Facts, now time.Time) []Missing {
	out, end := paneMissing(f)
	if end {
		return out
	}
	out = append(append(out, busyMissing(f)...), holdMissing(f, now)...)
	one := func(code, cure, format string, a ...any) []Missing {
		return append(out, Missing{code, fmt.Sprintf(format, a...), cure})
	}
	r := f.Reading
	switch {
	case f.Plan.Interrupt.Key == "":
		return one("activity", "interrupt it in the pane", "how this version is interrupted is not known")
	case r.Owner != agents.OwnerComposer:
		return append(out, readingMissing(f, now)...)
	case r.Activity == agents.Idle:
		return one("activity", "look at it: akk status "+f.Info.Pane, "the agent is idle%s, there is nothing to interrupt", since(f.Since, now))
	case r.Activity != agents.Working:
		return one("activity", "look at the pane: akk explain "+f.Info.Pane, "it is not proven that the agent is working")
	case r.Composer != agents.ComposerEmpty:
		return one("composer", "clear the draft in the pane, or interrupt it there", "a draft stands in the composer: the key could clear it instead")
	case slices.ContainsFunc(r.ComposerFlags, func(flag string) bool { return flag != "queued" }):
		return one("composer", "interrupt it in the pane", "the composer is not plain: %s", flagName(r.ComposerFlags[0]))
	case f.Screen.Torn || r.Provisional:
		return one("torn", "try again in a moment", "the screen is half drawn")
	case now.Sub(f.Since) < workingQuiet:
		return one("frame", "try again in a moment", "the agent has only just begun to work")
	case f.LogPath != "" && !f.TurnOpen:
		return one("log", "try again in a moment", "the screen shows work, the agent's log shows no open turn")
	}
	return append(out, frameMissing(f, out)...)
}

// cancellable is interruptible for a Turn ("" = whatever runs): it must be what
// the agent works on now, in the conversation that it was sent to (R13, R14).
func cancellable(f Facts, turn string, now time.Time) []Missing {
	if turn != "" && !contains(f.Runs, turn) {
		cure := "look at it: akk status " + turn
		if f.Handoff != nil && f.Handoff.ID == turn {
			return bindingMissing(f)
		}
		return []Missing{{"turn", "the turn " + turn + " is not what the agent works on now", cure}}
	}
	return interruptible(f, now)
}

// answerable is the predicate of an answer to a waiting Turn (R69, R71): an
// empty composer that has the keys, idle or at work.
func answerable(f Facts, now time.Time) []Missing {
	out, end := paneMissing(f)
	if end {
		return out
	}
	out = append(append(out, busyMissing(f)...), holdMissing(f, now)...)
	g := f
	if g.Reading.Owner == agents.OwnerComposer && g.Reading.Activity == agents.Working {
		g.Reading.Activity = agents.Idle
	}
	out = append(out, readingMissing(g, now)...)
	return append(out, frameMissing(f, out)...)
}

// mayManage tells whether c may interrupt, answer or close the Turn: its own
// sender, and the human always.
func mayManage(c rpc.Caller, t *Turn) *rpc.Error {
	switch {
	case inside(c, t.TerminalID):
		return notForItself(c)
	case c.Kind == "human", owns(c, t.Host, t.Owner, ownerOf(c)), c.Kind == "host" && t.Owner == "" && t.Host != "agent":
		return nil
	}
	return &rpc.Error{Code: rpc.CodeForbidden, Message: fmt.Sprintf("the turn %s was sent by %s, not by this caller; nothing was done", t.ID, sender(t)),
		Cure: "ask the human to do it with the akk command in a terminal"}
}

// inside tells whether a caller runs under the agent of that terminal. Of a
// terminal that was moved only the process id in its name is the same.
func inside(c rpc.Caller, terminal string) bool {
	pid := func(id string) string { return id[strings.LastIndexByte(id, ':')+1:] }
	if c.TerminalID == "" {
		return c.Kind != "human" && c.AgentPID > 0 && strconv.Itoa(c.AgentPID) == pid(terminal)
	}
	return c.Kind != "human" && (c.TerminalID == terminal || pid(c.TerminalID) == pid(terminal))
}

// runs tells whether the caller runs under the agent in this terminal.
func (v *view) runs(c rpc.Caller) bool {
	return inside(c, v.id) || c.TerminalID != "" && contains(v.aliases, c.TerminalID)
}

// notForItself: nobody decides for the agent that he runs under (B80).
func notForItself(c rpc.Caller) *rpc.Error {
	return &rpc.Error{Code: rpc.CodeForbidden, Message: "what runs under " + callerAgent(c) + " may not answer, interrupt or close for that agent", Cure: "ask the human"}
}

// ownerOf is who stands behind a caller.
func ownerOf(c rpc.Caller) string {
	if c.Kind == "agent" {
		return agentOf(c)
	}
	return c.Session
}

// byProcess begins the name of an agent whose terminal was not known.
const byProcess = "process:"

// agentOf names the agent that a caller runs under: its terminal, or its
// process while that is not known; "" for none.
func agentOf(c rpc.Caller) string {
	if c.TerminalID == "" && c.AgentPID > 0 {
		return byProcess + strconv.Itoa(c.AgentPID)
	}
	return c.TerminalID
}

// callerAgent is agentOf in words.
func callerAgent(c rpc.Caller) string {
	if c.TerminalID == "" {
		return "the agent of process " + strconv.Itoa(c.AgentPID)
	}
	return "the agent in " + c.TerminalID
}

// owns tells whether a record of that host and owner is the caller's, who is
// called me; an agent's also from before its terminal was known.
func owns(c rpc.Caller, host, owner, me string) bool {
	if c.Kind != host {
		return false
	}
	if c.Kind != "agent" {
		return me == owner
	}
	pid, early := strings.CutPrefix(owner, byProcess)
	return me != "" && (me == owner || early && strings.HasSuffix(me, ":"+pid))
}

// sender says in words who sent a Turn; a Host's session is not told (R10).
func sender(t *Turn) string {
	switch t.Host {
	case "host":
		return "a Host"
	case "agent":
		if pid, ok := strings.CutPrefix(t.Owner, byProcess); ok {
			return "the agent of process " + pid
		}
		return "the agent in " + t.Owner
	case "human":
		return "the human"
	}
	return "a program"
}

// said is a Turn's status in a sentence; documents keep the contract's word.
func said(status string) string {
	switch status {
	case "waiting_for_agent":
		return "the agent works on it"
	case "waiting_for_openclaw":
		return "it waits for its Host"
	case "idle":
		return "it is done"
	}
	return "it is " + status
}

// mayDecide is for what only the human may do. Unknown is not the human.
func mayDecide(c rpc.Caller, what string) *rpc.Error {
	switch c.Kind {
	case "human":
		return nil
	case "agent":
		return &rpc.Error{Code: rpc.CodeForbidden, Message: "an agent may not " + what, Cure: "ask the human"}
	case "host":
		return &rpc.Error{Code: rpc.CodeForbidden, Message: "a Host may not " + what, Cure: "ask the human"}
	}
	return &rpc.Error{Code: rpc.CodeForbidden, Message: "only a human may " + what + ", and this caller is not known to be one", Cure: "run it in a terminal, outside of an agent's pane"}
}
