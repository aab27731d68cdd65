package mcp

import "context"

// agent_knock_knock_list_resumable_threads (CONTRACT-outputs §4.6). The desk does not do it yet:
// every valid call is refused with the reason.

var listResumableThreadsTool = &tool{
	name:        "list_resumable_threads",
	title:       "List earlier sessions",
	description: "List the agent's earlier sessions that could be resumed in this terminal. Only when available_actions offers list_resumable_threads.",
	input:       object(`"terminal_id"`, terminalArg),
	output:      `{"type":"object","properties":{` + errorField + `}}`,
	readOnly:    true, idempotent: true,
	run: func(ctx context.Context, c *call) (*answer, error) {
		return c.later(ctx, "earlier sessions are not listed through akk yet", "ask the human to use the agent's own resume command in the pane")
	},
}
