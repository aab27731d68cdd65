package mcp

import (
	"context"

	"akk/bridge/rpc"
)

// agent_knock_knock_cancel (R169, CONTRACT-outputs §4.5): one interrupt key,
// only while the agent is proven to work; the pane stays.

var cancelTool = &tool{
	name:  "cancel",
	title: "Interrupt a working agent",
	description: "Interrupt what an agent is doing now, by its own interrupt key, once. The agent and its pane stay open. Name the turn, or a terminal without a turn as conversation_id, as available_actions.cancel does. " +
		"Only when the user wants it.",
	input: object(``, turnArg+`,`+conversationArg+`,"idleTimeoutMinutes":{"type":"number","exclusiveMinimum":0,"description":"accepted"}`),
	output: `{"type":"object","properties":{"turn_id":{"type":"string"},"conversation_id":{"type":"string"},"cancel_requested":{"type":"boolean"},"interrupted":{"type":"string"},
		"reason":{"type":"string"},"keys":{"type":"array","items":{"type":"string"}},` + errorField + `}}`,
	destructive: true, openWorld: true,
	run: func(ctx context.Context, c *call) (*answer, error) {
		turn, id, bad := c.turnOrTerminal()
		if bad != nil {
			return nil, bad
		}
		r, err := c.Desk.Cancel(ctx, rpc.CancelParams{TurnID: turn, ID: id})
		if err != nil {
			return nil, err
		}
		text := "The agent was interrupted."
		switch {
		case !r.CancelRequested:
			text = "Nothing was interrupted: " + scrub(r.Reason) + "."
		case r.Interrupted != "seen":
			text = "The interrupt key was pressed once; it was not seen that the agent stopped. Do not press it again: look with agent_knock_knock_status."
		}
		return &answer{doc: r, text: text}, nil
	},
}

// turnOrTerminal reads the exclusive pair turn_id and conversation_id; a Turn's
// conversation_id is its turn_id (CONTRACT-outputs §5).
func (c *call) turnOrTerminal() (turn, terminal string, bad *rpc.Error) {
	if bad := c.exactlyOne("turn_id", "conversation_id"); bad != nil {
		return "", "", bad
	}
	if c.has("turn_id") {
		return c.str("turn_id"), "", nil
	}
	return c.conversation()
}
