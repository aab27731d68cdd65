package host

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"akk/bridge/rpc"
)

// This file holds a bridge and a daemon for the tests, and its invariant: every
// line that a bridge writes is JSON-RPC (R188).

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == commandArg {
		os.Exit(hostCommand(os.Args[2], os.Args[3:]))
	}
	if len(os.Args) > 1 && os.Args[1] == parentArg {
		os.Exit(hostParent())
	}
	if os.Getenv(childEnv) != "" {
		err := RunBridge(context.Background(), os.Stdin, os.Stdout, os.Stderr, Options{Version: "1", Level: slog.LevelDebug,
			Connect: func(context.Context) (*rpc.Client, error) { return nil, rpc.ErrNoDaemon }})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// bridge is one that runs in this process. What it writes is always read.
type bridge struct {
	t      *testing.T
	in     *io.PipeWriter
	lines  chan string // closed at the end; holds all that a test lets it write
	seen   []message   // answers that nobody asked for yet
	cancel context.CancelFunc
	done   chan error
	errs   *safeBuffer
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func start(t *testing.T, o Options) *bridge {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	b := &bridge{t: t, in: inW, lines: make(chan string, 1000), cancel: cancel, done: make(chan error, 1), errs: &safeBuffer{}}
	go func() {
		defer close(b.lines)
		out := bufio.NewScanner(outR)
		out.Buffer(nil, 16<<20)
		for out.Scan() {
			b.lines <- out.Text()
		}
	}()
	o.Version, o.Level = "1", slog.LevelDebug
	go func() {
		err := RunBridge(ctx, inR, outW, b.errs, o)
		outW.Close()
		b.done <- err
	}()
	t.Cleanup(func() {
		inW.Close()
		outR.Close() // whoever still writes must not hang
		cancel()
		select {
		case <-b.done:
		case <-time.After(patience):
			t.Error("the bridge does not end")
		}
		if t.Failed() {
			t.Logf("stderr:\n%s", b.errs.b.String())
		}
	})
	return b
}

func (b *bridge) write(lines ...string) {
	b.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(b.in, l+"\n"); err != nil {
			b.t.Fatal(err)
		}
	}
}

// message is a line that the bridge wrote.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Result  json.RawMessage `json:"result"`
	Error   *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

func parse(t *testing.T, line string) message {
	t.Helper()
	var m message
	if err := json.Unmarshal([]byte(line), &m); err != nil || m.Version != "2.0" || (m.Method == "" && m.Result == nil && m.Error == nil) || m.Error != nil && m.Error.Code == 0 {
		t.Fatalf("stdout carries %q", line)
	}
	return m
}

// answer waits for the answer with that id; others are kept.
func (b *bridge) answer(id string) message {
	b.t.Helper()
	for i, m := range b.seen {
		if string(m.ID) == id {
			b.seen = slices.Delete(b.seen, i, i+1)
			return m
		}
	}
	timeout := time.After(patience)
	for {
		select {
		case l, ok := <-b.lines:
			if !ok {
				b.t.Fatalf("it ended without an answer with id %s", id)
			}
			m := parse(b.t, l)
			if m.Method != "" {
				continue
			}
			if string(m.ID) == id {
				return m
			}
			b.seen = append(b.seen, m)
		case <-timeout:
			b.t.Fatalf("no answer with id %s", id)
		}
	}
}

func initialize(version string) []string {
	return []string{`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"` + version + `","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`}
}

func callLine(id, tool, args, meta string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"agent_knock_knock_` + tool + `","arguments":` + args + meta + `}}`
}

// desk is a daemon's desk behind a real socket.
type desk struct {
	rpc.Desk // what a test does not expect panics, and a panic is a result too
	send     func(ctx context.Context, p rpc.SendParams) (rpc.Send, error)
	status   func(ctx context.Context, p rpc.StatusParams) (rpc.Status, error)
	hello    chan rpc.Caller
}

func (d *desk) Identify(context.Context, int) rpc.Caller { return rpc.Caller{Kind: "unknown"} }
func (d *desk) Discovered() uint64                       { return 0 }

func (d *desk) List(_ context.Context, c rpc.Caller, _ rpc.ListParams) (rpc.List, error) {
	select {
	case d.hello <- c:
	default:
	}
	return rpc.List{StoreDir: "/s", Terminals: []rpc.Row{{ID: "terminal:v2:tmux:codex:a:0.0:1", Agent: "codex", ActivityState: "idle"}}}, nil
}

func (d *desk) Send(ctx context.Context, _ rpc.Caller, p rpc.SendParams) (rpc.Send, error) {
	return d.send(ctx, p)
}

func (d *desk) Status(ctx context.Context, _ rpc.Caller, p rpc.StatusParams) (rpc.Status, error) {
	return d.status(ctx, p)
}

func (d *desk) Events(ctx context.Context, _ rpc.Caller, _ rpc.EventsParams, started func(rpc.EventsResult) error, _ func(rpc.Event) error) error {
	if err := started(rpc.EventsResult{}); err != nil {
		return err
	}
	<-ctx.Done()
	return ctx.Err()
}

// daemon serves the desk; stop ends it.
func daemon(t *testing.T, d rpc.Desk, path string) (stop func()) {
	t.Helper()
	ln, err := rpc.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := (&rpc.Door{Desk: d, Version: "1"}).Serve(ctx, ln); err != nil {
			t.Error(err)
		}
	}()
	stop = sync.OnceFunc(func() { cancel(); <-done })
	t.Cleanup(stop)
	return stop
}

func socket(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "akkhost")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "s")
}

func dialer(path string) func(context.Context) (*rpc.Client, error) {
	return func(ctx context.Context) (*rpc.Client, error) {
		return rpc.Dial(ctx, path, rpc.HelloParams{Client: "host-bridge", Session: "sess"})
	}
}

// mustEnd checks that the end comes within a second, then reads what is left.
func (b *bridge) mustEnd(began time.Time) {
	b.t.Helper()
	select {
	case err := <-b.done:
		b.done <- err
		if err != nil {
			b.t.Errorf("it ended with %v", err)
		}
	case <-time.After(patience):
		b.t.Fatal("it does not end")
	}
	if d := time.Since(began); d > endsWithin {
		b.t.Errorf("it took %v to end", d)
	}
	for l := range b.lines {
		parse(b.t, l)
	}
}
