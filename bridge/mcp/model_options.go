package mcp

import "context"

// agent_knock_knock_model_options (R161 to R168). The desk does not do it yet:
// every valid call is refused with the reason.

var modelOptionsTool = &tool{
	name:        "model_options",
	title:       "List models",
	description: "Show which models and efforts this terminal's agent offers. Only when available_actions offers model_options.",
	input:       object(`"terminal_id"`, terminalArg),
	output:      `{"type":"object","properties":{` + errorField + `}}`,
	destructive: true, openWorld: true,
	run: func(ctx context.Context, c *call) (*answer, error) {
		return c.later(ctx, "models are not read through akk yet", "ask the human to use the agent's own model command in the pane")
	},
}
