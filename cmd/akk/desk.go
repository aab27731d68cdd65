package main

import (
	"context"
	"encoding/json"

	"akk/bridge/rpc"
)

// desk is what the commands need of a connection to the daemon; *rpc.Client
// has it. It is an interface so that the printing can be tested without one.
type desk interface {
	Servers(ctx context.Context) ([]rpc.Server, error)
	List(ctx context.Context, p rpc.ListParams) (rpc.List, error)
	ListJSON(ctx context.Context, p rpc.ListParams) (json.RawMessage, error)
	Status(ctx context.Context, p rpc.StatusParams) (rpc.Status, error)
	Screen(ctx context.Context, p rpc.ScreenParams) (rpc.Screen, error)
	Explain(ctx context.Context, p rpc.TargetParams) (rpc.Explain, error)
	Send(ctx context.Context, p rpc.SendParams) (rpc.Send, error)
	Events(ctx context.Context, p rpc.EventsParams, started func(rpc.EventsResult) error, yield func(rpc.Event) error) error
	Follow(ctx context.Context, p rpc.ListParams, yield func(rpc.List) error) error
	Record(ctx context.Context, p rpc.TargetParams, started func(rpc.RecordStart) error, yield func(rpc.Bytes) error) error
	Watch(ctx context.Context, p rpc.WatchParams) (rpc.WatchResult, error)
	Unwatch(ctx context.Context, p rpc.WatchIDParams) (rpc.WatchResult, error)
	WatchStatus(ctx context.Context, p rpc.WatchIDParams) (rpc.WatchResult, error)
	Turns(ctx context.Context, p rpc.TurnsParams) ([]rpc.Turn, error)
	Renew(ctx context.Context, p rpc.RenewParams) (rpc.Renew, error)
	Respond(ctx context.Context, p rpc.RespondParams) (rpc.Send, error)
	RetrySubmission(ctx context.Context, p rpc.TurnParams) (rpc.Send, error)
	Cancel(ctx context.Context, p rpc.CancelParams) (rpc.Cancel, error)
	CloseTurn(ctx context.Context, p rpc.CloseParams) (rpc.Close, error)
	Reconcile(ctx context.Context, p rpc.ReconcileParams) (rpc.Reconciled, error)
	Takeover(ctx context.Context, p rpc.HoldParams) (rpc.HoldResult, error)
	Handback(ctx context.Context, p rpc.HoldParams) (rpc.HoldResult, error)
	RestoreDraft(ctx context.Context, p rpc.TargetParams) (rpc.Restored, error)
	Callbacks(ctx context.Context, p rpc.CallbacksParams) ([]rpc.Delivery, error)
	RetryCallback(ctx context.Context, p rpc.RetryCallbackParams) (rpc.RetryCallback, error)
	Doctor(ctx context.Context) (rpc.Doctor, error)
	Shutdown(ctx context.Context) error
	Close() error
}
