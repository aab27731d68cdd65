package host

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"akk/bridge/rpc"
	"akk/rawio"
)

// These tests speak to a bridge by raw lines. Every line that a bridge writes
// in any of them must be a JSON-RPC message (R188).

// patience is how long a test waits for what must happen.
const patience = 30 * time.Second

// A bridge ends within a second by its own clocks (R216); the rest of
// endsWithin is for a machine that runs other tests at the same time.
const (
	_          = uint(time.Second - time.Millisecond - drainTime - endTime)
	endsWithin = 15 * time.Second
)

// childEnv makes the test binary a bridge without a daemon.
const childEnv = "AKK_TEST_BRIDGE"

// modern is the _meta of a request in protocol 2026-07-28.
const modern = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

func TestEras(t *testing.T) {
	path := socket(t)
	d := &desk{hello: make(chan rpc.Caller, 1)}
	d.send = func(_ context.Context, p rpc.SendParams) (rpc.Send, error) {
		return rpc.Send{TurnID: "turn-1", MessageID: p.RequestID, SubmissionOutcome: "agent_accepted", DeliveryReceipt: "agent_accepted", Delivered: true}, nil
	}
	d.status = func(context.Context, rpc.StatusParams) (rpc.Status, error) {
		return rpc.Status{TurnID: "turn-1", About: "x"}, nil
	}
	daemon(t, d, path)
	for _, era := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
		t.Run(era, func(t *testing.T) {
			b := start(t, Options{Connect: dialer(path)})
			meta, list := "", `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
			if era == "2026-07-28" {
				meta, list = ","+modern, `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{`+modern+`}}`
				b.write(`{"jsonrpc":"2.0","id":"init","method":"server/discover","params":{` + modern + `}}`)
			} else {
				b.write(initialize(era)...)
			}
			m := b.answer(`"init"`)
			if m.Error != nil || !strings.Contains(string(m.Result), era) || strings.Contains(string(m.Result), `"logging"`) {
				t.Fatalf("hello: %s %+v", m.Result, m.Error)
			}
			b.write(list)
			if m := b.answer("2"); strings.Count(string(m.Result), `"name":"agent_knock_knock_`) < 3 {
				t.Errorf("tools: %s", m.Result)
			}
			for id, c := range map[string][2]string{"3": {"list", `{}`}, "4": {"status", `{"turn_id":"turn-1","wait_seconds":1}`}, "5": {"send", `{"request":"do it"}`}} {
				b.write(callLine(id, c[0], c[1], meta))
				m := b.answer(id)
				if m.Error != nil || strings.Contains(string(m.Result), `"isError":true`) || !strings.Contains(string(m.Result), `"structuredContent"`) {
					t.Errorf("%s: %s %+v", c[0], m.Result, m.Error)
				}
			}
		})
	}
	if c := <-d.hello; c.Kind != "host" || c.Session != "sess" {
		t.Errorf("the daemon takes the bridge for %+v", c)
	}
}

func TestGarbageIsAnsweredNotFatal(t *testing.T) {
	b := start(t, Options{Connect: func(context.Context) (*rpc.Client, error) { return nil, rpc.ErrNoDaemon }})
	b.write(initialize("2025-11-25")...)
	b.answer(`"init"`)
	for _, c := range []struct {
		line, id string
		code     int
	}{
		{"hello there", "null", -32700},
		{`{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0"}`, "null", -32700},
		{"\xff\xfe\x00", "null", -32700},
		{strings.Repeat("x", maxLine+1), "null", -32700},
		{`42`, "null", -32600},
		{`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, "null", -32600},
		{`{"id":7,"method":"ping"}`, "7", -32600},
		{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, "null", -32600},
		{`{"jsonrpc":"2.0","id":"q","method":"no/such"}`, `"q"`, -32601},
		{`{"jsonrpc":"2.0","id":"r","method":"tools/call","params":7}`, `"r"`, -32602},
		{`{"jsonrpc":"2.0","id":"s","method":"tools/call","params":{"name":"rm","_meta":3}}`, `"s"`, 0},
	} {
		b.write("", "  ", c.line)
		if m := b.answer(c.id); m.Error == nil || (c.code != 0 && m.Error.Code != c.code) {
			t.Errorf("%.40q: %+v", c.line, m.Error)
		}
	}
	b.write(`{"jsonrpc":"2.0","id":99,"result":{}}`, `{"jsonrpc":"2.0","method":"notifications/nonsense"}`, `{"jsonrpc":"2.0","id":100,"method":"ping"}`)
	if m := b.answer("100"); m.Error != nil {
		t.Errorf("after garbage: %+v", m.Error)
	}
}

// Start-up problems leave initialize and tools/list working; every call tells
// the cure.
func TestProblemsAreTold(t *testing.T) {
	for name, o := range map[string]Options{
		"no daemon": {Connect: func(context.Context) (*rpc.Client, error) { return nil, rpc.ErrNoDaemon }},
		"old daemon": {Connect: func(context.Context) (*rpc.Client, error) {
			return nil, &rpc.Error{Code: rpc.CodeProtocol, Message: "protocol 7", Cure: "end it"}
		}},
		"plain error":  {Connect: func(context.Context) (*rpc.Client, error) { return nil, errors.New("socket is open to others") }},
		"panic":        {Connect: func(context.Context) (*rpc.Client, error) { panic("boom") }},
		"no connector": {},
		"bad session":  {Problem: ErrSession, Connect: func(context.Context) (*rpc.Client, error) { return nil, errors.New("not reached") }},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t, o)
			b.write(initialize("2025-06-18")...)
			if m := b.answer(`"init"`); m.Error != nil {
				t.Fatal(m.Error.Message)
			}
			b.write(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
			if m := b.answer("1"); !strings.Contains(string(m.Result), "agent_knock_knock_send") {
				t.Errorf("%s", m.Result)
			}
			for i, c := range [][2]string{{"list", `{}`}, {"status", `{"turn_id":"turn-1","wait_seconds":2}`}, {"send", `{"request":"x"}`}} {
				id := fmt.Sprint(i + 2)
				b.write(callLine(id, c[0], c[1], ""))
				if m := b.answer(id); !strings.Contains(string(m.Result), `"isError":true`) || !strings.Contains(string(m.Result), "Next: ") {
					t.Errorf("%s: %s %+v", c[0], m.Result, m.Error)
				}
			}
		})
	}
}

// Every error has a code of JSON-RPC's, also those that the SDK gives none.
func TestErrorsHaveCodes(t *testing.T) {
	path := socket(t)
	entered := make(chan struct{}, 100)
	d := &desk{status: func(context.Context, rpc.StatusParams) (rpc.Status, error) {
		entered <- struct{}{}
		return rpc.Status{TurnID: "turn-1", Conversation: &rpc.Turn{Status: "waiting_for_agent"}}, nil
	}}
	daemon(t, d, path)
	b := start(t, Options{Connect: dialer(path)})
	b.write(callLine("0", "list", "{}", ""))
	if m := b.answer("0"); m.Error == nil || m.Error.Code != -32600 {
		t.Errorf("a call before initialize: %s %+v", m.Result, m.Error)
	}
	b.write(initialize("2025-11-25")...)
	b.answer(`"init"`)
	b.write(callLine("1", "status", `{"turn_id":"turn-1","wait_seconds":45}`, ""))
	select {
	case <-entered:
	case <-time.After(patience):
		t.Fatal("the wait does not look")
	}
	b.write(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	if m := b.answer("1"); m.Error != nil && m.Error.Code != -32603 {
		t.Errorf("a cancelled wait: %+v", m.Error)
	}
}

// What came before the end of stdin is answered: `printf ... | akk host-bridge`.
func TestEndOfInput(t *testing.T) {
	path := socket(t)
	entered := make(chan struct{}, 1)
	d := &desk{status: func(context.Context, rpc.StatusParams) (rpc.Status, error) {
		select {
		case entered <- struct{}{}:
		default:
		}
		return rpc.Status{TurnID: "turn-1", Conversation: &rpc.Turn{Status: "waiting_for_agent"}}, nil
	}}
	daemon(t, d, path)
	t.Run("at once", func(t *testing.T) {
		b := start(t, Options{Connect: dialer(path)})
		go func() {
			for _, l := range append(initialize("2025-11-25"), callLine("1", "list", "{}", "")) {
				io.WriteString(b.in, l+"\n")
			}
			b.in.Close()
		}()
		if m := b.answer("1"); strings.Contains(string(m.Result), `"isError":true`) || m.Error != nil {
			t.Errorf("%s %+v", m.Result, m.Error)
		}
		b.mustEnd(time.Now())
	})
	t.Run("in a wait", func(t *testing.T) {
		b := start(t, Options{Connect: dialer(path)})
		b.write(initialize("2025-11-25")...)
		b.answer(`"init"`)
		b.write(callLine("1", "status", `{"turn_id":"turn-1","wait_seconds":45}`, ""))
		select {
		case <-entered:
		case <-time.After(patience):
			t.Fatal("the wait does not look")
		}
		began := time.Now()
		b.in.Close()
		if m := b.answer("1"); !strings.Contains(string(m.Result), `"timed_out":true`) {
			t.Errorf("%s %+v", m.Result, m.Error)
		}
		b.mustEnd(began)
	})
	t.Run("in a call that hangs", func(t *testing.T) {
		stuck := make(chan struct{})
		path := socket(t)
		daemon(t, &desk{status: func(context.Context, rpc.StatusParams) (rpc.Status, error) {
			<-stuck
			return rpc.Status{}, nil
		}}, path)
		defer close(stuck)
		b := start(t, Options{Connect: dialer(path)})
		b.write(initialize("2025-11-25")...)
		b.answer(`"init"`)
		b.write(callLine("1", "status", `{"turn_id":"turn-1"}`, ""))
		began := time.Now()
		b.in.Close()
		if m := b.answer("1"); m.Error == nil || m.Error.Code != -32603 {
			t.Errorf("%s %+v", m.Result, m.Error)
		}
		b.mustEnd(began)
	})
	t.Run("context", func(t *testing.T) {
		b := start(t, Options{Connect: dialer(path)})
		b.write(initialize("2025-11-25")...)
		b.answer(`"init"`)
		began := time.Now()
		b.cancel()
		b.mustEnd(began)
	})
}

// A daemon that was restarted serves the next call.
func TestReconnect(t *testing.T) {
	path := socket(t)
	stop := daemon(t, &desk{}, path)
	b := start(t, Options{Connect: dialer(path)})
	b.write(initialize("2025-11-25")...)
	b.answer(`"init"`)
	for i := range 3 {
		id := fmt.Sprint(i + 1)
		b.write(callLine(id, "list", "{}", ""))
		if m := b.answer(id); strings.Contains(string(m.Result), `"isError":true`) {
			t.Errorf("%d: %s", i, m.Result)
		}
		stop()
		stop = daemon(t, &desk{}, path)
	}
}

// A desk that panics is one failed call; DEBUG is on in all these tests.
func TestPanicInTheDaemon(t *testing.T) {
	path := socket(t)
	daemon(t, &desk{}, path) // Send is nil: the call panics
	b := start(t, Options{Connect: dialer(path)})
	b.write(initialize("2025-11-25")...)
	b.write(callLine("1", "send", `{"request":"x"}`, ""), callLine("2", "list", `{}`, ""))
	if m := b.answer("1"); !strings.Contains(string(m.Result), "mistake") {
		t.Errorf("%s", m.Result)
	}
}

// One id in use twice is one call; the same id again later is the same send.
func TestCallIDs(t *testing.T) {
	path := socket(t)
	ids, release := make(chan string, 9), make(chan struct{})
	daemon(t, &desk{send: func(_ context.Context, p rpc.SendParams) (rpc.Send, error) {
		ids <- p.RequestID
		<-release
		return rpc.Send{TurnID: "turn-1"}, nil
	}}, path)
	b := start(t, Options{Connect: dialer(path)})
	b.write(initialize("2025-11-25")...)
	b.write(callLine("1", "send", `{"request":"x"}`, ""))
	first := <-ids
	b.write(callLine("1", "send", `{"request":"x"}`, ""))
	if m := b.answer("null"); m.Error == nil || m.Error.Code != -32600 {
		t.Errorf("%+v", m)
	}
	close(release)
	b.answer("1")
	b.write(callLine("1", "send", `{"request":"x"}`, ""))
	b.answer("1")
	if again := <-ids; again != first {
		t.Errorf("request ids %q and %q", first, again)
	}
}

// R198.
func TestSession(t *testing.T) {
	env := func(m map[string]string) func(string) (string, bool) {
		return func(k string) (string, bool) { v, ok := m[k]; return v, ok }
	}
	a, err := Session(env(nil), "")
	b, _ := Session(env(nil), "")
	if err != nil || a == b || a == "" {
		t.Errorf("%q %q %v", a, b, err)
	}
	if s, err := Session(env(map[string]string{SessionVariable: "s 1"}), ""); s != "s 1" || err != nil {
		t.Errorf("%q %v", s, err)
	}
	if s, err := Session(env(map[string]string{"MINE": "m", SessionVariable: "s"}), "MINE"); s != "m" || err != nil {
		t.Errorf("%q %v", s, err)
	}
	for _, v := range []string{"", " x", "x ", "a\nb", "a\x1bb", strings.Repeat("é", sessionMax+1), "\xff"} {
		if s, err := Session(env(map[string]string{"V": v}), "V"); !errors.Is(err, ErrSession) {
			t.Errorf("%q is taken as %q", v, s)
		}
	}
	if _, err := Session(env(nil), "V"); !errors.Is(err, ErrSession) {
		t.Errorf("unset: %v", err)
	}
}

// R216, R217, B142, B143, as a process: each signal and the end of stdin, within a second, even
// when the Host reads nothing.
func TestProcessEnds(t *testing.T) {
	end := map[string]func(*exec.Cmd, io.Closer) error{
		"eof":  func(_ *exec.Cmd, in io.Closer) error { return in.Close() },
		"term": func(c *exec.Cmd, _ io.Closer) error { return c.Process.Signal(syscall.SIGTERM) },
		"int":  func(c *exec.Cmd, _ io.Closer) error { return c.Process.Signal(syscall.SIGINT) },
		"hup":  func(c *exec.Cmd, _ io.Closer) error { return c.Process.Signal(syscall.SIGHUP) },
	}
	for name, kill := range end {
		for _, deaf := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s deaf=%v", name, deaf), func(t *testing.T) {
				c := exec.Command(os.Args[0])
				c.Env = append(os.Environ(), childEnv+"=1")
				in, err := c.StdinPipe()
				if err != nil {
					t.Fatal(err)
				}
				out, err := c.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := c.Start(); err != nil {
					t.Fatal(err)
				}
				defer c.Process.Kill()
				for _, l := range initialize("2025-11-25") {
					io.WriteString(in, l+"\n")
				}
				s := bufio.NewScanner(out)
				s.Buffer(nil, 16<<20)
				if !s.Scan() {
					t.Fatal("no answer")
				}
				parse(t, s.Text())
				if deaf { // fill the pipe: the bridge is stuck in a write
					for i := range 400 {
						fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`+"\n", i)
					}
				}
				began := time.Now()
				if err := kill(c, in); err != nil {
					t.Fatal(err)
				}
				if !deaf {
					for s.Scan() {
						parse(t, s.Text())
					}
				}
				done := make(chan error, 1)
				go func() { _, err := c.Process.Wait(); done <- err }()
				select {
				case <-done:
				case <-time.After(patience):
					t.Fatal("it does not end")
				}
				if d := time.Since(began); d > endsWithin {
					t.Errorf("it took %v", d)
				}
			})
		}
	}
}

func FuzzAccept(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{"progressToken":1}}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":"a","result":null}`))
	f.Add([]byte("[\xff"))
	f.Fuzz(func(t *testing.T, in []byte) {
		if bytes.ContainsRune(in, '\n') {
			return
		}
		var out bytes.Buffer
		s := &stdio{out: rawio.NewWriter(&out), closed: make(chan struct{}), pending: map[string]jsonrpc.ID{}}
		m := s.accept(bytes.TrimSpace(in))
		if m == nil && len(bytes.TrimSpace(in)) > 0 && out.Len() == 0 {
			t.Fatalf("%q is neither taken nor answered", in)
		}
		for _, l := range bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n")) {
			if len(l) > 0 && !json.Valid(l) {
				t.Fatalf("%q is answered by %q", in, l)
			}
		}
	})
}
