package mcp

import (
	"context"
	"fmt"
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
		"Refused, with nothing typed, while a dialog, a draft, an open menu or the human has the terminal. On success the result has a turn_id: follow it with agent_knock_knock_status. " +
		"If do_not_retry is true, do not send it again.",
	input: `{"type":"object","additionalProperties":false,"properties":{
		"request":{"type":"string","minLength":1,"description":"the task, as the human would write it; not a slash command"},
		"terminal_id":{"type":"string","pattern":"^terminal:v[0-9]+:\\S+$","description":"the id of a terminal in the list; not together with session_id"},
		"session_id":{"type":"string","minLength":1,"description":"a managed session; not together with terminal_id"},
		"turn_id":{"type":"string","minLength":1,"description":"alone: press Enter once more for this turn, only if the list offers retry_submission"},
		"type":{"type":"string","enum":["task"],"description":"always task"},
		"idleTimeoutMinutes":{"type":"number","exclusiveMinimum":0,"description":"accepted; a turn ends when the agent ends it"},
		"agentTimeoutMinutes":{"type":"number","exclusiveMinimum":0,"description":"accepted, as above"},
		"agentHardTimeoutMinutes":{"type":"number","exclusiveMinimum":0,"description":"accepted, as above"}}}`,
	output: `{"type":"object","properties":{
		"turn_id":{"type":"string","description":"follow it with agent_knock_knock_status"},
		"session_id":{"type":"string"},
		"terminal_id":{"type":"string"},
		"status":{"type":"string"},
		"submission_outcome":{"type":"string","description":"agent_accepted, pending_acceptance, not_accepted, uncertain or aborted"},
		"delivered":{"type":"boolean"},
		"terminal_input_dispatched":{"type":"boolean"},
		"agent_acceptance":{"type":"string"},
		"safe_to_retry":{"type":"boolean"},
		"do_not_retry":{"type":"boolean"},
		"reason":{"type":"string"},
		"error":{"type":"object"}}}`,
	destructive: true, openWorld: true,
	run: func(ctx context.Context, c *call) (*answer, error) {
		if c.has("turn_id") {
			if len(c.args) != 1 {
				return nil, badArguments(c.tool, "turn_id stands alone")
			}
			return nil, &rpc.Error{Code: rpc.CodeRefused, Message: "retry_submission is not offered for this turn; nothing was typed",
				Cure: "look at it with agent_knock_knock_status and the same turn_id"}
		}
		if !c.has("request") {
			return nil, badArguments(c.tool, "request is needed")
		}
		if c.has("terminal_id") && c.has("session_id") {
			return nil, badArguments(c.tool, "terminal_id and session_id exclude each other")
		}
		p := rpc.SendParams{ID: c.str("terminal_id"), SessionID: c.str("session_id"), Request: c.str("request"),
			RequestID: c.requestID(), AcceptWaitMillis: int(acceptWait.Milliseconds())}
		tell := c.progress(ctx)
		defer tell.end()
		tell.say("checking the terminal")
		s, err := c.send(ctx, p)
		if err != nil {
			return nil, err
		}
		ok := s.SubmissionOutcome == "agent_accepted" && s.DeliveryReceipt == "agent_accepted" && s.Delivered
		if ok {
			tell.say("accepted")
		}
		return &answer{doc: s, text: sendText(&s), failed: !ok}, nil
	},
}

// send waits as long as the server may wait. When it must end, the task that
// went out stays out: asking again under the same request id only tells where
// it stands.
func (c *call) send(ctx context.Context, p rpc.SendParams) (rpc.Send, error) {
	if p.RequestID == "" {
		p.RequestID = digest("once", c.nonce, c.tool.name, fmt.Sprintf("%p", c), time.Now().String())
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
	s, err := c.Desk.Send(wait, p)
	if err != nil && wait.Err() != nil && ctx.Err() == nil {
		p.AcceptWaitMillis = 1
		return c.Desk.Send(ctx, p)
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
		return "The task was typed and Enter pressed, but the agent has not taken it yet" + why + ". Do not send it again." + follow
	case "not_accepted":
		return "The task stands in the agent's composer and was not taken" + why + ". Do not send it again; ask the human to look at the terminal." + follow
	case "aborted":
		if s.SafeToRetry {
			return "Nothing was typed" + why + ".\nNext: send it again when agent_knock_knock_list offers send for the terminal."
		}
		return "Nothing was typed" + why + "." + follow
	}
	return "It is not known whether the agent has got the task" + why + ". Do not send it again; ask the human to look at the terminal." + follow
}
