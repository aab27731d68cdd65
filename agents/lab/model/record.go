package model

// The record of what was asked. It upholds that a test asks the model's side
// what an agent really sent.

import (
	"context"
	"regexp"
	"strings"
	"sync"
	"time"
)

// Request is one HTTP request as it came. It is a value.
type Request struct {
	Time   time.Time
	Method string
	Path   string
	Agent  string   // User-Agent
	Model  string   // the model that was asked for
	Tools  []string // names of the offered tools
	// Main is true for a request of the conversation; false for a thread title,
	// a probe and the like.
	Main bool
	// UserTexts are all user texts of the conversation in order, without what
	// the agent itself wraps in tags (environment, reminders, command output).
	UserTexts []string
	Newest    string // the newest user text
	Step      int    // replies that were given since the newest user text
	Rule      string // Match of the rule that answered, "" = default
	Results   []string
	// Status is 200, or the HTTP error that was answered; Aborted is set when
	// the agent closed the stream before its end.
	Status  int
	Aborted bool
	Ended   time.Time // zero while the answer streams
	Body    []byte    // the request's first MaxBody bytes
}

// MaxBody is how much of a request's body is kept: more than a first request
// with all tool schemas needs.
const MaxBody = 1 << 20

// Requests returns a copy of the record so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Request, len(s.log))
	for i, r := range s.log {
		out[i] = *r
	}
	return out
}

// Asked says how often text was a whole user text of the conversation (white
// space at both ends and the frame around a long paste aside), and how many turns were begun with it: a text
// that was sent once gives 1, 1.
func (s *Server) Asked(text string) (texts, turns int) {
	text = strings.TrimSpace(text)
	for _, r := range s.Requests() {
		if !r.Main {
			continue
		}
		n := 0
		for _, t := range r.UserTexts {
			if plain(t) == text {
				n++
			}
		}
		texts = max(texts, n)
		if r.Step == 0 && plain(r.Newest) == text {
			turns++
		}
	}
	return texts, turns
}

// pasted is what Claude Code 2.1.332 makes of a long paste.
var pasted = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)^<pasted_content id="[0-9a-f]+">\n(.*)\n</pasted_content id="[0-9a-f]+">$`)
})

// plain is a user text as the user gave it.
func plain(t string) string {
	t = strings.TrimSpace(t)
	if m := pasted().FindStringSubmatch(t); m != nil {
		return strings.TrimSpace(m[1])
	}
	return t
}

// Wait returns as soon as ok is true of the record, or ctx's error.
func (s *Server) Wait(ctx context.Context, ok func([]Request) bool) error {
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if ok(s.Requests()) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// note appends r to the record.
func (s *Server) note(r *Request) {
	s.mu.Lock()
	s.log = append(s.log, r)
	s.tell()
	s.mu.Unlock()
}

// amend changes a recorded request.
func (s *Server) amend(f func()) {
	s.mu.Lock()
	f()
	s.tell()
	s.mu.Unlock()
}

func (s *Server) tell() {
	close(s.changed)
	s.changed = make(chan struct{})
}
