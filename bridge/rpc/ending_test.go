package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// A call that the daemon's end broke off says so and has a cure; one that
// its caller cancelled, or that failed by itself, stays what it is.
func TestEnded(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	fault := &Error{Code: CodeRefused, Message: "a draft is in the composer", Cure: "clear it"}
	for name, x := range map[string]struct {
		door       context.Context
		method     string
		err        error
		code, cure string
		closed     bool // a caller that can go on after ErrClosed does
	}{
		"attach":              {gone, MethodAttach, context.Canceled, CodeUnavailable, "run it again", true},
		"wrapped":             {gone, MethodScreen, fmt.Errorf("pane: %w", context.Canceled), CodeUnavailable, "run it again", true},
		"words only":          {gone, MethodScreen, &Error{Code: CodeInternal, Message: "pane %1: context canceled", Cure: "run `akk doctor`"}, CodeUnavailable, "run it again", true},
		"may have typed":      {gone, MethodCancel, context.Canceled, CodeUncertain, "look with `akk list` before it is run again", true},
		"cancelled by caller": {t.Context(), MethodAttach, context.Canceled, CodeInternal, "", false},
		"refused":             {gone, MethodSend, fault, CodeRefused, "clear it", false},
		"a fault of ours":     {gone, MethodList, errors.New("disk on fire"), CodeInternal, "", false},
	} {
		e := ended(x.door, x.method, x.err)
		if e.Code != x.code || e.Cure != x.cure || errors.Is(e, ErrClosed) != x.closed {
			t.Errorf("%s: %+v, is ErrClosed: %v", name, e, errors.Is(e, ErrClosed))
		}
	}
}

// The answer of a daemon that ends, and the end of its streams, as they
// stand on the wire.
func TestEndingIsAnswered(t *testing.T) {
	door, end := context.WithCancel(t.Context())
	d := &fakeDesk{status: func(ctx context.Context, _ Caller, _ StatusParams) (Status, error) {
		end()
		<-ctx.Done()
		return Status{}, ctx.Err()
	}, follow: func(ctx context.Context, _ func(List) error) error {
		<-ctx.Done()
		return ctx.Err()
	}}
	ours, theirs := net.Pipe() // nobody closes it at the door's end: the answer always comes
	c := &serverConn{s: &Door{Desk: d}, nc: ours, running: map[string]context.CancelFunc{}}
	c.known = someone(c.known)
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.read(door)
		c.wg.Wait()
	}()
	defer func() { theirs.Close(); <-done; ours.Close() }()
	theirs.SetDeadline(time.Now().Add(patience))
	r := newLineReader(theirs, readAhead)
	id := int64(0)
	ask := func(method string, params any) jsonrpc.Message {
		id++
		q, err := request(id, method, params)
		if err != nil {
			t.Fatal(err)
		}
		b, err := encode(q)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := theirs.Write(b); err != nil {
			t.Fatal(err)
		}
		m, err := r.next()
		if err != nil {
			t.Fatalf("%s: %v", method, err)
		}
		return m
	}
	if m := ask(MethodHello, HelloParams{Protocol: Protocol}).(*jsonrpc.Response); m.Error != nil {
		t.Fatal(m.Error)
	}
	isEnding(t, "answer", fromWire(ask(MethodStatus, StatusParams{}).(*jsonrpc.Response).Error))
	if m := ask(MethodFollow, ListParams{}).(*jsonrpc.Response); m.Error != nil { // the daemon has ended by now
		t.Fatal(m.Error)
	}
	m, err := r.next()
	if err != nil {
		t.Fatal(err)
	}
	var s streamed
	if q := m.(*jsonrpc.Request); q.Method != notifyEnd || json.Unmarshal(q.Params, &s) != nil || s.Error == nil {
		t.Fatalf("%+v", q)
	}
	isEnding(t, "end of a stream", s.Error)
}

// someone is a channel that holds who the peer is.
func someone[T any](chan T) chan T {
	ch := make(chan T, 1)
	var who T
	ch <- who
	return ch
}

func isEnding(t *testing.T, what string, err error) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Code != CodeUnavailable || e.Message != ending || e.Cure != "run it again" || !errors.Is(err, ErrClosed) {
		t.Errorf("%s: %+v", what, err)
	}
}

// A request is answered under its own id or not at all.
func TestIDs(t *testing.T) {
	const rest = `,"method":"list","params":{"id":3}}`
	for id, ok := range map[string]bool{
		"1": true, "0": true, "-3": true, `"1.5"`: true, "9007199254740992": true,
		"1.5": false, "1e0": false, "-0.5": false, "9007199254740993": false, "1e30": false,
	} {
		for _, line := range []string{`{"jsonrpc":"2.0","id":` + id + rest, `{ "id": ` + id + ` , "jsonrpc":"2.0"` + rest} {
			m, err := decode([]byte(line))
			if (err == nil) != ok {
				t.Errorf("%s: %v", line, err)
				continue
			}
			if err != nil {
				var bad errLine
				if !errors.As(err, &bad) {
					t.Errorf("%s: %T, the connection would end", line, err)
				}
				continue
			}
			out, err := encode(&jsonrpc.Response{ID: idOf(m), Result: json.RawMessage(`{}`)})
			if err != nil || !bytes.Contains(out, []byte(`"id":`+id+`,`)) {
				t.Errorf("%s is answered with %s %v", line, out, err)
			}
		}
	}
	if m, ok := plainAnswer([]byte(`{"jsonrpc":"2.0","id":9007199254740993,"result":1}`)); ok {
		t.Errorf("another id: %v", m.ID.Raw())
	}
}
