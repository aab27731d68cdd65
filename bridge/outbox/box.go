package outbox

// This file keeps the open deliveries in memory beside the table and drives
// them by time. It upholds: the table is written first, the memory follows what
// was committed; deadlines are one timer, nothing polls.

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"akk/bridge/rpc"
	"akk/store"
)

// keepSettled is how long a delivery that came to its end stays readable; the
// contract's idle retention of Turns.
const keepSettled = 7 * 24 * time.Hour

// Options of Open.
type Options struct {
	DB     *store.DB
	Writer *store.Writer
	// Journal appends the event of a change inside of its transaction.
	Journal func(tx *store.Tx, e rpc.Event) error
	// Changed is called after a commit that changed something. It must not block.
	Changed func()
	// Ended waits for the end of a process: true when it has ended, false when
	// ctx has or when it can't be told. nil = leases end by their time only.
	Ended func(ctx context.Context, pid int) bool
	Log   *slog.Logger
}

// Box is the outbox of one store. It is safe for any goroutine.
type Box struct {
	o      Options
	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{}
	wake   chan struct{}
	wg     sync.WaitGroup // who waits for the end of bridges

	mu      sync.Mutex
	open    map[string]Entry            // pending, retryable, in flight
	held    map[string]bool             // leases of streams that are open
	watch   map[string]map[string]brief // by watch, by delivery: what is kept
	waiting chan struct{}               // closed at the next change
}

// brief is what a Watch's sum needs of a delivery.
type brief struct {
	state State
	code  string
	at    time.Time
}

// Open reads what is open and starts the timer. Close ends it.
func Open(o Options) (*Box, error) {
	b := &Box{o: o, done: make(chan struct{}), wake: make(chan struct{}, 1), open: map[string]Entry{}, held: map[string]bool{}, watch: map[string]map[string]brief{}, waiting: make(chan struct{})}
	var old []string
	now := time.Now()
	err := o.DB.View(func(tx *store.Tx) error {
		return Table.Each(tx, func(id string, err error) { o.Log.Error("a delivery can't be read", "id", id, "error", err) },
			func(id string, e Entry, _ store.Rev) error {
				b.note(e)
				switch {
				case e.Open():
					b.open[id] = e
				case (e.State == Accepted || e.State == Superseded) && now.Sub(e.UpdatedAt) > keepSettled:
					old = append(old, id)
				}
				return nil
			})
	})
	if err != nil {
		return nil, fmt.Errorf("reading the outbox: %w", err)
	}
	b.prune(old)
	b.ctx, b.cancel = context.WithCancel(context.Background())
	go b.run()
	for id, e := range b.leased() { // of before this start
		b.mourn(id, e.LeaseID, e.Holder)
	}
	return b, nil
}

func (b *Box) leased() map[string]Entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := map[string]Entry{}
	for id, e := range b.open {
		if e.State == InFlight {
			out[id] = e
		}
	}
	return out
}

// Close ends the timer and every stream of leases. What is leased stays so.
func (b *Box) Close() {
	b.mu.Lock() // nobody begins to wait any more
	b.cancel()
	b.mu.Unlock()
	<-b.done
	b.wg.Wait()
}

func (b *Box) prune(ids []string) {
	if len(ids) == 0 {
		return
	}
	b.o.Writer.Do(func(tx *store.Tx) error {
		for _, id := range ids {
			if _, rev, err := Table.Get(tx, id); err == nil {
				if err := Table.Delete(tx, id, rev); err != nil {
					return err
				}
			}
		}
		return nil
	}, func(err error) {
		if err != nil {
			b.o.Log.Error("old deliveries could not be removed", "error", err)
		}
	})
}

// note keeps a Watch's delivery in brief; b.mu is held, or nobody else is there.
func (b *Box) note(e Entry) {
	id := e.Envelope.Source.WatchID
	if id == "" {
		return
	}
	if b.watch[id] == nil {
		b.watch[id] = map[string]brief{}
	}
	b.watch[id][e.Envelope.DeliveryID] = brief{e.State, e.ErrorCode, e.UpdatedAt}
}

// SumWatch counts a Watch's deliveries (CONTRACT-outputs §3.2).
func (b *Box) SumWatch(id string) rpc.WatchCallback {
	b.mu.Lock()
	defer b.mu.Unlock()
	var sum rpc.WatchCallback
	var newest time.Time
	for _, e := range b.watch[id] {
		switch e.state {
		case Accepted:
			sum.Delivered++
		case Superseded:
			sum.Superseded++
		case Dead, Uncertain:
			sum.Failed++
		default:
			sum.Pending++
		}
		if e.code != "" && e.at.After(newest) {
			sum.LastErrorCode, newest = e.code, e.at
		}
	}
	return sum
}

// Change is what a transaction did to deliveries; Committed tells it to the
// memory after the commit.
type Change []Entry

// Add puts the entry into the caller's transaction. An entry that is there
// already is left as it is: the same event is the same delivery.
func (b *Box) Add(tx *store.Tx, c *Change, e Entry) error {
	if _, _, err := Table.Get(tx, e.Envelope.DeliveryID); err == nil {
		return nil
	}
	return b.put(tx, c, e, 0, "queued")
}

// Supersede ends deliveries that are no longer true in the caller's
// transaction; ids that are not there are passed over.
func (b *Box) Supersede(tx *store.Tx, c *Change, now time.Time, ids ...string) error {
	for _, id := range ids {
		if id == "" {
			continue
		}
		if _, err := b.step(tx, c, id, Event{Kind: EvSupersede, Now: now}); err != nil {
			return err
		}
	}
	return nil
}

// step moves one delivery in a transaction; changed is false when the event
// means nothing or there is no such delivery.
func (b *Box) step(tx *store.Tx, c *Change, id string, ev Event) (changed bool, err error) {
	e, rev, err := Table.Get(tx, id)
	if err != nil {
		return false, nil // nothing to do: it was pruned, or can't be read (Check tells)
	}
	next, changed := e.Step(ev)
	if !changed {
		return false, nil
	}
	word := string(next.State)
	if ev.Kind == EvSupersede && next.State == InFlight {
		word = "stale"
	}
	return true, b.put(tx, c, next, rev, word)
}

func (b *Box) put(tx *store.Tx, c *Change, e Entry, rev store.Rev, word string) error {
	if _, err := Table.Put(tx, e.Envelope.DeliveryID, e, rev); err != nil {
		return err
	}
	s := e.Envelope.Source
	ev := rpc.Event{Time: e.UpdatedAt, Type: "delivery", Change: word, DeliveryID: e.Envelope.DeliveryID, SessionID: s.SessionID, TurnID: s.TurnID,
		WatchID: s.WatchID, TerminalID: s.TerminalID, Reason: e.ErrorCode}
	if err := b.o.Journal(tx, ev); err != nil {
		return err
	}
	*c = append(*c, e)
	return nil
}

// Committed tells the memory what a transaction did.
func (b *Box) Committed(c Change) {
	if len(c) == 0 {
		return
	}
	store.FailAt("outbox.committed." + string(c[len(c)-1].State))
	b.mu.Lock()
	for _, e := range c {
		b.note(e)
		if e.Open() {
			b.open[e.Envelope.DeliveryID] = e
		} else {
			delete(b.open, e.Envelope.DeliveryID)
		}
	}
	close(b.waiting)
	b.waiting = make(chan struct{})
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default:
	}
	if b.o.Changed != nil {
		b.o.Changed()
	}
}

// move steps one delivery in a transaction of its own and returns it.
func (b *Box) move(id string, ev Event) (Entry, bool, error) {
	var c Change
	var moved bool
	var out Entry
	err := b.o.Writer.Sync(func(tx *store.Tx) (err error) {
		c, moved = nil, false
		if out, _, err = Table.Get(tx, id); err != nil {
			return err
		}
		if moved, err = b.step(tx, &c, id, ev); err == nil && moved {
			out = c[0]
		}
		return err
	})
	if err != nil {
		return Entry{}, false, err
	}
	b.Committed(c)
	return out, moved, nil
}

// run ends leases whose time is over and wakes the streams when a wait ends.
func (b *Box) run() {
	defer close(b.done)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		now := time.Now()
		next := time.Time{}
		soonest := func(at time.Time) {
			if next.IsZero() || at.Before(next) {
				next = at
			}
		}
		var over []string
		b.mu.Lock()
		for id, e := range b.open {
			switch {
			case e.State == InFlight && !e.LeaseUntil.After(now):
				over = append(over, id)
			case e.State == InFlight:
				soonest(e.LeaseUntil)
			case e.State == Retryable && e.NextAt.After(now):
				soonest(e.NextAt)
			}
		}
		b.mu.Unlock()
		for _, id := range over {
			if _, _, err := b.move(id, Event{Kind: EvExpire, Now: now}); err != nil {
				b.o.Log.Error("an expired lease could not be stored", "delivery", id, "error", err)
				soonest(now.Add(retryStore))
			}
		}
		if !next.IsZero() {
			timer.Reset(max(0, time.Until(next)))
		} else {
			timer.Stop()
		}
		select {
		case <-b.ctx.Done():
			return
		case <-b.wake:
		case <-timer.C:
			b.mu.Lock() // a wait ended: streams look again
			close(b.waiting)
			b.waiting = make(chan struct{})
			b.mu.Unlock()
		}
	}
}

// retryStore is when a write that failed (a full disk) is tried again.
const retryStore = 10 * time.Second

// InFlight tells whether a lease is out: its outcome is owed.
func (b *Box) InFlight() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.open {
		if e.State == InFlight {
			return true
		}
	}
	return false
}

// next returns the oldest delivery that is due for the route, "" if there is
// none or a stream that is open has one, and a channel that is closed at the next change.
func (b *Box) next(route string, now time.Time) (string, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var due []Entry
	for _, e := range b.open {
		if routeKey(e.Envelope.Route) != route {
			continue
		}
		if e.State == InFlight && b.held[e.LeaseID] {
			return "", b.waiting
		}
		if e.Due(now) {
			due = append(due, e)
		}
	}
	if len(due) == 0 {
		return "", b.waiting
	}
	first := slices.MinFunc(due, func(x, y Entry) int {
		return cmp.Or(x.CreatedAt.Compare(y.CreatedAt), cmp.Compare(x.Envelope.DeliveryID, y.Envelope.DeliveryID))
	})
	return first.Envelope.DeliveryID, b.waiting
}

// jitter is the random part of a wait.
func jitter() float64 { return rand.Float64() }
