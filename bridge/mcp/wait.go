package mcp

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"akk/agents"
	"akk/bridge/rpc"
)

// This file holds an answer until something has changed: a bounded wait. It
// upholds: the journal is read from before the first look, so that nothing
// falls between; the answer comes before a Host gives the call up; a change
// after the caller's cursor is never missed; a daemon that answers no more does
// not hold the answer: what it said before is told, as such.

const (
	// reopenAfter is how long a wait leaves the journal alone after its end.
	reopenAfter = 300 * time.Millisecond
	// settleTime is what the next daemon gets to read its terminals: what it
	// can't tell until then is no answer.
	settleTime = 2 * time.Second
	// lastLook is what a look may still take when the wait is over and something
	// is known, firstLook what the first look gets in any case: time enough to
	// find out that the daemon is silent.
	lastLook  = time.Second
	firstLook = 6 * time.Second
)

// waited is how a wait ended.
type waited struct {
	timedOut bool
	cursor   uint64 // the last event that was seen; 0 without a wait
	stale    error  // why what is known may not be so any more; nil = it is fresh
}

// wait calls look, and again after every event that concerns it, until look
// says done, d is over or the bridge must end. With a cursor in the call's
// arguments the first such event ends it as well. concerns must not wait: the
// connection's reader calls it. young tells look that the daemon was exchanged
// just now.
func (c *call) wait(ctx context.Context, d time.Duration, concerns func(rpc.Event) bool, look func(ctx context.Context, young bool) (bool, error)) (waited, error) {
	if d <= 0 {
		_, err := look(ctx, false)
		return waited{}, err
	}
	tell := c.progress(ctx)
	defer tell.end()
	held, cancel := c.drain(ctx)
	var wg sync.WaitGroup
	defer wg.Wait() // before tell.end
	defer cancel()
	bound := make(chan struct{})
	defer time.AfterFunc(d, func() { close(bound) }).Stop()
	first, last := time.Now().Add(max(d+lastLook, firstLook)), time.Now().Add(d+lastLook)
	settled := time.NewTimer(d)
	defer settled.Stop()
	var young time.Time // until then the daemon is a new one

	var cursor atomic.Uint64
	since := uint64(c.num("cursor"))
	started, changed, again := make(chan struct{}), make(chan string, 1), make(chan struct{}, 1)
	wg.Go(func() {
		var once sync.Once
		open := func() { once.Do(func() { close(started) }) }
		defer open()
		lookAgain := func() {
			select {
			case again <- struct{}{}:
			default:
			}
		}
		for from := since; ; {
			err := c.Desk.Events(held, rpc.EventsParams{Since: from, Follow: true}, func(r rpc.EventsResult) error {
				if r.Next > 0 {
					cursor.Store(r.Next - 1)
				}
				select {
				case <-started: // opened again: what came in between may not be in it
					lookAgain()
				default:
				}
				open()
				return nil
			}, func(e rpc.Event) error {
				cursor.Store(max(e.Seq, e.To))
				if e.Type == "gap" || concerns(e) {
					select {
					case changed <- step(e):
					default: // a look is due anyway
					}
				}
				return nil
			})
			open()
			// The daemon went away: the next one's journal goes on behind the last
			// event, and a look starts it.
			from = max(from, cursor.Load())
			if e, ok := errors.AsType[*rpc.Error](err); ok && e.Code == rpc.CodeUsage {
				from = 0 // that is not in the journal any more
			}
			lookAgain()
			select {
			case <-held.Done():
				return
			case <-time.After(reopenAfter):
				c.Logger.Debug("the journal is opened again while waiting", "err", err)
			}
		}
	})
	select {
	case <-started:
	case <-bound:
	case <-held.Done():
	}
	known := false
	// The cursor is read before each look: what comes in between is told again
	// rather than not at all.
	see := func(ctx context.Context) (waited, bool, error) {
		w := waited{cursor: cursor.Load()}
		end := first
		if known {
			end = last
		}
		lookCtx, cancel := context.WithDeadline(ctx, end)
		defer cancel()
		done, err := look(lookCtx, time.Now().Before(young))
		if err != nil && lookCtx.Err() != nil && ctx.Err() == nil {
			err = errLate
		}
		if known && (errors.Is(err, errLate) || errors.Is(err, rpc.ErrSilent)) {
			w.stale, err = err, nil // it may come back until the wait is over
		}
		known = known || err == nil
		return w, done && err == nil && w.stale == nil, err
	}
	for {
		w, done, err := see(ctx)
		if err != nil || done {
			return w, err
		}
		select {
		case s := <-changed:
			if s != "" {
				tell.say(s)
			}
			if since != 0 {
				if w, _, err = see(ctx); w.stale == nil {
					return w, err
				}
			}
			continue
		case <-again:
			young = time.Now().Add(settleTime)
			settled.Reset(settleTime)
			continue
		case <-settled.C:
			continue
		case <-bound:
		case <-held.Done():
			if ctx.Err() != nil {
				return w, ctx.Err()
			}
		}
		w, done, err = see(ctx)
		w.timedOut = !done
		return w, err
	}
}

// errLate is told of a look that was not answered before the wait had to be.
var errLate error = &rpc.Error{Code: rpc.CodeUnavailable, Message: "the akk daemon did not answer in time", Cure: "call it again; if that does not help, look whether it is stopped (akk doctor)"}

// staleReason is the word of an answer that is not fresh, "" of one that is.
func (w waited) staleReason() string {
	if w.stale == nil {
		return ""
	}
	return w.stale.Error() + ": this is what it said before"
}

// staleText puts it under an answer for people.
func (w waited) staleText(text string) string {
	if e, ok := errors.AsType[*rpc.Error](w.stale); ok {
		text += "\nWarning: " + scrub(w.staleReason()) + ".\nNext: " + hostWords(e.Cure) + "."
	}
	return text
}

// step says in a word what an event is.
func step(e rpc.Event) string {
	if e.Type == "reading" && e.Reading != nil {
		if e.Reading.Activity == agents.Blocked {
			return "a dialog needs an answer"
		}
		return string(e.Reading.Activity)
	}
	return e.Change
}
