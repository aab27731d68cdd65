package host

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"akk/bridge/host/command"
	"akk/bridge/rpc"
)

// This file carries the Host's callbacks: it takes leases from the daemon, runs
// one command at a time and tells what became of it. Invariants: a lease is run
// at most once; what was not begun when the end came is given back; an outcome
// is told until the daemon has it or the lease is over.

const (
	// CallbackDrain is what a command that runs gets when the bridge must end.
	// MCP clients wait 2 s after the end of stdin and 2 s after SIGTERM before
	// they kill; this leaves the daemon its outcome.
	CallbackDrain = 3 * time.Second
	// tellTime bounds telling an outcome when the bridge ends.
	tellTime = 300 * time.Millisecond
	// tellAgain spaces the attempts to tell an outcome, streamAgain those to
	// open the stream.
	tellAgain   = time.Second
	streamAgain = 2 * time.Second
)

// carrier is a *command.Runner.
type carrier interface {
	Deliver(ctx context.Context, e rpc.Envelope) command.Outcome
}

// callbacks is the part of a bridge that is called back.
type callbacks struct {
	desk    leases
	carrier carrier
	guard   func() error
	least   time.Duration // what a lease must have left: the profile's timeout
	log     *slog.Logger

	taking  context.Context // no lease is begun after its end
	running context.Context // its end kills the command that runs
	stop    context.CancelFunc
	kill    context.CancelFunc
	halting sync.Once
	done    chan struct{} // everything is told

	mu    sync.Mutex
	queue []rpc.Lease
	wake  chan struct{}
}

// leases is what is needed of the daemon; the link has it.
type leases interface {
	deliveries(ctx context.Context, yield func(rpc.Lease) error) error
	outcome(ctx context.Context, p rpc.OutcomeParams) error
}

func newCallbacks(desk leases, c carrier, guard func() error, least time.Duration, log *slog.Logger) *callbacks {
	b := &callbacks{desk: desk, carrier: c, guard: guard, least: least, log: log, done: make(chan struct{}), wake: make(chan struct{}, 1)}
	b.taking, b.stop = context.WithCancel(context.Background())
	b.running, b.kill = context.WithCancel(context.Background())
	return b
}

// start takes callbacks until end.
func (b *callbacks) start() {
	var wg sync.WaitGroup
	wg.Go(b.take)
	wg.Go(b.work)
	go func() { wg.Wait(); close(b.done) }()
}

// halt begins the end: no lease is begun any more, and what runs has
// CallbackDrain from now.
func (b *callbacks) halt() {
	b.halting.Do(func() {
		b.stop()
		kill := time.AfterFunc(CallbackDrain, b.kill)
		go func() { <-b.done; kill.Stop(); b.kill() }()
	})
}

// end returns when nothing runs any more: at once if nothing runs, else
// CallbackDrain and tellTime after halt at the latest.
func (b *callbacks) end() {
	b.halt()
	select {
	case <-b.done:
	case <-time.After(CallbackDrain + tellTime + endTime):
		b.log.Warn("ended with a callback whose outcome could not be told; it is uncertain")
	}
}

// take keeps the stream of leases open. It never waits for a command: the
// connection carries the answers of tools, too.
func (b *callbacks) take() {
	for b.taking.Err() == nil {
		err := b.guard()
		if err == nil {
			err = b.desk.deliveries(b.taking, func(l rpc.Lease) error {
				b.mu.Lock()
				b.queue = append(b.queue, l)
				b.mu.Unlock()
				select {
				case b.wake <- struct{}{}:
				default:
				}
				return b.guard() // what is taken is answered, but no more is taken
			})
		}
		if b.taking.Err() != nil {
			return
		}
		b.log.Debug("no callbacks for now", "err", err)
		select {
		case <-time.After(streamAgain):
		case <-b.taking.Done():
		}
	}
}

// work delivers one after the other.
func (b *callbacks) work() {
	for {
		b.mu.Lock()
		var next *rpc.Lease
		if len(b.queue) > 0 {
			next = &b.queue[0]
			b.queue = b.queue[1:]
		}
		b.mu.Unlock()
		switch {
		case next != nil:
			b.tell(*next, b.deliver(*next))
		case b.taking.Err() != nil:
			return
		default:
			select {
			case <-b.wake:
			case <-b.taking.Done():
			}
		}
	}
}

// deliver never panics: a lease without an outcome would block the next one.
func (b *callbacks) deliver(l rpc.Lease) (o command.Outcome) {
	notBegun := command.Outcome{Outcome: rpc.OutcomeRetryable, Code: command.CodeStopped, Detail: "the bridge ended before it began; nothing was run"}
	if b.taking.Err() != nil {
		return notBegun
	}
	if time.Until(l.Expires) < b.least {
		notBegun.Code, notBegun.Detail = "lease_too_short", "the lease ends before the command may have to; nothing was run"
		return notBegun
	}
	defer func() {
		if p := recover(); p != nil {
			b.log.Error("panic in a callback", "delivery", l.Envelope.DeliveryID, "panic", p, "stack", string(debug.Stack()))
			o = command.Outcome{Outcome: rpc.OutcomeUncertain, Code: "internal", Detail: "akk made a mistake while it delivered"}
		}
	}()
	return b.carrier.Deliver(b.running, l.Envelope)
}

// tell gives the outcome to the daemon. When the bridge ends it has tellTime;
// else it goes on until the lease is over: then the daemon calls it uncertain.
func (b *callbacks) tell(l rpc.Lease, o command.Outcome) {
	p := rpc.OutcomeParams{DeliveryID: l.Envelope.DeliveryID, LeaseID: l.LeaseID, Outcome: o.Outcome, AcceptanceID: o.AcceptanceID, ErrorCode: o.Code, Detail: o.Detail}
	ctx, cancel := context.WithDeadline(context.Background(), l.Expires.Add(tellAgain))
	defer cancel()
	defer context.AfterFunc(b.taking, func() { time.AfterFunc(tellTime, cancel) })()
	for {
		err := b.desk.outcome(ctx, p)
		var e *rpc.Error
		switch {
		case err == nil:
			return
		case errors.As(err, &e) && e.Code != rpc.CodeUnavailable && e.Code != rpc.CodeInternal:
			b.log.Warn("the daemon did not take a callback's outcome", "delivery", p.DeliveryID, "outcome", p.Outcome, "err", err)
			return
		}
		select {
		case <-ctx.Done():
			b.log.Warn("a callback's outcome could not be told", "delivery", p.DeliveryID, "outcome", p.Outcome, "err", err)
			return
		case <-time.After(tellAgain):
		}
	}
}
