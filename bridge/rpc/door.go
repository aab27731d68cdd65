package rpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"akk/rawio"
)

// This file holds the daemon's side of a connection. Invariants: the first
// request is hello; a request never runs before the peer's uid and the
// protocol number were found equal; one connection's slowness or garbage ends
// at that connection.

const (
	// maxInFlight bounds the requests of one connection that run at once;
	// what comes beyond is refused, so that a cancellation is still read.
	maxInFlight = 256
	// sendTimeout is how long a peer may refuse to read an answer before its
	// connection is closed. A stream waits without bound (a reader in a pager,
	// a stopped sidebar): it holds one goroutine and no lock of the desk.
	sendTimeout = 30 * time.Second
	// helloTimeout is how long a peer may say nothing at first.
	helloTimeout = 10 * time.Second
)

// Door answers connections until its context ends.
type Door struct {
	Desk    Desk
	Version string
	Store   string // store directory, told in hello
	Started time.Time
	Logger  *slog.Logger
	// Shutdown is called once when a client asks for it; nil = refuse.
	Shutdown func()

	conns  atomic.Int64
	idle   chan struct{}
	idleMu sync.Mutex
}

// Connections is the number of clients that said hello and are still there.
func (s *Door) Connections() int { return int(s.conns.Load()) }

// Changed is signalled (latest wins) whenever a client came or went.
func (s *Door) Changed() <-chan struct{} {
	s.idleMu.Lock()
	defer s.idleMu.Unlock()
	if s.idle == nil {
		s.idle = make(chan struct{}, 1)
	}
	return s.idle
}

func (s *Door) count(n int64) {
	s.conns.Add(n)
	s.Changed() // make it
	select {
	case s.idle <- struct{}{}:
	default:
	}
}

// Serve accepts until ctx ends or the listener fails; it closes the listener
// and returns when every connection has ended.
func (s *Door) Serve(ctx context.Context, ln net.Listener) error {
	if s.Logger == nil {
		s.Logger = slog.New(slog.DiscardHandler)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { ln.Close() })
	defer stop()
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	for {
		c, err := ln.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			var ne net.Error
			if errors.As(err, &ne) && ne.Timeout() {
				continue
			}
			return fmt.Errorf("accept on the daemon's socket: %w", err)
		}
		wg.Go(func() { s.serve(ctx, c) })
	}
}

func (s *Door) serve(ctx context.Context, nc net.Conn) {
	defer nc.Close()
	uc, ok := nc.(*net.UnixConn)
	if !ok {
		return
	}
	uid, pid, err := peer(uc)
	if err != nil || uid != os.Getuid() {
		s.Logger.Warn("peer refused", "uid", uid, "pid", pid, "err", err)
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { nc.Close() })
	defer stop()
	c := &serverConn{s: s, nc: rawio.Conn(nc), pid: pid, known: make(chan identity, 1), running: map[string]context.CancelFunc{}, jobs: make(chan func())}
	c.wg.Go(func() { c.known <- c.identify(ctx) }) // while the peer still writes its hello
	c.read(ctx)
	cancel()
	c.wg.Wait()
	if c.greeted {
		s.count(-1)
	}
}

// serverConn is one client. Only read touches greeted; who is set before the
// first request runs.
type serverConn struct {
	s       *Door
	nc      net.Conn
	pid     int
	known   chan identity // who the peer is, once
	greeted bool
	who     atomic.Pointer[identity]

	door    context.Context // its end is the daemon's, or the connection's
	wmu     sync.Mutex
	wg      sync.WaitGroup
	mu      sync.Mutex
	running map[string]context.CancelFunc // by request id
	sent    sentList
	jobs    chan func()  // taken by who has carried out one
	resting atomic.Int32 // those who wait for one
}

// restingMax bounds the goroutines of a connection that wait for a request: a
// new one's stack grows while it answers the first, which takes longer than most
// answers.
const restingMax = 2

// run carries out a job; it does not wait.
func (c *serverConn) run(job func()) {
	select {
	case c.jobs <- job:
		return
	default:
	}
	c.wg.Go(func() {
		for {
			job()
			job = nil // who rests holds no request
			if c.resting.Add(1) > restingMax {
				c.resting.Add(-1)
				return
			}
			select {
			case job = <-c.jobs:
				c.resting.Add(-1)
			case <-c.door.Done():
				return
			}
		}
	})
}

func (c *serverConn) read(ctx context.Context) {
	c.door = ctx
	r := newLineReader(c.nc, askAhead)
	slots := make(chan struct{}, maxInFlight)
	c.nc.SetReadDeadline(time.Now().Add(helloTimeout))
	for {
		m, err := r.next()
		var bad errLine
		if errors.As(err, &bad) {
			c.write(&jsonrpc.Response{Error: &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: bad.Error()}}, sendTimeout)
			continue
		}
		if err != nil {
			return
		}
		req, ok := m.(*jsonrpc.Request)
		if !ok {
			continue // we ask nothing, so no answer is ours
		}
		if !req.ID.IsValid() {
			c.notified(req)
			continue
		}
		if !c.greeted {
			if !c.hello(ctx, req) {
				return
			}
			c.nc.SetReadDeadline(time.Time{})
			continue
		}
		select {
		case slots <- struct{}{}:
		default:
			c.fail(req, &Error{Code: CodeUnavailable, Message: fmt.Sprintf("%d requests are open on this connection", maxInFlight), Cure: "wait for some of them, then try again"})
			continue
		}
		rctx, cancel := context.WithCancel(ctx)
		key := fmt.Sprint(req.ID.Raw())
		c.mu.Lock()
		c.running[key] = cancel
		c.mu.Unlock()
		c.run(func() {
			defer func() {
				cancel()
				c.mu.Lock()
				delete(c.running, key)
				c.mu.Unlock()
				<-slots
			}()
			c.handle(rctx, req)
		})
	}
}

// handle runs one request; a panic is a fault of ours that only this request
// pays for.
func (c *serverConn) handle(ctx context.Context, req *jsonrpc.Request) {
	defer func() {
		if p := recover(); p != nil {
			c.s.Logger.Error("panic in a request", "method", req.Method, "panic", p, "stack", string(debug.Stack()))
			c.fail(req, &Error{Code: CodeInternal, Message: "akk made a mistake while answering " + req.Method, Cure: "see the daemon's log (akk doctor tells where) and report it"})
		}
	}()
	if !looking[req.Method] {
		c.lookAgain(ctx)
	}
	if stream, ok := streams[req.Method]; ok {
		stream(ctx, c, req)
		return
	}
	call, ok := calls[req.Method]
	if !ok {
		c.fail(req, &Error{Code: CodeUsage, Message: fmt.Sprintf("the daemon knows no method %q", req.Method), Cure: fmt.Sprintf("akk and its daemon differ in version: end the daemon (kill %d), the next akk command starts its own", selfPID)})
		return
	}
	result, err := call(ctx, c, req.Params)
	if err != nil {
		c.fail(req, ended(c.door, req.Method, err))
		return
	}
	c.reply(req, result)
}

// write sends one message; a peer that does not read it within patience is
// dropped (0 = wait until the connection ends).
func (c *serverConn) write(m jsonrpc.Message, patience time.Duration) error {
	b, err := encode(m)
	if err != nil {
		return err
	}
	return c.send(b, patience)
}

// send is write for a line.
func (c *serverConn) send(b []byte, patience time.Duration) error {
	c.wmu.Lock()
	defer c.wmu.Unlock()
	var end time.Time
	if patience > 0 {
		end = time.Now().Add(patience)
	}
	c.nc.SetWriteDeadline(end)
	_, err := c.nc.Write(b)
	if err != nil {
		c.nc.Close() // half a line may have gone out: nothing may follow it
	}
	return err
}
