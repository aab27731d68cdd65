package model

// The HTTP side that both APIs share. It upholds: loopback only; a closed
// server leaves no goroutine behind.

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// API is one of the two protocols.
type API int

// The protocols.
const (
	Responses API = iota + 1 // OpenAI's, spoken by Codex
	Messages                 // Anthropic's, spoken by Claude Code
)

// maxRequest bounds what is read of one request, in bytes. A long conversation
// with images stays far below.
const maxRequest = 64 << 20

// Server is one scripted model. All methods are safe for any goroutine.
type Server struct {
	api    API
	ln     net.Listener
	http   *http.Server
	done   chan struct{}
	ctx    context.Context
	cancel context.CancelFunc

	mu      sync.Mutex
	script  Script
	log     []*Request
	changed chan struct{}
	seq     int
	gate    chan struct{} // one value opens one gate or hold
}

// Listen serves script on a free port of 127.0.0.1.
func Listen(api API, script Script) (*Server, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the model server: %w", err)
	}
	s, err := Serve(ln, api, script)
	if err != nil {
		ln.Close()
	}
	return s, err
}

// Serve serves script on ln, which Close will close. Returns ErrNotLoopback or
// ErrBadStep; then ln stays open.
func Serve(ln net.Listener, api API, script Script) (*Server, error) {
	addr, ok := ln.Addr().(*net.TCPAddr)
	if !ok || !addr.IP.IsLoopback() {
		return nil, fmt.Errorf("serve the model on %v: %w", ln.Addr(), ErrNotLoopback)
	}
	if err := script.Validate(); err != nil {
		return nil, err
	}
	s := &Server{api: api, ln: ln, script: script, done: make(chan struct{}), changed: make(chan struct{}), gate: make(chan struct{}, maxOpen)}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.http = &http.Server{
		Handler:           http.HandlerFunc(s.handle),
		ReadHeaderTimeout: 10 * time.Second, // a local client sends its header at once
		BaseContext:       func(net.Listener) context.Context { return s.ctx },
	}
	go func() {
		defer close(s.done)
		_ = s.http.Serve(ln) // returns when Close closes it
	}()
	return s, nil
}

// URL is the server's root, "http://127.0.0.1:PORT".
func (s *Server) URL() string { return "http://" + s.ln.Addr().String() }

// SetScript replaces the script for the requests to come.
func (s *Server) SetScript(script Script) error {
	if err := script.Validate(); err != nil {
		return err
	}
	s.mu.Lock()
	s.script = script
	s.mu.Unlock()
	return nil
}

// maxOpen is how many gates may be opened before the answer comes to them.
const maxOpen = 64

// Open lets one answer go on that waits at a Gate or a Hold, now or later.
func (s *Server) Open() {
	select {
	case s.gate <- struct{}{}:
	default: // nobody will ever wait so often
	}
}

// Close cuts all streams and waits until the server is gone.
func (s *Server) Close() error {
	s.cancel()
	err := s.http.Close()
	<-s.done
	return err
}

// next numbers an answer, so that ids differ and are the same in every run.
func (s *Server) next() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq++
	return s.seq
}

func (s *Server) choose(text string, n int) (string, Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.script.pick(text, n)
}

func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	rec := &Request{Time: time.Now(), Method: r.Method, Path: r.URL.Path, Agent: r.UserAgent(),
		Status: http.StatusOK, Body: body[:min(len(body), MaxBody)]}
	if err != nil {
		rec.Status = http.StatusRequestEntityTooLarge
		s.note(rec)
		http.Error(w, "the request could not be read", rec.Status)
		return
	}
	switch {
	case r.Method == http.MethodPost && s.api == Responses && strings.HasSuffix(r.URL.Path, "/responses"):
		s.responses(w, r, body, rec)
	case r.Method == http.MethodPost && s.api == Messages && strings.HasSuffix(r.URL.Path, "/v1/messages"):
		s.messages(w, r, body, rec)
	default:
		s.other(w, r, rec)
	}
}

// other answers the probes that agents make beside the conversation.
func (s *Server) other(w http.ResponseWriter, r *http.Request, rec *Request) {
	var doc any
	switch {
	case s.api == Messages && strings.HasSuffix(r.URL.Path, "/count_tokens"):
		doc = map[string]int{"input_tokens": 1234}
	case s.api == Responses && strings.HasSuffix(r.URL.Path, "/models"):
		doc = map[string]any{"models": []any{}, "data": []any{}}
	case r.Method == http.MethodHead || r.URL.Path == "/" || strings.HasSuffix(r.URL.Path, "/api/hello"):
		doc = map[string]any{}
	default:
		rec.Status = http.StatusNotFound
		doc = errorDoc("not_found_error", "the scripted model has no such route")
	}
	rec.Ended = time.Now()
	s.note(rec)
	writeJSON(w, rec.Status, doc)
}

func errorDoc(code, message string) map[string]any {
	return map[string]any{"type": "error", "error": map[string]string{"type": code, "code": code, "message": message}}
}

func writeJSON(w http.ResponseWriter, status int, doc any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(doc) // a client that left is not an error here
}
