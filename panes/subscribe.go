package panes

import (
	"context"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// This file holds the state stream. Invariant: the loop never waits for a
// subscriber; of each pane and kind only the newest update is kept, in the
// order in which the panes first changed.

type slot struct {
	pane string
	kind UpdateKind
}

// wait tells where a pane's update waits: at index of the subscription's list,
// if that is still the one of this round.
type wait struct {
	round uint64
	index int
}

// rounds numbers the lists of all subscriptions. 0 is none of them.
var rounds atomic.Uint64

type subscription struct {
	s     *Server
	place int // in Server.subs; loop only
	mu    sync.Mutex
	order []Update     // what waits
	round uint64       // of order
	at    map[slot]int // where in order what is rare waits: no screens, no frames
	spare []Update     // what Next gave out before: they are many
	wake  chan struct{}
	ended bool
}

// Subscribe implements Provider.
func (s *Server) Subscribe() Subscription {
	sub := &subscription{s: s, round: rounds.Add(1), at: map[slot]int{}, wake: make(chan struct{}, 1)}
	s.post(func() {
		if s.gone {
			sub.end(true)
			return
		}
		s.place(sub)
		now := time.Now()
		for _, in := range s.Panes() {
			m := s.mirrors[in.Pane]
			if m == nil {
				continue
			}
			sub.put(m.news())
			if m.term != nil && m.screen != nil {
				sub.show(m, UpdateFrame, now)
			}
		}
	})
	return sub
}

// place gives a subscription the first free place.
func (s *Server) place(sub *subscription) {
	if sub.place = slices.Index(s.subs, nil); sub.place < 0 {
		sub.place = len(s.subs)
		s.subs = append(s.subs, nil)
	}
	s.subs[sub.place] = sub
}

// tell tells everybody what is rare.
func (s *Server) tell(u Update) {
	for _, sub := range s.subs {
		if sub != nil {
			sub.put(u)
		}
	}
}

// tell tells everybody the pane's screen: kind is UpdateScreen or UpdateFrame.
func (m *mirror) tell(kind UpdateKind) {
	for _, sub := range m.s.subs {
		if sub != nil {
			sub.show(m, kind, m.last)
		}
	}
}

// show is put for a screen or a frame, thousands a second: no map knows where
// they wait, but the mirror.
func (sub *subscription) show(m *mirror, kind UpdateKind, at time.Time) {
	for len(m.waits) <= sub.place {
		m.waits = append(m.waits, [2]wait{})
	}
	w := &m.waits[sub.place][kind-UpdateScreen]
	sub.mu.Lock()
	if w.round != sub.round {
		*w = wait{sub.round, len(sub.order)}
		sub.order = append(sub.order, Update{Kind: kind, Pane: m.id})
	}
	u := &sub.order[w.index]
	u.Screen, u.Time = m.screen, at
	sub.mu.Unlock()
	sub.poke()
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
			if len(sub.at) > 0 {
				clear(sub.at)
			}
			sub.round = rounds.Add(1)
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
	sub.s.post(func() {
		if i := slices.Index(sub.s.subs, sub); i >= 0 {
			sub.s.subs[i] = nil
		}
	})
}
