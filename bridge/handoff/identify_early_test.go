package handoff

// Bug report E: an agent's process counted as the human until its terminal was
// known, and on a connection from that moment for good.

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"akk/agents"
	"akk/agents/claude"
	"akk/agents/codex"
	"akk/agents/lab"
	"akk/bridge/rpc"
	"akk/panes"
	"akk/store"
)

// lostWait bounds how long a parent may take to end.
const lostWait = 20 * time.Second

// strangers is a desk that is attached to nothing, with the real recognisers.
func strangers(t testing.TB) *Desk {
	t.Helper()
	db, err := store.Open(t.TempDir(), store.Options{Schema: Schema()})
	if err != nil {
		t.Fatal(err)
	}
	d, err := New(Options{DB: db, Agents: []agents.Agent{codex.Agent{}, claude.Agent{}},
		Attach: func(context.Context, string) (panes.Provider, error) { return nil, os.ErrNotExist }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close(); db.Close() })
	return d
}

// shellAs is a shell whose process looks like that agent.
func shellAs(t testing.TB, kind agents.Kind, version string) string {
	t.Helper()
	sh, err := filepath.EvalSymlinks("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	b, err := lab.Impersonate(sh, t.TempDir(), kind, version)
	if err != nil {
		t.Fatal(err)
	}
	return b.Native
}

// onTerminal runs a program on a terminal of its own and returns its pid and the
// pid that it prints as "=PID".
func onTerminal(t testing.TB, program string, args ...string) (first, pid int) {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "TMUX") })
	f, err := pty.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if pid > 0 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		f.Close()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(f).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if pid, err = strconv.Atoi(strings.Trim(line, "=\r\n")); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid, pid
}

// Who runs below an agent is that agent, though no terminal is known;
// the human is the human at once.
func TestAgentOfNoKnownTerminal(t *testing.T) {
	t.Parallel()
	d := strangers(t)
	const leaf = `sleep 600 & echo "=$!"; wait`
	fakeCodex, fakeClaude := shellAs(t, agents.Codex, "0.155.1"), shellAs(t, agents.Claude, "2.1.267")
	for name, c := range map[string]struct {
		kind    string
		program string
		args    []string
	}{
		"codex's child":           {"agent", fakeCodex, []string{"-c", leaf}},
		"claude's child":          {"agent", fakeClaude, []string{"-c", leaf}},
		"a shell below":           {"agent", fakeCodex, []string{"-c", `sh -c 'sleep 600 & echo "=$!"; wait'; :`}},
		"in a session of its own": {"agent", fakeCodex, []string{"-c", `setsid sh -c 'sleep 600 & echo "=$!"; wait' & wait`}},
		"an agent below an agent": {"agent", fakeClaude, []string{"-c", fakeCodex + ` -c 'sleep 600 & echo "=$!"; wait'; :`}},
		"its ancestry is lost":    {"unknown", fakeCodex, []string{"-c", `sh -c 'sleep 600 & echo "=$!"'; sleep 600`}},
		"deeper than is looked":   {"unknown", fakeCodex, []string{"-c", deep(ancestryMax + 6)}},
		"the human's shell":       {"human", "/bin/sh", []string{"-c", leaf}},
		"a name is no process":    {"human", "/bin/sh", []string{"-c", leaf, "codex", fakeCodex}},
	} {
		t.Run(name, func(t *testing.T) {
			first, pid := onTerminal(t, c.program, c.args...)
			got := d.Identify(t.Context(), pid)
			for end := time.Now().Add(lostWait); got.Kind == "agent" && c.kind == "unknown" && time.Now().Before(end); got = d.Identify(t.Context(), pid) {
				runtime.Gosched() // its parent has not ended yet
			}
			if got.Kind != c.kind || got.TerminalID != "" || got.InPane {
				t.Fatalf("%+v", got)
			}
			if want := map[bool]int{true: first}[c.kind == "agent"]; got.AgentPID != want {
				t.Fatalf("%+v, the agent is %d", got, want)
			}
		})
	}
}

// deep is a script whose leaf has n shells above it.
func deep(n int) string {
	return `f() { if [ $1 -gt 0 ]; then ( f $(($1-1)); : ) else sleep 600 & echo "=$!"; wait; fi; }; f ` + strconv.Itoa(n)
}

// With a real terminal server: below an agent in a pane that nobody looked
// at, then known by its terminal.
func TestAgentInAPaneNotLookedAt(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.actor(s.server(), ways{})
	id := r.ready().ID
	pid, err := strconv.Atoi(r.tell("run", ""))
	if err != nil {
		t.Fatal(err)
	}
	d, db := s.begin(t.TempDir(), s.desk.agents)
	defer func() { d.Close(); db.Close() }()
	before := d.Discovered()
	c := d.Identify(t.Context(), pid)
	if c.Kind != "agent" || c.TerminalID != "" || !c.InPane || !inside(c, id) {
		t.Fatalf("%+v, it runs in %s", c, id)
	}
	for _, host := range []rpc.Caller{c, {Kind: "host", AgentPID: c.AgentPID, InPane: c.InPane}} {
		if bad := mayExplicit(host); bad == nil {
			t.Errorf("%s may send explicitly", host.Kind)
		}
	}
	s.attach(d, r.socket)
	s.until("its terminal", func() bool { return d.Discovered() != before && d.Identify(t.Context(), pid).TerminalID == id })
	if c := d.Identify(t.Context(), pid); c.AgentPID != 0 || c.InPane {
		t.Fatalf("%+v", c)
	}
}

// E: an agent whose terminal is not known decides nothing, for its own terminal
// or for others.
func TestUnlistedAgentDecidesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p, busy := b.w.play(), b.w.play()
	id := b.row(p, agents.Idle).ID
	other := b.row(busy, agents.Idle).ID
	work := b.sendAs(human, busy, "work")
	b.row(busy, agents.Working)
	ctx := t.Context()
	self := rpc.Caller{Kind: "agent", PID: 1 << 30, AgentPID: p.pid, InPane: true}
	bridge := rpc.Caller{Kind: "host", Session: "inside", PID: 1 << 30, AgentPID: p.pid, InPane: true}
	for _, c := range []rpc.Caller{self, bridge} {
		calls := map[string]func() error{
			"send to itself": func() error { _, err := b.desk.Send(ctx, c, rpc.SendParams{ID: id, Request: "y"}); return err },
			"send to itself by pane": func() error {
				_, err := b.desk.Send(ctx, c, rpc.SendParams{ID: p.id, Request: "y", Explicit: true})
				return err
			},
			"explicit": func() error {
				_, err := b.desk.Send(ctx, c, rpc.SendParams{ID: other, Request: "y", Explicit: true})
				return err
			},
			"interrupt itself": func() error { _, err := b.desk.Cancel(ctx, c, rpc.CancelParams{ID: id}); return err },
			"takeover":         func() error { _, err := b.desk.Takeover(ctx, c, rpc.HoldParams{ID: other}); return err },
			"handback":         func() error { _, err := b.desk.Handback(ctx, c, rpc.HoldParams{ID: other}); return err },
			"restore":          func() error { _, err := b.desk.RestoreDraft(ctx, c, rpc.TargetParams{ID: other}); return err },
			"respond": func() error {
				_, err := b.desk.Respond(ctx, c, rpc.RespondParams{TurnID: work.TurnID, Request: "y"})
				return err
			},
			"retry": func() error {
				_, err := b.desk.RetrySubmission(ctx, c, rpc.TurnParams{TurnID: work.TurnID})
				return err
			},
			"cancel": func() error { _, err := b.desk.Cancel(ctx, c, rpc.CancelParams{TurnID: work.TurnID}); return err },
			"renew":  func() error { _, err := b.desk.Renew(ctx, c, rpc.RenewParams{TurnID: work.TurnID}); return err },
			"export": func() error { return b.desk.StoreExport(ctx, c, func(rpc.StoreRow) error { return nil }) },
		}
		if c.Kind == "agent" {
			calls["close"] = func() error { _, err := b.desk.CloseTurn(ctx, c, rpc.CloseParams{TurnID: work.TurnID}); return err }
			calls["reconcile"] = func() error {
				_, err := b.desk.Reconcile(ctx, c, rpc.ReconcileParams{ID: other, ConflictingSessionID: "s"})
				return err
			}
			calls["compact"] = func() error { _, err := b.desk.StoreCompact(ctx, c); return err }
		}
		if c.Kind == "host" {
			delete(calls, "respond") // a Host answers for the human's turns,
			delete(calls, "retry")   // it only may not for the agent that it runs under
			delete(calls, "cancel")
		}
		for name, call := range calls {
			t.Run(c.Kind+" "+name, func(t *testing.T) { forbidden(t, call()) })
		}
		for _, row := range b.rowsAs(c) {
			for name := range row.AvailableActions {
				if name != "status" && name != "watch" && (row.ID == id || c.Kind == "agent") {
					t.Errorf("%s is offered %s in %s", c.Kind, name, row.ID)
				}
			}
		}
	}
	if got := p.bytes() + busy.bytes(); got != "work\r" {
		t.Fatalf("typed %q", got)
	}
}

// E: what an agent sent before its terminal was known is its own then and
// later, and no other agent's without a terminal.
func TestUnlistedAgentOwns(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	me := rpc.Caller{Kind: "agent", PID: 1 << 30, AgentPID: 1 << 29}
	s := b.sendAs(me, p, "work")
	turn := b.turn(s.TurnID)
	for name, c := range map[string]struct {
		caller rpc.Caller
		may    bool
	}{
		"itself":                    {me, true},
		"with its terminal":         {rpc.Caller{Kind: "agent", TerminalID: "terminal:v2:tmux:codex:s:0.1:" + strconv.Itoa(me.AgentPID)}, true},
		"another":                   {rpc.Caller{Kind: "agent", AgentPID: 77}, false},
		"another's terminal":        {rpc.Caller{Kind: "agent", TerminalID: "terminal:v2:tmux:codex:s:0.1:77"}, false},
		"an agent of which nothing": {rpc.Caller{Kind: "agent"}, false},
		"unknown":                   {rpc.Caller{Kind: "unknown"}, false},
	} {
		if bad := mayManage(c.caller, &turn); (bad == nil) != c.may {
			t.Errorf("%s: %v", name, bad)
		}
	}
	if bad := mayManage(rpc.Caller{Kind: "agent"}, &Turn{Host: "agent"}); bad == nil {
		t.Error("no name is everybody's name")
	}
}

// Identify runs once per command.
func BenchmarkIdentify(b *testing.B) {
	d := strangers(b)
	for name, program := range map[string]string{"human": "/bin/sh", "agent": shellAs(b, agents.Codex, "0.155.1")} {
		b.Run(name, func(b *testing.B) {
			_, pid := onTerminal(b, program, "-c", `sh -c 'sleep 600 & echo "=$!"; wait'; :`)
			for b.Loop() {
				if c := d.Identify(b.Context(), pid); c.Kind != name {
					b.Fatalf("%+v", c)
				}
			}
		})
	}
}
