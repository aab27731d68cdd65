package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	fast "github.com/segmentio/encoding/json"

	"akk/rawio"
)

// This file holds the client half. One goroutine reads; answers and stream
// items go to whoever waits for them, and a slow reader of a stream slows only
// the connection, so a follower uses a connection of its own.

var selfPID = os.Getpid()

const (
	// greetTimeout bounds hello: a daemon that is alive answers in a
	// millisecond, one that is stopped or starved must not hang a command.
	greetTimeout = 5 * time.Second
	// writeTimeout is how long a daemon may not read; it always reads.
	writeTimeout = 10 * time.Second
)

// Client is a connection to the daemon, safe for any goroutine.
type Client struct {
	nc     net.Conn
	socket string
	hello  HelloResult

	wmu sync.Mutex

	mu      sync.Mutex
	next    int64
	waiting map[int64]*waiter
	err     error // why the connection ended
	held    heldList
	done    chan struct{}

	greeted  bool          // under mu
	attended bool          // under mu: look runs, or will
	heard    atomic.Uint64 // counts the daemon's words
	handing  atomic.Bool   // the reader waits for who takes an item

	spares atomic.Bool // the daemon says so, see ListParams.Known
}

type waiter struct {
	since time.Time              // under Client.mu: when it was asked; zero when nothing is owed
	reply chan *jsonrpc.Response // capacity 1
	items chan streamed          // nil for a plain call
	gone  chan struct{}          // closed when nobody takes items any more
}

// newWaiter is for a plain call.
func newWaiter() *waiter { return &waiter{reply: make(chan *jsonrpc.Response, 1)} }

// Dial connects and says hello. ErrNoDaemon is returned when nobody listens;
// an *Error with CodeProtocol when the daemon is of another age.
func Dial(ctx context.Context, socket string, h HelloParams) (*Client, error) {
	return DialAhead(ctx, socket, h, nil)
}

// DialAhead is Dial for who knows already what to ask: ahead (nil = nothing) may
// begin calls before the hello is answered, and returns at once. They are
// answered after it, or not at all when Dial fails.
func DialAhead(ctx context.Context, socket string, h HelloParams, ahead func(*Client)) (*Client, error) {
	nc, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: socket, Net: "unix"}) // it never waits
	if err != nil {
		if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ECONNREFUSED) {
			return nil, fmt.Errorf("%w (%s)", ErrNoDaemon, socket)
		}
		return nil, fmt.Errorf("connect to the akk daemon: %w", err)
	}
	if uid, _, err := peer(nc); err == nil && uid != os.Getuid() {
		nc.Close()
		return nil, &Error{Code: CodeForbidden, Message: fmt.Sprintf("the daemon on %s belongs to uid %d", socket, uid), Cure: "name another store with --store-dir"}
	}
	_, daemon, _ := peer(nc)
	c := &Client{nc: rawio.Conn(nc), socket: socket, waiting: map[int64]*waiter{}, done: make(chan struct{})}
	go c.read()
	h.Protocol = Protocol
	greet, cancel := context.WithTimeout(ctx, greetTimeout)
	defer cancel()
	w := newWaiter()
	var params any = h
	if h.Route == nil {
		params = plainHello{Protocol, h.Client, h.Version, h.Session}
	}
	id, err := c.open(MethodHello, params, w)
	if err == nil {
		if ahead != nil {
			ahead(c)
		}
		err = c.answer(greet, id, w, &c.hello)
		c.forget(id)
		c.spares.Store(c.hello.Spares)
	}
	if err != nil {
		c.Close()
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			err = silent(socket, daemon)
		}
		return nil, err
	}
	c.mu.Lock()
	c.greeted = true
	c.mu.Unlock()
	return c, nil
}

// plainHello is HelloParams without a route: what a Route is made of takes a
// command as long to learn as everything else that it says.
type plainHello struct {
	Protocol int    `json:"protocol"`
	Client   string `json:"client"`
	Version  string `json:"version"`
	Session  string `json:"session,omitempty"`
}

// Hello is what the daemon said of itself.
func (c *Client) Hello() HelloResult { return c.hello }

// Done is closed when the connection has ended.
func (c *Client) Done() <-chan struct{} { return c.done }

// Close ends the connection; what the daemon has accepted goes on there.
func (c *Client) Close() error {
	c.nc.Close()
	<-c.done
	return nil
}

func (c *Client) read() {
	r := newLineReader(c.nc, readAhead)
	var err error
	for {
		var m jsonrpc.Message
		if m, err = r.next(); err != nil {
			var bad errLine
			if errors.As(err, &bad) {
				continue
			}
			break
		}
		c.heard.Add(1)
		switch m := m.(type) {
		case *jsonrpc.Response:
			if w := c.arrived(m); w != nil {
				select {
				case w.reply <- m:
				default:
				}
			}
		case *jsonrpc.Request:
			var s streamed
			if json.Unmarshal(m.Params, &s) != nil {
				continue
			}
			w := c.waiter(s.Stream)
			if w == nil || w.items == nil {
				continue
			}
			if m.Method == notifyEnd {
				if s.Error == nil {
					s.Error = &Error{Code: "end"}
				}
				s.Data = nil
			}
			c.handing.Store(true)
			select {
			case w.items <- s:
			case <-w.gone:
			}
			c.handing.Store(false)
		}
	}
	c.mu.Lock()
	if c.err == nil {
		c.err = fmt.Errorf("%w: %v", ErrClosed, err)
	}
	c.mu.Unlock()
	c.nc.Close()
	close(c.done)
}

func (c *Client) waiter(id int64) *waiter {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waiting[id]
}

func (c *Client) open(method string, params any, w *waiter) (int64, error) {
	c.mu.Lock()
	if c.err != nil {
		defer c.mu.Unlock()
		return 0, c.err
	}
	c.next++
	id := c.next
	c.waiting[id] = w
	w.since = time.Now()
	c.attend()
	c.mu.Unlock()
	r, err := request(id, method, params)
	if err == nil {
		err = unknown(method, c.write(r))
	}
	if err != nil {
		c.forget(id)
		return 0, err
	}
	return id, nil
}

func (c *Client) forget(id int64) {
	c.mu.Lock()
	delete(c.waiting, id)
	c.mu.Unlock()
}

func (c *Client) write(m jsonrpc.Message) error {
	b, err := encode(m)
	if err != nil {
		return err
	}
	if len(b) > MaxLine {
		return &Error{Code: CodeUsage, Message: fmt.Sprintf("the request is longer than %d bytes", MaxLine), Cure: "put the text into a file and name the file"}
	}
	c.wmu.Lock()
	defer c.wmu.Unlock()
	c.nc.SetWriteDeadline(time.Now().Add(writeTimeout))
	if _, err = c.nc.Write(b); err != nil {
		c.nc.Close() // half a line may have gone out
		return c.broken(err)
	}
	return nil
}

func (c *Client) cancel(id int64) {
	if r, err := request(0, notifyCancel, streamed{Stream: id}); err == nil {
		c.write(r)
	}
}

func (c *Client) call(ctx context.Context, method string, params, result any) error {
	w := newWaiter()
	id, err := c.open(method, params, w)
	if err != nil {
		return err // of an end that came before it, nothing went out
	}
	defer c.forget(id)
	return unknown(method, c.answer(ctx, id, w, result))
}

// answer waits for the one answer of a request.
func (c *Client) answer(ctx context.Context, id int64, w *waiter, result any) error {
	var r *jsonrpc.Response
	select {
	case r = <-w.reply:
	case <-ctx.Done():
		c.cancel(id)
		return ctx.Err()
	case <-c.done:
		select {
		case r = <-w.reply: // it came just before the end
		default:
			c.mu.Lock()
			defer c.mu.Unlock()
			return c.err
		}
	}
	if r.Error != nil {
		return fromWire(r.Error)
	}
	if result == nil {
		return nil
	}
	if raw, ok := result.(*json.RawMessage); ok {
		*raw = r.Result
		return nil
	}
	read := json.Unmarshal
	if _, ok := result.(*Status); ok { // long, and asked for often
		read = fast.Unmarshal
	}
	if err := read(r.Result, result); err != nil {
		return fmt.Errorf("the daemon's answer can't be read: %w", err)
	}
	return nil
}
