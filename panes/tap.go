package panes

import (
	"context"
	"io"
	"slices"
	"sync"
	"time"

	"akk/vtparse"
)

// This file streams a pane's raw bytes to a recorder. The recorder may be
// slow: then it loses bytes and is told, never the mirror.

// maxTap bounds what waits for one recorder, in bytes.
const maxTap = 8 << 20

type chunk struct {
	data []byte
	at   time.Time
}

type tap struct {
	m     *mirror
	start *vtparse.Screen

	mu    sync.Mutex
	queue []chunk
	size  int
	lost  bool
	over  bool
	wake  chan struct{}
}

// Tap implements Provider.
func (s *Server) Tap(id string) (Tap, error) {
	return call(context.Background(), s, func(done func(Tap, error)) {
		m := s.mirrors[id]
		switch {
		case m == nil:
			done(nil, ErrNoPane)
		case m.state != live:
			done(nil, ErrNotSynced)
		default:
			t := &tap{m: m, start: m.term.Screen(), wake: make(chan struct{}, 1)}
			m.taps = append(m.taps, t)
			done(t, nil)
		}
	})
}

func (t *tap) Start() *vtparse.Screen { return t.start }

func (t *tap) poke() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// push runs on the loop; data is not changed afterwards.
func (t *tap) push(data []byte, at time.Time) {
	t.mu.Lock()
	if t.size+len(data) > maxTap {
		t.lost, t.queue, t.size = true, nil, 0
	} else {
		t.queue = append(t.queue, chunk{data, at})
		t.size += len(data)
	}
	t.mu.Unlock()
	t.poke()
}

// gap tells that the pane was seeded again: bytes may be missing.
func (t *tap) gap() {
	t.mu.Lock()
	t.lost = true
	t.mu.Unlock()
	t.poke()
}

func (t *tap) end() {
	t.mu.Lock()
	t.over = true
	t.mu.Unlock()
	t.poke()
}

// Next implements Tap.
func (t *tap) Next(ctx context.Context) ([]byte, time.Time, error) {
	for {
		t.mu.Lock()
		switch {
		case len(t.queue) > 0:
			c := t.queue[0]
			t.queue = t.queue[1:]
			t.size -= len(c.data)
			t.mu.Unlock()
			return c.data, c.at, nil
		case t.lost:
			t.lost = false
			t.mu.Unlock()
			return nil, time.Now(), ErrGap
		case t.over:
			t.mu.Unlock()
			return nil, time.Now(), io.EOF
		}
		t.mu.Unlock()
		select {
		case <-t.wake:
		case <-ctx.Done():
			return nil, time.Now(), ctx.Err()
		}
	}
}

// Close implements Tap.
func (t *tap) Close() {
	t.end()
	t.m.s.post(func() {
		t.m.taps = slices.DeleteFunc(t.m.taps, func(x *tap) bool { return x == t })
	})
}
