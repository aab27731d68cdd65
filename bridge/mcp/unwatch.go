package mcp

import (
	"context"

	"akk/bridge/rpc"
)

// agent_knock_knock_unwatch (CONTRACT-outputs §4.2): a settled Watch comes back
// as it is.

var unwatchTool = &tool{
	name:        "unwatch",
	title:       "End a watch",
	description: "Stop watching. The terminal and its agent are not touched.",
	input:       object(`"watch_id"`, watchArg),
	output:      watchTool.output,
	idempotent:  true,
	run: func(ctx context.Context, c *call) (*answer, error) {
		r, err := c.Desk.Unwatch(ctx, rpc.WatchIDParams{WatchID: c.str("watch_id")})
		if err != nil {
			return nil, err
		}
		return &answer{doc: r, text: watchText(&r.Watch)}, nil
	},
}
