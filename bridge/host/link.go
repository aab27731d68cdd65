package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"akk/bridge/rpc"
)

// This file keeps the connection to the daemon. Invariants: one connection and
// at most one attempt at a time; a problem is the answer to a call, never the
// end of the bridge; a call whose connection ended is repeated once, which is
// safe because a send carries its request id.

const (
	// connectTimeout bounds one attempt, the start of a daemon included.
	connectTimeout = 20 * time.Second
	// againFirst and againMost space the attempts while nobody calls: the
	// daemon that went away is brought back, without a storm.
	againFirst = 500 * time.Millisecond
	againMost  = time.Minute
)

// link is the desk of the tools.
type link struct {
	ctx     context.Context // the bridge's
	connect func(context.Context) (*rpc.Client, error)
	guard   func() error // why no call may go through now; nil = none
	log     *slog.Logger
	wg      sync.WaitGroup

	mu      sync.Mutex
	client  *rpc.Client
	attempt *attempt // that is going on
}

type attempt struct {
	done   chan struct{}
	client *rpc.Client
	err    error
}

// keep holds the connection open until the bridge ends.
func (l *link) keep() {
	l.wg.Go(func() {
		wait := againFirst
		for {
			c, err := l.get(l.ctx)
			if err == nil {
				wait = againFirst
				select {
				case <-c.Done():
					l.log.Info("the daemon went away")
				case <-l.ctx.Done():
					return
				}
			} else {
				l.log.Debug("no daemon", "err", err)
				wait = min(2*wait, againMost)
			}
			select {
			case <-time.After(wait):
			case <-l.ctx.Done():
				return
			}
		}
	})
}

// close waits for what is going on; the bridge's context has ended before.
func (l *link) close() {
	l.wg.Wait()
	l.mu.Lock()
	c := l.client
	l.mu.Unlock()
	if c != nil {
		c.Close()
	}
}

// get returns a live connection, making one if needed. An attempt that had
// begun before and failed may have been too early for this caller, who then
// makes one more; not if the daemon is silent, which takes long to find out.
func (l *link) get(ctx context.Context) (*rpc.Client, error) {
	for {
		a, mine, err := l.join()
		if err != nil {
			return nil, err
		}
		select {
		case <-a.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if a.err == nil || mine || errors.Is(a.err, rpc.ErrSilent) {
			return a.client, a.err
		}
	}
}

// join returns the attempt to wait for, and whether it begins just now.
func (l *link) join() (a *attempt, mine bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.client != nil {
		select {
		case <-l.client.Done():
			l.client = nil
		default:
			return &attempt{done: over, client: l.client}, true, nil
		}
	}
	if l.ctx.Err() != nil {
		return nil, false, l.ctx.Err()
	}
	if l.attempt != nil {
		return l.attempt, false, nil
	}
	a = &attempt{done: make(chan struct{})}
	l.attempt = a
	l.wg.Go(func() { l.run(a) })
	return a, true, nil
}

// over is the end of an attempt that was not needed.
var over = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

func (l *link) run(a *attempt) {
	defer func() {
		if p := recover(); p != nil {
			l.log.Error("panic while connecting", "panic", p, "stack", string(debug.Stack()))
			a.client, a.err = nil, fmt.Errorf("akk made a mistake while connecting: %v", p)
		}
		l.mu.Lock()
		l.attempt, l.client = nil, a.client
		l.mu.Unlock()
		close(a.done)
	}()
	ctx, cancel := context.WithTimeout(l.ctx, connectTimeout)
	defer cancel()
	a.client, a.err = l.connect(ctx)
}

// ready is get for whoever may still do something.
func (l *link) ready(ctx context.Context) (*rpc.Client, error) {
	if l.guard != nil {
		if err := l.guard(); err != nil {
			return nil, err
		}
	}
	return l.get(ctx)
}

// through runs f, which only reads, on a live connection.
func through[T any](ctx context.Context, l *link, f func(*rpc.Client) (T, error)) (T, error) {
	for again := false; ; again = true {
		var v T
		c, err := l.ready(ctx)
		if err == nil {
			v, err = f(c)
		}
		if err == nil || again || ctx.Err() != nil || !errors.Is(err, rpc.ErrClosed) {
			if ctx.Err() != nil {
				return v, err
			}
			return v, told(err)
		}
		l.drop(c)
	}
}

// drop forgets a connection that was found closed before it said so.
func (l *link) drop(c *rpc.Client) {
	l.mu.Lock()
	if l.client == c {
		l.client = nil
	}
	l.mu.Unlock()
	if c != nil {
		c.Close()
	}
}

func (l *link) ListJSON(ctx context.Context, p rpc.ListParams) (json.RawMessage, error) {
	return through(ctx, l, func(c *rpc.Client) (json.RawMessage, error) { return c.ListJSON(ctx, p) })
}

func (l *link) Status(ctx context.Context, p rpc.StatusParams) (rpc.Status, error) {
	return through(ctx, l, func(c *rpc.Client) (rpc.Status, error) { return c.Status(ctx, p) })
}

func (l *link) StatusJSON(ctx context.Context, p rpc.StatusParams) (json.RawMessage, error) {
	return through(ctx, l, func(c *rpc.Client) (json.RawMessage, error) { return c.StatusJSON(ctx, p) })
}

func (l *link) Send(ctx context.Context, p rpc.SendParams) (rpc.Send, error) {
	return change(ctx, l, func(c *rpc.Client) (rpc.Send, error) { return c.Send(ctx, p) })
}

// Events is not repeated: a reader of the journal resumes by itself.
func (l *link) Events(ctx context.Context, p rpc.EventsParams, started func(rpc.EventsResult) error, yield func(rpc.Event) error) error {
	c, err := l.ready(ctx)
	if err != nil {
		return told(err)
	}
	return c.Events(ctx, p, started, yield)
}

// deliveries leases this Host's callbacks until ctx or the connection ends.
func (l *link) deliveries(ctx context.Context, yield func(rpc.Lease) error) error {
	c, err := l.ready(ctx)
	if err != nil {
		return err
	}
	return c.Deliveries(ctx, yield)
}

// outcome tells what became of a lease. It asks no guard: what was done must
// be known.
func (l *link) outcome(ctx context.Context, p rpc.OutcomeParams) error {
	c, err := l.get(ctx)
	if err != nil {
		return err
	}
	_, err = c.Outcome(ctx, p)
	return err
}
