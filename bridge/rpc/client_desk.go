package rpc

import "context"

// This file holds the client half of methods_desk.go: one method per method of
// the protocol, errors as in client_calls.go.

// Respond answers a Turn that waits for its Host.
func (c *Client) Respond(ctx context.Context, p RespondParams) (r Send, err error) {
	return r, c.call(ctx, MethodRespond, p, &r)
}

// RetrySubmission presses Enter once more for a Turn whose text stands proven in the composer.
func (c *Client) RetrySubmission(ctx context.Context, p TurnParams) (r Send, err error) {
	return r, c.call(ctx, MethodRetrySubmission, p, &r)
}

// Cancel interrupts what the agent does.
func (c *Client) Cancel(ctx context.Context, p CancelParams) (r Cancel, err error) {
	return r, c.call(ctx, MethodCancel, p, &r)
}

// Renew takes a stalled Turn up again.
func (c *Client) Renew(ctx context.Context, p RenewParams) (r Renew, err error) {
	return r, c.call(ctx, MethodRenew, p, &r)
}

// CloseTurn gives the management of a Turn up.
func (c *Client) CloseTurn(ctx context.Context, p CloseParams) (r Close, err error) {
	return r, c.call(ctx, MethodClose, p, &r)
}

// Reconcile detaches a stale binding.
func (c *Client) Reconcile(ctx context.Context, p ReconcileParams) (r Reconciled, err error) {
	return r, c.call(ctx, MethodReconcile, p, &r)
}

// Takeover gives the terminal to the human.
func (c *Client) Takeover(ctx context.Context, p HoldParams) (r HoldResult, err error) {
	return r, c.call(ctx, MethodTakeover, p, &r)
}

// Handback gives the terminal back.
func (c *Client) Handback(ctx context.Context, p HoldParams) (r HoldResult, err error) {
	return r, c.call(ctx, MethodHandback, p, &r)
}

// RestoreDraft puts back the draft that an explicit send cleared.
func (c *Client) RestoreDraft(ctx context.Context, p TargetParams) (r Restored, err error) {
	return r, c.call(ctx, MethodRestore, p, &r)
}

// Watch begins to watch a terminal.
func (c *Client) Watch(ctx context.Context, p WatchParams) (r WatchResult, err error) {
	return r, c.call(ctx, MethodWatch, p, &r)
}

// Unwatch ends a Watch.
func (c *Client) Unwatch(ctx context.Context, p WatchIDParams) (r WatchResult, err error) {
	return r, c.call(ctx, MethodUnwatch, p, &r)
}

// WatchStatus returns a Watch.
func (c *Client) WatchStatus(ctx context.Context, p WatchIDParams) (r WatchResult, err error) {
	return r, c.call(ctx, MethodWatchStatus, p, &r)
}

// Turns lists Turns, newest first.
func (c *Client) Turns(ctx context.Context, p TurnsParams) (r []Turn, err error) {
	return r, c.call(ctx, MethodTurns, p, &r)
}

// Callbacks lists deliveries, newest first.
func (c *Client) Callbacks(ctx context.Context, p CallbacksParams) (r []Delivery, err error) {
	return r, c.call(ctx, MethodCallbacks, p, &r)
}

// RetryCallback lets a failed delivery be tried again.
func (c *Client) RetryCallback(ctx context.Context, p RetryCallbackParams) (r RetryCallback, err error) {
	return r, c.call(ctx, MethodRetryCallback, p, &r)
}

// Outcome tells what became of a Lease.
func (c *Client) Outcome(ctx context.Context, p OutcomeParams) (r Delivery, err error) {
	return r, c.call(ctx, MethodOutcome, p, &r)
}

// Deliveries yields this Host's leased callbacks until ctx or the connection
// ends.
func (c *Client) Deliveries(ctx context.Context, yield func(Lease) error) error {
	return follow(ctx, c, MethodDeliveries, nil, func(struct{}) error { return nil }, yield)
}

// StoreCheck reads the daemon's whole store.
func (c *Client) StoreCheck(ctx context.Context) (r StoreReport, err error) {
	return r, c.call(ctx, MethodStoreCheck, nil, &r)
}

// StoreCompact gives free room of the daemon's store back.
func (c *Client) StoreCompact(ctx context.Context) (r StoreCompacted, err error) {
	return r, c.call(ctx, MethodStoreCompact, nil, &r)
}

// StoreExport yields every record of the daemon's store.
func (c *Client) StoreExport(ctx context.Context, yield func(StoreRow) error) error {
	return follow(ctx, c, MethodStoreExport, nil, func(struct{}) error { return nil }, yield)
}
