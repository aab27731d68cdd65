package mcp

import "context"

// agent_knock_knock_resume_thread (CONTRACT-outputs §4.6). The desk does not do it yet:
// every valid call is refused with the reason.

var resumeThreadTool = &tool{
	name:        "resume_thread",
	title:       "Resume a session",
	description: "Resume one earlier session of the agent in this terminal, by its full id from list_resumable_threads. Only when it is offered there.",
	input:       object(`"terminal_id","native_thread_id"`, terminalArg+`,"native_thread_id":{"type":"string","pattern":"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$","description":"the full id"}`),
	output:      `{"type":"object","properties":{` + errorField + `}}`,
	destructive: true, openWorld: true,
	run: func(ctx context.Context, c *call) (*answer, error) {
		return c.later(ctx, "a session can not be resumed through akk yet", "ask the human to use the agent's own resume command in the pane")
	},
}
