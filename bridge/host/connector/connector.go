// Package connector carries a callback into the pane of a Host that is itself an
// agent in a terminal which akk watches (Claude Code, Codex): no Host command
// takes a message for a live session and acknowledges it, but the desk can type
// one with proof.
//
// It promises: the target is the terminal in whose agent this process runs, and
// nothing else; accepted is said only when the agent's own log has the message;
// a busy Host is waited for and then tried again later; what may have been typed
// is never called a failure.
//
// It refuses a Host that is not in a watched pane, and with Native one whose
// pane shows another session by now.
package connector

import (
	"context"
	"errors"
	"time"

	"akk/bridge/rpc"
)

const (
	// Within is how long a busy Host is waited for; the shipped profiles give
	// the command 30 s.
	Within = 22 * time.Second
	// again spaces the attempts while a dialog or a draft has the pane.
	again = 500 * time.Millisecond
	// afterAbort spaces those that had begun: each is a Turn in the store.
	afterAbort = 4 * time.Second
	// readingWait bounds one wait for the end of the Host's turn.
	readingWait = 5 * time.Second
	// BodyMax bounds a body in bytes.
	BodyMax = 1 << 20
)

// The words of an Answer, mapped by the shipped profiles.
const (
	Accepted = "accepted"
	Retry    = "retry"
	Rejected = "rejected"
	Unknown  = "unknown"
)

// Desk is what is needed of the daemon; *rpc.Client has it.
type Desk interface {
	Hello() rpc.HelloResult
	List(ctx context.Context, p rpc.ListParams) (rpc.List, error)
	Status(ctx context.Context, p rpc.StatusParams) (rpc.Status, error)
	Send(ctx context.Context, p rpc.SendParams) (rpc.Send, error)
}

// Message is one callback.
type Message struct {
	Session    string
	DeliveryID string
	MessageID  string
	Body       string
	Native     bool // Session is the agent's own session id: it must still be the pane's
}

// Answer is the acknowledgement, as the shipped profiles read it.
type Answer struct {
	Disposition  string `json:"disposition"`
	AcceptanceID string `json:"acceptance_id,omitempty"`
	DeliveryID   string `json:"delivery_id"`
	MessageID    string `json:"message_id"`
	Reason       string `json:"reason,omitempty"` // for a human who runs it
}

// Deliver carries m into the caller's own pane. It returns within the time of
// ctx, which is the profile's.
func Deliver(ctx context.Context, d Desk, m Message) Answer {
	a := Answer{DeliveryID: m.DeliveryID, MessageID: m.MessageID}
	say := func(word, why string) Answer { a.Disposition, a.Reason = word, why; return a }
	c := d.Hello().Caller
	if c.Kind != "agent" || c.TerminalID == "" {
		return say(Rejected, "this process does not run under an agent in a terminal that akk watches")
	}
	end := time.Now().Add(Within)
	for {
		if m.Native {
			if word, why := sameSession(ctx, d, c.TerminalID, m.Session); word != "" {
				return say(word, why)
			}
		}
		s, err := d.Send(ctx, rpc.SendParams{ID: c.TerminalID, Request: m.Body, RequestID: m.DeliveryID, AcceptWaitMillis: int(max(time.Until(end), again) / time.Millisecond)})
		var e *rpc.Error
		switch {
		case err == nil && s.SubmissionOutcome == "agent_accepted":
			a.AcceptanceID = s.TurnID
			return say(Accepted, "")
		case err == nil && s.SubmissionOutcome != "aborted":
			if takenLater(ctx, d, s.TurnID, end) {
				a.AcceptanceID = s.TurnID
				return say(Accepted, "")
			}
			return say(Unknown, "it was typed, but the agent's log does not tell that it was taken")
		case err != nil && !errors.As(err, &e):
			return say(Unknown, "the daemon went away during the call")
		case err != nil && (e.Code == rpc.CodeForbidden || e.Code == rpc.CodeNotFound || e.Code == rpc.CodeUsage):
			return say(Rejected, e.Message)
		case err != nil && e.Code != rpc.CodeRefused && e.Code != rpc.CodeUnavailable:
			return say(Unknown, e.Message)
		}
		pause := again
		if err == nil {
			pause = afterAbort
		}
		if time.Until(end) < pause {
			return say(Retry, "the host's pane was not free")
		}
		// The Host works, or a dialog or draft has its pane.
		wait := min(readingWait, time.Until(end))
		_, _ = d.Status(ctx, rpc.StatusParams{ID: c.TerminalID, WaitMillis: int(wait / time.Millisecond)})
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return say(Retry, "there was no time left")
		}
	}
}

// takenLater looks until end whether the agent's log tells after all that the
// text was taken: a machine under load is slower than the desk's patience.
func takenLater(ctx context.Context, d Desk, turn string, end time.Time) bool {
	for {
		s, err := d.Status(ctx, rpc.StatusParams{TurnID: turn})
		if err == nil && s.Conversation != nil && s.Conversation.AcceptedAt != nil {
			return true
		}
		if err != nil || time.Now().After(end) {
			return false
		}
		select {
		case <-time.After(again):
		case <-ctx.Done():
			return false
		}
	}
}

// sameSession returns a word and a reason unless the pane shows the session.
func sameSession(ctx context.Context, d Desk, terminal, session string) (word, why string) {
	l, err := d.List(ctx, rpc.ListParams{})
	if err != nil {
		return Retry, "the list of terminals can't be read"
	}
	for _, r := range l.Terminals {
		if r.ID != terminal {
			continue
		}
		switch r.NativeAgentSessionID {
		case session:
			return "", ""
		case "":
			return Retry, "which session the host's pane shows is not proven"
		}
		return Rejected, "the host's pane shows another session by now"
	}
	return Rejected, "the host's terminal is gone"
}
