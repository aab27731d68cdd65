package mcp

import "context"

// agent_knock_knock_native_inspect (R152 to R160). The desk does not do it yet:
// every valid call is refused with the reason.

var nativeInspectTool = &tool{
	name:        "native_inspect",
	title:       "Inspect the agent's status",
	description: "Show the agent's own status card once and close it again. Only when available_actions offers native_inspect.",
	input:       object(`"terminal_id","inspection"`, terminalArg+`,"inspection":{"type":"string","enum":["status"]}`),
	output:      `{"type":"object","properties":{` + errorField + `}}`,
	openWorld:   true,
	run: func(ctx context.Context, c *call) (*answer, error) {
		return c.later(ctx, "the agent's status card is not read through akk yet", "use agent_knock_knock_status")
	},
}
