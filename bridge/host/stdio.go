package host

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"akk/bridge/mcp"
	"akk/bridge/rpc"
	"akk/rawio"
)

// This file is the bridge's end of the two pipes. Invariants: only whole
// JSON-RPC messages are written, one a line; what can't be read is answered and
// left behind; the end of stdin is passed on only when the calls that came
// before it are answered or drainTime has passed.

const (
	// maxLine bounds one message in bytes; a longer one is skipped whole.
	maxLine = rpc.MaxLine
	// drainTime is what accepted calls get after the end of stdin (the bridge
	// must be gone within a second).
	drainTime = 600 * time.Millisecond
)

// stdio is an MCP transport and its one connection.
type stdio struct {
	out      *rawio.Writer
	docs     *mcp.Documents // long parts of the lines
	lines    chan line
	closed   chan struct{}
	draining chan struct{}
	once     sync.Once // closed
	last     sync.Once // draining

	wmu    sync.Mutex
	outErr error // under wmu: why nothing can be written any more

	mu      sync.Mutex
	pending map[string]jsonrpc.ID // in use: freed just before the answer can be seen
	open    int                   // requests whose answer is not written yet
	over    bool                  // those that were pending are refused: no answer may follow
	settled chan struct{}         // signalled when open shrinks
}

type line struct {
	text []byte
	err  error // errLong, or the end of the input
}

var errLong = fmt.Errorf("message is longer than %d bytes", maxLine)

func newStdio(in io.Reader, out io.Writer) *stdio {
	s := &stdio{out: rawio.NewWriter(out), lines: make(chan line), closed: make(chan struct{}), draining: make(chan struct{}),
		pending: map[string]jsonrpc.ID{}, settled: make(chan struct{}, 1)}
	go s.scan(rawio.Reader(in))
	return s
}

// Connect makes it a transport.
func (s *stdio) Connect(context.Context) (sdk.Connection, error) { return s, nil }

// SessionID is for transports that have one.
func (s *stdio) SessionID() string { return "" }

// scan hands on line by line. It ends with the input; a read that never
// returns ends with the process.
func (s *stdio) scan(in io.Reader) {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		l := readLine(r)
		select {
		case s.lines <- l:
		case <-s.closed:
			return
		}
		if l.err != nil && !errors.Is(l.err, errLong) {
			return
		}
	}
}

func readLine(r *bufio.Reader) line {
	var text []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if len(text)+len(part) > maxLine {
			long, text = true, nil
		}
		if !long {
			text = append(text, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && len(bytes.TrimSpace(text)) > 0 && errors.Is(err, io.EOF):
			return line{text: text} // the last line without its newline; the next read is the end
		case err != nil:
			return line{err: err}
		case long:
			return line{err: errLong}
		}
		return line{text: text}
	}
}

// drain asks for the end: no more messages are taken, waits are cut short.
func (s *stdio) drain() { s.last.Do(func() { close(s.draining) }) }

// Read returns the next message that the server may see.
func (s *stdio) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		select { // nothing more once the end has begun
		case <-s.draining:
			return nil, s.finish()
		default:
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-s.closed:
			return nil, io.EOF
		case <-s.draining:
			return nil, s.finish()
		case l := <-s.lines:
			if errors.Is(l.err, errLong) {
				s.refuse(nil, jsonrpc.CodeParseError, errLong.Error())
				continue
			}
			if l.err != nil {
				s.drain()
				continue
			}
			if m := s.accept(bytes.TrimSpace(l.text)); m != nil {
				return m, nil
			}
		}
	}
}

// finish waits until everything is answered, for at most drainTime.
func (s *stdio) finish() error {
	timer := time.NewTimer(drainTime)
	defer timer.Stop()
	for {
		s.mu.Lock()
		n := s.open
		s.mu.Unlock()
		if n == 0 {
			return io.EOF
		}
		select {
		case <-s.settled:
		case <-timer.C:
			s.giveUp()
			return io.EOF
		case <-s.closed:
			return io.EOF
		}
	}
}

// giveUp answers what will not be answered any more.
func (s *stdio) giveUp() {
	s.mu.Lock()
	s.over = true
	left := s.pending
	s.pending = map[string]jsonrpc.ID{}
	s.mu.Unlock()
	for _, id := range left {
		if raw, err := json.Marshal(id.Raw()); err == nil {
			s.refuse(raw, jsonrpc.CodeInternalError, "akk's bridge has ended before the answer; what was asked for may have been carried out: look before you repeat it")
		}
	}
}

// accept turns a line into a message, or answers it and returns nil.
func (s *stdio) accept(text []byte) jsonrpc.Message {
	if len(text) == 0 {
		return nil
	}
	if !json.Valid(text) {
		s.refuse(nil, jsonrpc.CodeParseError, "this line is not one JSON message; stdin takes one JSON-RPC message a line")
		return nil
	}
	m, err := decode(text)
	if err != nil {
		s.refuse(idOf(text), jsonrpc.CodeInvalidRequest, fmt.Sprintf("this is not a JSON-RPC 2.0 message: %v", err))
		return nil
	}
	req, ok := m.(*jsonrpc.Request)
	if !ok || !req.ID.IsValid() {
		return m
	}
	key := idKey(req.ID)
	s.mu.Lock()
	_, twice := s.pending[key]
	// A subscription is answered at the very end only: nobody waits for it.
	if !twice && req.Method != "subscriptions/listen" {
		s.pending[key] = req.ID
		s.open++
	}
	s.mu.Unlock()
	if twice {
		s.refuse(nil, jsonrpc.CodeInvalidRequest, fmt.Sprintf("request id %v is already in use", req.ID.Raw()))
		return nil
	}
	if req.Method == "tools/call" {
		req.Params = tag(req.Params, req.ID.Raw())
	}
	return req
}

// refuse answers what the server never sees.
func (s *stdio) refuse(id json.RawMessage, code int64, why string) {
	if id == nil {
		id = json.RawMessage("null")
	}
	b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": why}})
	if err == nil {
		s.put(b)
	}
}

// Write writes one message.
func (s *stdio) Write(_ context.Context, m jsonrpc.Message) error {
	r, answer := m.(*jsonrpc.Response)
	if answer && r.Error != nil {
		m = &jsonrpc.Response{ID: r.ID, Error: coded(r.Error)}
	}
	b, err := s.docs.Line(m)
	if err != nil {
		return err
	}
	if answer {
		written, ok := s.answered(idKey(r.ID))
		if !ok {
			return nil
		}
		defer written()
	}
	return s.put(b...)
}

// coded gives an error without a JSON-RPC code one: the SDK writes 0.
func coded(err error) error {
	w, ok := errors.AsType[*jsonrpc.Error](err)
	switch {
	case ok && w.Code != 0:
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the request was cancelled"}
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: err.Error()}
}

// answered frees the id at once, and the place when the returned function is
// called after the answer was written. ok is false if it may not be written.
func (s *stdio) answered(key string) (written func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, pending := s.pending[key]; !pending {
		return func() {}, !s.over
	}
	delete(s.pending, key)
	return func() {
		s.mu.Lock()
		s.open--
		s.mu.Unlock()
		select {
		case s.settled <- struct{}{}:
		default:
		}
	}, true
}

// put writes one line, given in pieces: nothing comes between them.
func (s *stdio) put(line ...[]byte) error {
	s.wmu.Lock()
	defer s.wmu.Unlock()
	if s.outErr != nil {
		return s.outErr
	}
	last := len(line) - 1 // with its end: most lines are one piece
	line[last] = append(line[last][:len(line[last]):len(line[last])], '\n')
	if _, err := s.out.WriteAll(line...); err != nil {
		s.outErr = fmt.Errorf("%w: %v", errOutput, err)
		s.Close() // half a line may have gone out: nothing may follow it
	}
	return s.outErr
}

// broken tells why the Host can't be written to, nil if it can. It does not
// wait for a write that is stuck.
func (s *stdio) broken() error {
	if !s.wmu.TryLock() {
		return nil
	}
	defer s.wmu.Unlock()
	return s.outErr
}

// Close ends both directions; the pipes themselves belong to the caller.
func (s *stdio) Close() error {
	s.once.Do(func() { close(s.closed) })
	return nil
}
