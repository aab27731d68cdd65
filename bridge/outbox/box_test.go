package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"akk/bridge/rpc"
	"akk/store"
)

var (
	turnTable  = store.NewCollection[struct{}]("turns")
	watchTable = store.NewCollection[struct{}]("watches")
	events     = store.NewLog("journal", 10_000, func(e *rpc.Event, seq uint64) { e.Seq = seq })
)

// rig is an outbox on a store of its own.
type rig struct {
	t   testing.TB
	dir string
	db  *store.DB
	w   *store.Writer
	box *Box

	holder int           // process that the bridges are in
	ended  chan struct{} // closed when it ends
}

func newRig(t testing.TB) *rig {
	r := &rig{t: t, dir: t.TempDir()}
	r.open()
	if err := r.db.Update(func(tx *store.Tx) error {
		_, err := turnTable.Put(tx, "turn-1", struct{}{}, 0)
		_, err2 := watchTable.Put(tx, "terminal-watch-1", struct{}{}, 0)
		return errors.Join(err, err2)
	}); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rig) open() {
	r.t.Helper()
	var err error
	r.db, err = store.Open(r.dir, store.Options{NoSync: true, Schema: store.Schema{Version: 1, Tables: []store.Table{turnTable, watchTable, Table, events}}})
	if err != nil {
		r.t.Fatal(err)
	}
	r.w = store.NewWriter(r.db)
	r.box, err = Open(Options{DB: r.db, Writer: r.w, Log: slog.New(slog.DiscardHandler),
		Journal: func(tx *store.Tx, e rpc.Event) error { _, _, err := events.Append(tx, e); return err },
		Ended: func(ctx context.Context, pid int) bool {
			if pid != r.holder {
				r.t.Errorf("asked for process %d, not %d", pid, r.holder)
			}
			select {
			case <-r.ended:
				return true
			case <-ctx.Done():
				return false
			}
		}})
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) close() {
	r.t.Helper()
	r.box.Close()
	r.w.Close()
	for _, err := range r.db.Check() {
		r.t.Errorf("store: %v", err)
	}
	if err := r.db.Close(); err != nil {
		r.t.Error(err)
	}
}

func (r *rig) restart() { r.close(); r.open() }

func (r *rig) add(e Entry) {
	r.t.Helper()
	var c Change
	if err := r.w.Sync(func(tx *store.Tx) error { c = nil; return r.box.Add(tx, &c, e) }); err != nil {
		r.t.Fatal(err)
	}
	r.box.Committed(c)
}

func (r *rig) entry(id string) Entry {
	r.t.Helper()
	e, err := r.box.get(id)
	if err != nil {
		r.t.Fatal(err)
	}
	return e
}

// changes are the journal's words about one delivery.
func (r *rig) changes(id string) []string {
	var out []string
	_ = r.db.View(func(tx *store.Tx) error {
		_, _, err := events.Read(tx, 0, 10_000, func(_ uint64, e rpc.Event) error {
			if e.DeliveryID == id {
				out = append(out, e.Change)
			}
			return nil
		})
		return err
	})
	return out
}

func entryAt(n string, at time.Time) Entry {
	e := turnEntry(n)
	e.CreatedAt, e.UpdatedAt = at, at
	return e
}

// bridge takes leases until stop; each lease is given to f.
func (r *rig) bridge(rt rpc.Route, f func(rpc.Lease) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = r.box.Deliveries(ctx, &rt, r.holder, f) }()
	return func() { cancel(); <-done }
}

// R138, B136: oldest first, one at a time, once each; two bridges of one route
// never have the same delivery.
func TestB136OnceEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer r.close()
		var got []string
		at, most := 0, 0
		ch := make(chan rpc.Lease, 10)
		take := func(l rpc.Lease) error {
			at++
			most = max(most, at)
			got = append(got, l.Envelope.Event.ID)
			ch <- l
			return nil
		}
		one, two := r.bridge(route("s"), take), r.bridge(route("s"), take)
		defer one()
		defer two()
		now := time.Now()
		for i := range 3 {
			r.add(entryAt(fmt.Sprint(i), now.Add(time.Duration(i)*time.Millisecond)))
		}
		r.add(entryAt("0", now)) // the same event again is nothing new
		for range 3 {
			l := <-ch
			time.Sleep(60 * time.Second) // a callback that takes a minute
			at--
			if _, err := r.box.Outcome(new(route("s")), rpc.OutcomeParams{DeliveryID: l.Envelope.DeliveryID, LeaseID: l.LeaseID, Outcome: rpc.OutcomeAccepted, AcceptanceID: "x"}); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if !slices.Equal(got, []string{"0", "1", "2"}) || most != 1 {
			t.Errorf("delivered %v, %d at once", got, most)
		}
		e := entryAt("0", now)
		if c := r.changes(e.Envelope.DeliveryID); !slices.Equal(c, []string{"queued", "in_flight", "accepted"}) {
			t.Errorf("journal: %v", c)
		}
	})
}

// R212: only a bridge with exactly the frozen route delivers.
func TestR212ExactRoute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer r.close()
		var other []string
		for _, spoil := range []func(*rpc.Route){
			func(r *rpc.Route) { r.ProfileRevision = "2026-01-01-2" }, func(r *rpc.Route) { r.ControllerSessionID = "another" }, func(r *rpc.Route) { r.ProfileID = "p" },
		} {
			rt := route("s")
			spoil(&rt)
			stop := r.bridge(rt, func(l rpc.Lease) error { other = append(other, l.Envelope.Event.ID); return nil })
			defer stop()
		}
		e := turnEntry("1")
		r.add(e)
		time.Sleep(time.Hour)
		synctest.Wait()
		if len(other) > 0 || r.entry(e.Envelope.DeliveryID).State != Pending {
			t.Fatalf("delivered by another route: %v", other)
		}
		leases := make(chan rpc.Lease, 1)
		stop := r.bridge(route("s"), func(l rpc.Lease) error { leases <- l; return nil })
		defer stop()
		l := <-leases
		rt := route("another")
		if _, err := r.box.Outcome(&rt, rpc.OutcomeParams{DeliveryID: l.Envelope.DeliveryID, LeaseID: l.LeaseID, Outcome: rpc.OutcomeAccepted, AcceptanceID: "x"}); err == nil {
			t.Error("another route told the outcome")
		}
		if _, err := r.box.Outcome(new(route("s")), rpc.OutcomeParams{DeliveryID: l.Envelope.DeliveryID, LeaseID: "lease-x", Outcome: rpc.OutcomeAccepted, AcceptanceID: "x"}); err == nil {
			t.Error("another lease told the outcome")
		}
		if _, err := r.box.Outcome(new(route("s")), rpc.OutcomeParams{DeliveryID: l.Envelope.DeliveryID, LeaseID: l.LeaseID, Outcome: rpc.OutcomeAccepted}); err == nil {
			t.Error("accepted without an acceptance id (R206)")
		}
	})
}

// R179: a lease without an outcome is uncertain at its time and not repeated;
// R137: over a restart, too.
func TestR179LeaseExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer func() { r.close() }()
		leases := make(chan rpc.Lease, 10)
		stop := r.bridge(route("s"), func(l rpc.Lease) error { leases <- l; return nil })
		e := entryAt("1", time.Now())
		r.add(e)
		l := <-leases
		stop()
		if !r.box.InFlight() {
			t.Error("no outcome is owed")
		}
		r.restart()
		time.Sleep(LeaseTime - time.Second)
		synctest.Wait()
		if s := r.entry(e.Envelope.DeliveryID).State; s != InFlight {
			t.Fatalf("before its time: %s", s)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if s := r.entry(e.Envelope.DeliveryID).State; s != Uncertain {
			t.Fatalf("after its time: %s", s)
		}
		stop = r.bridge(route("s"), func(l rpc.Lease) error { leases <- l; return nil })
		defer func() { stop() }()
		time.Sleep(time.Hour)
		synctest.Wait()
		if len(leases) > 0 {
			t.Fatal("an uncertain delivery was repeated by itself")
		}
		if _, err := r.box.Retry(e.Envelope.DeliveryID, false); err == nil {
			t.Error("repeated without a decision")
		}
		if _, err := r.box.Retry(e.Envelope.DeliveryID, true); err != nil {
			t.Fatal(err)
		}
		again := <-leases
		if again.Envelope.IdempotencyKey != l.Envelope.IdempotencyKey || again.LeaseID == l.LeaseID {
			t.Error("scenario 74: another idempotency key, or the same lease")
		}
	})
}

// Scenario 74: undelivered at the restart, delivered after it with the same
// idempotency key. B133: nothing else is ever told.
func TestScenario74Restart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer func() { r.close() }()
		e := entryAt("1", time.Now())
		r.add(e)
		r.restart()
		leases := make(chan rpc.Lease, 10)
		stop := r.bridge(route("s"), func(l rpc.Lease) error { leases <- l; return nil })
		defer func() { stop() }()
		l := <-leases
		if l.Envelope.IdempotencyKey != e.Envelope.IdempotencyKey || l.Attempt != 1 {
			t.Fatalf("%+v", l)
		}
		if _, err := r.box.Outcome(new(route("s")), rpc.OutcomeParams{DeliveryID: l.Envelope.DeliveryID, LeaseID: l.LeaseID, Outcome: rpc.OutcomeRetryable, ErrorCode: "busy"}); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		l = <-leases
		if wait := time.Since(began); wait < 5*time.Second || wait > 6*time.Second || l.Attempt != 2 {
			t.Fatalf("second attempt %d after %s", l.Attempt, wait)
		}
		if _, err := r.box.Outcome(new(route("s")), rpc.OutcomeParams{DeliveryID: l.Envelope.DeliveryID, LeaseID: l.LeaseID, Outcome: rpc.OutcomeAccepted, AcceptanceID: "x"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if len(leases) > 0 {
			t.Fatal("told again")
		}
		if c := r.changes(e.Envelope.DeliveryID); !slices.Equal(c, []string{"queued", "in_flight", "retryable", "in_flight", "accepted"}) {
			t.Errorf("journal: %v", c)
		}
	})
}

// What can't be handed over is given back; what was superseded meanwhile is
// never tried again.
func TestGivenBackAndSuperseded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer r.close()
		a, b := entryAt("a", time.Now()), entryAt("b", time.Now().Add(time.Millisecond))
		r.add(a)
		if err := r.box.Deliveries(t.Context(), new(route("s")), 0, func(rpc.Lease) error { return errors.New("broken pipe") }); err == nil {
			t.Fatal("no error")
		}
		if e := r.entry(a.Envelope.DeliveryID); e.State != Pending || e.Attempts != 0 {
			t.Fatalf("after a broken pipe: %s, %d attempts", e.State, e.Attempts)
		}
		leases := make(chan rpc.Lease, 10)
		stop := r.bridge(route("s"), func(l rpc.Lease) error { leases <- l; return nil })
		defer stop()
		l := <-leases
		r.add(b)
		var c Change
		if err := r.w.Sync(func(tx *store.Tx) error {
			c = nil
			return r.box.Supersede(tx, &c, time.Now(), a.Envelope.DeliveryID, b.Envelope.DeliveryID, "none")
		}); err != nil {
			t.Fatal(err)
		}
		r.box.Committed(c)
		if _, err := r.box.Outcome(new(route("s")), rpc.OutcomeParams{DeliveryID: l.Envelope.DeliveryID, LeaseID: l.LeaseID, Outcome: rpc.OutcomeRetryable}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if len(leases) > 0 || r.entry(a.Envelope.DeliveryID).State != Superseded || r.entry(b.Envelope.DeliveryID).State != Superseded {
			t.Fatalf("%d leases, %s, %s", len(leases), r.entry(a.Envelope.DeliveryID).State, r.entry(b.Envelope.DeliveryID).State)
		}
		list, err := r.box.List(true, 0, nil)
		if err != nil || len(list) != 2 {
			t.Errorf("list: %v %v", list, err)
		}
		if list, _ := r.box.List(false, 0, nil); len(list) != 0 {
			t.Errorf("settled ones are listed: %v", list)
		}
	})
}

// R179: when the process of a bridge has ended, what it had is uncertain at
// once: its command may have been begun. A connection that only was lost changes
// nothing, the bridge comes back and tells. Over a restart of the daemon, too.
func TestR179HolderGone(t *testing.T) {
	for name, restart := range map[string]bool{"killed": false, "killed while no daemon ran": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				defer func() { r.close() }()
				r.holder, r.ended = 4711, make(chan struct{})
				leases := make(chan rpc.Lease, 10)
				stop := r.bridge(route("s"), func(l rpc.Lease) error { leases <- l; return nil })
				e := entryAt("1", time.Now())
				r.add(e)
				l := <-leases
				stop()
				time.Sleep(time.Second)
				synctest.Wait()
				if s := r.entry(e.Envelope.DeliveryID).State; s != InFlight {
					t.Fatalf("the connection was lost, the bridge lives: %s", s)
				}
				if restart {
					r.close()
				}
				close(r.ended)
				if restart {
					r.open()
				}
				synctest.Wait()
				if got := r.entry(e.Envelope.DeliveryID); got.State != Uncertain || got.ErrorCode != ErrorHolder {
					t.Fatalf("the bridge was killed: %s %s", got.State, got.ErrorCode)
				}
				stop = r.bridge(route("s"), func(l rpc.Lease) error { leases <- l; return nil })
				defer func() { stop() }()
				time.Sleep(time.Hour)
				synctest.Wait()
				if len(leases) > 0 {
					t.Fatal("delivered again by itself")
				}
				// Its outcome was on the way when it ended: that is the truth.
				if _, err := r.box.Outcome(new(route("s")), rpc.OutcomeParams{DeliveryID: l.Envelope.DeliveryID, LeaseID: l.LeaseID, Outcome: rpc.OutcomeAccepted, AcceptanceID: "x"}); err != nil {
					t.Fatal(err)
				}
				if s := r.entry(e.Envelope.DeliveryID).State; s != Accepted {
					t.Errorf("late truth: %s", s)
				}
			})
		})
	}
}

// What the bridge told before it ended stays.
func TestHolderGoneAfterOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer r.close()
		r.holder, r.ended = 4711, make(chan struct{})
		leases := make(chan rpc.Lease, 10)
		stop := r.bridge(route("s"), func(l rpc.Lease) error { leases <- l; return nil })
		e := entryAt("1", time.Now())
		r.add(e)
		l := <-leases
		if _, err := r.box.Outcome(new(route("s")), rpc.OutcomeParams{DeliveryID: l.Envelope.DeliveryID, LeaseID: l.LeaseID, Outcome: rpc.OutcomeRetryable}); err != nil {
			t.Fatal(err)
		}
		stop()
		close(r.ended)
		synctest.Wait()
		if s := r.entry(e.Envelope.DeliveryID).State; s != Retryable {
			t.Errorf("%s", s)
		}
	})
}

// A lease whose bridge has gone, or whose daemon died, holds up no other
// callback of that Host; it ends as uncertain by itself.
func TestLostLeaseHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer func() { r.close() }()
		leases := make(chan rpc.Lease, 10)
		take := func(l rpc.Lease) error { leases <- l; return nil }
		began := time.Now()
		stop := r.bridge(route("s"), take)
		a, b := entryAt("a", time.Now()), entryAt("b", time.Now().Add(time.Millisecond))
		r.add(a)
		<-leases
		r.add(b)
		synctest.Wait()
		if len(leases) > 0 {
			t.Fatal("two at once")
		}
		stop()
		stop = r.bridge(route("s"), take)
		if l := <-leases; l.Envelope.Event.ID != "b" {
			t.Errorf("got %s", l.Envelope.Event.ID)
		}
		stop()
		r.restart()
		c := entryAt("c", time.Now())
		r.add(c)
		stop = r.bridge(route("s"), take)
		defer func() { stop() }()
		if l := <-leases; l.Envelope.Event.ID != "c" {
			t.Errorf("got %s", l.Envelope.Event.ID)
		}
		if took := time.Since(began); took >= LeaseTime {
			t.Errorf("they waited %s for the lost leases", took)
		}
		time.Sleep(LeaseTime + time.Second)
		synctest.Wait()
		for _, e := range []Entry{a, b, c} {
			if s := r.entry(e.Envelope.DeliveryID).State; s != Uncertain {
				t.Errorf("%s is %s", e.Envelope.Event.ID, s)
			}
		}
	})
}

// Settled deliveries are kept for a week.
func TestRetention(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer func() { r.close() }()
		done, open := entryAt("done", time.Now()), entryAt("open", time.Now())
		done.State = Accepted
		r.add(done)
		r.add(open)
		time.Sleep(keepSettled + time.Hour)
		r.restart()
		if err := r.w.Sync(func(*store.Tx) error { return nil }); err != nil {
			t.Fatal(err)
		}
		list, err := r.box.List(true, 0, nil)
		if err != nil || len(list) != 1 || list[0].EventID != "open" {
			t.Errorf("kept: %+v %v", list, err)
		}
	})
}
