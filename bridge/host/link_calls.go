package host

import (
	"context"
	"errors"

	"akk/bridge/rpc"
)

// This file holds the calls of the tools, one each. A call whose connection
// ended is repeated once only where a repetition is harmless: it reads, carries
// a request id, or is a move to a state that may be reached already.

func (l *link) Respond(ctx context.Context, p rpc.RespondParams) (rpc.Send, error) {
	return through(ctx, l, func(c *rpc.Client) (rpc.Send, error) { return c.Respond(ctx, p) })
}

// RetrySubmission is not repeated: it presses a key and has no request id.
func (l *link) RetrySubmission(ctx context.Context, p rpc.TurnParams) (rpc.Send, error) {
	return onceOnly(ctx, l, func(c *rpc.Client) (rpc.Send, error) { return c.RetrySubmission(ctx, p) })
}

// Cancel is not repeated: it presses a key and has no request id.
func (l *link) Cancel(ctx context.Context, p rpc.CancelParams) (rpc.Cancel, error) {
	return onceOnly(ctx, l, func(c *rpc.Client) (rpc.Cancel, error) { return c.Cancel(ctx, p) })
}

func (l *link) Renew(ctx context.Context, p rpc.RenewParams) (rpc.Renew, error) {
	return through(ctx, l, func(c *rpc.Client) (rpc.Renew, error) { return c.Renew(ctx, p) })
}

func (l *link) CloseTurn(ctx context.Context, p rpc.CloseParams) (rpc.Close, error) {
	return through(ctx, l, func(c *rpc.Client) (rpc.Close, error) { return c.CloseTurn(ctx, p) })
}

func (l *link) Reconcile(ctx context.Context, p rpc.ReconcileParams) (rpc.Reconciled, error) {
	return through(ctx, l, func(c *rpc.Client) (rpc.Reconciled, error) { return c.Reconcile(ctx, p) })
}

// Watch is repeated: an identical active Watch is returned instead of a second.
func (l *link) Watch(ctx context.Context, p rpc.WatchParams) (rpc.WatchResult, error) {
	return through(ctx, l, func(c *rpc.Client) (rpc.WatchResult, error) { return c.Watch(ctx, p) })
}

func (l *link) Unwatch(ctx context.Context, p rpc.WatchIDParams) (rpc.WatchResult, error) {
	return through(ctx, l, func(c *rpc.Client) (rpc.WatchResult, error) { return c.Unwatch(ctx, p) })
}

func (l *link) WatchStatus(ctx context.Context, p rpc.WatchIDParams) (rpc.WatchResult, error) {
	return through(ctx, l, func(c *rpc.Client) (rpc.WatchResult, error) { return c.WatchStatus(ctx, p) })
}

// RetryCallback is not repeated: the first call may have set it off.
func (l *link) RetryCallback(ctx context.Context, p rpc.RetryCallbackParams) (rpc.RetryCallback, error) {
	return onceOnly(ctx, l, func(c *rpc.Client) (rpc.RetryCallback, error) { return c.RetryCallback(ctx, p) })
}

// onceOnly runs f on a live connection and never again.
func onceOnly[T any](ctx context.Context, l *link, f func(*rpc.Client) (T, error)) (T, error) {
	c, err := l.ready(ctx)
	if err != nil {
		var none T
		return none, told(err)
	}
	v, err := f(c)
	if errors.Is(err, rpc.ErrClosed) {
		return v, &rpc.Error{Code: rpc.CodeUncertain, Message: "the connection to the akk daemon ended during the call; it may have been carried out",
			Cure: "look with `akk list` before it is called again"}
	}
	if err != nil && ctx.Err() == nil {
		err = told(err)
	}
	return v, err
}
