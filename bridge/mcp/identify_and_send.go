package mcp

import "context"

// agent_knock_knock_identify_and_send (R65 to R67). The desk does not do it yet:
// every valid call is refused with the reason.

var identifyAndSendTool = &tool{
	name:        "identify_and_send",
	title:       "Identify, then send",
	description: "Identify the session in front of a Codex terminal and send one task to it, in one step. Only when available_actions offers identify_and_send.",
	input:       object(`"terminal_id","request"`, terminalArg+`,"request":{"type":"string","minLength":1},`+timeoutArgs),
	output:      `{"type":"object","properties":{` + errorField + `}}`,
	destructive: true, openWorld: true,
	run: func(ctx context.Context, c *call) (*answer, error) {
		return c.later(ctx, "akk does not probe terminals yet", "use agent_knock_knock_send where the list offers it")
	},
}
