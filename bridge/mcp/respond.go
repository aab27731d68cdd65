package mcp

import (
	"context"
	"fmt"

	"akk/bridge/rpc"
)

// agent_knock_knock_respond (R69 to R71, CONTRACT-outputs §4.1): an answer in
// the same Turn; a message in the composer, never an approval or a menu choice.

var respondTool = &tool{
	name:  "respond",
	title: "Answer a waiting turn",
	description: "Type an answer into the terminal of a turn whose status is waiting_for_openclaw, as a message of the same turn. Only when the turn's available_actions offers respond. " +
		"It never answers an approval dialog or a menu.",
	input:       object(`"turn_id","request"`, turnArg+`,"request":{"type":"string","minLength":1,"description":"the answer; not a slash command"}`),
	output:      sendOutput,
	destructive: true, openWorld: true,
	run: func(ctx context.Context, c *call) (*answer, error) {
		tell := c.progress(ctx)
		defer tell.end()
		s, err := c.submit(ctx, func(ctx context.Context, id string, wait int) (rpc.Send, error) {
			return c.Desk.Respond(ctx, rpc.RespondParams{TurnID: c.str("turn_id"), Request: c.str("request"), RequestID: id, AcceptWaitMillis: wait})
		})
		if err != nil {
			return nil, err
		}
		return sent(&s, tell), nil
	},
}

// sent is the answer of everything that submits a text.
func sent(s *rpc.Send, tell *progress) *answer {
	ok := s.SubmissionOutcome == "agent_accepted" && s.DeliveryReceipt == "agent_accepted" && s.Delivered
	if ok {
		tell.say("accepted")
	}
	return &answer{doc: s, text: sendText(s), failed: !ok}
}

// follow is the next step after a change of a Turn.
func follow(turn string) string {
	return fmt.Sprintf("\nNext: agent_knock_knock_status with turn_id %q.", turn)
}
