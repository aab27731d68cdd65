package host

import (
	"bytes"
	"io"
	"sync"
	"time"
)

// This file keeps the log out of the bridge's way: who started it may never read
// its stderr. Invariant: a write never waits; what does not fit is lost.

const (
	// lossyLines are kept for a reader that is behind.
	lossyLines = 256
	// flushTime is what the last lines get at the end.
	flushTime = 50 * time.Millisecond
)

// Lossy writes to another writer without ever waiting for it.
type Lossy struct {
	mu    sync.Mutex // closes lines once, and never under a writer
	ended bool
	lines chan []byte
	done  chan struct{} // closed when all is written
}

// NewLossy begins to write to w; Flush ends it.
func NewLossy(w io.Writer) *Lossy {
	l := &Lossy{lines: make(chan []byte, lossyLines), done: make(chan struct{})}
	go func() {
		defer close(l.done)
		for b := range l.lines {
			_, _ = w.Write(b)
		}
	}()
	return l
}

// Write takes p, or loses it; it never fails.
func (l *Lossy) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended {
		select {
		case l.lines <- bytes.Clone(p):
		default:
		}
	}
	return len(p), nil
}

// Flush gives what was taken flushTime to be written and loses everything
// after it.
func (l *Lossy) Flush() {
	l.mu.Lock()
	if !l.ended {
		l.ended = true
		close(l.lines)
	}
	l.mu.Unlock()
	select {
	case <-l.done:
	case <-time.After(flushTime):
	}
}
