package handoff

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"akk/agents"
	"akk/bridge/rpc"
	"akk/panes"
	"akk/store"
)

// The journal: numbers without a hole over a restart, a gap where retention has
// passed, a filter by server.
func TestEventsResume(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	b.row(p, agents.Idle)
	b.restart()
	b.row(p, agents.Idle)
	b.until("the reading is journalled", func() bool {
		evs := b.events()
		return evs[len(evs)-1].Type == "reading"
	})
	evs := b.events()
	for i, e := range evs {
		if e.Seq != uint64(i+1) {
			t.Fatalf("event %d has the number %d", i, e.Seq)
		}
	}
	var got []rpc.Event
	err := b.desk.Events(t.Context(), rpc.Caller{}, rpc.EventsParams{Since: 2, Socket: "/other"}, func(r rpc.EventsResult) error {
		if r.Next != 3 {
			t.Errorf("next %d", r.Next)
		}
		return nil
	}, func(e rpc.Event) error { got = append(got, e); return nil })
	if err != nil || len(got) != 0 {
		t.Fatalf("%v %v", err, got)
	}
	err = b.desk.Events(t.Context(), rpc.Caller{}, rpc.EventsParams{Since: 9999}, func(rpc.EventsResult) error { return nil }, func(rpc.Event) error { return nil })
	b.refused(err, "the journal ends at")
}

func TestEventsFollowAndGap(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for left := testKeep + 700; left > 0; left -= 500 { // a sync each would take minutes
		if err := b.desk.writer.Sync(func(tx *store.Tx) error {
			for range min(left, 500) {
				if _, _, err := journal.Append(tx, rpc.Event{Type: "terminal"}); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	var first *rpc.Event
	var last uint64
	err := b.desk.Events(ctx, rpc.Caller{}, rpc.EventsParams{Since: 5, Follow: true}, func(rpc.EventsResult) error { return nil }, func(e rpc.Event) error {
		if first == nil {
			first = &e
		}
		if e.Type == "gap" {
			last = e.To
			return nil
		}
		if e.Seq != last+1 {
			t.Fatalf("from %d to %d", last, e.Seq)
		}
		if last = e.Seq; e.Type == "server" && e.Change == "test" {
			cancel()
		} else if e.Seq == testKeep+700 {
			b.desk.journal(rpc.Event{Type: "server", Change: "test"})
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || first.Type != "gap" || first.From != 6 || first.To < 600 {
		t.Fatalf("%v %+v", err, first)
	}
}

// Follow gives the newest list after a change.
func TestFollow(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	done := errors.New("seen")
	var p *player
	err := b.desk.Follow(t.Context(), rpc.Caller{}, rpc.ListParams{}, func(l rpc.List) error {
		switch {
		case p == nil:
			p = b.w.play()
		case len(l.Terminals) == 1 && l.Terminals[0].Reading.Activity == agents.Idle:
			p.set(func(p *player) { p.activity, p.owner = agents.Blocked, agents.OwnerApproval })
		case len(l.Terminals) == 1 && l.Terminals[0].Reading.Activity == agents.Blocked:
			d := l.Terminals[0].Reading.Dialog
			if d == nil || strings.Contains(d.Command, "hunter2") || l.Terminals[0].ScreenState != "awaiting_approval" {
				t.Errorf("%+v", d)
			}
			return done
		}
		return nil
	})
	if !errors.Is(err, done) {
		t.Fatal(err)
	}
}

// R21, scenario 10: status waits for a change, bounded; it types nothing.
func TestStatus(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	p.set(func(p *player) { p.activity = agents.Working })
	b.row(p, agents.Working)
	start := time.Now()
	st, err := b.desk.Status(t.Context(), rpc.Caller{}, rpc.StatusParams{ID: row.ID, WaitMillis: 100})
	if err != nil || !st.TimedOut || time.Since(start) < 100*time.Millisecond {
		t.Fatalf("%v %+v", err, st.TimedOut)
	}
	time.AfterFunc(50*time.Millisecond, func() {
		p.set(func(p *player) { p.activity, p.text = agents.Idle, "export API_KEY=hush" })
	})
	st, err = b.desk.Status(t.Context(), rpc.Caller{}, rpc.StatusParams{ID: row.ID, WaitMillis: 10_000})
	if err != nil || st.TimedOut || st.TerminalStatus.ActivityState != "idle" || strings.Contains(st.TerminalStatus.Screen.Excerpt, "hush") {
		t.Fatalf("%v %+v", err, st.TerminalStatus)
	}
	for _, bad := range []rpc.StatusParams{{}, {ID: "a", TurnID: "b"}, {ID: "%99"}, {TurnID: "turn-x"}, {ID: "turn-x"}} {
		if _, err := b.desk.Status(t.Context(), rpc.Caller{}, bad); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
	if p.bytes() != "" {
		t.Fatal("typed")
	}
}

func TestScreenAndExplainOfAnyPane(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.w.pane()
	b.w.feed(id, "$ ls\r\n\x1b[1mbold\x1b[0m")
	s, err := b.desk.Screen(t.Context(), rpc.Caller{}, rpc.ScreenParams{TargetParams: rpc.TargetParams{ID: id}, Audit: true})
	if err != nil || s.Lines[1] != "bold" || s.Runs[1][0] != [2]string{"bold", "1"} || !s.Audited || s.Cursor.X != 4 {
		t.Fatalf("%v %+v", err, s)
	}
	e, err := b.desk.Explain(t.Context(), rpc.Caller{}, rpc.TargetParams{ID: id})
	if err != nil || e.Sendable || len(e.Missing) != 1 || !strings.Contains(e.Missing[0], "no agent runs") {
		t.Fatalf("%v %+v", err, e)
	}
	_, err = b.desk.Screen(t.Context(), rpc.Caller{}, rpc.ScreenParams{TargetParams: rpc.TargetParams{ID: "%77"}})
	b.refused(err, "no pane %77")
}

// npm's node wrapper is seen through; an agent below an agent is its tool.
func TestMatch(t *testing.T) {
	t.Parallel()
	d := &Desk{agents: []agents.Agent{kindOf{agents.Codex, "codex"}, kindOf{agents.Claude, "claude"}}}
	proc := func(pid int, exe string, args ...string) agents.Process {
		return agents.Process{PID: pid, Exe: exe, Args: args}
	}
	for name, c := range map[string]struct {
		procs []agents.Process
		pid   int
		kind  agents.Kind
	}{
		"shell only":                  {[]agents.Process{proc(1, "/bin/bash")}, 0, ""},
		"plain":                       {[]agents.Process{proc(1, "/bin/bash"), proc(2, "/usr/bin/codex")}, 2, agents.Codex},
		"node wrapper":                {[]agents.Process{proc(1, "/bin/bash"), proc(2, "/usr/bin/node", "node", "codex"), proc(3, "/opt/codex")}, 3, agents.Codex},
		"a script of its own":         {[]agents.Process{proc(2, "/usr/bin/node", "node", "claude")}, 2, agents.Claude},
		"a tool of the agent":         {[]agents.Process{proc(2, "/opt/claude"), proc(3, "/bin/sh"), proc(4, "/opt/codex")}, 2, agents.Claude},
		"the same kind as tool":       {[]agents.Process{proc(2, "/opt/codex"), proc(3, "/bin/sh"), proc(4, "/opt/codex")}, 2, agents.Codex},
		"another kind below a script": {[]agents.Process{proc(2, "/usr/bin/node", "node", "claude"), proc(4, "/opt/codex")}, 2, agents.Claude},
	} {
		m := d.match(c.procs)
		if c.pid == 0 && m == nil {
			continue
		}
		if m == nil || m.proc.PID != c.pid || m.agent.Kind() != c.kind {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

type kindOf struct {
	kind agents.Kind
	name string
}

func (k kindOf) Kind() agents.Kind                           { return k.kind }
func (k kindOf) Read(agents.Input) agents.Reading            { return agents.Reading{} }
func (k kindOf) OpenLog(*agents.Process) (agents.Log, error) { return nil, agents.ErrNoLog }
func (k kindOf) Submit(string) agents.SubmitPlan             { return agents.SubmitPlan{} }
func (k kindOf) Match(p *agents.Process) (version string, ok bool) {
	return "1.0.0", filepath.Base(p.Exe) == k.name || filepath.Base(p.Exe) == "node" && len(p.Args) > 1 && p.Args[1] == k.name
}

// Who is calling: a process below an agent is that agent, a process without a
// terminal is unknown, never the human.
func TestIdentify(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if c := b.desk.Identify(t.Context(), 1<<30); c.Kind != "unknown" {
		t.Fatalf("%+v", c)
	}
	id := b.w.pane()
	b.w.mu.Lock() // this very test process plays the agent
	me, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	_ = me
	wp := b.w.panes[id]
	wp.procs = append(wp.procs, agents.Process{PID: os.Getpid(), Exe: "/opt/player", StartTime: time.Now()})
	wp.info.Command = "player"
	info := wp.info
	b.w.mu.Unlock()
	b.w.send(panes.Update{Kind: panes.UpdateInfo, Pane: id, Info: &info})
	b.until("found", func() bool { return len(b.rows()) == 1 })
	if c := b.desk.Identify(t.Context(), os.Getpid()); c.Kind != "agent" || c.TerminalID != b.rows()[0].ID {
		t.Fatalf("%+v", c)
	}
	if c := b.desk.Identify(t.Context(), os.Getppid()); c.Kind == "agent" {
		t.Fatalf("%+v", c)
	}
}

// On a terminal without an agent only a descendant of its first process is the
// human; who lost his ancestry, or has a terminal that was opened from an
// agent's pane, is unknown.
func TestIdentifyOnAnotherTerminal(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	pl := b.w.play()
	b.row(pl, agents.Idle)
	info, _ := b.w.Pane(pl.id)
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "TMUX") })
	of := func(pane string) []string {
		return append(slices.Clone(env), "TMUX="+info.Server.Socket+",1,0", "TMUX_PANE="+pane)
	}
	for name, c := range map[string]struct {
		script, kind string
		env          []string
	}{
		"of the terminal's own shell":       {`sleep 600 & echo "=$!"; wait`, "human", env},
		"in a pane without an agent":        {`sleep 600 & echo "=$!"; wait`, "human", of("%999")},
		"its ancestry is lost":              {`sh -c 'sleep 600 & echo "=$!"'; sleep 600`, "unknown", env},
		"a terminal from an agent's pane":   {`sleep 600 & echo "=$!"; wait`, "unknown", of(pl.id)},
		"the first process of the terminal": {`echo "=$$"; sleep 600`, "human", env},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command("sh", "-c", c.script)
			cmd.Env = c.env
			f, err := pty.Start(cmd) // a session of its own
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
				f.Close()
				_ = cmd.Wait()
			}()
			line, err := bufio.NewReader(f).ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			pid, err := strconv.Atoi(strings.Trim(line, "=\r\n"))
			if err != nil {
				t.Fatal(err)
			}
			b.until(c.kind, func() bool { return b.desk.Identify(t.Context(), pid).Kind == c.kind })
		})
	}
}

// An agent that starts in a known pane without any other event than its output
// is found within about a second.
func TestFoundByOutput(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.w.pane()
	time.Sleep(quietGap) // the pane is quiet; nothing is decided by this
	b.w.mu.Lock()
	b.w.nextPID++
	pid := b.w.nextPID
	b.w.panes[id].procs = append(b.w.panes[id].procs, agents.Process{PID: pid, Exe: "/opt/player", StartTime: time.Unix(1_800_000_300, 0)})
	b.w.mu.Unlock()
	start := time.Now()
	b.w.feed(id, "\x1b[H\x1b[2Jidle composer\r\n> ")
	b.until("found", func() bool { return len(b.rows()) == 1 && b.rows()[0].PID == pid })
	if took := time.Since(start); took > 3*time.Second {
		t.Fatalf("after %s", took)
	}
}

// BenchmarkList is issue 6's fifth proof without the process around it: 100
// terminals, 10,000 old turns.
func BenchmarkList(b *testing.B) {
	dir := b.TempDir()
	db, err := store.Open(dir, store.Options{Schema: Schema(), NoSync: true})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	s := Session{ID: "session-1", CreatedAt: time.Now()}
	_ = db.Update(func(tx *store.Tx) error {
		_, err := sessions.Put(tx, s.ID, s, 0)
		for i := range 10_000 {
			_, _ = turns.Put(tx, fmt.Sprint("turn-", i), Turn{ID: fmt.Sprint("turn-", i), SessionID: s.ID, Outcome: OutcomeCompleted, FinalText: strings.Repeat("x", 500)}, 0)
		}
		return err
	})
	w := newWorld()
	for range 100 {
		w.play()
	}
	d, err := New(Options{DB: db, Agents: []agents.Agent{w.agent}, Attach: func(context.Context, string) (panes.Provider, error) { return w, nil }})
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	if _, err := d.Attach(b.Context(), rpc.AttachParams{Socket: w.id.Socket}); err != nil {
		b.Fatal(err)
	}
	for {
		l, err := d.List(b.Context(), rpc.Caller{}, rpc.ListParams{})
		if err != nil {
			b.Fatal(err)
		}
		if len(l.Terminals) == 100 {
			break
		}
		<-d.Changed()
	}
	for b.Loop() {
		if _, err := d.List(b.Context(), rpc.Caller{}, rpc.ListParams{}); err != nil {
			b.Fatal(err)
		}
	}
}
