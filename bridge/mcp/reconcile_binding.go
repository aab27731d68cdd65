package mcp

import (
	"context"

	"akk/bridge/rpc"
)

// agent_knock_knock_reconcile_binding (R173, CONTRACT-outputs §4.6): only
// detaches a binding that is proven stale.

var reconcileBindingTool = &tool{
	name:  "reconcile_binding",
	title: "Detach a stale session",
	description: "Detach a session that is proven to be no longer what the terminal shows. Neither adopts what is shown nor types anything. Only when available_actions offers reconcile_binding, " +
		"and only when the user wants it.",
	input:       object(`"terminal_id","conflicting_session_id"`, terminalArg+`,"conflicting_session_id":{"type":"string","minLength":1,"description":"the session that the list names in the conflict"}`),
	output:      `{"type":"object","properties":{"status":{"type":"string"},"outcome":{"type":"string"},"conflict_kind":{"type":"string"},"terminal_id":{"type":"string"},"session_id":{"type":"string"},"refresh_required":{"type":"boolean"},` + errorField + `}}`,
	destructive: true, idempotent: true,
	run: func(ctx context.Context, c *call) (*answer, error) {
		r, err := c.Desk.Reconcile(ctx, rpc.ReconcileParams{ID: c.str("terminal_id"), ConflictingSessionID: c.str("conflicting_session_id")})
		if err != nil {
			return nil, err
		}
		return &answer{doc: r, text: "The stale session is detached; nothing was typed.\nNext: agent_knock_knock_list, for what may be done now."}, nil
	},
}
