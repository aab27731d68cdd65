package store

// This file holds the schema version and the check of a whole store. It
// upholds: an older store is upgraded in one transaction, a newer one is never
// touched.

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime/debug"

	"go.etcd.io/bbolt"
)

// Schema is what the store holds. Version grows by one with each change that
// older readers would misread.
type Schema struct {
	Version  int // >= 1
	Tables   []Table
	Upgrades map[int]func(*Tx) error // from version n to n+1
}

// Table is a Collection or a Log.
type Table interface {
	// Name is the name of the table's bucket.
	Name() string
	check(*Tx) []error
	row(k, raw []byte) Row
}

var (
	metaBucket = []byte("akk")
	schemaKey  = []byte("schema")
)

func (db *DB) prepareSchema(path string) (err error) {
	if db.schema.Version < 1 {
		return errors.New("opening store: schema version below 1")
	}
	version, fresh, err := db.readVersion(path)
	if err != nil {
		return err
	}
	if version > db.schema.Version {
		return cured(fmt.Errorf("%w: %s has schema %d, this akk knows %d", ErrNewer, path, version, db.schema.Version),
			"install the newer akk again, or choose another folder with --store-dir")
	}
	defer rescue(&err)
	return db.b.Update(func(t *bbolt.Tx) error {
		if fresh {
			version = db.schema.Version
		}
		for _, table := range db.schema.Tables {
			if _, err := t.CreateBucketIfNotExists([]byte(table.Name())); err != nil {
				return fmt.Errorf("creating table %s: %w", table.Name(), err)
			}
		}
		for ; version < db.schema.Version; version++ {
			if up := db.schema.Upgrades[version]; up != nil {
				if err := up(&Tx{t}); err != nil {
					return fmt.Errorf("upgrading store %s from schema %d: %w", path, version, err)
				}
			}
		}
		meta, err := t.CreateBucketIfNotExists(metaBucket)
		if err != nil {
			return err
		}
		return meta.Put(schemaKey, binary.BigEndian.AppendUint64(nil, uint64(version)))
	})
}

func (db *DB) readVersion(path string) (version int, fresh bool, err error) {
	defer rescue(&err)
	err = db.b.View(func(t *bbolt.Tx) error {
		meta := t.Bucket(metaBucket)
		if meta == nil {
			if k, _ := t.Cursor().First(); k != nil {
				return cured(fmt.Errorf("%w: %s is another program's bbolt file", ErrForeign, path), "choose another folder with --store-dir")
			}
			fresh = true
			return nil
		}
		v := meta.Get(schemaKey)
		if len(v) != 8 {
			return cured(fmt.Errorf("%w: %s has no schema version", ErrForeign, path), "choose another folder with --store-dir")
		}
		version = int(binary.BigEndian.Uint64(v))
		return nil
	})
	return version, fresh, err
}

// Check reads everything and returns every broken record, reference and
// number. An empty answer means that the store is sound. It takes a time in
// proportion to the store's size, and no writer runs meanwhile: the walk over the
// pages would take a writer's work for a fault.
func (db *DB) Check() []error {
	var out []error
	err := db.exclusive(func(tx *Tx) error {
		for _, table := range db.schema.Tables {
			if tx.t.Bucket([]byte(table.Name())) == nil {
				out = append(out, fmt.Errorf("table %s is missing", table.Name()))
				continue
			}
			out = append(out, table.check(tx)...)
		}
		if len(out) > 0 {
			return nil // the walk below is not made for damaged pages
		}
		for e := range tx.t.Check() {
			out = append(out, fmt.Errorf("page: %w", e))
		}
		return nil
	})
	if err != nil {
		out = append(out, err)
	}
	return out
}

// exclusive runs fn while no other transaction can write, and writes nothing.
func (db *DB) exclusive(fn func(*Tx) error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer rescue(&err)
	db.swap.RLock()
	defer db.swap.RUnlock()
	t, err := db.b.Begin(true)
	if err != nil {
		return closed(err)
	}
	defer func() { _ = t.Rollback() }()
	return fn(&Tx{t})
}
