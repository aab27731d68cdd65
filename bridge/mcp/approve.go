package mcp

import "context"

// agent_knock_knock_approve (R104 to R123): the exact prompt that was shown, once. The desk does not do it yet:
// every valid call is refused with the reason.

var approveTool = &tool{
	name:        "approve",
	title:       "Decide an approval",
	description: "Approve or reject the exact approval dialog that an agent shows, after the user decided. Only when available_actions offers approve.",
	input:       object(``, turnArg+`,`+terminalArg+`,"decision":{"type":"string","enum":["approve_once","reject"],"description":"default approve_once"}`),
	output:      `{"type":"object","properties":{` + errorField + `}}`,
	destructive: true, openWorld: true,
	run: func(ctx context.Context, c *call) (*answer, error) {
		if bad := c.exactlyOne("turn_id", "terminal_id"); bad != nil {
			return nil, bad
		}
		return c.later(ctx, "approvals can not be decided through akk yet", "ask the human to answer it in the pane")
	},
}
