package handoff

import (
	"context"

	"akk/bridge/rpc"
)

// This file answers the methods that the desk does not have yet: plainly, and
// without touching anything.

func notYet(what string) *rpc.Error {
	return unavailable("look with `akk list`", "%s is not available in this version of akk; nothing was done", what)
}

// Respond is not there yet.
func (d *Desk) Respond(context.Context, rpc.Caller, rpc.RespondParams) (r rpc.Send, err error) {
	return r, notYet(rpc.MethodRespond)
}

// RetrySubmission is not there yet.
func (d *Desk) RetrySubmission(context.Context, rpc.Caller, rpc.TurnParams) (r rpc.Send, err error) {
	return r, notYet(rpc.MethodRetrySubmission)
}

// Cancel is not there yet.
func (d *Desk) Cancel(context.Context, rpc.Caller, rpc.CancelParams) (r rpc.Cancel, err error) {
	return r, notYet(rpc.MethodCancel)
}

// Renew is not there yet.
func (d *Desk) Renew(context.Context, rpc.Caller, rpc.RenewParams) (r rpc.Renew, err error) {
	return r, notYet(rpc.MethodRenew)
}

// CloseTurn is not there yet.
func (d *Desk) CloseTurn(context.Context, rpc.Caller, rpc.CloseParams) (r rpc.Close, err error) {
	return r, notYet(rpc.MethodClose)
}

// Reconcile is not there yet.
func (d *Desk) Reconcile(context.Context, rpc.Caller, rpc.ReconcileParams) (r rpc.Reconciled, err error) {
	return r, notYet(rpc.MethodReconcile)
}

// Takeover is not there yet.
func (d *Desk) Takeover(context.Context, rpc.Caller, rpc.HoldParams) (r rpc.HoldResult, err error) {
	return r, notYet(rpc.MethodTakeover)
}

// Handback is not there yet.
func (d *Desk) Handback(context.Context, rpc.Caller, rpc.HoldParams) (r rpc.HoldResult, err error) {
	return r, notYet(rpc.MethodHandback)
}

// Watch is not there yet.
func (d *Desk) Watch(context.Context, rpc.Caller, rpc.WatchParams) (r rpc.WatchResult, err error) {
	return r, notYet(rpc.MethodWatch)
}

// Unwatch is not there yet.
func (d *Desk) Unwatch(context.Context, rpc.Caller, rpc.WatchIDParams) (r rpc.WatchResult, err error) {
	return r, notYet(rpc.MethodUnwatch)
}

// WatchStatus is not there yet.
func (d *Desk) WatchStatus(context.Context, rpc.Caller, rpc.WatchIDParams) (r rpc.WatchResult, err error) {
	return r, notYet(rpc.MethodWatchStatus)
}

// Turns is not there yet.
func (d *Desk) Turns(context.Context, rpc.Caller, rpc.TurnsParams) (r []rpc.Turn, err error) {
	return r, notYet(rpc.MethodTurns)
}

// Callbacks is not there yet.
func (d *Desk) Callbacks(context.Context, rpc.Caller, rpc.CallbacksParams) (r []rpc.Delivery, err error) {
	return r, notYet(rpc.MethodCallbacks)
}

// RetryCallback is not there yet.
func (d *Desk) RetryCallback(context.Context, rpc.Caller, rpc.RetryCallbackParams) (r rpc.RetryCallback, err error) {
	return r, notYet(rpc.MethodRetryCallback)
}

// Outcome is not there yet.
func (d *Desk) Outcome(context.Context, rpc.Caller, rpc.OutcomeParams) (r rpc.Delivery, err error) {
	return r, notYet(rpc.MethodOutcome)
}

// Deliveries has none yet.
func (d *Desk) Deliveries(ctx context.Context, _ rpc.Caller, _ func(rpc.Lease) error) error {
	<-ctx.Done()
	return nil
}
