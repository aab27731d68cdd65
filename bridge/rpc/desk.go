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
	// Identify says who a peer process is, from its ancestry and tty: a process
	// below an agent's process is that agent.
	Identify(ctx context.Context, pid int) Caller
}
