package mcp

import "context"

// agent_knock_knock_set_model (R161 to R165). The desk does not do it yet:
// every valid call is refused with the reason.

var setModelTool = &tool{
	name:        "set_model",
	title:       "Change the model",
	description: "Choose one exact model and effort of the last model_options. Only when it is offered there.",
	input:       object(`"terminal_id","model","reasoning_effort"`, terminalArg+`,"model":{"type":"string","pattern":"^[A-Za-z0-9][A-Za-z0-9._:/+-]*$","maxLength":160},"reasoning_effort":{"type":"string","pattern":"^[a-z][a-z0-9_-]*$","maxLength":64}`),
	output:      `{"type":"object","properties":{` + errorField + `}}`,
	destructive: true, openWorld: true,
	run: func(ctx context.Context, c *call) (*answer, error) {
		return c.later(ctx, "models are not changed through akk yet", "ask the human to use the agent's own model command in the pane")
	},
}
