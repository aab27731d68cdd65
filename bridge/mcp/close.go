package mcp

import (
	"context"
	"strings"

	"akk/bridge/rpc"
)

// agent_knock_knock_close (R172, CONTRACT-outputs §4.5): akk gives up its
// management of a Turn. The agent goes on, the pane stays, nothing is typed.

var closeTool = &tool{
	name:  "close",
	title: "Give up a turn",
	description: "Stop managing a turn: akk forgets it as the terminal's current task. The agent is not stopped and nothing is typed. Only after the user confirmed it; " +
		"for a context that the human has switched, with the reason that handoff_decision shows.",
	input: object(``, turnArg+`,`+conversationArg+`,
		"reason":{"type":"string","maxLength":500,"description":"why; told in the record"},
		"expected_message_id":{"type":"string","minLength":1,"description":"for an orphaned dispatch, as the list shows it; not together with expected_transition_id"},
		"expected_transition_id":{"type":"string","minLength":1,"description":"for an orphaned transition, as the list shows it"}`),
	output: `{"type":"object","properties":{"turn_id":{"type":"string"},"conversation_id":{"type":"string"},"closed":{"type":"boolean"},"terminal_dispatch_resolved":{"type":"boolean"},
		"coding_agent_stopped":{"type":"boolean"},"reason":{"type":"string"},"next_action":{"type":"string"},` + errorField + `}}`,
	destructive: true, idempotent: true,
	run: func(ctx context.Context, c *call) (*answer, error) {
		turn, id, bad := c.turnOrTerminal()
		if bad != nil {
			return nil, bad
		}
		if c.has("expected_message_id") && c.has("expected_transition_id") {
			return nil, badArguments(c.tool, "expected_message_id and expected_transition_id exclude each other")
		}
		r, err := c.Desk.CloseTurn(ctx, rpc.CloseParams{TurnID: turn, ID: id, Reason: c.str("reason"),
			ExpectedMessageID: c.str("expected_message_id"), ExpectedTransitionID: c.str("expected_transition_id")})
		if err != nil {
			return nil, err
		}
		var b strings.Builder
		if r.Closed {
			b.WriteString("The turn is closed; the agent goes on in its pane.")
		} else {
			b.WriteString("The orphaned dispatch is resolved; the agent goes on in its pane.")
		}
		for _, w := range r.Warnings {
			b.WriteString(" " + scrub(w) + ".")
		}
		b.WriteString("\nNext: agent_knock_knock_list.")
		return &answer{doc: r, text: b.String(), failed: id != "" && !r.TerminalDispatchResolved}, nil
	},
}
