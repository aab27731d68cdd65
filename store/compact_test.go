package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func fill(t *testing.T, db *DB, n int) {
	t.Helper()
	if err := db.Update(func(tx *Tx) error {
		if _, err := owners.Put(tx, "o", pet{Name: "o"}, 0); err != nil {
			return err
		}
		for i := range n {
			if _, err := pets.Put(tx, fmt.Sprintf("p%05d", i), pet{Name: strings.Repeat("x", 500), Owner: "o"}, 0); err != nil {
				return err
			}
			if _, _, err := lines.Append(tx, line{Text: fmt.Sprint(i)}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// Compaction keeps every record, revision and number, gives the room
// back, and works under running writers; the lock is never let go.
func TestCompact(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	db := open(t, dir)
	fill(t, db, 2000)
	if err := db.Update(func(tx *Tx) error {
		for i := range 1990 {
			_, rev, err := pets.Get(tx, fmt.Sprintf("p%05d", i))
			if err != nil {
				return err
			}
			if err := pets.Delete(tx, fmt.Sprintf("p%05d", i), rev); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for w := range 3 {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				if err := db.Update(func(tx *Tx) error { _, _, err := lines.Append(tx, line{Text: fmt.Sprint(w, i)}); return err }); err != nil {
					t.Errorf("writing beside a compaction: %v", err)
					return
				}
			}
		})
	}
	c, err := db.Compact()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, Options{Schema: schema, Timeout: 20 * time.Millisecond}); !errors.Is(err, ErrLocked) {
		t.Errorf("after a compaction another one opens it: %v", err)
	}
	close(stop)
	wg.Wait()
	if c.After >= c.Before/2 {
		t.Errorf("%d bytes became %d", c.Before, c.After)
	}
	if err := db.View(func(tx *Tx) error {
		_, rev, err := pets.Get(tx, "p01999")
		if rev != 2000 {
			t.Errorf("revision %d", rev)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := db.Update(func(tx *Tx) error {
		rev, err := pets.Put(tx, "new", pet{Owner: "o"}, 0)
		if rev != 2001 {
			t.Errorf("a revision was used twice: %d", rev)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(filepath.Join(dir, FileName))
	if err != nil || st.Mode().Perm() != fileMode {
		t.Errorf("file: %v %v", st.Mode(), err)
	}
	shut(t, db)
	if _, err := db.Compact(); !errors.Is(err, ErrClosed) {
		t.Errorf("compacting a closed store: %v", err)
	}
	db = open(t, dir)
	shut(t, db)
}

// A crash at each step of a compaction leaves a whole store.
func TestCompactCrash(t *testing.T) {
	for _, at := range []string{"store.compact.written", "store.compact.renamed"} {
		dir := filepath.Join(t.TempDir(), "s")
		db := open(t, dir)
		fill(t, db, 50)
		copied := filepath.Join(t.TempDir(), "s")
		TestOnlyFailPoint(func(name string) {
			if name == at { // what is on the disk at this moment
				if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
					t.Error(err)
				}
			}
		})
		_, err := db.Compact()
		TestOnlyFailPoint(nil)
		if err != nil {
			t.Fatal(err)
		}
		shut(t, db)
		after := open(t, copied)
		n := 0
		if err := after.Export(func(r Row) error {
			if r.Table == pets.Name() {
				n++
			}
			return nil
		}); err != nil || n != 50 {
			t.Errorf("%s: %d records, %v", at, n, err)
		}
		if _, err := after.Compact(); err != nil { // over what the crash left
			t.Errorf("%s: %v", at, err)
		}
		shut(t, after)
	}
}

// A process that waited for the lock of a file that was compacted away takes
// the new file.
func TestOpenBehindCompact(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	db := open(t, dir)
	fill(t, db, 10)
	var second *DB
	var err error
	done := make(chan struct{})
	opening := make(chan struct{})
	go func() {
		defer close(done)
		close(opening)
		second, err = Open(dir, Options{Schema: schema, Timeout: 20 * time.Second})
	}()
	<-opening
	time.Sleep(50 * time.Millisecond) // it most likely waits for the old file now
	if _, err := db.Compact(); err != nil {
		t.Fatal(err)
	}
	if err := db.Update(func(tx *Tx) error { _, err := pets.Put(tx, "late", pet{Owner: "o"}, 0); return err }); err != nil {
		t.Fatal(err)
	}
	shut(t, db)
	<-done
	if err != nil {
		t.Fatal(err)
	}
	if err := second.View(func(tx *Tx) error { _, _, err := pets.Get(tx, "late"); return err }); err != nil {
		t.Errorf("it has another file: %v", err)
	}
	shut(t, second)
}

// R221: a store of a newer akk is refused and left alone, one of an older is
// upgraded in one transaction, an upgrade that fails changes nothing.
func TestR221Versions(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	db := open(t, dir)
	fill(t, db, 3)
	shut(t, db)
	newer := schema
	newer.Version++
	newer.Upgrades = map[int]func(*Tx) error{schema.Version: func(tx *Tx) error {
		_, rev, err := owners.Get(tx, "o")
		if err == nil {
			_, err = owners.Put(tx, "o", pet{Name: "upgraded"}, rev)
		}
		return errors.Join(err, errors.New("no"))
	}}
	if _, err := Open(dir, Options{Schema: newer}); err == nil {
		t.Fatal("a failed upgrade opened")
	}
	db = open(t, dir)
	if err := db.View(func(tx *Tx) error {
		o, _, err := owners.Get(tx, "o")
		if o.Name != "o" {
			t.Errorf("half an upgrade stayed: %+v", o)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	shut(t, db)
	up := newer.Upgrades[schema.Version]
	newer.Upgrades[schema.Version] = func(tx *Tx) error { _ = up(tx); return nil }
	db, err := Open(dir, Options{Schema: newer})
	if err != nil {
		t.Fatal(err)
	}
	if s, err := db.Stats(); err != nil || s.Schema != newer.Version || s.Tables[pets.Name()] != 3 {
		t.Errorf("%+v %v", s, err)
	}
	shut(t, db)
	before, err := os.ReadFile(filepath.Join(dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, Options{Schema: schema}); !errors.Is(err, ErrNewer) {
		t.Errorf("a newer store: %v", err)
	}
	if after, _ := os.ReadFile(filepath.Join(dir, FileName)); string(after) != string(before) {
		t.Error("a refused store was changed")
	}
}

// Export tells every record once, in batches, as JSON.
func TestExport(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "s"))
	fill(t, db, exportBatch*2)
	seen := map[string]int{}
	if err := db.Export(func(r Row) error {
		seen[fmt.Sprint(r.Table, r.ID, r.Seq)]++
		if !json.Valid(r.Value) || r.Error != "" || r.ID != "" && r.Rev == 0 {
			t.Errorf("%+v", r)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	n := 0
	for k, c := range seen {
		if n++; c != 1 {
			t.Errorf("%s was told %d times", k, c)
		}
	}
	if n < 2*exportBatch+1 {
		t.Errorf("%d records", n)
	}
	shut(t, db)
}
