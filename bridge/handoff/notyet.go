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
