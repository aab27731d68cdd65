package handoff

// This file keeps the newest journal entries in memory, so that a status reads
// from the store only what is new since the last one. It upholds: only durable
// entries are told.

import (
	"slices"
	"sync"

	"akk/bridge/rpc"
	"akk/store"
)

const (
	recentMax  = 10   // events of a status
	recentKept = 2000 // newest journal entries looked through for them
)

// recents is safe for any goroutine.
type recents struct {
	mu   sync.Mutex
	upTo uint64 // number of the newest entry that was read
	kept []rpc.Event
}

// recent returns the newest journal entries that fit, oldest first.
func (d *Desk) recent(fits func(rpc.Event) bool) []rpc.Event {
	r := &d.recents
	r.mu.Lock()
	defer r.mu.Unlock()
	last := uint64(0)
	err := d.db.View(func(tx *store.Tx) error {
		_, last = journal.Bounds(tx)
		if last > r.upTo+recentKept {
			r.upTo, r.kept = last-recentKept, nil
		}
		_, _, err := journal.Read(tx, r.upTo, recentKept, func(seq uint64, e rpc.Event) error {
			r.upTo, r.kept = seq, append(r.kept, e)
			return nil
		})
		return err
	})
	if err != nil {
		d.log.Warn("the journal could not be read", "error", err)
		r.upTo = max(r.upTo, last) // what comes after it can be
	}
	if old := len(r.kept) - recentKept; old > recentKept { // moved seldom
		r.kept = slices.Delete(r.kept, 0, old)
	}
	out := []rpc.Event{}
	for i := len(r.kept) - 1; i >= max(0, len(r.kept)-recentKept) && len(out) < recentMax; i-- {
		if fits(r.kept[i]) {
			out = append(out, r.kept[i])
		}
	}
	slices.Reverse(out)
	return out
}
