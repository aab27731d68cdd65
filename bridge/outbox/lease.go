package outbox

// This file gives leases to bridges and takes their outcomes. It upholds: one
// lease of a route at a time, oldest first; only the holder of a lease, on the
// frozen route, says what became of it.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"akk/bridge/rpc"
	"akk/store"
)

const (
	detailMax  = 300 // characters of a bridge's own words
	codeMax    = 64
	listMost   = 1000
	listNormal = 50
)

func refused(cure, format string, a ...any) *rpc.Error {
	return &rpc.Error{Code: rpc.CodeRefused, Message: fmt.Sprintf(format, a...), Cure: cure}
}

// Deliveries leases the route's callbacks one after the other until ctx or the
// outbox ends, or yield fails. A lease that could not be handed over is given
// back. holder is the process that takes them, 0 if it is not known: when it has
// ended, what it was given is uncertain at once.
func (b *Box) Deliveries(ctx context.Context, r *rpc.Route, holder int, yield func(rpc.Lease) error) error {
	if r == nil {
		return refused("start the bridge with a host profile", "only a host with a callback route is called back")
	}
	if err := CheckRoute(*r); err != nil {
		return refused("start the bridge with a whole host profile", "%v", err)
	}
	route := routeKey(*r)
	mine, last := "", ""
	defer func() { // what this stream has holds up nobody any more
		b.mu.Lock()
		delete(b.held, mine)
		close(b.waiting)
		b.waiting = make(chan struct{})
		b.mu.Unlock()
		b.mourn(last, mine, holder)
	}()
	for {
		id, changed := b.next(route, time.Now())
		if id == "" {
			select {
			case <-changed:
				continue
			case <-ctx.Done():
				return ctx.Err()
			case <-b.ctx.Done():
				return nil
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		lease := "lease-" + uuid.NewString()
		b.mu.Lock()
		delete(b.held, mine) // it is over, else there were no next one
		mine, last = lease, id
		b.held[mine] = true
		b.mu.Unlock()
		e, moved, err := b.move(id, Event{Kind: EvLease, Now: time.Now(), LeaseID: lease, Holder: holder})
		if err != nil {
			return err
		}
		if !moved {
			continue // another stream of the same route was faster
		}
		store.FailAt("outbox.leased")
		if err := yield(rpc.Lease{LeaseID: lease, Expires: e.LeaseUntil, Attempt: e.Attempts, Envelope: e.Envelope}); err != nil {
			// The line did not go out whole: nobody can have read it.
			_, _, back := b.move(id, Event{Kind: EvReleased, Now: time.Now(), LeaseID: lease})
			return errors.Join(err, back)
		}
	}
}

// mourn waits for the end of the process that has a lease whose stream is over.
// A bridge that only lost its connection comes back and tells the outcome; of
// one that has ended nobody will: the lease is over then. It never waits itself.
func (b *Box) mourn(id, lease string, holder int) {
	if holder <= 0 || b.o.Ended == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.open[id]
	if b.ctx.Err() != nil || e.State != InFlight || e.LeaseID != lease {
		return
	}
	b.wg.Go(func() {
		ctx, cancel := context.WithDeadline(b.ctx, e.LeaseUntil) // then run ends it
		defer cancel()
		if !b.o.Ended(ctx, holder) {
			return
		}
		if _, _, err := b.move(id, Event{Kind: EvHolderGone, Now: time.Now(), LeaseID: lease}); err != nil {
			b.o.Log.Error("the lease of a bridge that ended could not be stored, it ends by its time", "delivery", id, "error", err)
		}
	})
}

// Outcome takes what became of a lease. A repeated outcome is answered with the
// delivery as it is.
func (b *Box) Outcome(r *rpc.Route, p rpc.OutcomeParams) (rpc.Delivery, error) {
	switch p.Outcome {
	case rpc.OutcomeAccepted, rpc.OutcomeRetryable, rpc.OutcomePermanent, rpc.OutcomeUncertain:
	default:
		return rpc.Delivery{}, &rpc.Error{Code: rpc.CodeUsage, Message: fmt.Sprintf("no outcome is called %q", p.Outcome), Cure: "use accepted, retryable_failure, permanent_failure or uncertain"}
	}
	if p.Outcome == rpc.OutcomeAccepted && p.AcceptanceID == "" { // R206
		return rpc.Delivery{}, &rpc.Error{Code: rpc.CodeUsage, Message: "an accepted delivery needs an acceptance id", Cure: "tell it as uncertain"}
	}
	p.Detail, p.ErrorCode = cut(p.Detail, detailMax), cut(p.ErrorCode, codeMax)
	e, err := b.get(p.DeliveryID)
	if err != nil {
		return rpc.Delivery{}, err
	}
	if r == nil || routeKey(*r) != routeKey(e.Envelope.Route) {
		return rpc.Delivery{}, &rpc.Error{Code: rpc.CodeForbidden, Message: "this delivery belongs to another host's route", Cure: "only the bridge that it was leased to tells its outcome"}
	}
	if p.LeaseID == "" || e.LeaseID != p.LeaseID {
		return rpc.Delivery{}, refused("tell it as it is: the lease is over", "the lease %q of %s is not the current one", p.LeaseID, p.DeliveryID)
	}
	e, _, err = b.move(p.DeliveryID, Event{Kind: EvOutcome, Now: time.Now(), LeaseID: p.LeaseID, Result: p, Jitter: jitter()})
	if err != nil {
		return rpc.Delivery{}, err
	}
	return e.Doc(), nil
}

func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n])
	}
	return s
}

func (b *Box) get(id string) (e Entry, err error) {
	err = b.o.DB.View(func(tx *store.Tx) (err error) { e, _, err = Table.Get(tx, id); return err })
	if errors.Is(err, store.ErrNotFound) {
		return e, &rpc.Error{Code: rpc.CodeNotFound, Message: fmt.Sprintf("no delivery is called %q", id), Cure: "run `akk callbacks list`"}
	}
	return e, err
}

// Retry lets a delivery be tried again. decided means that somebody who may
// decided so for a dead or uncertain one; otherwise only one that waits for its
// next attempt is tried, now.
func (b *Box) Retry(id string, decided bool) (rpc.Delivery, error) {
	e, err := b.get(id)
	if err != nil {
		return rpc.Delivery{}, err
	}
	switch e.State {
	case Retryable, Accepted, Pending:
	case Dead, Uncertain:
		if !decided {
			return rpc.Delivery{}, refused("ask the human to run: akk callbacks retry "+id, "the delivery is %s: it is not tried again without a decision", e.State)
		}
	default:
		return rpc.Delivery{}, refused("wait for its outcome: akk callbacks list", "the delivery is %s", e.State)
	}
	if e, _, err = b.move(id, Event{Kind: EvRetry, Now: time.Now()}); err != nil {
		return rpc.Delivery{}, err
	}
	return e.Doc(), nil
}

// Find returns the newest delivery that fits.
func (b *Box) Find(fits func(Entry) bool) (found Entry, ok bool) {
	_ = b.o.DB.View(func(tx *store.Tx) error {
		return Table.Each(tx, func(string, error) {}, func(_ string, e Entry, _ store.Rev) error {
			if fits(e) && (!ok || e.CreatedAt.After(found.CreatedAt)) {
				found, ok = e, true
			}
			return nil
		})
	})
	return found, ok
}

// List returns deliveries, newest first: those that are not settled, with all
// every one that is kept.
func (b *Box) List(all bool, limit int, fits func(Entry) bool) ([]rpc.Delivery, error) {
	if limit <= 0 {
		limit = listNormal
	}
	limit = min(limit, listMost)
	var found []Entry
	err := b.o.DB.View(func(tx *store.Tx) error {
		return Table.Each(tx, func(string, error) {}, func(_ string, e Entry, _ store.Rev) error {
			if (all || e.State != Accepted && e.State != Superseded) && (fits == nil || fits(e)) {
				found = append(found, e)
			}
			return nil
		})
	})
	slices.SortFunc(found, func(x, y Entry) int { return y.CreatedAt.Compare(x.CreatedAt) })
	out := []rpc.Delivery{}
	for _, e := range found[:min(len(found), limit)] {
		out = append(out, e.Doc())
	}
	return out, err
}
