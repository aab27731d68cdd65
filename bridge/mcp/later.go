package mcp

import (
	"context"
	"errors"

	"akk/bridge/rpc"
)

// This file answers for tools whose work the desk does not do yet. It upholds:
// never pretend; a name that does not exist is told as such, and nothing is
// ever typed.

// later refuses a call about a terminal, Turn or Watch after making sure that
// it is there.
func (c *call) later(ctx context.Context, what, instead string) (*answer, error) {
	name, id := "terminal", c.str("terminal_id")
	p := rpc.StatusParams{ID: id}
	switch {
	case c.has("turn_id"):
		name, id = "turn", c.str("turn_id")
		p = rpc.StatusParams{TurnID: id}
	case c.has("watch_id"):
		id = c.str("watch_id")
		if _, err := c.Desk.WatchStatus(ctx, rpc.WatchIDParams{WatchID: id}); err != nil {
			return nil, untouched(err)
		}
		name = "watch"
	}
	if name != "watch" {
		if _, err := c.Desk.Status(ctx, p); err != nil {
			return nil, untouched(err)
		}
	}
	return nil, &rpc.Error{Code: rpc.CodeRefused, Message: "not available for this " + name + " (" + id + "): " + what + "; nothing was typed", Cure: instead}
}

// untouched is err for a call that only looked, whatever its tool may do.
func untouched(err error) error {
	if e, ok := errors.AsType[*rpc.Error](err); ok {
		return e
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &rpc.Error{Code: rpc.CodeUnavailable, Message: "the call was cancelled; nothing was typed"}
	}
	return &rpc.Error{Code: rpc.CodeUnavailable, Message: err.Error(), Cure: "try again: the daemon is started by the next call"}
}
