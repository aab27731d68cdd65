package store

// This file holds the group commit: many small writes, one sync. It upholds:
// writes become durable in the order in which they were given, and a write
// that fails takes no other with it.

import "sync"

// maxGroup bounds how many writes share one transaction.
const maxGroup = 256

type write struct {
	fn   func(*Tx) error
	done func(error)
}

// Writer commits writes in order on a goroutine of its own, as many as are
// waiting in one transaction. It is safe for any goroutine.
type Writer struct {
	db   *DB
	mu   sync.Mutex
	todo []write
	wake chan struct{}
	stop bool
	end  chan struct{}
}

// NewWriter starts a writer. Close it before the DB.
func NewWriter(db *DB) *Writer {
	w := &Writer{db: db, wake: make(chan struct{}, 1), end: make(chan struct{})}
	go w.run()
	return w
}

// Do queues a write and returns at once. done (may be nil) is called from the
// writer's goroutine after the commit, or with the error that kept the write
// out; it must not block. fn may run more than once, each time on a fresh
// transaction.
func (w *Writer) Do(fn func(*Tx) error, done func(error)) {
	w.mu.Lock()
	if w.stop {
		w.mu.Unlock()
		if done != nil {
			done(ErrClosed)
		}
		return
	}
	w.todo = append(w.todo, write{fn, done})
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Sync queues a write and waits for its commit.
func (w *Writer) Sync(fn func(*Tx) error) error {
	ch := make(chan error, 1)
	w.Do(fn, func(err error) { ch <- err })
	return <-ch
}

// Close commits what is queued and ends the goroutine.
func (w *Writer) Close() {
	w.mu.Lock()
	if !w.stop {
		w.stop = true
		close(w.wake)
	}
	w.mu.Unlock()
	<-w.end
}

func (w *Writer) run() {
	defer close(w.end)
	for range w.wake {
		w.flush()
	}
	w.flush()
}

func (w *Writer) flush() {
	for {
		w.mu.Lock()
		n := min(len(w.todo), maxGroup)
		group := w.todo[:n:n]
		w.todo = w.todo[n:]
		w.mu.Unlock()
		if n == 0 {
			return
		}
		w.commit(group)
	}
}

// commit writes the group in one transaction; when one of them fails it
// commits those before it, lets that one fail alone, and goes on behind it.
func (w *Writer) commit(group []write) {
	for len(group) > 0 {
		failed := -1
		err := w.db.Update(func(tx *Tx) error {
			for i, g := range group {
				if err := g.fn(tx); err != nil {
					failed = i
					return err
				}
			}
			return nil
		})
		switch {
		case err == nil || failed < 0: // all are in, or the commit itself failed
			tell(group, err)
			return
		case failed > 0:
			head := group[:failed]
			tell(head, w.db.Update(func(tx *Tx) error {
				for _, g := range head {
					if err := g.fn(tx); err != nil {
						return err
					}
				}
				return nil
			}))
		}
		tell(group[failed:failed+1], err)
		group = group[failed+1:]
	}
}

func tell(group []write, err error) {
	for _, g := range group {
		if g.done != nil {
			g.done(err)
		}
	}
}
