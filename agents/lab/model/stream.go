package model

// One event stream. It upholds: after the client has left nothing is written,
// and a pause ends at once when the client or the server goes.

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// defaultChunk is how many characters a delta has if the step doesn't say.
const defaultChunk = 16

// keepAlive is how often a silent stream gets a sign of life, if the API has
// one. Both agents wait a minute and more.
const keepAlive = 5 * time.Second

type stream struct {
	w    http.ResponseWriter
	ctx  context.Context
	gate <-chan struct{}
	bad  bool // the client is gone
}

func openStream(w http.ResponseWriter, ctx context.Context, gate <-chan struct{}) *stream {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	return &stream{w: w, ctx: ctx, gate: gate}
}

// gone says that nobody reads any more.
func (s *stream) gone() bool { return s.bad || s.ctx.Err() != nil }

// event sends one event; doc must be encodable, it is ours.
func (s *stream) event(name string, doc map[string]any) {
	if s.gone() {
		return
	}
	b, err := json.Marshal(doc)
	if err != nil {
		s.bad = true
		return
	}
	if _, err := fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", name, b); err != nil {
		s.bad = true
		return
	}
	if f, ok := s.w.(http.Flusher); ok {
		f.Flush()
	}
}

// pause waits for d; alive is called from time to time, it may be nil.
func (s *stream) pause(d time.Duration, alive func()) {
	end := time.Now().Add(d)
	for d > 0 && !s.gone() {
		t := time.NewTimer(min(d, keepAlive))
		select {
		case <-t.C:
		case <-s.ctx.Done():
			t.Stop()
			return
		}
		d = time.Until(end)
		if d > 0 && alive != nil {
			alive()
		}
	}
}

// deltas calls send with each piece of the step's text at the step's pace;
// alive, if not nil, is called from time to time while the text holds.
func (s *stream) deltas(st Step, alive func(), send func(string)) {
	n := st.Chunk
	if n <= 0 {
		n = defaultChunk
	}
	for i, part := range strings.Split(st.Text, Hold) {
		if i > 0 {
			s.wait(alive)
		}
		r := []rune(part)
		for len(r) > 0 && !s.gone() {
			k := min(n, len(r))
			send(string(r[:k]))
			r = r[k:]
			s.pause(st.Every, nil)
		}
	}
}

// wait waits until the gate is opened once.
func (s *stream) wait(alive func()) {
	for !s.gone() {
		t := time.NewTimer(keepAlive)
		select {
		case <-s.gate:
			t.Stop()
			return
		case <-s.ctx.Done():
			t.Stop()
			return
		case <-t.C:
			if alive != nil {
				alive()
			}
		}
	}
}

// drop cuts the connection without an end of the stream.
func (s *stream) drop() {
	s.bad = true
	c, _, err := http.NewResponseController(s.w).Hijack()
	if err == nil {
		c.Close()
	}
}
