package mcp

import (
	"context"

	"akk/bridge/rpc"
)

// agent_knock_knock_retry_callback (R179, CONTRACT-outputs §4.5): a delivery
// that failed and may be tried again gets one more attempt.

var retryCallbackTool = &tool{
	name:        "retry_callback",
	title:       "Deliver a callback again",
	description: "Try once more to deliver a turn's callback that has failed. Only when the turn's available_actions offers retry_callback. Nothing is typed.",
	input:       object(`"turn_id"`, turnArg),
	output:      `{"type":"object","properties":{"turn_id":{"type":"string"},"delivered":{"type":"boolean"},"duplicate":{"type":"boolean"},"delivery":{"type":"object"},` + errorField + `}}`,
	openWorld:   true,
	run: func(ctx context.Context, c *call) (*answer, error) {
		r, err := c.Desk.RetryCallback(ctx, rpc.RetryCallbackParams{TurnID: c.str("turn_id")})
		if err != nil {
			return nil, err
		}
		text := "The callback will be tried again; its state is " + r.Delivery.Status + "."
		if r.Delivered {
			text = "The callback has been delivered."
		}
		return &answer{doc: r, text: text}, nil
	},
}
