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
	return change(ctx, l, func(c *rpc.Client) (rpc.Send, error) { return c.Respond(ctx, p) })
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
	return change(ctx, l, func(c *rpc.Client) (rpc.Renew, error) { return c.Renew(ctx, p) })
}

func (l *link) CloseTurn(ctx context.Context, p rpc.CloseParams) (rpc.Close, error) {
	return change(ctx, l, func(c *rpc.Client) (rpc.Close, error) { return c.CloseTurn(ctx, p) })
}

func (l *link) Reconcile(ctx context.Context, p rpc.ReconcileParams) (rpc.Reconciled, error) {
	return change(ctx, l, func(c *rpc.Client) (rpc.Reconciled, error) { return c.Reconcile(ctx, p) })
}

// Watch is repeated: an identical active Watch is returned instead of a second.
func (l *link) Watch(ctx context.Context, p rpc.WatchParams) (rpc.WatchResult, error) {
	return change(ctx, l, func(c *rpc.Client) (rpc.WatchResult, error) { return c.Watch(ctx, p) })
}

func (l *link) Unwatch(ctx context.Context, p rpc.WatchIDParams) (rpc.WatchResult, error) {
	return change(ctx, l, func(c *rpc.Client) (rpc.WatchResult, error) { return c.Unwatch(ctx, p) })
}

func (l *link) WatchStatus(ctx context.Context, p rpc.WatchIDParams) (rpc.WatchResult, error) {
	return through(ctx, l, func(c *rpc.Client) (rpc.WatchResult, error) { return c.WatchStatus(ctx, p) })
}

// RetryCallback is not repeated: the first call may have set it off.
func (l *link) RetryCallback(ctx context.Context, p rpc.RetryCallbackParams) (rpc.RetryCallback, error) {
	return onceOnly(ctx, l, func(c *rpc.Client) (rpc.RetryCallback, error) { return c.RetryCallback(ctx, p) })
}

// onceOnly runs f, which changes something, on a live connection and never again.
func onceOnly[T any](ctx context.Context, l *link, f func(*rpc.Client) (T, error)) (T, error) {
	return changing(ctx, l, false, f)
}

// change is onceOnly for what may be repeated once.
func change[T any](ctx context.Context, l *link, f func(*rpc.Client) (T, error)) (T, error) {
	return changing(ctx, l, true, f)
}

// changing never tells of a call that went out as if nothing had happened.
func changing[T any](ctx context.Context, l *link, again bool, f func(*rpc.Client) (T, error)) (T, error) {
	for begun := false; ; again = false {
		var v T
		c, err := l.ready(ctx)
		ready := err == nil
		if ready {
			begun = true
			v, err = f(c)
		}
		closed := errors.Is(err, rpc.ErrClosed)
		switch {
		case err == nil:
			return v, nil
		case !begun && ctx.Err() != nil:
			return v, &rpc.Error{Code: rpc.CodeUnavailable, Message: "the call was cancelled before anything was done", Cure: "call it again if it is still wanted"}
		case closed && again && ctx.Err() == nil:
			l.drop(c)
		case begun && (closed || !ready):
			return v, uncertain(err, ready)
		case ctx.Err() != nil:
			return v, err
		default:
			return v, told(err)
		}
	}
}

// uncertain is the answer to a call that may have been carried out; reached
// tells whether the daemon was there to be asked again.
func uncertain(err error, reached bool) error {
	e := &rpc.Error{Code: rpc.CodeUncertain, Message: "the connection to the akk daemon ended during the call; it may have been carried out",
		Cure: "look with `akk list` before it is called again"}
	if t, ok := errors.AsType[*rpc.Error](told(err)); ok && !reached {
		e.Message += "; since then: " + t.Message
		e.Cure = t.Cure + "; then " + e.Cure
	}
	return e
}
