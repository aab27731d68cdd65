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
	told map[toldOf]rpc.Recent // of kept as it is now
}

// toldOf is a terminal or a Turn.
type toldOf struct{ terminal, turn string }

// toldMax bounds what is kept to be told again.
const toldMax = 256

// recent returns the newest journal entries of a terminal or of a Turn, oldest
// first.
func (d *Desk) recent(terminal, turn string) rpc.Recent {
	r := &d.recents
	r.mu.Lock()
	defer r.mu.Unlock()
	last := uint64(0)
	err := d.db.View(func(tx *store.Tx) error {
		_, last = journal.Bounds(tx)
		if last > r.upTo+recentKept {
			r.upTo, r.kept, r.told = last-recentKept, nil, nil
		}
		_, _, err := journal.Read(tx, r.upTo, recentKept, func(seq uint64, e rpc.Event) error {
			r.upTo, r.kept, r.told = seq, append(r.kept, e), nil
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
	of := toldOf{terminal, turn}
	if out, ok := r.told[of]; ok {
		return out
	}
	out := []rpc.Event{}
	for i := len(r.kept) - 1; i >= max(0, len(r.kept)-recentKept) && len(out) < recentMax; i-- {
		if e := r.kept[i]; turn != "" && e.TurnID == turn || turn == "" && e.TerminalID == terminal {
			out = append(out, e)
		}
	}
	slices.Reverse(out)
	if r.told == nil || len(r.told) >= toldMax {
		r.told = map[toldOf]rpc.Recent{}
	}
	told := rpc.WriteRecent(out)
	r.told[of] = told
	return told
}
