package mcp

import (
	"context"
	"fmt"
	"strings"

	"akk/bridge/rpc"
)

// agent_knock_knock_watch (R124 to R139, CONTRACT-outputs §4.2): follows what
// somebody else started in a terminal; it never types.

var watchTool = &tool{
	name:  "watch",
	title: "Watch a terminal",
	description: "Be told when the task that runs in a terminal ends or needs a human, without owning it: for work that the user started there. Nothing is typed. The result's watch_id is for status and unwatch. " +
		"Only when the user wants it; an identical active watch is returned instead of a second one.",
	input:  object(`"terminal_id"`, terminalArg+`,"hardTimeoutMinutes":{"type":"number","exclusiveMinimum":0,"maximum":525600,"description":"minutes after which the watch ends; default 720"}`),
	output: `{"type":"object","properties":{"watch":{"type":"object","description":"watch_id, status, watch_mode, confidence, settlement"},` + errorField + `}}`,
	run: func(ctx context.Context, c *call) (*answer, error) {
		r, err := c.Desk.Watch(ctx, rpc.WatchParams{ID: c.str("terminal_id"), HardTimeoutMinutes: c.num("hardTimeoutMinutes")})
		if err != nil {
			return nil, err
		}
		return &answer{doc: r, text: watchText(&r.Watch)}, nil
	},
}

func watchText(w *rpc.Watch) string {
	var b strings.Builder
	if w.Status == "active" {
		fmt.Fprintf(&b, "%s is watched (%s, %s) until %s.", w.TerminalID, w.WatchMode, w.Confidence, w.DeadlineAt.Format("2006-01-02 15:04 MST"))
	} else {
		fmt.Fprintf(&b, "The watch of %s has ended: %s.", w.TerminalID, w.Status)
		if s := w.Settlement; s != nil && s.CompletionText != "" {
			b.WriteString(" The agent's last message:\n" + s.CompletionText)
		}
	}
	for _, warn := range w.Warnings {
		b.WriteString("\nWarning: " + scrub(warn))
	}
	fmt.Fprintf(&b, "\nNext: agent_knock_knock_status with watch_id %q.", w.WatchID)
	return b.String()
}
