package mcp

import (
	"context"

	"akk/bridge/rpc"
)

// agent_knock_knock_renew (R170, CONTRACT-outputs §4.5): the watch over a
// stalled Turn begins again; no input.

var renewTool = &tool{
	name:        "renew",
	title:       "Watch a stalled turn again",
	description: "Take a stalled turn up again while its task still runs in its pane. Nothing is typed. Only when the turn's available_actions offers renew.",
	input:       object(`"turn_id"`, turnArg+`,"minutes":{"type":"number","exclusiveMinimum":0,"maximum":525600,"description":"minutes without activity until it counts as stalled again; default as before"}`),
	output:      `{"type":"object","properties":{"turn_id":{"type":"string"},"renewed":{"type":"boolean"},"agent_timeout_minutes":{"type":"number"},"agent_hard_timeout_minutes":{"type":"number"},` + errorField + `}}`,
	idempotent:  true,
	run: func(ctx context.Context, c *call) (*answer, error) {
		r, err := c.Desk.Renew(ctx, rpc.RenewParams{TurnID: c.str("turn_id"), Minutes: c.num("minutes")})
		if err != nil {
			return nil, err
		}
		return &answer{doc: r, text: "The turn is watched again." + follow(r.TurnID)}, nil
	},
}
