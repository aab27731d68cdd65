package store

// This file holds typed collections. It upholds: a write names the revision
// that its writer saw, and revisions of a collection are never used twice.

import (
	"encoding/binary"
	"encoding/json"
	"fmt"

	"go.etcd.io/bbolt"
)

// Rev is the revision of a record; 0 means "does not exist".
type Rev uint64

// maxID bounds the length of an id in bytes.
const maxID = 1024

// Ref is a reference from a record of T to a record of another collection.
type Ref[T any] struct {
	Table string             // the other collection
	ID    func(v T) []string // ids that must exist; "" entries are left out
}

// Collection is a table of T by id. It is a description only: it holds no
// data and may be a package variable.
type Collection[T any] struct {
	name string
	refs []Ref[T]
}

// NewCollection describes a collection and what its records refer to.
func NewCollection[T any](name string, refs ...Ref[T]) *Collection[T] {
	return &Collection[T]{name: name, refs: refs}
}

// Name is the name of the collection.
func (c *Collection[T]) Name() string { return c.name }

func (c *Collection[T]) bucket(tx *Tx) *bbolt.Bucket {
	b := tx.t.Bucket([]byte(c.name))
	if b == nil {
		panic("store: table " + c.name + " is not in the schema") // becomes ErrCorrupt in Update and View
	}
	return b
}

// Get returns the record and its revision, or ErrNotFound.
func (c *Collection[T]) Get(tx *Tx, id string) (T, Rev, error) {
	var v T
	raw := c.bucket(tx).Get([]byte(id))
	if raw == nil {
		return v, 0, fmt.Errorf("%w: %s %q", ErrNotFound, c.name, id)
	}
	rev, err := decode(raw, &v)
	if err != nil {
		return v, 0, fmt.Errorf("%w: %s %q: %w", ErrCorrupt, c.name, id, err)
	}
	return v, rev, nil
}

// Put writes the record if its revision is still seen (0: if it does not
// exist) and returns the new revision. Otherwise ErrConflict.
func (c *Collection[T]) Put(tx *Tx, id string, v T, seen Rev) (Rev, error) {
	if id == "" || len(id) > maxID {
		return 0, fmt.Errorf("writing %s: id of %d bytes (1 to %d are allowed)", c.name, len(id), maxID)
	}
	b := c.bucket(tx)
	if err := c.expect(b, id, seen); err != nil {
		return 0, err
	}
	body, err := json.Marshal(v)
	if err != nil {
		return 0, fmt.Errorf("writing %s %q: %w", c.name, id, err)
	}
	rev, err := b.NextSequence()
	if err != nil {
		return 0, fmt.Errorf("writing %s %q: %w", c.name, id, err)
	}
	raw := append(binary.BigEndian.AppendUint64(make([]byte, 0, 8+len(body)), rev), body...)
	if err := b.Put([]byte(id), raw); err != nil {
		return 0, fmt.Errorf("writing %s %q: %w", c.name, id, err)
	}
	return Rev(rev), nil
}

// Delete removes the record if its revision is still seen.
func (c *Collection[T]) Delete(tx *Tx, id string, seen Rev) error {
	b := c.bucket(tx)
	if b.Get([]byte(id)) == nil {
		return fmt.Errorf("%w: %s %q", ErrNotFound, c.name, id)
	}
	if err := c.expect(b, id, seen); err != nil {
		return err
	}
	return b.Delete([]byte(id))
}

func (c *Collection[T]) expect(b *bbolt.Bucket, id string, seen Rev) error {
	var have Rev
	if raw := b.Get([]byte(id)); len(raw) >= 8 {
		have = Rev(binary.BigEndian.Uint64(raw))
	}
	if have != seen {
		return fmt.Errorf("%w: %s %q has revision %d, not %d", ErrConflict, c.name, id, have, seen)
	}
	return nil
}

// Each calls fn for every record in the order of ids until fn fails. A record
// that can't be read is given to broken (nil: it ends Each) and the rest goes
// on.
func (c *Collection[T]) Each(tx *Tx, broken func(id string, err error), fn func(id string, v T, rev Rev) error) error {
	return c.bucket(tx).ForEach(func(k, raw []byte) error {
		var v T
		rev, err := decode(raw, &v)
		if err != nil {
			err = fmt.Errorf("%w: %s %q: %w", ErrCorrupt, c.name, k, err)
			if broken == nil {
				return err
			}
			broken(string(k), err)
			return nil
		}
		return fn(string(k), v, rev)
	})
}

// Newest calls fn for the records from the last id to the first until it says
// false or fails. Records that can't be read are passed over.
func (c *Collection[T]) Newest(tx *Tx, fn func(id string, v T, rev Rev) (bool, error)) error {
	cur := c.bucket(tx).Cursor()
	for k, raw := cur.Last(); k != nil; k, raw = cur.Prev() {
		var v T
		rev, err := decode(raw, &v)
		if err != nil {
			continue
		}
		if more, err := fn(string(k), v, rev); err != nil || !more {
			return err
		}
	}
	return nil
}

func decode(raw []byte, v any) (Rev, error) {
	if len(raw) < 8 {
		return 0, fmt.Errorf("%d bytes are too short for a record", len(raw))
	}
	return Rev(binary.BigEndian.Uint64(raw)), json.Unmarshal(raw[8:], v)
}

func (c *Collection[T]) check(tx *Tx) []error {
	var out []error
	last := c.bucket(tx).Sequence()
	_ = c.Each(tx, func(_ string, err error) { out = append(out, err) }, func(id string, v T, rev Rev) error {
		if rev == 0 || uint64(rev) > last {
			out = append(out, fmt.Errorf("%s %q has revision %d, the newest given is %d", c.name, id, rev, last))
		}
		for _, ref := range c.refs {
			other := tx.t.Bucket([]byte(ref.Table))
			for _, to := range ref.ID(v) {
				if to != "" && (other == nil || other.Get([]byte(to)) == nil) {
					out = append(out, fmt.Errorf("%s %q refers to %s %q, which does not exist", c.name, id, ref.Table, to))
				}
			}
		}
		return nil
	})
	return out
}
