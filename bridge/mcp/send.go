package mcp

import (
	"context"
	"fmt"
	"strings"
	"time"

	"akk/bridge/rpc"
)

// agent_knock_knock_send (R36 to R61, CONTRACT-outputs §4.1). The call answers
// when the agent has taken the task, when that is known not to happen, or after
// acceptWait; it is an error unless acceptance is proven.

const (
	// acceptWait is how long a call waits for the agent's own proof. A Host
	// gives a call 30 s or more, so it is below that.
	acceptWait = 20 * time.Second
	// drainSend is what an accepted call may still take when the bridge ends.
	drainSend = 300 * time.Millisecond
)

var sendTool = &tool{
	name:  "send",
	title: "Send a task to an agent",
	description: "Type one task into an agent's visible terminal and press Enter. Name terminal_id or session_id as available_actions.send does, or neither if exactly one terminal is ready. " +
		"Into a terminal that works it goes only by terminal_id, and only where available_actions.send is there with requires_user_intent: if the user wants it there now. " +
		"Refused, with nothing typed, while a dialog, a draft, an open menu or the human has the terminal. On success the result has a turn_id: follow it with agent_knock_knock_status. " +
		"If do_not_retry is true, do not send it again.",
	input: `{"type":"object","additionalProperties":false,"properties":{
		"request":{"type":"string","minLength":1,"description":"the task, as the human would write it; not a slash command"},
		"terminal_id":{"type":"string","pattern":"^terminal:v[0-9]+:\\S+$","description":"the id of a terminal in the list; not together with session_id"},
		"session_id":{"type":"string","minLength":1,"description":"a managed session; not together with terminal_id"},
		"turn_id":{"type":"string","pattern":"` + idPattern + `","description":"alone: press Enter once more for this turn, only if the list offers retry_submission"},
		"type":{"type":"string","enum":["task"],"description":"always task"},
		` + timeoutArgs + `}}`,
	output:      sendOutput,
	destructive: true, openWorld: true,
	run: func(ctx context.Context, c *call) (*answer, error) {
		if c.has("turn_id") {
			if len(c.args) != 1 {
				return nil, badArguments(c.tool, "turn_id stands alone")
			}
			return c.retrySubmission(ctx)
		}
		if !c.has("request") {
			return nil, badArguments(c.tool, "request is needed")
		}
		if c.has("terminal_id") && c.has("session_id") {
			return nil, badArguments(c.tool, "terminal_id and session_id exclude each other")
		}
		tell := c.progress(ctx)
		defer tell.end()
		tell.say("checking the terminal")
		r, err := c.submit(ctx, func(ctx context.Context, id string, wait int) (rpc.Send, error) {
			return c.Desk.Send(ctx, rpc.SendParams{ID: c.str("terminal_id"), SessionID: c.str("session_id"), Request: c.str("request"), RequestID: id, AcceptWaitMillis: wait,
				AgentTimeoutMinutes: c.num("agentTimeoutMinutes"), AgentHardTimeoutMinutes: c.num("agentHardTimeoutMinutes")})
		})
		if err != nil {
			return nil, err
		}
		return sent(&r, tell), nil
	},
}

// retrySubmission presses Enter once more for a Turn whose text stands in the
// composer (CONTRACT-outputs §2.3, retry_submission).
func (c *call) retrySubmission(ctx context.Context) (*answer, error) {
	r, err := c.Desk.RetrySubmission(ctx, rpc.TurnParams{TurnID: c.str("turn_id")})
	if err != nil {
		return nil, err
	}
	return sent(&r, &progress{}), nil
}

// submit waits as long as the server may wait. When it must end, the text that
// went out stays out: asking again under the same request id only tells where
// it stands.
func (c *call) submit(ctx context.Context, f func(ctx context.Context, requestID string, waitMillis int) (rpc.Send, error)) (rpc.Send, error) {
	id := c.requestID()
	if id == "" {
		id = digest("once", c.nonce, c.tool.name, fmt.Sprintf("%p", c), time.Now().String())
	}
	wait, stop := context.WithCancel(ctx)
	defer stop()
	if c.Draining != nil {
		go func() {
			select {
			case <-c.Draining:
				select {
				case <-time.After(drainSend):
					stop()
				case <-wait.Done():
				}
			case <-wait.Done():
			}
		}()
	}
	s, err := f(wait, id, int(acceptWait.Milliseconds()))
	if err != nil && wait.Err() != nil && ctx.Err() == nil {
		return f(ctx, id, 1)
	}
	return s, err
}

func sendText(s *rpc.Send) string {
	follow := fmt.Sprintf("\nNext: agent_knock_knock_status with turn_id %q and wait_seconds 45.", s.TurnID)
	why := ""
	if s.Reason != "" {
		why = ": " + scrub(s.Reason)
	}
	switch s.SubmissionOutcome {
	case "agent_accepted":
		return "Accepted: the agent in " + s.TerminalID + " has taken the task." + follow
	case "pending_acceptance":
		return pendingText(s) + why + ". Do not send it again." + follow
	case "not_accepted":
		return "The task stands in the agent's composer and was not taken" + why + ". Do not send it again; ask the human to look at the terminal." + follow
	case "aborted":
		if s.SafeToRetry {
			next := "send it again when agent_knock_knock_list offers send for the terminal"
			if s.Cure != "" && !strings.HasPrefix(s.Cure, "send it again") {
				next = hostWords(s.Cure)
			}
			return "Nothing was typed" + why + ".\nNext: " + next + "."
		}
		return "Nothing was typed" + why + "." + follow
	}
	return "It is not known whether the agent has got the task" + why + ". Do not send it again; ask the human to look at the terminal." + follow
}

// pendingText says how far a send came that has no outcome yet, and no more than
// is proven: a receipt is durable before the key that follows it (R56), and an
// explicit send goes on where the store can't keep one.
func pendingText(s *rpc.Send) string {
	switch {
	case s.Delivered:
		return "The task was typed and Enter pressed, but the agent has not taken it yet"
	case !s.TerminalInputDispatched:
		return "Nothing is typed yet: the send is under way"
	case s.DeliveryReceipt == "text_injected":
		return "The task is typed, it is not proven yet that Enter was pressed"
	}
	return "The task may be typed, it is not proven that Enter was pressed"
}
