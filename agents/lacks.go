package agents

import "strings"

// This file says in words what keeps a reading from proving that a task may be
// typed. Rule: one sentence per thing that would have to be different.

// Lacks lists what would have to be different before a task may be sent, as far
// as the reading tells; none if it proves an idle agent with an empty composer.
// The desk asks for more: identity, an audited mirror, nobody's hold.
func Lacks(r *Reading) (out []string) {
	say := func(s string) { out = append(out, s) }
	switch r.Activity {
	case Idle:
	case Working:
		say("a turn runs: it would have to end")
	case Blocked:
		say("a turn waits for a human: its prompt would have to be answered")
	case Starting:
		say("the agent is starting: its composer would have to be ready")
	case Exited:
		say("the agent has left the pane: it would have to be started")
	default:
		say("what the agent does is not proven: the evidence above would have to agree that no turn runs")
	}
	switch r.Owner {
	case OwnerComposer:
	case OwnerUnknown:
		say("who gets the next key is not proven: the cursor would have to stand in a composer that is drawn whole")
	default:
		say("the next key goes to the " + string(r.Owner) + ": it would have to go to the composer")
	}
	switch r.Composer {
	case ComposerEmpty:
	case ComposerDraft:
		say("the composer holds a draft: it would have to be empty")
	case ComposerHidden:
		say("the composer is not on the screen: it would have to be shown, and empty")
	default:
		say("what is in the composer is not proven: it would have to show its placeholder, or nothing, with the cursor in front")
	}
	for _, f := range r.ComposerFlags {
		switch f {
		case "stashed":
			say("a draft is stashed and would come back: it would have to be restored or dropped")
		case "shell_mode":
			say("the composer is in shell mode: it would have to be left")
		case "popup":
			say("a list of suggestions is open: it would have to be closed")
		case "queued":
			say("a message waits in the agent's queue: it would have to be taken")
		}
	}
	if r.LimitedUntil != "" {
		say("a usage limit is reached (" + strings.Join(strings.Fields(r.LimitedUntil), " ") + "): it would have to be over")
	}
	if r.Provisional {
		say("the frame is torn or not audited: it would have to be whole")
	}
	return out
}
