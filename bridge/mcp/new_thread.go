package mcp

import "context"

// agent_knock_knock_new_thread (CONTRACT-outputs §4.6). The desk does not do it yet:
// every valid call is refused with the reason.

var newThreadTool = &tool{
	name:        "new_thread",
	title:       "Begin a new session",
	description: "Begin a new session of the agent in this terminal. Only when available_actions offers new_thread, and only when the user wants it.",
	input:       object(`"terminal_id"`, terminalArg),
	output:      `{"type":"object","properties":{` + errorField + `}}`,
	destructive: true, openWorld: true,
	run: func(ctx context.Context, c *call) (*answer, error) {
		return c.later(ctx, "a new session can not be begun through akk yet", "ask the human to use the agent's own command in the pane")
	},
}
