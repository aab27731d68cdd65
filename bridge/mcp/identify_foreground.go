package mcp

import "context"

// agent_knock_knock_identify_foreground (R62 to R68). The desk does not do it yet:
// every valid call is refused with the reason.

var identifyForegroundTool = &tool{
	name:        "identify_foreground",
	title:       "Identify the session in front",
	description: "Ask a Codex terminal which session it shows, by its own status command. Only when available_actions offers identify_foreground.",
	input:       object(`"terminal_id"`, terminalArg),
	output:      `{"type":"object","properties":{` + errorField + `}}`,
	openWorld:   true,
	run: func(ctx context.Context, c *call) (*answer, error) {
		return c.later(ctx, "akk does not probe terminals yet; its readings need no probe", "use agent_knock_knock_status, and agent_knock_knock_send where it is offered")
	},
}
