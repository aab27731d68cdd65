package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// This file holds the table of methods: one row each, name to desk.

type callFunc func(ctx context.Context, c *serverConn, params json.RawMessage) (any, error)

// calls are the methods with one answer.
var calls = map[string]callFunc{
	MethodAttach: func(ctx context.Context, c *serverConn, raw json.RawMessage) (any, error) {
		return with(raw, func(p AttachParams) (any, error) { return c.s.Desk.Attach(ctx, p) })
	},
	MethodPing: func(context.Context, *serverConn, json.RawMessage) (any, error) { return struct{}{}, nil },
	MethodServers: func(ctx context.Context, c *serverConn, _ json.RawMessage) (any, error) {
		return c.s.Desk.Servers(ctx)
	},
	MethodList: func(ctx context.Context, c *serverConn, raw json.RawMessage) (any, error) {
		return with(raw, func(p ListParams) (any, error) {
			l, err := c.s.Desk.List(ctx, c.caller(), p)
			l.known = p.Known
			return l, err
		})
	},
	MethodStatus:  call(Desk.Status),
	MethodScreen:  call(Desk.Screen),
	MethodExplain: call(Desk.Explain),
	MethodSend:    call(Desk.Send),
	MethodDoctor: func(ctx context.Context, c *serverConn, _ json.RawMessage) (any, error) {
		return c.s.Desk.Doctor(ctx, c.caller())
	},
	MethodRespond:         call(Desk.Respond),
	MethodRetrySubmission: call(Desk.RetrySubmission),
	MethodCancel:          call(Desk.Cancel),
	MethodRenew:           call(Desk.Renew),
	MethodClose:           call(Desk.CloseTurn),
	MethodReconcile:       call(Desk.Reconcile),
	MethodTakeover:        call(Desk.Takeover),
	MethodHandback:        call(Desk.Handback),
	MethodRestore:         call(Desk.RestoreDraft),
	MethodWatch:           call(Desk.Watch),
	MethodUnwatch:         call(Desk.Unwatch),
	MethodWatchStatus:     call(Desk.WatchStatus),
	MethodTurns:           call(Desk.Turns),
	MethodCallbacks:       call(Desk.Callbacks),
	MethodRetryCallback:   call(Desk.RetryCallback),
	MethodOutcome:         call(Desk.Outcome),
	MethodStoreCheck: func(ctx context.Context, c *serverConn, _ json.RawMessage) (any, error) {
		return c.s.Desk.StoreCheck(ctx, c.caller())
	},
	MethodStoreCompact: func(ctx context.Context, c *serverConn, _ json.RawMessage) (any, error) {
		return c.s.Desk.StoreCompact(ctx, c.caller())
	},
	MethodShutdown: func(_ context.Context, c *serverConn, _ json.RawMessage) (any, error) {
		if c.caller().Kind == "agent" {
			return nil, &Error{Code: CodeForbidden, Message: "an agent may not end the daemon", Cure: "ask the human"}
		}
		if c.s.Shutdown == nil {
			return nil, &Error{Code: CodeRefused, Message: "this daemon does not end on request"}
		}
		c.s.Shutdown()
		return struct{}{}, nil
	},
}

// streams are the methods whose answer goes on.
var streams = map[string]func(ctx context.Context, c *serverConn, req *jsonrpc.Request){
	MethodEvents: func(ctx context.Context, c *serverConn, req *jsonrpc.Request) {
		stream(c, req, NotifyEvent, func(p EventsParams, started func(EventsResult) error, yield func(Event) error) error {
			return c.s.Desk.Events(ctx, c.caller(), p, started, yield)
		})
	},
	MethodFollow: func(ctx context.Context, c *serverConn, req *jsonrpc.Request) {
		stream(c, req, NotifyRows, func(p ListParams, started func(struct{}) error, yield func(List) error) error {
			if err := started(struct{}{}); err != nil {
				return err
			}
			return c.s.Desk.Follow(ctx, c.caller(), p, yield)
		})
	},
	MethodDeliveries: func(ctx context.Context, c *serverConn, req *jsonrpc.Request) {
		stream(c, req, NotifyDelivery, func(_ struct{}, started func(struct{}) error, yield func(Lease) error) error {
			if err := started(struct{}{}); err != nil {
				return err
			}
			return c.s.Desk.Deliveries(ctx, c.caller(), yield)
		})
	},
	MethodStoreExport: func(ctx context.Context, c *serverConn, req *jsonrpc.Request) {
		stream(c, req, NotifyStoreRow, func(_ struct{}, started func(struct{}) error, yield func(StoreRow) error) error {
			if err := started(struct{}{}); err != nil {
				return err
			}
			return c.s.Desk.StoreExport(ctx, c.caller(), yield)
		})
	},
	MethodRecord: func(ctx context.Context, c *serverConn, req *jsonrpc.Request) {
		stream(c, req, NotifyBytes, func(p TargetParams, started func(RecordStart) error, yield func(Bytes) error) error {
			return c.s.Desk.Record(ctx, c.caller(), p, started, yield)
		})
	},
}

// stream answers with the started value, then one notification per item, then
// end. Writing blocks only this stream's goroutine.
func stream[P, S, T any](c *serverConn, req *jsonrpc.Request, notify string, run func(P, func(S) error, func(T) error) error) {
	id := idNumber(req.ID)
	p, err := read[P](req.Params)
	if err != nil {
		c.fail(req, asError(err))
		return
	}
	open := false
	err = run(p, func(s S) error {
		open = true
		return c.reply(req, s)
	}, func(v T) error {
		data, err := marshal(v)
		if err != nil {
			return err
		}
		return c.notify(notify, streamed{Stream: id, Data: data})
	})
	switch {
	case !open && err != nil:
		c.fail(req, ended(c.door, req.Method, err))
	case !open:
		c.fail(req, &Error{Code: CodeInternal, Message: "the stream ended before it began"})
	case err != nil:
		c.notify(notifyEnd, streamed{Stream: id, Error: ended(c.door, req.Method, err)})
	default:
		c.notify(notifyEnd, streamed{Stream: id})
	}
}

// call is the row of a method that takes the caller and its parameters.
func call[P, R any](f func(Desk, context.Context, Caller, P) (R, error)) callFunc {
	return func(ctx context.Context, c *serverConn, raw json.RawMessage) (any, error) {
		return with(raw, func(p P) (any, error) { return f(c.s.Desk, ctx, c.caller(), p) })
	}
}

func with[P any](raw json.RawMessage, f func(P) (any, error)) (any, error) {
	p, err := read[P](raw)
	if err != nil {
		return nil, err
	}
	return f(p)
}

// read is strict: an unknown field is a misspelt wish that must not be lost.
func read[P any](raw json.RawMessage) (P, error) {
	var p P
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return p, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return p, &Error{Code: CodeUsage, Message: fmt.Sprintf("the request's parameters can't be read: %v", err)}
	}
	return p, nil
}

// hello checks who comes; false means that the connection must end.
func (c *serverConn) hello(ctx context.Context, req *jsonrpc.Request) bool {
	if req.Method != MethodHello {
		c.fail(req, &Error{Code: CodeProtocol, Message: "the first request must be hello"})
		return false
	}
	var p HelloParams // not strict: a newer client must still learn our number
	if err := json.Unmarshal(req.Params, &p); err != nil {
		c.fail(req, &Error{Code: CodeUsage, Message: fmt.Sprintf("hello can't be read: %v", err)})
		return false
	}
	if p.Protocol != Protocol {
		c.fail(req, &Error{Code: CodeProtocol,
			Message: fmt.Sprintf("this daemon (akk %s, pid %d) speaks protocol %d, the caller %d", c.s.Version, selfPID, Protocol, p.Protocol),
			Cure:    fmt.Sprintf("end the old daemon (kill %d); the next akk command starts its own", selfPID)})
		return false
	}
	var who identity
	select {
	case who = <-c.known:
	case <-ctx.Done():
		return false
	}
	who.PID = c.pid
	if p.Client == "host-bridge" {
		who.Kind, who.Session, who.Route = "host", p.Session, p.Route
	}
	c.who.Store(&who)
	c.greeted = true
	c.s.count(1)
	return c.reply(req, HelloResult{Protocol: Protocol, Version: c.s.Version, PID: selfPID, StoreDir: c.s.Store, Started: c.s.Started, Caller: who.Caller, Spares: true}) == nil
}

func (c *serverConn) notified(req *jsonrpc.Request) {
	if req.Method != notifyCancel {
		return
	}
	var p streamed
	if json.Unmarshal(req.Params, &p) != nil {
		return
	}
	c.mu.Lock()
	cancel := c.running[fmt.Sprint(p.Stream)]
	c.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

func (c *serverConn) reply(req *jsonrpc.Request, result any) error {
	if l, ok := result.(List); ok {
		if id := idNumber(req.ID); id > 0 {
			if frame, err := frameOf(l); err == nil {
				return c.replyList(req, id, frame, l)
			}
		}
	}
	b, err := marshal(result)
	if err != nil {
		c.fail(req, &Error{Code: CodeInternal, Message: fmt.Sprintf("the answer can't be written: %v", err)})
		return err
	}
	return c.write(&jsonrpc.Response{ID: req.ID, Result: b}, sendTimeout)
}

// replyList answers with a list, or with the word that it is the known one.
func (c *serverConn) replyList(req *jsonrpc.Request, id int64, frame []byte, l List) error {
	c.mu.Lock()
	same := c.sent.spare(l.known, id, frame, l.Terminals)
	c.mu.Unlock()
	if same {
		b := strconv.AppendInt(append(appendAnswer(nil, id), sameHead...), l.known, 10)
		return c.send(append(b, "}}\n"...), sendTimeout)
	}
	buf := lists.Get().(*[]byte)
	defer lists.Put(buf)
	b, err := answerList((*buf)[:0], id, frame, l.Terminals)
	if err != nil {
		c.fail(req, &Error{Code: CodeInternal, Message: fmt.Sprintf("the answer can't be written: %v", err)})
		return err
	}
	*buf = b
	return c.send(b, sendTimeout)
}

func (c *serverConn) fail(req *jsonrpc.Request, e *Error) {
	c.write(&jsonrpc.Response{ID: req.ID, Error: wireError(e)}, sendTimeout)
}

func (c *serverConn) notify(method string, p streamed) error {
	r, err := request(0, method, p)
	if err != nil {
		return err
	}
	return c.write(r, 0)
}

func idNumber(id jsonrpc.ID) int64 {
	switch v := id.Raw().(type) {
	case int64:
		return v
	case float64:
		return int64(v)
	}
	return 0
}
