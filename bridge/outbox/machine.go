package outbox

// This file is a delivery as a pure function: (Entry, Event) -> (Entry,
// changed). It upholds R179 and R180: accepted is final, uncertain and dead
// wait for somebody who decides, one lease at a time.

import (
	"time"

	"akk/bridge/rpc"
)

// State of a delivery, as rpc.Delivery tells it.
type State string

// The states.
const (
	Pending    State = "pending"
	InFlight   State = "in_flight" // leased to a bridge
	Retryable  State = "retryable" // failed, tried again at NextAt
	Accepted   State = "accepted"
	Dead       State = "dead"       // failed for good, or too often
	Uncertain  State = "uncertain"  // may have arrived
	Superseded State = "superseded" // no longer true, never delivered
)

// Bounds of delivery.
const (
	// LeaseTime is how long a bridge has: the longest command (30 s, R204) with
	// room for a machine under load (CONTRACT-outputs §6: 2 min).
	LeaseTime = 2 * time.Minute
	// watchRetryFirst doubles up to watchRetryMost (CONTRACT-outputs §6).
	watchRetryFirst = 5 * time.Second
	watchRetryMost  = time.Minute
	// watchGiveUp ends the attempts of a Watch's notification: the contract has
	// no bound, an endless one would wake a Host of yesterday (B137).
	watchGiveUp = 24 * time.Hour
	// jitterPart is the most that a wait is stretched, so that many deliveries
	// that failed together don't come together.
	jitterPart = 0.2
)

// turnRetries are the waits before the second to fifth attempt of a Turn's
// callback; then it is dead (CONTRACT-outputs §6).
var turnRetries = []time.Duration{5 * time.Second, 15 * time.Second, time.Minute, time.Minute}

// ErrorExhausted is the error code of a delivery that was tried too often.
const ErrorExhausted = "attempts_exhausted"

// ErrorLease is the error code of a lease that ended without an outcome.
const ErrorLease = "lease_expired_without_outcome"

// ErrorHolder is the error code of a lease whose bridge's process ended without
// an outcome. The command may have been begun, and may still run in a process
// group of its own: that is uncertain, not retryable (R179).
const ErrorHolder = "bridge_ended_without_outcome"

// Entry is one delivery. It is a value.
type Entry struct {
	Envelope     rpc.Envelope `json:"envelope"`
	State        State        `json:"state"`
	Attempts     int          `json:"attempts"`
	CreatedAt    time.Time    `json:"created_at"`
	UpdatedAt    time.Time    `json:"updated_at"`
	NextAt       time.Time    `json:"next_at,omitzero"` // retryable
	LeaseID      string       `json:"lease_id,omitempty"`
	LeaseUntil   time.Time    `json:"lease_until,omitzero"`
	Holder       int          `json:"holder,omitempty"` // process that the lease was given to, 0 = not known
	AcceptedAt   time.Time    `json:"accepted_at,omitzero"`
	AcceptanceID string       `json:"acceptance_id,omitempty"`
	ErrorCode    string       `json:"error_code,omitempty"`
	Detail       string       `json:"detail,omitempty"`
	// Stale is set when the event stopped being true while it was leased: it
	// is not tried again.
	Stale bool `json:"stale,omitempty"`
}

// EventKind is what happened to a delivery.
type EventKind int

// The events.
const (
	EvLease      EventKind = iota + 1 // a bridge takes it: LeaseID
	EvReleased                        // it was certainly not handed over: LeaseID
	EvOutcome                         // the bridge tells: LeaseID, Outcome, ...
	EvExpire                          // the lease's time is over
	EvSupersede                       // the event is no longer true
	EvRetry                           // somebody decided to try it again
	EvHolderGone                      // the process that has the lease ended: LeaseID
)

// Event is one thing that happened.
type Event struct {
	Kind    EventKind
	Now     time.Time
	LeaseID string
	Holder  int
	Result  rpc.OutcomeParams
	Jitter  float64 // in [0, 1), stretches a wait
}

// Due tells whether the entry may be leased now.
func (e Entry) Due(now time.Time) bool {
	return e.State == Pending || e.State == Retryable && !e.NextAt.After(now)
}

// Open tells whether the entry may still change by itself.
func (e Entry) Open() bool { return e.State == Pending || e.State == Retryable || e.State == InFlight }

// Step is the machine; changed is false when the event means nothing here.
func (e Entry) Step(ev Event) (next Entry, changed bool) {
	next = e
	next.UpdatedAt = ev.Now
	switch ev.Kind {
	case EvLease:
		if !e.Due(ev.Now) || ev.LeaseID == "" {
			return e, false
		}
		next.State, next.LeaseID, next.LeaseUntil, next.NextAt = InFlight, ev.LeaseID, ev.Now.Add(LeaseTime), time.Time{}
		next.Holder = ev.Holder
		next.Attempts++
	case EvReleased:
		if e.State != InFlight || e.LeaseID != ev.LeaseID {
			return e, false
		}
		next.State, next.LeaseID, next.LeaseUntil = Pending, "", time.Time{}
		next.Attempts--
		if e.Stale {
			next.State = Superseded
		}
	case EvExpire:
		if e.State != InFlight || ev.Now.Before(e.LeaseUntil) {
			return e, false
		}
		next.State, next.ErrorCode, next.Detail = Uncertain, ErrorLease, "the host's bridge never told what became of it"
	case EvHolderGone:
		if e.State != InFlight || e.LeaseID != ev.LeaseID {
			return e, false
		}
		next.State, next.ErrorCode, next.Detail = Uncertain, ErrorHolder, "the host's bridge ended without telling what became of it"
	case EvSupersede:
		switch e.State {
		case Pending, Retryable:
			next.State, next.NextAt = Superseded, time.Time{}
		case InFlight:
			if e.Stale {
				return e, false
			}
			next.Stale = true
		default:
			return e, false
		}
	case EvRetry:
		switch e.State {
		case Retryable, Dead, Uncertain:
			next.State, next.NextAt, next.LeaseID, next.LeaseUntil = Pending, time.Time{}, "", time.Time{}
			if e.State != Retryable {
				next.Attempts = 0
			}
		default:
			return e, false
		}
	case EvOutcome:
		return e.outcome(ev)
	default:
		return e, false
	}
	return next, true
}

// outcome takes what the holder of the lease says. A lease that has run out, or
// whose holder has ended since, still tells the truth, as long as nobody has got
// another one.
func (e Entry) outcome(ev Event) (Entry, bool) {
	if e.LeaseID == "" || e.LeaseID != ev.LeaseID || e.State != InFlight && (e.State != Uncertain || e.ErrorCode != ErrorLease && e.ErrorCode != ErrorHolder) {
		return e, false
	}
	next := e
	next.UpdatedAt, next.LeaseUntil = ev.Now, time.Time{}
	next.ErrorCode, next.Detail = ev.Result.ErrorCode, ev.Result.Detail
	switch ev.Result.Outcome {
	case rpc.OutcomeAccepted:
		next.State, next.AcceptedAt, next.AcceptanceID = Accepted, ev.Now, ev.Result.AcceptanceID
	case rpc.OutcomeRetryable:
		wait, more := e.backoff(ev.Now, ev.Jitter)
		switch {
		case e.Stale:
			next.State = Superseded
		case !more:
			next.State = Dead
			if next.ErrorCode == "" {
				next.ErrorCode = ErrorExhausted
			}
		default:
			next.State, next.NextAt = Retryable, ev.Now.Add(wait)
		}
	case rpc.OutcomePermanent:
		next.State = Dead
	default: // uncertain, and every word that is not known
		next.State = Uncertain
	}
	return next, true
}

// backoff is the wait before the next attempt; more is false when there is none.
func (e Entry) backoff(now time.Time, jitter float64) (wait time.Duration, more bool) {
	if e.Envelope.Source.Kind == "terminal_watch" {
		wait = watchRetryMost
		if n := e.Attempts - 1; n < 4 {
			wait = min(watchRetryFirst<<max(n, 0), watchRetryMost)
		}
		more = now.Sub(e.CreatedAt) < watchGiveUp
	} else if n := e.Attempts - 1; n >= 0 && n < len(turnRetries) {
		wait, more = turnRetries[n], true
	}
	return wait + time.Duration(float64(wait)*jitterPart*jitter), more
}
