package rpc

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// This file holds one method per method of the protocol. Errors are *Error
// where the daemon refused, ErrClosed where the connection ended.

// Attach asks the daemon to mirror a tmux server.
func (c *Client) Attach(ctx context.Context, p AttachParams) (s Server, err error) {
	return s, c.call(ctx, MethodAttach, p, &s)
}

// Servers lists the attached servers.
func (c *Client) Servers(ctx context.Context) (s []Server, err error) {
	return s, c.call(ctx, MethodServers, nil, &s)
}

// List returns the list document.
func (c *Client) List(ctx context.Context, p ListParams) (l List, err error) {
	return l, c.call(ctx, MethodList, p, &l)
}

// Status returns the status document, after a bounded wait if asked.
func (c *Client) Status(ctx context.Context, p StatusParams) (s Status, err error) {
	return s, c.call(ctx, MethodStatus, p, &s)
}

// StatusJSON is Status as the daemon wrote it.
func (c *Client) StatusJSON(ctx context.Context, p StatusParams) (raw json.RawMessage, err error) {
	return raw, c.call(ctx, MethodStatus, p, &raw)
}

// Screen returns the live screen of any pane.
func (c *Client) Screen(ctx context.Context, p ScreenParams) (s Screen, err error) {
	return s, c.call(ctx, MethodScreen, p, &s)
}

// Explain tells why a terminal reads as it does.
func (c *Client) Explain(ctx context.Context, p TargetParams) (e Explain, err error) {
	return e, c.call(ctx, MethodExplain, p, &e)
}

// Send sends a task. After an ErrClosed it is not known whether it went out:
// repeat it only with the same RequestID.
func (c *Client) Send(ctx context.Context, p SendParams) (s Send, err error) {
	return s, c.call(ctx, MethodSend, p, &s)
}

// Doctor returns the daemon's own checks.
func (c *Client) Doctor(ctx context.Context) (d Doctor, err error) {
	return d, c.call(ctx, MethodDoctor, nil, &d)
}

// Shutdown asks the daemon to end.
func (c *Client) Shutdown(ctx context.Context) error {
	return c.call(ctx, MethodShutdown, nil, nil)
}

// Events reads the journal until ctx ends, the connection ends or yield fails.
func (c *Client) Events(ctx context.Context, p EventsParams, started func(EventsResult) error, yield func(Event) error) error {
	return follow(ctx, c, MethodEvents, p, started, yield)
}

// Follow yields the list now and after every change; a slow reader misses
// what was overtaken.
func (c *Client) Follow(ctx context.Context, p ListParams, yield func(List) error) error {
	return follow(ctx, c, MethodFollow, p, func(struct{}) error { return nil }, yield)
}

// Record streams the bytes of a pane.
func (c *Client) Record(ctx context.Context, p TargetParams, started func(RecordStart) error, yield func(Bytes) error) error {
	return follow(ctx, c, MethodRecord, p, started, yield)
}

func follow[S, T any](ctx context.Context, c *Client, method string, params any, started func(S) error, yield func(T) error) error {
	w := &waiter{reply: make(chan *jsonrpc.Response, 1), items: make(chan streamed), gone: make(chan struct{})}
	id, err := c.open(method, params, w)
	if err != nil {
		return err
	}
	defer c.forget(id)
	defer close(w.gone)
	var s S
	if err := c.answer(ctx, id, w, &s); err != nil {
		return err
	}
	if started != nil {
		if err := started(s); err != nil {
			c.cancel(id)
			return err
		}
	}
	for {
		select {
		case it := <-w.items:
			if it.Error != nil {
				if it.Error.Code == "end" {
					return nil
				}
				return it.Error
			}
			var v T
			if err := json.Unmarshal(it.Data, &v); err != nil {
				c.cancel(id)
				return fmt.Errorf("the daemon's %s can't be read: %w", method, err)
			}
			if err := yield(v); err != nil {
				c.cancel(id)
				return err
			}
		case <-ctx.Done():
			c.cancel(id)
			return ctx.Err()
		case <-c.done:
			c.mu.Lock()
			defer c.mu.Unlock()
			return c.err
		}
	}
}
