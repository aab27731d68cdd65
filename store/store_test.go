package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/bbolt"
	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

type pet struct {
	Name  string `json:"name"`
	Owner string `json:"owner,omitempty"`
}

type line struct {
	Seq  uint64 `json:"seq"`
	Text string `json:"text"`
}

var (
	owners = NewCollection[pet]("owners")
	pets   = NewCollection[pet]("pets", Ref[pet]{Table: "owners", ID: func(p pet) []string { return []string{p.Owner} }})
	lines  = NewLog("lines", 50, func(l *line, seq uint64) { l.Seq = seq })
	schema = Schema{Version: 2, Tables: []Table{owners, pets, lines}}
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("AKK_TEST_STORE"); dir != "" {
		scribble(dir)
	}
	goleak.VerifyTestMain(m)
}

func open(t testing.TB, dir string) *DB {
	t.Helper()
	db, err := Open(dir, Options{Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func shut(t testing.TB, db *DB) {
	t.Helper()
	for _, err := range db.Check() {
		t.Errorf("check: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

func TestCompareAndSwap(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "s"))
	defer shut(t, db)
	var rev Rev
	must := func(fn func(*Tx) error) {
		t.Helper()
		if err := db.Update(fn); err != nil {
			t.Fatal(err)
		}
	}
	must(func(tx *Tx) (err error) { rev, err = owners.Put(tx, "a", pet{Name: "Ann"}, 0); return })
	if err := db.Update(func(tx *Tx) error { _, err := owners.Put(tx, "a", pet{}, 0); return err }); !errors.Is(err, ErrConflict) {
		t.Fatal(err)
	}
	old := rev
	must(func(tx *Tx) error { return owners.Delete(tx, "a", rev) })
	must(func(tx *Tx) (err error) { rev, err = owners.Put(tx, "a", pet{Name: "Bob"}, 0); return })
	if rev == old {
		t.Fatal("a revision was used twice")
	}
	if err := db.Update(func(tx *Tx) error { return owners.Delete(tx, "a", old) }); !errors.Is(err, ErrConflict) {
		t.Fatal(err)
	}
	if err := db.Update(func(tx *Tx) error { return owners.Delete(tx, "z", 0) }); !errors.Is(err, ErrNotFound) {
		t.Fatal(err)
	}
	if err := db.Update(func(tx *Tx) error { _, err := owners.Put(tx, "", pet{}, 0); return err }); err == nil {
		t.Fatal("an empty id was taken")
	}
}

func TestCheckFinds(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "s"))
	defer db.Close()
	err := db.Update(func(tx *Tx) error {
		_, err := pets.Put(tx, "p", pet{Owner: "nobody"}, 0)
		_ = tx.t.Bucket([]byte("owners")).Put([]byte("bad"), []byte("xx"))
		for range 3 {
			_, _, _ = lines.Append(tx, line{})
		}
		_ = tx.t.Bucket([]byte("lines")).Delete(key(2))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	all := fmt.Sprint(db.Check())
	for _, want := range []string{"nobody", "too short", "from 1 to 3"} {
		if !strings.Contains(all, want) {
			t.Errorf("check did not find %q: %s", want, all)
		}
	}
}

func TestLogRetention(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "s"))
	defer shut(t, db)
	for range 12 {
		if err := db.Update(func(tx *Tx) error {
			for range 10 {
				if _, _, err := lines.Append(tx, line{Text: "x"}); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	_ = db.View(func(tx *Tx) error {
		first, last := lines.Bounds(tx)
		if first != 71 || last != 120 {
			t.Errorf("bounds %d..%d", first, last)
		}
		var got []uint64
		from, to, err := lines.Read(tx, 10, 3, func(seq uint64, l line) error {
			if l.Seq != seq {
				t.Errorf("entry %d says %d", seq, l.Seq)
			}
			got = append(got, seq)
			return nil
		})
		if err != nil || from != 11 || to != 70 || fmt.Sprint(got) != "[71 72 73]" {
			t.Errorf("%d..%d %v %v", from, to, got, err)
		}
		return nil
	})
}

// R221, R222: what is no store of ours, is linked or belongs to a newer akk is
// refused with a cure.
func TestRefusesStores(t *testing.T) {
	write := func(name, text string, mode os.FileMode) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct {
		make func(*testing.T, string)
		want error
	}{
		"text":  {write(FileName, strings.Repeat("hello ", 5000), 0o600), ErrForeign},
		"short": {write(FileName, "hello", 0o600), ErrForeign},
		"zeros": {write(FileName, strings.Repeat("\x00", 65536), 0o600), ErrForeign},
		"link":  {func(t *testing.T, dir string) { _ = os.Symlink("/dev/null", filepath.Join(dir, FileName)) }, ErrUnsafe},
		"dir":   {func(t *testing.T, dir string) { _ = os.Mkdir(filepath.Join(dir, FileName), 0o700) }, ErrUnsafe},
		"other": {func(t *testing.T, dir string) {
			b, err := bbolt.Open(filepath.Join(dir, FileName), 0o600, nil)
			if err != nil {
				t.Fatal(err)
			}
			_ = b.Update(func(tx *bbolt.Tx) error { _, err := tx.CreateBucket([]byte("theirs")); return err })
			_ = b.Close()
		}, ErrForeign},
		"newer": {func(t *testing.T, dir string) {
			db, err := Open(dir, Options{Schema: Schema{Version: 3}})
			if err != nil {
				t.Fatal(err)
			}
			_ = db.Close()
		}, ErrNewer},
		"locked": {func(t *testing.T, dir string) { db := open(t, dir); t.Cleanup(func() { _ = db.Close() }) }, ErrLocked},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c.make(t, dir)
			db, err := Open(dir, Options{Schema: schema, Timeout: 50 * time.Millisecond})
			var cured *Cured
			if !errors.Is(err, c.want) || !errors.As(err, &cured) || cured.Cure == "" {
				t.Fatalf("%v (%v)", err, db)
			}
		})
	}
}

// R222.
func TestLinkedFolder(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(link, Options{Schema: schema}); !errors.Is(err, ErrUnsafe) {
		t.Fatal(err)
	}
}

// R222: wider modes are narrowed.
func TestModes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	db := open(t, dir)
	shut(t, db)
	_ = os.Chmod(dir, 0o755)
	_ = os.Chmod(filepath.Join(dir, FileName), 0o644)
	db = open(t, dir)
	defer shut(t, db)
	d, _ := os.Stat(dir)
	f, _ := os.Stat(filepath.Join(dir, FileName))
	if d.Mode().Perm() != 0o700 || f.Mode().Perm() != 0o600 {
		t.Fatalf("%v %v", d.Mode(), f.Mode())
	}
}

func TestUpgrade(t *testing.T) {
	dir := t.TempDir()
	db, err := Open(dir, Options{Schema: Schema{Version: 1, Tables: []Table{owners}}})
	if err != nil {
		t.Fatal(err)
	}
	_ = db.Close()
	s := schema
	s.Upgrades = map[int]func(*Tx) error{1: func(*Tx) error { return errors.New("half way") }}
	if _, err := Open(dir, Options{Schema: s}); err == nil {
		t.Fatal("a failed upgrade was taken")
	}
	s.Upgrades[1] = func(tx *Tx) error { _, err := owners.Put(tx, "new", pet{Name: "N"}, 0); return err }
	for range 2 { // the second time there is nothing to do
		db, err = Open(dir, Options{Schema: s})
		if err != nil {
			t.Fatal(err)
		}
		shut(t, db)
	}
}

func TestTruncated(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir)
	_ = db.Update(func(tx *Tx) error {
		for i := range 200 {
			_, _ = owners.Put(tx, fmt.Sprint(i), pet{Name: strings.Repeat("x", 1000)}, 0)
		}
		return nil
	})
	_ = db.Close()
	if err := os.Truncate(filepath.Join(dir, FileName), 3*4096); err != nil {
		t.Fatal(err)
	}
	db, err := Open(dir, Options{Schema: schema})
	if err != nil {
		var cured *Cured
		if !errors.As(err, &cured) {
			t.Fatalf("%v", err)
		}
		return
	}
	if len(db.Check()) == 0 {
		t.Fatal("a truncated store passed the check")
	}
	_ = db.Close()
}

func TestWriterOrderAndIsolation(t *testing.T) {
	db := open(t, t.TempDir())
	defer shut(t, db)
	w := NewWriter(db)
	var mu sync.Mutex
	var order []int
	var failed []int
	for i := range 200 {
		w.Do(func(tx *Tx) error {
			if _, _, err := lines.Append(tx, line{Text: fmt.Sprint(i)}); err != nil {
				return err
			}
			if i%17 == 5 {
				return errors.New("this one fails")
			}
			return nil
		}, func(err error) {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, i)
			if err != nil {
				failed = append(failed, i)
			}
		})
	}
	if err := w.Sync(func(*Tx) error { return nil }); err != nil {
		t.Fatal(err)
	}
	w.Close()
	w.Close()
	if err := w.Sync(func(*Tx) error { return nil }); !errors.Is(err, ErrClosed) {
		t.Fatal(err)
	}
	for i, n := range order {
		if i != n {
			t.Fatalf("order %v", order)
		}
	}
	if len(failed) != 12 {
		t.Fatalf("failed %v", failed)
	}
	_ = db.View(func(tx *Tx) error {
		if _, last := lines.Bounds(tx); last != 188 {
			t.Errorf("%d lines", last)
		}
		return nil
	})
}

// TestModel compares the store with maps, over restarts.
func TestModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "m")
		if err != nil {
			rt.Fatal(err)
		}
		opt := Options{Schema: schema, NoSync: true}
		db, err := Open(dir, opt)
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { shut(t, db) }()
		type rec struct {
			v   pet
			rev Rev
		}
		model, seq := map[string]rec{}, uint64(0)
		id := rapid.SampledFrom([]string{"a", "b", "c"})
		rt.Repeat(map[string]func(*rapid.T){
			"put": func(rt *rapid.T) {
				k, v, right := id.Draw(rt, "id"), pet{Name: rapid.String().Draw(rt, "name")}, rapid.Bool().Draw(rt, "right")
				seen := model[k].rev
				if !right {
					seen += 1000
				}
				var rev Rev
				err := db.Update(func(tx *Tx) (err error) { rev, err = owners.Put(tx, k, v, seen); return })
				if right != (err == nil) || !right && !errors.Is(err, ErrConflict) {
					rt.Fatalf("put: %v", err)
				}
				if right {
					model[k] = rec{v, rev}
				}
			},
			"delete": func(rt *rapid.T) {
				k := id.Draw(rt, "id")
				m, there := model[k]
				err := db.Update(func(tx *Tx) error { return owners.Delete(tx, k, m.rev) })
				if there != (err == nil) {
					rt.Fatalf("delete: %v", err)
				}
				delete(model, k)
			},
			"append": func(rt *rapid.T) {
				ok := rapid.Bool().Draw(rt, "ok")
				err := db.Update(func(tx *Tx) error {
					_, got, err := lines.Append(tx, line{})
					if err == nil && got != seq+1 {
						rt.Fatalf("number %d after %d", got, seq)
					}
					if !ok {
						return errors.New("rolled back")
					}
					return err
				})
				if ok != (err == nil) {
					rt.Fatal(err)
				}
				if ok {
					seq++
				}
			},
			"reopen": func(rt *rapid.T) {
				if err := db.Close(); err != nil {
					rt.Fatal(err)
				}
				if db, err = Open(dir, opt); err != nil {
					rt.Fatal(err)
				}
			},
			"": func(rt *rapid.T) {
				n := 0
				_ = db.View(func(tx *Tx) error {
					return owners.Each(tx, nil, func(k string, v pet, rev Rev) error {
						n++
						if m := model[k]; m.v != v || m.rev != rev {
							rt.Fatalf("%s: %v %d, want %v", k, v, rev, m)
						}
						return nil
					})
				})
				if n != len(model) {
					rt.Fatalf("%d records, want %d", n, len(model))
				}
			},
		})
	})
}

func FuzzRecord(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x01{\"name\":\"x\"}"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, raw []byte) {
		var p pet
		_, _ = decode(raw, &p) // never panics
	})
}
