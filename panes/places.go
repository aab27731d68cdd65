package panes

import (
	"bytes"
	"context"
	"strconv"
	"time"

	"akk/controlmode"
)

// This file asks where the panes are, for tmux does not tell of every move:
// 3.3a announces neither a renumbering (move-window -r, base-index) nor a
// swap-window to anybody, and has no hook for them. It upholds: who
// asks for a place gets the true one, and a server that nobody asks about pays
// next to nothing. A look is one line for each window, a tenth of a list; only
// when it differs from the newest list the list is read again.

const (
	// lookPatience bounds how long somebody who asks waits for a look: a server
	// that does not answer must not hold up what is known of it.
	lookPatience = 200 * time.Millisecond
	// lookLively and lookIdle are how often at least it is looked, asked or not,
	// on a server where something happens and on an idle one: a pane that was
	// swapped away and back unseen is paused at the client that shows it.
	// Measured: 2 ms of tmux's time for 200 windows.
	lookLively = 5 * time.Second
	lookIdle   = 30 * time.Second
)

// placesFormat is a window's place, and its active pane's: pane-base-index
// shifts all.
const placesFormat = "#{session_id} #{window_index} #{window_id} #{pane_index}"

// appendPlace is what placesFormat makes of a window with the active pane in.
func appendPlace(b []byte, in Info) []byte {
	b = append(b, in.SessionID...)
	b = strconv.AppendInt(append(b, ' '), int64(in.WindowIndex), 10)
	b = append(append(b, ' '), in.WindowID...)
	b = strconv.AppendInt(append(b, ' '), int64(in.PaneIndex), 10)
	return append(b, '\n')
}

// Look makes Panes true when tmux was not asked within age, and tells whether it
// was not. It waits 200 ms at most; what it finds later is told to subscribers
// all the same. It is cheap to call when age is not over.
func (s *Server) Look(ctx context.Context, age time.Duration) bool {
	if at := s.looked.Load(); at != nil {
		old := time.Since(*at)
		if old >= age/2 && old < age && !s.looksAhead.Swap(true) { // so that who asks all the time never waits
			s.post(func() { s.look(func(bool) { s.looksAhead.Store(false) }) })
		}
		if old < age {
			return false
		}
	}
	ctx, cancel := context.WithTimeout(ctx, lookPatience)
	defer cancel()
	stale, _ := call(ctx, s, func(done func(bool, error)) {
		if s.looking && time.Since(s.lookBegan) > lookPatience {
			done(false, nil) // it does not answer others either
			return
		}
		s.look(func(stale bool) { done(stale, nil) })
	})
	return stale
}

// look compares the places with tmux's; done runs when the list is true.
func (s *Server) look(done func(stale bool)) {
	c := s.anyClient()
	if c == nil {
		done(false)
		return
	}
	s.lookers = append(s.lookers, done)
	if s.looking {
		return
	}
	s.looking, s.lookBegan = true, time.Now()
	began := s.lookBegan
	c.do(controlmode.Command{Line: "list-windows -a -F '" + placesFormat + "'", Blocks: 1, Plain: 1}, func(r []controlmode.Reply, err error) {
		lookers := s.lookers
		s.looking, s.lookers = false, nil
		tell := func(stale bool) {
			for _, f := range lookers {
				f(stale)
			}
		}
		switch {
		case s.gone || err != nil:
			tell(false)
		case samePlaces(s.places, r[0].Lines):
			s.looked.Store(&began)
			tell(false)
		default:
			s.list(func() { tell(true) })
		}
	})
}

// samePlaces compares a reply with the lines of the newest list.
func samePlaces(places []byte, lines [][]byte) bool {
	for _, l := range lines {
		rest, ok := bytes.CutPrefix(places, bytes.TrimSuffix(l, []byte("\r")))
		if !ok || len(rest) == 0 || rest[0] != '\n' {
			return false
		}
		places = rest[1:]
	}
	return len(places) == 0
}

// lookOften looks when nobody has for long. Over pipes a look is a process, and a
// pane's pipe goes with it wherever it is.
func (s *Server) lookOften() {
	if s.gone || s.pipe != nil {
		return
	}
	every := lookIdle
	if s.lively {
		every = lookLively
	}
	if at := s.looked.Load(); at == nil || time.Since(*at) >= every {
		s.lively = false
		s.look(func(bool) {})
	}
	s.after(lookLively, s.lookOften)
}

// strayed is output from a client that the pane was not listed at: the pane has
// moved, and nothing else may tell.
func (m *mirror) strayed(from *session) {
	if _, known := m.clients[from]; !known && m.s.pipe == nil && from.ready {
		m.s.changed()
	}
}
