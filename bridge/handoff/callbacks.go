package handoff

// This file says what a Host is told about its Turn (CONTRACT-outputs §7). It
// upholds R175 and R178: the callback is made in the transaction of the change
// that it tells, from what is in the record; what stopped being true is not
// told any more; every text is redacted and bounded.

import (
	"fmt"
	"strings"
	"time"

	"akk/bridge/outbox"
	"akk/bridge/rpc"
	"akk/store"
)

// calls are what one transaction adds to the outbox and takes back.
type calls struct {
	add  []outbox.Entry
	drop []string
	at   time.Time
}

func (c calls) apply(tx *store.Tx, box *outbox.Box, sent *outbox.Change) error {
	if err := box.Supersede(tx, sent, c.at, c.drop...); err != nil {
		return err
	}
	for _, e := range c.add {
		if err := box.Add(tx, sent, e); err != nil {
			return err
		}
	}
	return nil
}

// control is what a Host is told beside the life of its task.
type control struct {
	reason string // human_takeover | human_handback | steered | ...
	body   string
	id     string // makes it one of a kind
}

// turnCalls are the callbacks of a change; it moves t.Notice.
func turnCalls(t *Turn, change string, q *ask, c *control) calls {
	out := calls{at: t.UpdatedAt}
	if t.Route == nil || t.Unmanaged { // what a store did not keep a Watch tells, if anything (R50)
		return out
	}
	drop := func() {
		if t.Notice != "" {
			out.drop, t.Notice = append(out.drop, t.Notice), ""
		}
	}
	var ev rpc.EnvelopeEvent
	switch {
	case change == "control" && c != nil:
		ev = rpc.EnvelopeEvent{ID: outbox.MessageID(t.ID, "control", c.id), Type: "control", Body: c.body, Metadata: turnMeta(t, c.reason)}
	case change == changeQuestion && q != nil:
		drop() // another question took its place
		ev = questionEvent(t, q)
	case change == changeAnswered, change == changeClosed:
		drop()
		return out
	case change == changeStalled:
		ev = rpc.EnvelopeEvent{ID: outbox.MessageID(t.ID, "stalled", t.StalledAt.UTC().Format(time.RFC3339Nano)), Type: "error", Metadata: turnMeta(t, "stalled_"+t.Stall),
			Body: fmt.Sprintf("The task is marked stalled: %s.\nTurn: %s\nTerminal: %s\nLook with status, go on watching with renew, or give it up with close. If it ends after all, you are told.", t.Reason, t.ID, t.TerminalID)}
	case change == OutcomeCompleted, change == OutcomeFailed, change == OutcomeLost, change == OutcomeAborted:
		drop()
		ev = endEvent(t)
	default:
		return out
	}
	e := outbox.New(outbox.ForTurn(*t.Route, t.SessionID, t.ID, ev), t.UpdatedAt)
	if change == changeQuestion {
		t.Notice = e.Envelope.DeliveryID
	}
	out.add = append(out.add, e)
	return out
}

func turnMeta(t *Turn, reason string) map[string]any {
	m := map[string]any{"source": "terminal_bridge", "terminal_id": t.TerminalID, "agent": t.Agent, "workspace": redact(t.Workspace)}
	if reason != "" {
		m["reason"] = reason
	}
	return m
}

// questionEvent asks the Host to look. Nothing can be answered from the body:
// it is a wake-up, the Host must call status first (R78).
func questionEvent(t *Turn, q *ask) rpc.EnvelopeEvent {
	ev := rpc.EnvelopeEvent{ID: outbox.MessageID(t.ID, changeQuestion, fmt.Sprint(t.Questions, " ", q.Print)), RequiresResponse: true}
	if q.Kind == askInteraction {
		ev.Type, ev.Metadata = "question", turnMeta(t, "interaction_manual_required")
		ev.Body = questionBody(t, q, "asks a question")
		return ev
	}
	ev.Type, ev.Metadata = "blocked", turnMeta(t, "approval_not_approvable")
	ev.Metadata["approval_candidate"] = map[string]any{"agent": t.Agent, "kind": q.Dialog.Kind, "command": redact(q.Dialog.Command), "tool_name": q.Dialog.Tool,
		"cwd": redact(t.Workspace), "decision_mode": "manual"}
	ev.Body = questionBody(t, q, "waits for an approval")
	return ev
}

func questionBody(t *Turn, q *ask, what string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s in %s.\nTurn: %s\nKind: %s\n", t.Agent, what, t.TerminalID, t.ID, q.Dialog.Kind)
	b.WriteString(dialogBody(q))
	b.WriteString("Call status with this turn_id to see what stands there now. If no action is offered, a human must answer in the pane; never guess a key.")
	return b.String()
}

// dialogBody is the question as far as a Host may read it. It is untrusted
// text of the agent, fenced as such.
func dialogBody(q *ask) string {
	var b strings.Builder
	d := q.Dialog
	line := func(name, s string) {
		if s = strings.TrimSpace(clip(redact(s), 600)); s != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, s)
		}
	}
	line("Command", d.Command)
	line("Path", d.Path)
	line("Tool", strings.TrimSpace(d.Server+" "+d.Tool))
	line("Address", d.URL)
	if p := strings.TrimSpace(redact(d.Prompt)); p != "" {
		fmt.Fprintf(&b, "Text on the screen (untrusted):\n```\n%s\n", strings.ReplaceAll(clip(p, 1000), "```", "'''"))
		for i, o := range d.Options {
			if i == 8 {
				break
			}
			fmt.Fprintf(&b, "- %s\n", strings.ReplaceAll(clip(redact(o.Label), 300), "```", "'''"))
		}
		b.WriteString("```\n")
	}
	return b.String()
}

// endEvent tells the end of a task: the agent's last words, or why there are
// none.
func endEvent(t *Turn) rpc.EnvelopeEvent {
	ev := rpc.EnvelopeEvent{ID: outbox.MessageID(t.ID, "completion", strings.Join([]string{t.NativeTurn, t.Outcome}, "\x00")), Type: "done", Body: t.FinalText, Metadata: turnMeta(t, "")}
	m := ev.Metadata
	m["completion_source"], m["completion_outcome"], m["confidence"] = "durable", "success", "high"
	m["completion_id"], m["terminal_bridge_message_id"] = t.NativeTurn, t.RequestID
	if t.Outcome == OutcomeCompleted {
		if ev.Body == "" {
			ev.Body = "The task is done; the agent wrote no final text."
		}
		return ev
	}
	ev.Type, m["completion_outcome"], m["reason"] = "error", "failure", t.Outcome
	switch t.Outcome {
	case OutcomeAborted:
		ev.Body = "The task was interrupted before its end."
	case OutcomeLost:
		ev.Body = "The agent is gone, its log does not show the end of the task."
		m["completion_source"], m["confidence"] = "process", "medium"
	default:
		ev.Body = "The task failed."
	}
	if t.Reason != "" {
		ev.Body += "\n" + clip(redact(t.Reason), 2000)
	}
	return ev
}

// watchEvent is a Watch's notification.
func watchEvent(w Watch, n notice) rpc.EnvelopeEvent {
	typ := n.Kind
	if typ == "approval" {
		typ = "approval_required"
	}
	origin := map[string]string{sourceUser: "user_selected_terminal", sourceFallback: "terminal_user_explicit_fallback", sourceActivity: "terminal_activity_fallback"}[w.Source]
	m := map[string]any{"agent": w.Agent, "watch_origin": origin, "watch_mode": w.Mode, "confidence": w.Confidence}
	var detail string
	switch {
	case n.Ask != nil && typ == "approval_required":
		m["reason_code"] = reasonApproval
		detail = "The agent waits for an approval. This is an observation only: tell the user to decide in the terminal, never approve by tool.\n" + dialogBody(n.Ask)
	case n.Ask != nil:
		d := n.Ask.Dialog
		m["manual_interaction"] = map[string]any{"kind": d.Kind, "required": true, "parser_status": "manual_required"}
		detail = "The agent asks a question that a human must answer in the terminal.\n" + dialogBody(n.Ask)
	case w.Settlement != nil:
		m["reason_code"] = w.Settlement.ReasonCode
		detail = settlementBody(w)
		if w.Settlement.CompletionText != "" {
			m["completion_text"] = clip(w.Settlement.CompletionText, 2000)
		}
	}
	return rpc.EnvelopeEvent{ID: outbox.NotificationID(w.ID, n.Kind, outbox.Digest(n.Evidence)), Type: typ, RequiresResponse: true, Metadata: m,
		Body: fmt.Sprintf("[AKK Terminal Watch: %s]\nWatch: %s\nTerminal: %s\nAgent: %s\n%s", typ, w.ID, w.TerminalID, w.Agent, detail)}
}

func settlementBody(w Watch) string {
	s := w.Settlement
	switch {
	case s.ReasonCode == reasonStableIdle:
		return "The terminal was active and has become idle for good, as far as its screen tells (best effort). That is no proof that a task was completed."
	case s.Kind == WatchCompleted:
		return "The watched task is done. The agent's last words (untrusted):\n" + s.CompletionText
	case s.Kind == WatchFailed:
		return "The watched task ended without success: " + s.CompletionText
	}
	return "The Watch ended without a verified success: " + s.ReasonCode
}
