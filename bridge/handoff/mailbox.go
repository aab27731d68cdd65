package handoff

// This file holds a terminal's mailbox. It upholds: nobody who has news for a
// terminal ever waits for it; of several screens only the newest is kept, every
// other message is.

import (
	"sync"
	"time"

	"akk/agents"
	"akk/bridge/rpc"
	"akk/panes"
	"akk/vtparse"
)

// message is one thing that a terminal's goroutine is told. Exactly one field
// is set.
type message struct {
	do        func(*terminal) // runs there
	info      *panes.Info
	log       *logUpdate
	audited   *auditResult
	committed *commitResult
	send      *sendRequest
	gone      error
	scanned   *scanResult
}

type auditResult struct {
	then       func(err error) // runs there, with the audited facts
	screen     *vtparse.Screen
	background bool
	err        error
}

type commitResult struct {
	turn string
	n    int
	err  error
}

type sendRequest struct {
	turn  Turn
	text  string
	reply chan sendReply
}

type sendReply struct {
	live *liveTurn
	err  *rpc.Error
}

type scanResult struct {
	background bool
	children   []int
}

type logUpdate struct {
	path   string
	events []agents.LogEvent
	state  *agents.LogState
	status *agents.AppStatus
	// replaced is set when the file was truncated or another one took its
	// place: what was read before is history of another file.
	replaced bool
}

type mailbox struct {
	mu     sync.Mutex
	screen *vtparse.Screen
	frame  bool // the newest screen is a whole frame
	at     time.Time
	msgs   []message
	closed bool
	wake   chan struct{}
}

func newMailbox() *mailbox { return &mailbox{wake: make(chan struct{}, 1)} }

// post adds a message; false after the terminal's goroutine has ended.
func (m *mailbox) post(msg message) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	m.msgs = append(m.msgs, msg)
	m.poke()
	return true
}

func (m *mailbox) postScreen(s *vtparse.Screen, frame bool, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	if m.screen != nil && frame && s.Generation < m.screen.Generation {
		return
	}
	m.screen, m.frame, m.at = s, frame, at
	m.poke()
}

func (m *mailbox) poke() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// take returns what has come since the last take.
func (m *mailbox) take() (s *vtparse.Screen, frame bool, at time.Time, msgs []message) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, frame, at, msgs = m.screen, m.frame, m.at, m.msgs
	m.screen, m.frame, m.msgs = nil, false, nil
	return s, frame, at, msgs
}

// close ends the mailbox and returns what nobody will read any more.
func (m *mailbox) close() []message {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	msgs := m.msgs
	m.msgs, m.screen = nil, nil
	return msgs
}
