package handoff

// This file is the way of a caller to a terminal's goroutine and back. It
// upholds: the goroutine never waits; a caller that leaves changes nothing.

import (
	"context"
	"sync"

	"akk/bridge/rpc"
)

// ask runs f on the terminal's goroutine and returns when f has called reply,
// or with the reason why that will not happen. f reads and writes what it
// captured only before reply.
func (t *terminal) ask(ctx context.Context, f func(t *terminal, reply func())) error {
	done, returned := make(chan struct{}), make(chan struct{})
	reply := sync.OnceFunc(func() {
		// The answer may come before f, which never waits, has written it down.
		go func() { <-returned; close(done) }()
	})
	if !t.box.post(message{do: func(t *terminal) { defer close(returned); f(t, reply) }}) {
		return notFound("the agent has exited; nothing was done")
	}
	select {
	case <-done:
		return nil
	case <-t.done: // the answer may have come in the same moment
		select {
		case <-done:
			return nil
		default:
		}
		return &rpc.Error{Code: rpc.CodeUncertain, Message: "the agent exited meanwhile", Cure: "run `akk list`"}
	case <-ctx.Done():
		return ctx.Err()
	}
}

// carrierOf is the terminal that follows a Turn, nil if none does.
func (d *Desk) carrierOf(turn string) *terminal {
	d.mu.Lock()
	defer d.mu.Unlock()
	for t := range d.terms {
		if v := t.view.Load(); v != nil && contains(v.follows, turn) {
			return t
		}
	}
	return nil
}
