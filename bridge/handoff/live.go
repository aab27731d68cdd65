package handoff

// This file holds a Turn while somebody may wait for it. It upholds: a waiter
// sees a stage only after it is durable.

import "sync"

type liveTurn struct {
	mu      sync.Mutex
	turn    Turn
	changed chan struct{}
}

func newLive(t Turn) *liveTurn { return &liveTurn{turn: t, changed: make(chan struct{})} }

// get returns the newest durable record and a channel that is closed at the
// next change.
func (l *liveTurn) get() (Turn, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.turn, l.changed
}

func (l *liveTurn) set(t Turn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn = t
	close(l.changed)
	l.changed = make(chan struct{})
}

// signal is a broadcast without a value: wait returns a channel that the next
// fire closes.
type signal struct {
	mu sync.Mutex
	ch chan struct{}
}

func (s *signal) wait() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ch == nil {
		s.ch = make(chan struct{})
	}
	return s.ch
}

func (s *signal) fire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ch != nil {
		close(s.ch)
		s.ch = nil
	}
}
