package panes

import (
	"context"
	"io"
	"sync"
	"time"
)

// This file holds the state stream. Invariant: the loop never waits for a
// subscriber; of each pane and kind only the newest update is kept, in the
// order in which the panes first changed.

type slot struct {
	pane string
	kind UpdateKind
}

type subscription struct {
	s     *Server
	mu    sync.Mutex
	order []Update     // what waits
	at    map[slot]int // where in order
	spare []Update     // what Next gave out before: an Update is big, and they are many
	wake  chan struct{}
	ended bool
}

// Subscribe implements Provider.
func (s *Server) Subscribe() Subscription {
	sub := &subscription{s: s, at: map[slot]int{}, wake: make(chan struct{}, 1)}
	s.post(func() {
		if s.gone {
			sub.end(true)
			return
		}
		s.subs[sub] = struct{}{}
		now := time.Now()
		for _, in := range s.Panes() {
			m := s.mirrors[in.Pane]
			if m == nil {
				continue
			}
			sub.put(Update{Kind: UpdateInfo, Pane: m.id, Info: m.info, Time: now})
			if m.term != nil && m.screen != nil {
				sub.put(Update{Kind: UpdateFrame, Pane: m.id, Screen: m.screen, Time: now})
			}
		}
	})
	return sub
}

func (s *Server) tell(u Update) {
	for sub := range s.subs {
		sub.put(u)
	}
}

func (sub *subscription) put(u Update) {
	k := slot{u.Pane, u.Kind}
	sub.mu.Lock()
	if i, waiting := sub.at[k]; waiting {
		sub.order[i] = u
	} else {
		sub.at[k] = len(sub.order)
		sub.order = append(sub.order, u)
	}
	sub.mu.Unlock()
	sub.poke()
}

func (sub *subscription) poke() {
	select {
	case sub.wake <- struct{}{}:
	default:
	}
}

func (sub *subscription) end(lost bool) {
	if lost {
		sub.put(Update{Kind: UpdateServerGone, Time: time.Now()})
	}
	sub.mu.Lock()
	sub.ended = true
	sub.mu.Unlock()
	sub.poke()
}

// Next implements Subscription.
func (sub *subscription) Next(ctx context.Context) ([]Update, error) {
	for {
		sub.mu.Lock()
		if len(sub.order) > 0 {
			out := sub.order
			sub.order, sub.spare = sub.spare[:0], out
			clear(sub.at)
			sub.mu.Unlock()
			return out, nil
		}
		ended := sub.ended
		sub.mu.Unlock()
		if ended {
			sub.poke() // for another reader
			return nil, io.EOF
		}
		select {
		case <-sub.wake:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Close implements Subscription.
func (sub *subscription) Close() {
	sub.end(false)
	sub.s.post(func() { delete(sub.s.subs, sub) })
}
