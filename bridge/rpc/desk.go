package rpc

import "context"

// Desk is what the server half calls. bridge/handoff implements it; all
// methods are safe for any goroutine. A returned *Error reaches the client as
// it is, every other error as CodeInternal. Stream methods call yield from one
// goroutine and end when it fails or ctx ends.
type Desk interface {
	Attach(ctx context.Context, p AttachParams) (Server, error)
	Servers(ctx context.Context) ([]Server, error)
	List(ctx context.Context, c Caller, p ListParams) (List, error)
	Status(ctx context.Context, c Caller, p StatusParams) (Status, error)
	Screen(ctx context.Context, c Caller, p ScreenParams) (Screen, error)
	Explain(ctx context.Context, c Caller, p TargetParams) (Explain, error)
	Send(ctx context.Context, c Caller, p SendParams) (Send, error)
	Events(ctx context.Context, c Caller, p EventsParams, started func(EventsResult) error, yield func(Event) error) error
	Follow(ctx context.Context, c Caller, p ListParams, yield func(List) error) error
	Record(ctx context.Context, c Caller, p TargetParams, started func(RecordStart) error, yield func(Bytes) error) error
	Doctor(ctx context.Context, c Caller) (Doctor, error)

	Respond(ctx context.Context, c Caller, p RespondParams) (Send, error)
	RetrySubmission(ctx context.Context, c Caller, p TurnParams) (Send, error)
	Cancel(ctx context.Context, c Caller, p CancelParams) (Cancel, error)
	Renew(ctx context.Context, c Caller, p RenewParams) (Renew, error)
	CloseTurn(ctx context.Context, c Caller, p CloseParams) (Close, error)
	Reconcile(ctx context.Context, c Caller, p ReconcileParams) (Reconciled, error)
	Takeover(ctx context.Context, c Caller, p HoldParams) (HoldResult, error)
	Handback(ctx context.Context, c Caller, p HoldParams) (HoldResult, error)
	RestoreDraft(ctx context.Context, c Caller, p TargetParams) (Restored, error)
	Watch(ctx context.Context, c Caller, p WatchParams) (WatchResult, error)
	Unwatch(ctx context.Context, c Caller, p WatchIDParams) (WatchResult, error)
	WatchStatus(ctx context.Context, c Caller, p WatchIDParams) (WatchResult, error)
	Turns(ctx context.Context, c Caller, p TurnsParams) ([]Turn, error)
	Callbacks(ctx context.Context, c Caller, p CallbacksParams) ([]Delivery, error)
	RetryCallback(ctx context.Context, c Caller, p RetryCallbackParams) (RetryCallback, error)
	// Deliveries leases this Host's callbacks to its bridge, oldest first, one
	// at a time while its stream is open; only a caller with a Route has any.
	Deliveries(ctx context.Context, c Caller, yield func(Lease) error) error
	Outcome(ctx context.Context, c Caller, p OutcomeParams) (Delivery, error)

	StoreCheck(ctx context.Context, c Caller) (StoreReport, error)
	StoreCompact(ctx context.Context, c Caller) (StoreCompacted, error)
	StoreExport(ctx context.Context, c Caller, yield func(StoreRow) error) error

	// Identify says who a peer process is, from its ancestry and tty: a process
	// below an agent's process is that agent.
	Identify(ctx context.Context, pid int) Caller
	// Discovered changes whenever Identify may know more about a process whose
	// terminal it did not know. It is cheap.
	Discovered() uint64
}
