package store

// This file opens and closes the file, and runs transactions. It upholds:
// nothing that is not ours, or that others could change, is ever written.

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// FileName is the store's file inside of its folder.
const FileName = "akk.db"

const (
	dirMode  = 0o700
	fileMode = 0o600
	// lockTimeout bounds the wait for a store that another process has open.
	lockTimeout = time.Second
)

// Options of Open.
type Options struct {
	// Schema names the tables and their version.
	Schema Schema
	// Timeout is how long to wait for another process to let go; 0 = 1 s.
	Timeout time.Duration
	// NoSync leaves out the fsync of each commit. For tests and imports only: a
	// power cut may lose commits.
	NoSync bool
}

// DB is an open store. It is safe for any goroutine.
type DB struct {
	swap   sync.RWMutex // b is replaced under it (Compact)
	shut   bool
	b      *bbolt.DB
	dir    string
	schema Schema
}

// Tx is one transaction. It is used by one goroutine and is dead after the
// function that got it returned.
type Tx struct{ t *bbolt.Tx }

// Open opens the store in dir and creates both if need be. Errors: ErrUnsafe,
// ErrLocked, ErrForeign, ErrNewer, ErrCorrupt, all as *Cured.
func Open(dir string, o Options) (*DB, error) {
	if err := prepareDir(dir); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, FileName)
	if err := prepareFile(path); err != nil {
		return nil, err
	}
	if o.Timeout == 0 {
		o.Timeout = lockTimeout
	}
	b, err := openFile(path, o)
	if err != nil {
		return nil, err
	}
	db := &DB{b: b, dir: dir, schema: o.Schema}
	if err := db.prepareSchema(path); err != nil {
		_ = b.Close()
		return nil, err
	}
	return db, nil
}

func prepareDir(dir string) error {
	st, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(dir), dirMode); err != nil {
			return cured(fmt.Errorf("creating store folder %s: %w", dir, err), "choose a folder that you may write with --store-dir")
		}
		if err := os.Mkdir(dir, dirMode); err != nil && !errors.Is(err, fs.ErrExist) {
			return cured(fmt.Errorf("creating store folder %s: %w", dir, err), "choose a folder that you may write with --store-dir")
		}
		st, err = os.Lstat(dir)
	}
	if err != nil {
		return cured(fmt.Errorf("looking at store folder %s: %w", dir, err), "choose another folder with --store-dir")
	}
	if !st.IsDir() {
		return cured(fmt.Errorf("%w: %s is not a folder (a symbolic link is not followed)", ErrUnsafe, dir), "name the real folder with --store-dir")
	}
	if err := owned(dir, st); err != nil {
		return err
	}
	if st.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(dir, dirMode); err != nil {
			return cured(fmt.Errorf("%w: %s is open to others and can't be closed: %w", ErrUnsafe, dir, err), "run: chmod 700 "+dir)
		}
	}
	return nil
}

func prepareFile(path string) error {
	st, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return cured(fmt.Errorf("looking at store %s: %w", path, err), "choose another folder with --store-dir")
	}
	if !st.Mode().IsRegular() {
		return cured(fmt.Errorf("%w: %s is not a regular file (a symbolic link is not followed)", ErrUnsafe, path), "move it away, or choose another folder with --store-dir")
	}
	if err := owned(path, st); err != nil {
		return err
	}
	if st.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(path, fileMode); err != nil {
			return cured(fmt.Errorf("%w: %s is open to others and can't be closed: %w", ErrUnsafe, path, err), "run: chmod 600 "+path)
		}
	}
	return nil
}

func owned(path string, st fs.FileInfo) error {
	sys, ok := st.Sys().(*syscall.Stat_t)
	if ok && int(sys.Uid) != os.Getuid() {
		return cured(fmt.Errorf("%w: %s belongs to user %d", ErrUnsafe, path, sys.Uid), "choose a folder of your own with --store-dir")
	}
	return nil
}

func openFile(path string, o Options) (b *bbolt.DB, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer rescue(&err)
	// The freelist is kept in the file (NoFreelistSync stays off): rebuilding it
	// on open walks the pages on goroutines whose panic nobody could catch.
	var file *os.File
	b, err = bbolt.Open(path, fileMode, &bbolt.Options{Timeout: o.Timeout, NoSync: o.NoSync, FreelistType: bbolt.FreelistMapType,
		OpenFile: func(name string, flag int, perm os.FileMode) (f *os.File, err error) {
			file, err = os.OpenFile(name, flag, perm)
			return file, err
		}})
	if err == nil && replaced(file, path) {
		_ = b.Close()
		return openFile(path, o)
	}
	switch {
	case err == nil:
		if err := whole(b, path); err != nil {
			_ = b.Close()
			return nil, err
		}
		return b, nil
	case errors.Is(err, berrors.ErrTimeout):
		return nil, cured(fmt.Errorf("%w: %s", ErrLocked, path), "use the running daemon, end it, or choose another folder with --store-dir")
	case errors.Is(err, berrors.ErrInvalid), errors.Is(err, berrors.ErrVersionMismatch), errors.Is(err, berrors.ErrChecksum):
		return nil, cured(fmt.Errorf("%w: %s (%w)", ErrForeign, path, err), "move the file away, or choose another folder with --store-dir")
	case strings.Contains(err.Error(), "file size too small"): // bbolt has no name for it
		return nil, cured(fmt.Errorf("%w: %s was cut short (%w)", ErrCorrupt, path, err), damagedCure)
	default:
		return nil, cured(fmt.Errorf("opening store %s: %w", path, err), "choose a folder that you may write with --store-dir")
	}
}

// replaced tells whether another file has got the name since f was opened: a
// compaction of the process that had it. What was locked is nobody's file then.
func replaced(f *os.File, path string) bool {
	mine, err1 := f.Stat()
	now, err2 := os.Stat(path)
	return err1 == nil && err2 == nil && !os.SameFile(mine, now)
}

// whole finds a file that is shorter than its own meta page says.
func whole(b *bbolt.DB, path string) error {
	var want int64
	if err := b.View(func(t *bbolt.Tx) error { want = t.Size(); return nil }); err != nil {
		return fmt.Errorf("reading store %s: %w", path, err)
	}
	st, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("reading store %s: %w", path, err)
	}
	if st.Size() < want {
		return cured(fmt.Errorf("%w: %s has %d bytes, %d were written", ErrCorrupt, path, st.Size(), want), damagedCure)
	}
	return nil
}

// damagedCure is for a file that nobody can read any more.
const damagedCure = "bring the file back from a copy, or move it away: akk then begins with an empty store"

func cured(err error, cure string) error { return &Cured{Err: err, Cure: cure} }

// rescue turns bbolt's panics on a damaged file, and the memory fault of a
// truncated one, into ErrCorrupt.
func rescue(err *error) {
	if r := recover(); r != nil {
		*err = cured(fmt.Errorf("%w: %v", ErrCorrupt, r), "keep a copy of the file, then start with another folder (--store-dir)")
	}
}

// Dir is the store's folder.
func (db *DB) Dir() string { return db.dir }

// Update runs fn in a read-write transaction and syncs it to the disk. When fn
// fails nothing of it stays.
func (db *DB) Update(fn func(*Tx) error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer rescue(&err)
	db.swap.RLock()
	defer db.swap.RUnlock()
	failAt("store.begin")
	err = db.b.Update(func(t *bbolt.Tx) error {
		if err := fn(&Tx{t}); err != nil {
			return err
		}
		failAt("store.commit")
		return nil
	})
	if err == nil {
		failAt("store.committed")
	}
	return closed(err)
}

// View runs fn in a read-only transaction over one consistent state.
func (db *DB) View(fn func(*Tx) error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer rescue(&err)
	db.swap.RLock()
	defer db.swap.RUnlock()
	return closed(db.b.View(func(t *bbolt.Tx) error { return fn(&Tx{t}) }))
}

func closed(err error) error {
	if errors.Is(err, berrors.ErrDatabaseNotOpen) {
		return ErrClosed
	}
	return err
}

// Close waits for running transactions and lets go of the file.
func (db *DB) Close() error {
	db.swap.Lock()
	defer db.swap.Unlock()
	db.shut = true
	return db.b.Close()
}
