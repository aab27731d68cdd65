package store

// This file rewrites the file without its free pages and reads it out. It
// upholds: a crash at any moment leaves the old file or the new one, whole; no
// other process gets in between.

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"

	"go.etcd.io/bbolt"
)

const (
	// compactName is the new file before it takes the old one's place.
	compactName = FileName + ".compact"
	// compactTx bounds one transaction of the copy, in bytes.
	compactTx = 4 << 20
)

// Compacted says what Compact did, in bytes of the file.
type Compacted struct {
	Before int64 `json:"before"`
	After  int64 `json:"after"`
}

// Compact copies everything into a new file and puts it in the old one's place.
// Transactions wait meanwhile. On an error the old file goes on.
func (db *DB) Compact() (c Compacted, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer rescue(&err)
	db.swap.Lock()
	defer db.swap.Unlock()
	if db.shut {
		return c, ErrClosed
	}
	path, tmp := filepath.Join(db.dir, FileName), filepath.Join(db.dir, compactName)
	if c.Before, err = size(path); err != nil {
		return c, err
	}
	if err := os.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return c, cured(fmt.Errorf("removing what an earlier compaction left: %w", err), "remove "+tmp)
	}
	// Opened and locked before it gets its name: nobody can take it first.
	next, err := bbolt.Open(tmp, fileMode, &bbolt.Options{Timeout: lockTimeout, FreelistType: bbolt.FreelistMapType})
	if err != nil {
		return c, cured(fmt.Errorf("writing %s: %w", tmp, err), "make room on the disk, or look at the folder's rights")
	}
	fail := func(err error) (Compacted, error) {
		return c, errors.Join(cured(fmt.Errorf("compacting %s: %w", path, err), "make room on the disk; the store goes on as it was"), next.Close(), os.Remove(tmp))
	}
	if err := bbolt.Compact(next, db.b, compactTx); err != nil {
		return fail(err)
	}
	if err := next.Sync(); err != nil {
		return fail(err)
	}
	failAt("store.compact.written")
	if err := os.Rename(tmp, path); err != nil {
		return fail(err)
	}
	failAt("store.compact.renamed")
	old := db.b
	db.b = next
	err = errors.Join(syncDir(db.dir), old.Close())
	if c.After, err = size(path); err != nil {
		return c, err
	}
	return c, err
}

func size(path string) (int64, error) {
	st, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return st.Size(), nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Row is one record of an export.
type Row struct {
	Table string          `json:"table"`
	ID    string          `json:"id,omitempty"`  // of a collection
	Seq   uint64          `json:"seq,omitempty"` // of a log
	Rev   Rev             `json:"rev,omitempty"`
	Value json.RawMessage `json:"value,omitempty"`
	Error string          `json:"error,omitempty"` // the record can't be read
}

// exportBatch bounds one look of Export: a reader that is slow must not hold a
// transaction open.
const exportBatch = 500

// Export calls fn for every record, table by table. Each record is whole; one
// that is written meanwhile is told before or after.
func (db *DB) Export(fn func(Row) error) error {
	for _, t := range db.schema.Tables {
		var after []byte
		for more := true; more; {
			batch := make([]Row, 0, exportBatch)
			if err := db.View(func(tx *Tx) error {
				b := tx.t.Bucket([]byte(t.Name()))
				if b == nil {
					return nil
				}
				c := b.Cursor()
				k, raw := c.First()
				if after != nil {
					if k, raw = c.Seek(after); k != nil && string(k) == string(after) {
						k, raw = c.Next()
					}
				}
				for ; k != nil && len(batch) < exportBatch; k, raw = c.Next() {
					batch = append(batch, t.row(k, raw))
					after = append([]byte{}, k...)
				}
				return nil
			}); err != nil {
				return err
			}
			for _, r := range batch {
				if err := fn(r); err != nil {
					return err
				}
			}
			more = len(batch) == exportBatch
		}
	}
	return nil
}

// Stats counts a store.
type Stats struct {
	Dir    string         `json:"dir"`
	Schema int            `json:"schema"`
	Bytes  int64          `json:"bytes"`
	Tables map[string]int `json:"tables"` // records
}

// Stats reads the sizes. It takes a time in proportion to the number of pages.
func (db *DB) Stats() (Stats, error) {
	s := Stats{Dir: db.dir, Schema: db.schema.Version, Tables: map[string]int{}}
	var err error
	if s.Bytes, err = size(filepath.Join(db.dir, FileName)); err != nil {
		return s, err
	}
	err = db.View(func(tx *Tx) error {
		for _, t := range db.schema.Tables {
			if b := tx.t.Bucket([]byte(t.Name())); b != nil {
				s.Tables[t.Name()] = b.Stats().KeyN
			}
		}
		return nil
	})
	return s, err
}

func (c *Collection[T]) row(k, raw []byte) Row {
	r := Row{Table: c.name, ID: string(k)}
	var v json.RawMessage
	rev, err := decode(raw, &v)
	if r.Rev, r.Value = rev, v; err != nil {
		r.Value, r.Error = nil, err.Error()
	}
	return r
}

func (l *Log[T]) row(k, raw []byte) Row {
	r := Row{Table: l.name, Value: append(json.RawMessage{}, raw...)}
	if len(k) == 8 {
		r.Seq = beUint64(k)
	}
	if !json.Valid(raw) {
		r.Value, r.Error = nil, "not JSON"
	}
	return r
}
