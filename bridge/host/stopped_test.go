package host

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"akk/bridge/rpc"
)

// These tests stop a daemon behind a bridge that is connected (as SIGSTOP does:
// the socket stays, nothing is answered) and uphold: every call is answered
// within its bound, what may have been done says so, a slow daemon is waited for.

// gate passes bytes between a bridge and a daemon while it is open.
type gate struct {
	mu   sync.Mutex
	cond *sync.Cond
	shut bool
	over bool
}

func newGate(t *testing.T, at, to string) *gate {
	t.Helper()
	ln, err := net.Listen("unix", at)
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{}
	g.cond = sync.NewCond(&g.mu)
	var wg sync.WaitGroup
	var conns []net.Conn
	wg.Go(func() {
		for {
			a, err := ln.Accept()
			if err != nil {
				return
			}
			b, err := net.Dial("unix", to)
			if err != nil {
				a.Close()
				continue
			}
			g.mu.Lock()
			conns = append(conns, a, b)
			g.mu.Unlock()
			for _, way := range [][2]net.Conn{{a, b}, {b, a}} {
				wg.Go(func() { g.pass(way[0], way[1]) })
			}
		}
	})
	t.Cleanup(func() {
		ln.Close()
		g.mu.Lock()
		g.over = true
		for _, c := range conns {
			c.Close()
		}
		g.mu.Unlock()
		g.cond.Broadcast()
		wg.Wait()
	})
	return g
}

func (g *gate) pass(from, to net.Conn) {
	defer to.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		g.mu.Lock()
		for g.shut && !g.over {
			g.cond.Wait()
		}
		g.mu.Unlock()
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				io.Copy(io.Discard, from)
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (g *gate) set(shut bool) {
	g.mu.Lock()
	g.shut = shut
	g.mu.Unlock()
	g.cond.Broadcast()
}

// stoppable is a connected bridge and the gate before its daemon.
func stoppable(t *testing.T, d *desk) (*bridge, *gate) {
	t.Helper()
	path, at := socket(t), socket(t)
	d.hello = make(chan rpc.Caller, 1)
	daemon(t, d, path)
	g := newGate(t, at, path)
	b := start(t, Options{Connect: dialer(at)})
	b.write(initialize("2025-06-18")...)
	b.answer(`"init"`)
	b.write(callLine("1", "list", `{}`, ""))
	if m := b.answer("1"); strings.Contains(string(m.Result), `"isError":true`) {
		t.Fatalf("%s", m.Result)
	}
	return b, g
}

// silence is when a silent daemon is known to be, and a busy machine's rest.
const silence = 5*time.Second + 4*time.Second

func TestStoppedDaemonIsTold(t *testing.T) {
	d := &desk{}
	d.send = func(context.Context, rpc.SendParams) (rpc.Send, error) { return rpc.Send{TurnID: "late"}, nil }
	d.status = func(context.Context, rpc.StatusParams) (rpc.Status, error) {
		return rpc.Status{TurnID: "turn-1", About: "x"}, nil
	}
	b, g := stoppable(t, d)
	g.set(true)
	began := time.Now()
	looks := map[string]string{"10": "list", "11": "status", "12": "status"}
	acts := map[string][2]string{"20": {"send", `{"request":"x"}`}, "21": {"cancel", `{"turn_id":"turn-1"}`}, "22": {"close", `{"turn_id":"turn-1"}`}, "23": {"renew", `{"turn_id":"turn-1"}`},
		"24": {"respond", `{"turn_id":"turn-1","request":"y"}`}, "25": {"watch", `{"terminal_id":"terminal:v2:tmux:codex:a:0.0:1"}`}}
	args := map[string]string{"10": `{}`, "11": `{"turn_id":"turn-1"}`, "12": `{"turn_id":"turn-1","wait_seconds":3}`}
	for id, tool := range looks {
		b.write(callLine(id, tool, args[id], ""))
	}
	for id, c := range acts {
		b.write(callLine(id, c[0], c[1], ""))
	}
	b.write(`{"jsonrpc":"2.0","id":30,"method":"resources/read","params":{"uri":"akk://terminals"}}`)
	for id, tool := range looks {
		if m := string(b.answer(id).Result); !strings.Contains(m, "does not answer") || strings.Contains(m, "do_not_retry") || !strings.Contains(m, "kill -CONT") {
			t.Errorf("%s: %s", tool, m)
		}
	}
	if m := b.answer("30"); m.Error == nil || !strings.Contains(m.Error.Message, "does not answer") {
		t.Errorf("resource: %s %+v", m.Result, m.Error)
	}
	for id, c := range acts {
		if m := string(b.answer(id).Result); !strings.Contains(m, `"do_not_retry":true`) || !strings.Contains(m, `"code":"uncertain"`) || !strings.Contains(m, "does not answer") {
			t.Errorf("%s: %s", c[0], m)
		}
	}
	if took := time.Since(began); took > silence {
		t.Errorf("told after %v", took)
	}
	// A call that finds no connection any more sent nothing, and says it as soon.
	began = time.Now()
	b.write(callLine("40", "send", `{"request":"x"}`, ""))
	if m := string(b.answer("40").Result); !strings.Contains(m, "does not answer") || strings.Contains(m, "do_not_retry") || time.Since(began) > silence {
		t.Errorf("after %v: %s", time.Since(began), m)
	}
	g.set(false)
	b.write(callLine("41", "status", `{"turn_id":"turn-1"}`, ""), callLine("42", "list", `{}`, ""))
	if m := string(b.answer("41").Result); !strings.Contains(m, `"turn_id":"turn-1"`) || strings.Contains(m, "late") {
		t.Errorf("afterwards: %s", m)
	}
	if m := string(b.answer("42").Result); !strings.Contains(m, `"store_dir":"/s"`) {
		t.Errorf("afterwards: %s", m)
	}
}

// A wait that knows something answers near its bound with it.
func TestStoppedDuringAWait(t *testing.T) {
	d := &desk{}
	looked := make(chan struct{}, 10)
	d.status = func(context.Context, rpc.StatusParams) (rpc.Status, error) {
		looked <- struct{}{}
		return rpc.Status{TurnID: "turn-1", Conversation: &rpc.Turn{TurnID: "turn-1", Status: "waiting_for_agent"}}, nil
	}
	b, g := stoppable(t, d)
	began := time.Now()
	b.write(callLine("2", "status", `{"turn_id":"turn-1","wait_seconds":2}`, ""))
	<-looked
	time.Sleep(200 * time.Millisecond) // the answer is there
	g.set(true)
	m := string(b.answer("2").Result)
	if !strings.Contains(m, `"timed_out":true`) || !strings.Contains(m, `"stale_reason":"the akk daemon did not answer in time`) || strings.Contains(m, `"isError":true`) {
		t.Errorf("%s", m)
	}
	if took := time.Since(began); took < 2*time.Second || took > 2*time.Second+4*time.Second {
		t.Errorf("answered after %v", took)
	}
}

// A send may take longer than silence does.
func TestSlowIsNotStopped(t *testing.T) {
	d := &desk{}
	d.send = func(_ context.Context, p rpc.SendParams) (rpc.Send, error) {
		time.Sleep(6500 * time.Millisecond)
		return rpc.Send{TurnID: "turn-1", MessageID: p.RequestID, SubmissionOutcome: "agent_accepted", DeliveryReceipt: "agent_accepted", Delivered: true}, nil
	}
	b, _ := stoppable(t, d)
	b.write(callLine("2", "send", `{"request":"x"}`, ""))
	if m := string(b.answer("2").Result); !strings.Contains(m, `"turn_id":"turn-1"`) || strings.Contains(m, `"isError":true`) {
		t.Errorf("%s", m)
	}
}

// A daemon that dies in a send and does not come back leaves it uncertain; a
// cancelled call that had begun, too.
func TestWhatHadBegunIsNotRetried(t *testing.T) {
	path := socket(t)
	begun := make(chan struct{}, 10)
	d := &desk{hello: make(chan rpc.Caller, 1)}
	d.send = func(ctx context.Context, _ rpc.SendParams) (rpc.Send, error) {
		begun <- struct{}{}
		<-ctx.Done()
		return rpc.Send{}, ctx.Err()
	}
	stop := daemon(t, d, path)
	b := start(t, Options{Connect: dialer(path)})
	b.write(initialize("2025-06-18")...)
	b.answer(`"init"`)
	b.write(callLine("2", "send", `{"request":"x"}`, ""))
	<-begun
	b.write(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	if m := string(b.answer("2").Result); strings.Count(m, `"do_not_retry":true`) < 2 || !strings.Contains(m, "cancelled") {
		t.Errorf("cancelled: %s", m)
	}
	b.write(callLine("3", "send", `{"request":"y"}`, ""))
	<-begun
	stop()
	if m := string(b.answer("3").Result); !strings.Contains(m, `"do_not_retry":true`) || !strings.Contains(m, `"code":"uncertain"`) {
		t.Errorf("died: %s", m)
	}
}
