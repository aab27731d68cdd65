package handoff

// This file answers the outbox's methods and begins what the desk keeps beside
// its terminals.

import (
	"context"
	"errors"
	"syscall"

	"akk/bridge/outbox"
	"akk/bridge/rpc"
	"akk/store"
)

// upgrades bring an older store up to date, by version.
var upgrades = map[int]func(*store.Tx) error{1: upgradeLimits}

// upgradeLimits gives Turns of before their limits: an open one the contract's
// hard limit.
func upgradeLimits(tx *store.Tx) error {
	type change struct {
		id  string
		t   Turn
		rev store.Rev
	}
	var open []change
	err := turns.Each(tx, func(string, error) {}, func(id string, t Turn, rev store.Rev) error {
		if t.open() && t.HardAt == nil {
			l := newLimits(nil, 0, 0, t.CreatedAt)
			t.Inactivity, t.HardAt = l.Inactivity, l.HardAt
			open = append(open, change{id, t, rev})
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, c := range open { // not inside of Each: it may not be written under
		if _, err := turns.Put(tx, c.id, c.t, c.rev); err != nil {
			return err
		}
	}
	return nil
}

// begin reads the active Watches, opens the outbox and starts the desk's timer.
func (d *Desk) begin() (err error) {
	d.watches, d.ended = map[string]Watch{}, make(chan struct{}, 1)
	err = d.db.View(func(tx *store.Tx) error {
		return watches.Each(tx, func(id string, err error) { d.log.Error("a watch can't be read", "id", id, "error", err) },
			func(id string, w Watch, _ store.Rev) error {
				if w.Status == WatchActive {
					d.watches[id] = w
				}
				return nil
			})
	})
	if err != nil {
		return err
	}
	d.outbox, err = outbox.Open(outbox.Options{DB: d.db, Writer: d.writer, Log: d.log,
		Journal: func(tx *store.Tx, e rpc.Event) error { _, _, err := journal.Append(tx, e); return err },
		Changed: func() { d.journalled.fire(); d.changed.fire() },
		Ended:   func(ctx context.Context, pid int) bool { return waitExit(ctx, pid, func() bool { return exists(pid) }) }})
	if err != nil {
		return err
	}
	d.wg.Go(d.closeIdle)
	return nil
}

// exists tells whether there is a process of that number.
func exists(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

// settled remembers a Turn that ended for its retention; d.mu is held.
func (d *Desk) settled(t Turn) {
	if t.Outcome != OutcomeCompleted || t.ClosedAt != nil {
		return
	}
	d.retained.add(t)
	select {
	case d.ended <- struct{}{}:
	default:
	}
}

// Deliveries leases this Host's callbacks to its bridge.
func (d *Desk) Deliveries(ctx context.Context, c rpc.Caller, yield func(rpc.Lease) error) error {
	if c.Kind != "host" {
		return &rpc.Error{Code: rpc.CodeForbidden, Message: "only a host's bridge is given callbacks", Cure: "run `akk callbacks list` to look at them"}
	}
	return d.outbox.Deliveries(ctx, c.Route, c.PID, yield)
}

// Outcome takes what became of a lease.
func (d *Desk) Outcome(_ context.Context, c rpc.Caller, p rpc.OutcomeParams) (rpc.Delivery, error) {
	if c.Kind != "host" {
		return rpc.Delivery{}, &rpc.Error{Code: rpc.CodeForbidden, Message: "only the host's bridge tells an outcome"}
	}
	p.Detail = redact(p.Detail)
	return d.outbox.Outcome(c.Route, p)
}

// Callbacks lists deliveries; a Host sees its own.
func (d *Desk) Callbacks(_ context.Context, c rpc.Caller, p rpc.CallbacksParams) ([]rpc.Delivery, error) {
	return d.outbox.List(p.All, p.Limit, func(e outbox.Entry) bool { return mayCallback(c, e) })
}

func mayCallback(c rpc.Caller, e outbox.Entry) bool {
	switch c.Kind {
	case "host":
		return c.Route != nil && *c.Route == e.Envelope.Route
	case "agent":
		return false
	}
	return true
}

// RetryCallback lets a delivery be tried again: a Host only what waits for its
// next attempt, a human also what failed for good or is uncertain (B137).
func (d *Desk) RetryCallback(_ context.Context, c rpc.Caller, p rpc.RetryCallbackParams) (rpc.RetryCallback, error) {
	if (p.TurnID == "") == (p.DeliveryID == "") {
		return rpc.RetryCallback{}, usage("name exactly one of them", "retry needs a turn or a delivery")
	}
	e, ok := d.outbox.Find(func(e outbox.Entry) bool {
		if p.DeliveryID != "" {
			return e.Envelope.DeliveryID == p.DeliveryID
		}
		return e.Envelope.Source.TurnID == p.TurnID && e.State != outbox.Superseded
	})
	if !ok || !mayCallback(c, e) {
		return rpc.RetryCallback{}, &rpc.Error{Code: rpc.CodeNotFound, Message: "there is no such callback", Cure: "run `akk callbacks list --all`"}
	}
	doc, err := d.outbox.Retry(e.Envelope.DeliveryID, c.Kind != "host")
	if err != nil {
		return rpc.RetryCallback{}, err
	}
	return rpc.RetryCallback{TurnID: doc.TurnID, Delivered: doc.Status == string(outbox.Accepted), Duplicate: doc.Status == string(outbox.Accepted), Delivery: doc}, nil
}

// limitsDoc adds what the Limits say to the Turn's document.
func (t *Turn) limitsDoc(doc *rpc.Turn) {
	doc.HardDeadlineAt, doc.Questions = t.HardAt, t.Questions
	if t.open() {
		doc.StalledAt, doc.StallReason = t.StalledAt, t.Stall
	}
}

// callbackDoc adds the Turn's newest callback in the contract's words.
func (d *Desk) callbackDoc(t *Turn, doc *rpc.Turn) {
	if t.Route == nil {
		return
	}
	e, ok := d.outbox.Find(func(e outbox.Entry) bool { return e.Envelope.Source.TurnID == t.ID && e.State != outbox.Superseded })
	if !ok {
		return
	}
	one := e.Doc()
	c := &rpc.CallbackDelivery{Status: "pending", AttemptState: "retryable", Attempts: one.Attempts, DeliveryID: one.DeliveryID, NextAttemptAt: one.NextAttemptAt, LastErrorCode: one.LastErrorCode}
	switch e.State {
	case outbox.InFlight:
		c.AttemptState = "in_flight"
	case outbox.Accepted:
		c.Status, c.AttemptState = "delivered", "accepted"
	case outbox.Dead:
		c.Status, c.AttemptState = "failed", "exhausted"
	case outbox.Uncertain:
		c.Status, c.AttemptState = "failed", "unavailable"
	case outbox.Retryable:
		doc.AvailableActions["retry_callback"] = rpc.Action{Tool: toolRetryCall, Arguments: map[string]any{"turn_id": t.ID}}
	}
	doc.CallbackDelivery = c
}
