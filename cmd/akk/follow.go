package main

import (
	"context"
	"errors"
	"time"

	"akk/bridge/rpc"
)

// This file reads the journal for longer than a daemon lives. It upholds: after
// a daemon's end the next one is asked for what follows the last event, so that
// nothing is told twice and nothing is left out.

// daemonEnded tells whether a call ended because its daemon did: killed, or in an
// orderly way, which cancels what runs.
func daemonEnded(err error) bool {
	e, ok := errors.AsType[*rpc.Error](err)
	return errors.Is(err, rpc.ErrClosed) || ok && e.Message == context.Canceled.Error()
}

// stream is the part of a connection that gives the journal.
type stream interface {
	Events(ctx context.Context, p rpc.EventsParams, started func(rpc.EventsResult) error, yield func(rpc.Event) error) error
	Close() error
}

const (
	// againMin and againMax bound the wait before the next daemon is asked for:
	// one that dies at once must not keep a core busy.
	againMin, againMax = 100 * time.Millisecond, 2 * time.Second
	// againTries is how many daemons in a row may end before they told anything.
	againTries = 10
)

// journal yields events until ctx ends, a callback fails, or the journal is read
// (without p.Follow). open gives a connection; it is used again after each end
// of a daemon.
func (a *app) journal(ctx context.Context, p *rpc.EventsParams, open func(context.Context) (stream, error), started func(rpc.EventsResult) error, yield func(rpc.Event) error) error {
	begun, tries, wait := false, 0, againMin
	for {
		s, err := open(ctx)
		if err == nil {
			err = s.Events(ctx, *p, func(r rpc.EventsResult) error {
				if !begun && r.Next > 0 {
					p.Since = r.Next - 1
				}
				p.All = p.Since == 0 // an empty journal: all that comes is new
				begun = true
				if started != nil {
					return started(r)
				}
				return nil
			}, func(e rpc.Event) error {
				if e.Seq <= p.Since {
					return nil // told already
				}
				if err := yield(e); err != nil {
					return err
				}
				p.Since, p.All, tries, wait = e.Seq, false, 0, againMin
				return nil
			})
			s.Close()
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case !daemonEnded(err) && (err != nil || !p.Follow):
			return err
		case tries >= againTries:
			return &failure{"the daemon ends again and again; the journal was read up to event " + seq(p.Since), "run `akk doctor`; then go on with akk events --since " + seq(p.Since), err}
		}
		if tries++; tries == 1 && begun {
			a.note("the daemon ended; the next one goes on after event %s", seq(p.Since))
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
		wait = min(wait*2, againMax)
	}
}
