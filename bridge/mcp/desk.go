package mcp

import (
	"context"
	"encoding/json"

	"akk/bridge/rpc"
)

// Desk is what the tools need of the daemon; the bridge's link and *rpc.Client
// have it.
type Desk interface {
	// ListJSON is the list as the daemon wrote it: it only passes through here.
	ListJSON(ctx context.Context, p rpc.ListParams) (json.RawMessage, error)
	Status(ctx context.Context, p rpc.StatusParams) (rpc.Status, error)
	// StatusJSON is Status as the daemon wrote it.
	StatusJSON(ctx context.Context, p rpc.StatusParams) (json.RawMessage, error)
	Send(ctx context.Context, p rpc.SendParams) (rpc.Send, error)
	Events(ctx context.Context, p rpc.EventsParams, started func(rpc.EventsResult) error, yield func(rpc.Event) error) error
	Respond(ctx context.Context, p rpc.RespondParams) (rpc.Send, error)
	RetrySubmission(ctx context.Context, p rpc.TurnParams) (rpc.Send, error)
	Cancel(ctx context.Context, p rpc.CancelParams) (rpc.Cancel, error)
	Renew(ctx context.Context, p rpc.RenewParams) (rpc.Renew, error)
	CloseTurn(ctx context.Context, p rpc.CloseParams) (rpc.Close, error)
	Reconcile(ctx context.Context, p rpc.ReconcileParams) (rpc.Reconciled, error)
	Watch(ctx context.Context, p rpc.WatchParams) (rpc.WatchResult, error)
	Unwatch(ctx context.Context, p rpc.WatchIDParams) (rpc.WatchResult, error)
	WatchStatus(ctx context.Context, p rpc.WatchIDParams) (rpc.WatchResult, error)
	RetryCallback(ctx context.Context, p rpc.RetryCallbackParams) (rpc.RetryCallback, error)
}
