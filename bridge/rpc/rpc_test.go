package rpc

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// These tests speak through a real socket with a desk made of functions.

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must happen.
const patience = 10 * time.Second

type fakeDesk struct {
	Desk   // what a test does not expect panics
	status func(ctx context.Context, c Caller, p StatusParams) (Status, error)
	events func(ctx context.Context, started func(EventsResult) error, yield func(Event) error) error
	follow func(ctx context.Context, yield func(List) error) error
	who    Caller
}

func (*fakeDesk) Attach(_ context.Context, p AttachParams) (Server, error) {
	return Server{Socket: p.Socket, State: "attached"}, nil
}
func (*fakeDesk) Servers(context.Context) ([]Server, error) { return []Server{{Socket: "/s"}}, nil }
func (*fakeDesk) List(_ context.Context, _ Caller, p ListParams) (List, error) {
	return List{StoreDir: "/store", Terminals: []Row{{ID: "t", Agent: p.Agent}}}, nil
}
func (d *fakeDesk) Status(ctx context.Context, c Caller, p StatusParams) (Status, error) {
	return d.status(ctx, c, p)
}
func (*fakeDesk) Screen(_ context.Context, _ Caller, p ScreenParams) (Screen, error) {
	return Screen{Pane: p.ID, Audited: p.Audit}, nil
}
func (*fakeDesk) Explain(_ context.Context, _ Caller, p TargetParams) (Explain, error) {
	return Explain{Pane: p.ID}, nil
}
func (*fakeDesk) Send(_ context.Context, _ Caller, p SendParams) (Send, error) {
	return Send{TerminalID: p.ID, MessageID: p.RequestID}, nil
}
func (d *fakeDesk) Events(ctx context.Context, _ Caller, _ EventsParams, started func(EventsResult) error, yield func(Event) error) error {
	return d.events(ctx, started, yield)
}
func (d *fakeDesk) Follow(ctx context.Context, _ Caller, _ ListParams, yield func(List) error) error {
	return d.follow(ctx, yield)
}
func (*fakeDesk) Record(_ context.Context, _ Caller, p TargetParams, started func(RecordStart) error, yield func(Bytes) error) error {
	if err := started(RecordStart{Pane: p.ID, Paint: []byte{0x1b, 0xff}}); err != nil {
		return err
	}
	return yield(Bytes{Data: []byte("\xff\x00x")})
}
func (*fakeDesk) Doctor(context.Context, Caller) (Doctor, error) {
	return Doctor{Checks: []Check{{Name: "n", Status: "ok"}}}, nil
}
func (d *fakeDesk) Identify(context.Context, int) Caller { return d.who }
func (*fakeDesk) Discovered() uint64                     { return 0 }

// serve opens a door for the desk; it is closed with the test.
func serve(t *testing.T, d *fakeDesk) (*Door, string) {
	t.Helper()
	return serveDesk(t, d)
}

func serveDesk(t *testing.T, d Desk) (*Door, string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "akkrpc") // short: a socket's path is bounded
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "d", "s")
	ln, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	door := &Door{Desk: d, Version: "9.9", Store: dir}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- door.Serve(ctx, ln) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return door, path
}

func dial(t *testing.T, path string, h HelloParams) *Client {
	t.Helper()
	c, err := Dial(t.Context(), path, h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestCalls(t *testing.T) {
	d := &fakeDesk{who: Caller{Kind: "human", PID: 1}}
	d.status = func(_ context.Context, c Caller, p StatusParams) (Status, error) {
		return Status{ConversationID: p.TurnID, Agent: c.Kind}, nil
	}
	door, path := serve(t, d)
	c := dial(t, path, HelloParams{Client: "cli"})
	if h := c.Hello(); h.Version != "9.9" || h.Caller.Kind != "human" || h.Caller.PID != os.Getpid() || h.Protocol != Protocol {
		t.Errorf("hello: %+v", h)
	}
	if n := door.Connections(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
	ctx := t.Context()
	if l, err := c.List(ctx, ListParams{Agent: "codex"}); err != nil || l.Terminals[0].Agent != "codex" {
		t.Errorf("list: %+v %v", l, err)
	}
	if s, err := c.Status(ctx, StatusParams{TurnID: "turn-1"}); err != nil || s.ConversationID != "turn-1" || s.Agent != "human" {
		t.Errorf("status: %+v %v", s, err)
	}
	if s, err := c.Send(ctx, SendParams{ID: "x", Request: "do", RequestID: "r"}); err != nil || s.MessageID != "r" {
		t.Errorf("send: %+v %v", s, err)
	}
	if s, err := c.Attach(ctx, AttachParams{Socket: "/x"}); err != nil || s.Socket != "/x" {
		t.Errorf("attach: %+v %v", s, err)
	}
	if s, err := c.Servers(ctx); err != nil || len(s) != 1 {
		t.Errorf("servers: %+v %v", s, err)
	}
	if s, err := c.Screen(ctx, ScreenParams{TargetParams: TargetParams{ID: "%1"}, Audit: true}); err != nil || s.Pane != "%1" || !s.Audited {
		t.Errorf("screen: %+v %v", s, err)
	}
	if e, err := c.Explain(ctx, TargetParams{ID: "%2"}); err != nil || e.Pane != "%2" {
		t.Errorf("explain: %+v %v", e, err)
	}
	if d, err := c.Doctor(ctx); err != nil || len(d.Checks) != 1 {
		t.Errorf("doctor: %+v %v", d, err)
	}
	var e *Error
	if err := c.Shutdown(ctx); !errors.As(err, &e) || e.Code != CodeRefused {
		t.Errorf("shutdown without one: %v", err)
	}
	var rec []byte
	if err := c.Record(ctx, TargetParams{ID: "%1"}, func(s RecordStart) error { rec = append(rec, s.Paint...); return nil }, func(b Bytes) error { rec = append(rec, b.Data...); return nil }); err != nil || string(rec) != "\x1b\xff\xff\x00x" {
		t.Errorf("record: %q %v", rec, err)
	}
}

func TestCallerIsDerived(t *testing.T) {
	d := &fakeDesk{who: Caller{Kind: "agent", TerminalID: "terminal:v2:tmux:codex:a:0.0:1"}}
	_, path := serve(t, d)
	c := dial(t, path, HelloParams{Client: "cli", Session: "mine"})
	if who := c.Hello().Caller; who.Kind != "agent" || who.Session != "" {
		t.Errorf("a program under an agent is taken for %+v", who)
	}
	var e *Error
	if err := c.Shutdown(t.Context()); !errors.As(err, &e) || e.Code != CodeForbidden {
		t.Errorf("an agent may end the daemon: %v", err)
	}
	// A bridge that an agent started is a Host, and still known to be that agent's.
	c = dial(t, path, HelloParams{Client: "host-bridge", Session: "s1"})
	if who := c.Hello().Caller; who.Kind != "host" || who.Session != "s1" || who.TerminalID == "" {
		t.Errorf("bridge is taken for %+v", who)
	}
}

func TestErrorsKeepCodeAndCure(t *testing.T) {
	d := &fakeDesk{status: func(_ context.Context, _ Caller, p StatusParams) (Status, error) {
		switch p.ID {
		case "refused":
			return Status{}, &Error{Code: CodeRefused, Message: "a draft is in the composer", Cure: "send it or clear it"}
		case "panic":
			panic("boom")
		}
		return Status{}, errors.New("disk on fire")
	}}
	_, path := serve(t, d)
	c := dial(t, path, HelloParams{Client: "test"})
	for id, code := range map[string]string{"refused": CodeRefused, "panic": CodeInternal, "x": CodeInternal} {
		_, err := c.Status(t.Context(), StatusParams{ID: id})
		var e *Error
		if !errors.As(err, &e) || e.Code != code {
			t.Errorf("%s: %v", id, err)
		}
		if id == "refused" && e.Cure != "send it or clear it" {
			t.Errorf("cure got lost: %+v", e)
		}
	}
	if _, err := c.List(t.Context(), ListParams{}); err != nil {
		t.Errorf("after a panic: %v", err)
	}
}

func TestCancellation(t *testing.T) {
	entered, left := make(chan struct{}, 8), make(chan struct{}, 8)
	d := &fakeDesk{status: func(ctx context.Context, _ Caller, _ StatusParams) (Status, error) {
		entered <- struct{}{}
		<-ctx.Done()
		left <- struct{}{}
		return Status{}, ctx.Err()
	}}
	door, path := serve(t, d)
	c := dial(t, path, HelloParams{Client: "test"})
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := c.Status(ctx, StatusParams{ID: "x"}); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled call: %v", err)
		}
	})
	wait(t, entered)
	cancel()
	wait(t, left)
	wg.Wait()
	// the connection's end is a cancellation too
	wg.Go(func() {
		if _, err := c.Status(context.Background(), StatusParams{ID: "x"}); !errors.Is(err, ErrClosed) {
			t.Errorf("call on a closed connection: %v", err)
		}
	})
	wait(t, entered)
	c.Close()
	wait(t, left)
	wg.Wait()
	for until := time.Now().Add(patience); door.Connections() != 0; {
		select {
		case <-door.Changed():
		case <-time.After(time.Until(until)):
			t.Fatalf("%d connections are still counted", door.Connections())
		}
	}
	if _, err := c.List(context.Background(), ListParams{}); !errors.Is(err, ErrClosed) {
		t.Errorf("after close: %v", err)
	}
}

func wait(t *testing.T, ch <-chan struct{}) {
	t.Helper()
	select {
	case <-ch:
	case <-time.After(patience):
		t.Fatal("it did not happen")
	}
}

func TestEventsSlowReaderHurtsNobody(t *testing.T) {
	const n = 3000
	d := &fakeDesk{events: func(_ context.Context, started func(EventsResult) error, yield func(Event) error) error {
		if err := started(EventsResult{Next: 1}); err != nil {
			return err
		}
		if err := yield(Event{Type: TypeGap, From: 1, To: 7}); err != nil {
			return err
		}
		for i := range n {
			if err := yield(Event{Seq: uint64(i + 8), Type: "turn", Text: strings.Repeat("x", 1000)}); err != nil {
				return err
			}
		}
		return nil
	}}
	_, path := serve(t, d)
	slow, other := dial(t, path, HelloParams{Client: "test"}), dial(t, path, HelloParams{Client: "test"})
	var got []Event
	err := slow.Events(t.Context(), EventsParams{Since: 0}, nil, func(e Event) error {
		if len(got) == 1 { // while this reader does not read, another one is served
			if _, err := other.List(t.Context(), ListParams{}); err != nil {
				t.Errorf("other: %v", err)
			}
		}
		got = append(got, e)
		return nil
	})
	if err != nil || len(got) != n+1 {
		t.Fatalf("%d events, %v", len(got), err)
	}
	if got[0].Type != TypeGap || got[0].From != 1 || got[0].To != 7 {
		t.Errorf("gap: %+v", got[0])
	}
	if got[n].Seq != n+7 {
		t.Errorf("last: %d", got[n].Seq)
	}
}

func TestFollowEndsWithItsReader(t *testing.T) {
	ended := make(chan struct{}, 1)
	d := &fakeDesk{follow: func(ctx context.Context, yield func(List) error) error {
		defer func() { ended <- struct{}{} }()
		if err := yield(List{StoreDir: "1"}); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	}}
	_, path := serve(t, d)
	c := dial(t, path, HelloParams{Client: "test"})
	enough := errors.New("enough")
	if err := c.Follow(t.Context(), ListParams{}, func(List) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("follow: %v", err)
	}
	wait(t, ended)
	if _, err := c.List(t.Context(), ListParams{}); err != nil {
		t.Errorf("after follow: %v", err)
	}
}

// raw speaks without a client.
func raw(t *testing.T, path string) (net.Conn, *bufio.Scanner) {
	t.Helper()
	nc, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	nc.SetDeadline(time.Now().Add(patience))
	s := bufio.NewScanner(nc)
	s.Buffer(nil, 16<<20)
	return nc, s
}

const rawHello = `{"jsonrpc":"2.0","id":1,"method":"hello","params":{"protocol":1,"client":"test","version":"0"}}` + "\n"

func TestGarbageLines(t *testing.T) {
	_, path := serve(t, &fakeDesk{})
	nc, s := raw(t, path)
	for _, in := range []string{"not json\n", "\n\n{\"jsonrpc\":\"1.0\"}\n", "\xff\xfe\x00\n", strings.Repeat("y", MaxLine+10) + "\n", `{"jsonrpc":"2.0","id":{},"method":"x"}` + "\n"} {
		if _, err := nc.Write([]byte(in)); err != nil {
			t.Fatal(err)
		}
		if !s.Scan() || !strings.Contains(s.Text(), "-32700") {
			t.Fatalf("%.20q is answered by %q", in, s.Text())
		}
	}
	nc.Write([]byte(rawHello))
	if !s.Scan() || !strings.Contains(s.Text(), `"result"`) {
		t.Fatalf("hello after garbage: %q", s.Text())
	}
	for in, want := range map[string]string{
		`{"jsonrpc":"2.0","id":2,"method":"nonsense"}`:                      CodeUsage,
		`{"jsonrpc":"2.0","id":3,"method":"list","params":{"agnet":"x"}}`:   CodeUsage,
		`{"jsonrpc":"2.0","id":4,"method":"list","params":[1]}`:             CodeUsage,
		`{"jsonrpc":"2.0","id":5,"method":"events","params":{"since":"x"}}`: CodeUsage,
	} {
		nc.Write([]byte(in + "\n"))
		if !s.Scan() || !strings.Contains(s.Text(), `"code":"`+want) {
			t.Errorf("%s is answered by %s", in, s.Text())
		}
	}
	nc.Write([]byte(`{"jsonrpc":"2.0","id":6,"method":"servers"}` + "\n"))
	if !s.Scan() || !strings.Contains(s.Text(), `"/s"`) {
		t.Errorf("servers: %s", s.Text())
	}
}

func TestOtherProtocolIsRefusedWithCure(t *testing.T) {
	_, path := serve(t, &fakeDesk{})
	for _, in := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"hello","params":{"protocol":99,"future":true}}`,
		`{"jsonrpc":"2.0","id":1,"method":"list"}`,
	} {
		nc, s := raw(t, path)
		nc.Write([]byte(in + "\n"))
		if !s.Scan() {
			t.Fatalf("no answer to %s", in)
		}
		var m struct{ Error struct{ Data Error } }
		if err := json.Unmarshal(s.Bytes(), &m); err != nil || m.Error.Data.Code != CodeProtocol {
			t.Errorf("%s is answered by %s", in, s.Text())
		}
		if strings.Contains(in, "99") && m.Error.Data.Cure == "" {
			t.Error("no cure")
		}
		if s.Scan() {
			t.Errorf("it went on: %s", s.Text())
		}
	}
}

func TestListen(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "run", "s")
	ln, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	for p, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		if st, err := os.Lstat(p); err != nil || st.Mode().Perm() != want {
			t.Errorf("%s: %v %v, want %v", p, st.Mode(), err, want)
		}
	}
	if _, err := Listen(path); !errors.Is(err, ErrInUse) {
		t.Errorf("a second daemon: %v", err)
	}
	ln.(*net.UnixListener).SetUnlinkOnClose(false)
	ln.Close()
	if _, err := Dial(t.Context(), path, HelloParams{}); !errors.Is(err, ErrNoDaemon) {
		t.Errorf("dead socket: %v", err)
	}
	if ln, err = Listen(path); err != nil {
		t.Fatalf("the dead one's socket is not replaced: %v", err)
	}
	ln.Close()
	if _, err := Dial(t.Context(), path, HelloParams{}); !errors.Is(err, ErrNoDaemon) {
		t.Errorf("no socket: %v", err)
	}
	if err := os.Symlink("/dev/null", path); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(path); err == nil {
		t.Error("a link is taken for a socket")
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "run"), link); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(filepath.Join(link, "s2")); err == nil {
		t.Error("a linked directory is used")
	}
}

func FuzzLine(f *testing.F) {
	f.Add([]byte(rawHello))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1.5e300,"method":"x","params":{"stream":-1}}`))
	f.Add([]byte("\xff{}[]\n\n\"a\""))
	f.Fuzz(func(t *testing.T, in []byte) {
		r := newLineReader(strings.NewReader(string(in)), askAhead)
		for range len(in) + 2 {
			m, err := r.next()
			var bad errLine
			if err != nil && !errors.As(err, &bad) {
				return
			}
			if err == nil && m == nil {
				t.Fatal("neither a message nor an error")
			}
		}
		t.Fatal("the reader does not end")
	})
}
