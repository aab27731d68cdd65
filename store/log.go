package store

// This file holds append-only logs with bounded retention. It upholds: numbers
// grow by one without a hole and survive restarts; a reader that is behind the
// retention is told which numbers it missed.

import (
	"encoding/binary"
	"encoding/json"
	"fmt"

	"go.etcd.io/bbolt"
)

// trimPerAppend bounds how many old entries one Append removes, so that a
// lowered retention is reached without one long transaction.
const trimPerAppend = 4

// Log is an append-only table of T, numbered from 1. Like a Collection it is
// a description only.
type Log[T any] struct {
	name string
	keep uint64
	set  func(v *T, seq uint64)
}

// NewLog describes a log that keeps the newest keep entries (at least 1). set
// writes the number into an entry before it is stored; nil if it has none.
func NewLog[T any](name string, keep int, set func(v *T, seq uint64)) *Log[T] {
	return &Log[T]{name: name, keep: uint64(max(keep, 1)), set: set}
}

// Name is the name of the log.
func (l *Log[T]) Name() string { return l.name }

// Append adds v and returns it with its number.
func (l *Log[T]) Append(tx *Tx, v T) (T, uint64, error) {
	b := l.bucket(tx)
	seq, err := b.NextSequence()
	if err != nil {
		return v, 0, fmt.Errorf("appending to %s: %w", l.name, err)
	}
	if l.set != nil {
		l.set(&v, seq)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return v, 0, fmt.Errorf("appending to %s: %w", l.name, err)
	}
	if err := b.Put(key(seq), raw); err != nil {
		return v, 0, fmt.Errorf("appending to %s: %w", l.name, err)
	}
	return v, seq, l.trim(b, seq)
}

func (l *Log[T]) trim(b *bbolt.Bucket, last uint64) error {
	for range trimPerAppend {
		k, _ := b.Cursor().First()
		if k == nil || last-binary.BigEndian.Uint64(k) < l.keep {
			return nil
		}
		if err := b.Delete(k); err != nil {
			return fmt.Errorf("trimming %s: %w", l.name, err)
		}
	}
	return nil
}

// Bounds returns the first and the last number that are kept; 0, last when the
// log holds no entry.
func (l *Log[T]) Bounds(tx *Tx) (first, last uint64) {
	b := l.bucket(tx)
	if k, _ := b.Cursor().First(); k != nil {
		first = binary.BigEndian.Uint64(k)
	}
	return first, b.Sequence()
}

// Read calls fn for at most limit entries with numbers above after, in order,
// and returns the numbers from..to that retention has taken since (0, 0 if
// none). An entry that can't be read ends it with ErrCorrupt.
func (l *Log[T]) Read(tx *Tx, after uint64, limit int, fn func(seq uint64, v T) error) (from, to uint64, err error) {
	c := l.bucket(tx).Cursor()
	k, raw := c.Seek(key(after + 1))
	if k != nil {
		if seq := binary.BigEndian.Uint64(k); seq > after+1 {
			from, to = after+1, seq-1
		}
	}
	for n := 0; k != nil && n < limit; k, raw = c.Next() {
		var v T
		seq := binary.BigEndian.Uint64(k)
		if err := json.Unmarshal(raw, &v); err != nil {
			return from, to, fmt.Errorf("%w: %s %d: %w", ErrCorrupt, l.name, seq, err)
		}
		if err := fn(seq, v); err != nil {
			return from, to, err
		}
		n++
	}
	return from, to, nil
}

func (l *Log[T]) bucket(tx *Tx) *bbolt.Bucket {
	b := tx.t.Bucket([]byte(l.name))
	if b == nil {
		panic("store: log " + l.name + " is not in the schema")
	}
	return b
}

func key(seq uint64) []byte { return binary.BigEndian.AppendUint64(nil, seq) }

func beUint64(k []byte) uint64 { return binary.BigEndian.Uint64(k) }

func (l *Log[T]) check(tx *Tx) []error {
	var out []error
	b := l.bucket(tx)
	var prev uint64
	_ = b.ForEach(func(k, raw []byte) error {
		if len(k) != 8 {
			out = append(out, fmt.Errorf("log %s has a key of %d bytes", l.name, len(k)))
			return nil
		}
		seq := binary.BigEndian.Uint64(k)
		if prev != 0 && seq != prev+1 {
			out = append(out, fmt.Errorf("log %s goes from %d to %d", l.name, prev, seq))
		}
		prev = seq
		var v T
		if err := json.Unmarshal(raw, &v); err != nil {
			out = append(out, fmt.Errorf("log %s entry %d: %w", l.name, seq, err))
		}
		return nil
	})
	if prev != 0 && prev != b.Sequence() {
		out = append(out, fmt.Errorf("log %s ends at %d, its counter says %d", l.name, prev, b.Sequence()))
	}
	return out
}
