package handoff

// This file holds the one predicate that decides whether a terminal may be
// sent a task. available_actions, explain and the send itself use it.

import (
	"fmt"
	"strings"
	"time"

	"akk/agents"
	"akk/bridge/rpc"
	"akk/panes"
)

// Facts is all that is known of a terminal at one moment. It is a value.
type Facts struct {
	Info    panes.Info
	Screen  agents.Screen // nil while the pane is not mirrored
	Reading agents.Reading
	Since   time.Time // when activity or owner last changed
	Frame   bool      // the reading rests on a whole frame
	Exited  bool
	// Background is set when the agent's process is not in the foreground of
	// its terminal (suspended, or a shell has taken over): a key would go to
	// somebody else.
	Background bool
	Hold       *rpc.Hold
	Turn       *Turn  // the open turn, nil if none
	Busy       string // a send is being carried out: its turn id
	LogPath    string
	LogOffset  int64
	TurnOpen   bool // the log says that a turn runs

	TypedAt  time.Time         // when a human was last seen typing, zero = never
	Running  *Turn             // the newest Turn that the agent works on, nil if none
	Runs     []string          // all of them
	Session  *Session          // nil before the first task
	NativeID string            // the agent's own conversation, "" if not known
	Shared   bool              // another live terminal shows the same conversation
	Handoff  *Turn             // the open Turn of a conversation that a human has left (R171)
	Plan     agents.SubmitPlan // of this version
}

// Missing is one thing that would have to be different for a send.
type Missing struct {
	Code string // exited demo dead mode synchronized input_off unread screen torn background busy turn hold typing binding handoff activity owner composer limited frame log
	What string // a sentence: what is there, since when
	Cure string // what to do about it
}

// sendable returns what stands in the way of a follow_current send, most
// important first; nothing means go.
func sendable(f Facts, now time.Time) []Missing {
	out, end := paneMissing(f)
	if end {
		return out
	}
	out = append(out, busyMissing(f)...)
	if f.Busy == "" && f.Turn != nil && f.Turn.open() && (f.Turn.Stage == StageEntered || f.Turn.Stage == StageInjected) {
		out = append(out, Missing{"turn", fmt.Sprintf("the task before (%s) has not been accepted yet", f.Turn.ID), "wait until it is accepted: akk status " + f.Turn.ID})
	}
	out = append(out, holdMissing(f, now)...)
	out = append(out, bindingMissing(f)...)
	out = append(out, readingMissing(f, now)...)
	return append(out, frameMissing(f, out)...)
}

// paneMissing is what stands in the way of every key; end: nothing else can
// be said.
func paneMissing(f Facts) (out []Missing, end bool) {
	add := func(code, cure, format string, a ...any) {
		out = append(out, Missing{code, fmt.Sprintf(format, a...), cure})
	}
	i := f.Info
	switch {
	case f.Exited:
		add("exited", "start the agent again", "the agent has exited")
		return out, true
	case i.Demo != "":
		add("demo", "choose a pane where an agent runs: akk list", "a recording plays in this pane (%s), no agent reads it", i.Demo)
		return out, true
	case i.Dead:
		add("dead", "respawn or close the pane", "the pane is dead")
	}
	if i.InMode {
		add("mode", "leave copy mode in the pane (q), then try again", "the pane is in copy mode: a human is reading there")
	}
	if i.Synced {
		add("synchronized", "turn synchronize-panes off in that window", "synchronize-panes is on: the text would go to every pane of the window")
	}
	if i.InputOff {
		add("input_off", "run: tmux select-pane -e -t "+i.Pane, "input to the pane is switched off")
	}
	if f.Background {
		add("background", "bring the agent to the foreground (fg)", "the agent is not in the foreground of its terminal, a shell would get the text")
	}
	if !i.Unsynced.IsZero() {
		_, cure, _ := strings.Cut(i.UnsyncedWhy, "; ")
		add("unread", cure, "%s", unreadWhat(i))
		return out, true
	}
	if f.Screen == nil {
		add("screen", "try again in a moment", "the pane's screen is not known yet")
		return out, true
	}
	return out, false
}

// busyMissing: akk itself is typing.
func busyMissing(f Facts) []Missing {
	if f.Busy == "" {
		return nil
	}
	return []Missing{{"busy", fmt.Sprintf("another task is being typed into it (%s)", f.Busy), "wait until it has been submitted: akk status " + f.Busy}}
}

// holdMissing: somebody has the terminal.
func holdMissing(f Facts, now time.Time) []Missing {
	h := f.Hold
	switch {
	case h == nil:
		return nil
	case h.Soft:
		return []Missing{{"hold", fmt.Sprintf("a %s is typing in the pane%s", h.By, since(h.Since, now)), "wait until the composer has been empty for 5 s"}}
	}
	note := ""
	if h.Note != "" {
		note = ": " + h.Note
	}
	return []Missing{{"hold", fmt.Sprintf("a %s holds the terminal%s%s", h.By, since(h.Since, now), note), "ask for it back, or run: akk handback " + f.Info.Pane}}
}

// frameMissing asks for a whole frame when nothing else is missing.
func frameMissing(f Facts, others []Missing) []Missing {
	if len(others) > 0 || f.Frame {
		return nil
	}
	return []Missing{{"frame", "the screen is being redrawn", "try again in a moment"}}
}

func readingMissing(f Facts, now time.Time) []Missing {
	r := f.Reading
	age := since(f.Since, now)
	one := func(code, cure, format string, a ...any) []Missing {
		return []Missing{{code, fmt.Sprintf(format, a...), cure}}
	}
	switch r.Owner {
	case agents.OwnerComposer:
	case agents.OwnerApproval:
		return one("owner", "answer it in the pane first", "an approval has the keys%s%s", age, dialogText(r.Dialog))
	case agents.OwnerQuestionnaire, agents.OwnerEditor:
		return one("owner", "answer it in the pane first", "a question has the keys%s%s", age, dialogText(r.Dialog))
	case agents.OwnerMenu, agents.OwnerViewer, agents.OwnerOther:
		return one("owner", "close it in the pane (Esc or q)", "a %s has the keys%s", ownerName(r.Owner), age)
	case agents.OwnerStartup:
		return one("owner", "finish the agent's start-up questions in the pane", "the agent is still starting up%s", age)
	case agents.OwnerShell:
		return one("owner", "start the agent again", "a shell has the keys%s: the agent has left", age)
	default:
		return one("owner", "look at the pane: akk explain "+f.Info.Pane, "it is not known who gets the next key%s", age)
	}
	switch r.Activity {
	case agents.Idle:
	case agents.Working:
		if f.Running != nil {
			return one("activity", "wait until it is idle: akk status --wait 50s "+f.Running.ID, "the agent is working%s on %s, sent by %s", age, f.Running.ID, sender(f.Running))
		}
		return one("activity", "wait until it is idle", "the agent is working%s", age)
	case agents.Blocked:
		return one("activity", "answer the agent's question in the pane first", "the agent waits for a human's decision%s%s", age, dialogText(r.Dialog))
	case agents.Starting:
		return one("activity", "wait until it is ready", "the agent is starting%s", age)
	default:
		return one("activity", "look at the pane: akk explain "+f.Info.Pane, "it is not known whether the agent is idle%s", age)
	}
	if r.LimitedUntil != "" {
		return one("limited", "wait until then, or use another agent", "the agent has reached its usage limit (%s)", r.LimitedUntil)
	}
	switch r.Composer {
	case agents.ComposerEmpty:
	case agents.ComposerDraft:
		return one("composer", "send or clear the draft in the pane", "a draft stands in the composer%s", since(f.TypedAt, now)) // not since the agent is idle
	default:
		return one("composer", "look at the pane: akk explain "+f.Info.Pane, "the composer can't be proven empty")
	}
	for _, flag := range r.ComposerFlags {
		return one("composer", "finish what is in the composer in the pane", "the composer is not plain: %s", flagName(flag))
	}
	if f.Screen.Torn || r.Provisional {
		return one("torn", "try again in a moment", "the screen is half drawn")
	}
	return nil
}

func flagName(flag string) string {
	switch flag {
	case "popup":
		return "a completion popup is open"
	case "stashed":
		return "a stashed draft would come back"
	case "queued":
		return "messages are queued"
	case "shell_mode":
		return "it is in shell mode"
	case "collapsed":
		return "it holds a collapsed paste"
	case "hidden_draft":
		return "a draft is hidden behind another screen"
	}
	return flag
}

func ownerName(o agents.Owner) string {
	if o == agents.OwnerOther {
		return "part of the agent's screen that is not the composer"
	}
	return string(o)
}

func dialogText(d *agents.Dialog) string {
	switch {
	case d == nil:
		return ""
	case d.Command != "":
		return ": " + clip(inSentence(redact(d.Command)), 120)
	case d.Prompt != "":
		return ": " + clip(strings.Join(strings.Fields(redact(d.Prompt)), " "), 120)
	}
	return ""
}

// inSentence shows where a command's lines end: two lines are not one command.
func inSentence(command string) string {
	var out []string
	for l := range strings.Lines(command) {
		if l = strings.TrimSpace(l); l != "" {
			out = append(out, l)
		}
	}
	return strings.Join(out, " ⏎ ")
}

// since says for how long, "" if not known.
func since(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	d := now.Sub(t)
	switch {
	case d < time.Second:
		return " since just now"
	case d < 2*time.Minute:
		return fmt.Sprintf(" for %d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf(" for %d min", int(d.Minutes()))
	}
	return fmt.Sprintf(" since %s", t.Local().Format("2006-01-02 15:04"))
}

// clip cuts s to n characters.
func clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}
