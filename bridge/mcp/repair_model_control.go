package mcp

import "context"

// agent_knock_knock_repair_model_control (R166 to R168). The desk does not do it yet:
// every valid call is refused with the reason.

var repairModelControlTool = &tool{
	name:        "repair_model_control",
	title:       "Clean up after a model change",
	description: "Close what a failed model change left open. Only when available_actions offers repair_model_control.",
	input:       object(`"terminal_id"`, terminalArg),
	output:      `{"type":"object","properties":{` + errorField + `}}`,
	destructive: true, openWorld: true,
	run: func(ctx context.Context, c *call) (*answer, error) {
		return c.later(ctx, "akk changes no models yet, so there is nothing to repair", "ask the human to look at the pane")
	},
}
