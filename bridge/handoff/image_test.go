package handoff

// A process that becomes another program (exec) is no agent any more: its
// terminal ends, nothing is typed into the program. One that only starts itself
// anew, takes another title or loses its file to an update stays the agent.

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"akk/agents"
	"akk/agents/claude"
	"akk/agents/codex"
	"akk/agents/lab"
	"akk/bridge/rpc"
	"akk/panes"
)

// becomes makes the actor the program tee, which writes down what it reads, and
// waits until it is.
func (r *role) becomes(pid int) {
	tee, err := exec.LookPath("tee")
	if err == nil {
		tee, err = filepath.EvalSymlinks(tee)
	}
	if err != nil {
		r.s.t.Error(err)
		return
	}
	r.tell("exec", tee+" -a "+filepath.Join(r.dir, "other"))
	r.s.until("it is another program", func() bool {
		exe, args, ok := procImage(pid)
		return ok && exe == tee && len(args) > 0
	})
}

// took is what the other program read.
func (r *role) took() string {
	b, _ := os.ReadFile(filepath.Join(r.dir, "other"))
	return string(b)
}

// gone waits until no terminal of that name is listed.
func (s *stage) gone(id string) {
	s.t.Helper()
	s.until(id+" is gone", func() bool {
		for _, row := range s.rows() {
			if row.ID == id {
				return false
			}
		}
		return true
	})
}

// The other program runs already: the terminal ends by itself, and nothing is
// typed for a name that somebody still has.
func TestReplacedAgentEnds(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.actor(s.server(), ways{})
	sent := r.accepted("work")
	row := r.row(agents.Working)
	r.becomes(row.PID)
	s.gone(row.ID)
	if _, err := s.send(row.ID, "more"); err == nil {
		t.Fatal("a task was taken")
	}
	turn := s.turn(sent.TurnID)
	if turn.Outcome != OutcomeLost || !strings.Contains(turn.Reason, errReplaced.Error()) {
		t.Errorf("%s: %s", turn.Outcome, turn.Reason)
	}
	if r.bytes() != pasted("work") || r.took() != "" {
		t.Fatalf("the agent read %q, the program %q", r.bytes(), r.took())
	}
}

// It became another agent, in the same process: the old one's terminal ends, the
// new one is found. And itself again: it is still there.
func TestReplacedByAnotherAgent(t *testing.T) {
	t.Parallel()
	s := newStage(t, codex.Agent{}, claude.Agent{})
	first, second := shellAs(t, agents.Codex, actorVersion), shellAs(t, agents.Claude, "2.1.267")
	socket := s.server()
	pane := s.tmux(socket, "new-window", "-d", "-P", "-F", "#{pane_id}",
		"exec "+first+" -c 'read x; exec "+first+` -c "read x; exec `+second+`"'`)
	var row rpc.Row
	listed := func(agent, version string) {
		t.Helper()
		s.until(agent+" is listed", func() bool {
			rows := s.rows()
			if len(rows) == 1 {
				row = rows[0]
			}
			return len(rows) == 1 && row.Agent == agent && row.AgentVersion == version
		})
	}
	listed("codex", actorVersion)
	was := row
	mark := imageMark(was.PID)
	s.tmux(socket, "send-keys", "-t", pane, "Enter")
	s.until("it began anew", func() bool { return imageMark(was.PID) != mark })
	r := &role{s: s, socket: socket, pane: pane}
	s.lookAgain(r)
	listed("codex", actorVersion)
	if row.ID != was.ID {
		t.Errorf("%s was %s", row.ID, was.ID)
	}
	s.tmux(socket, "send-keys", "-t", pane, "Enter")
	listed("claude", "2.1.267")
	if row.PID != was.PID {
		t.Errorf("process %d, was %d", row.PID, was.PID)
	}
	var gone []rpc.Event
	s.until("its end is told", func() bool {
		gone = slices.DeleteFunc(s.events(), func(e rpc.Event) bool { return e.Type != "terminal" || e.Change != "gone" })
		return len(gone) > 0
	})
	if len(gone) != 1 || gone[0].TerminalID != was.ID || gone[0].Reason != errReplaced.Error() {
		t.Errorf("%+v", gone)
	}
}

// It became another program while no daemon ran: its Turn is told lost, the
// Turn of an agent that is there is not touched.
func TestReplacedWhileNoDaemonLooked(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	socket := s.server()
	r, stays := s.actor(socket, ways{}), s.actor(socket, ways{})
	sent, other := r.accepted("work"), stays.accepted("other work")
	row := r.row(agents.Working)
	s.again(func() { r.becomes(row.PID) })
	stays.row(agents.Working)
	if rows := s.rows(); len(rows) != 1 {
		t.Fatalf("%d rows: %s", len(rows), rows[0].ID)
	}
	for _, srv := range s.desk.serverList() { // what the end of the first search does
		for _, turn := range []Turn{s.turn(sent.TurnID), s.turn(other.TurnID)} {
			if srv.left(turn.Key) != (turn.ID == sent.TurnID) {
				t.Errorf("the agent of %s: %v", turn.ID, srv.left(turn.Key))
			}
		}
		s.desk.settleOrphans(srv.id, srv.left)
	}
	s.until("its turn is lost", func() bool { return s.turn(sent.TurnID).Outcome == OutcomeLost })
	if turn := s.turn(other.TurnID); !turn.open() {
		t.Errorf("the other turn is %s: %s", turn.Outcome, turn.Reason)
	}
	if r.took() != "" {
		t.Fatalf("the program read %q", r.took())
	}
}

// becoming has the agent replaced in the last moment before a write: the gate
// has locked the pane and looked at everything else.
type becoming struct {
	panes.Provider
	at func(panes.Write) bool
	do func()
}

func (b becoming) Input(ctx context.Context, w panes.Write) (panes.Sent, error) {
	if b.at(w) {
		still := w.Still
		w.Still = func() error { b.do(); return still() }
	}
	return b.Provider.Input(ctx, w)
}

// The exec comes right before the paste, before Enter, or is seen first by the
// proof: the task is told as what it is, and the program reads no Enter and,
// before the paste, nothing.
func TestReplacedWhileSending(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		at      func(panes.Write) bool
		outcome string
		safe    bool
		agent   string
		says    string
	}{
		{"before the paste", func(w panes.Write) bool { return w.Paste != "" }, "aborted", true, "", errReplaced.Error()},
		{"before Enter", func(w panes.Write) bool { return w.Paste == "" }, "not_accepted", false, strings.TrimSuffix(pasted("task"), "\r"), "the text was left in the pane, Enter was not pressed"},
		{"before the proof", nil, "aborted", true, "", errReplaced.Error()},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			var r *role
			var row rpc.Row
			var times, looks atomic.Int32
			var blind atomic.Bool // no look at the processes: only the proof can see it
			if c.at != nil {
				s.wrap = func(p panes.Provider) panes.Provider {
					return becoming{p, c.at, func() { times.Add(1); r.becomes(row.PID) }}
				}
			} else {
				s.wrap = func(p panes.Provider) panes.Provider { return flaky{p, &blind, &looks} }
			}
			r = s.actor(s.server(), ways{})
			row = r.ready()
			if c.at == nil {
				blind.Store(true)
				r.becomes(row.PID)
			}
			sent, err := s.desk.Send(t.Context(), human, rpc.SendParams{ID: row.ID, Request: "task", AcceptWaitMillis: 50_000})
			if err != nil || sent.SubmissionOutcome != c.outcome || sent.SafeToRetry != c.safe || sent.DoNotRetry == c.safe || !strings.Contains(sent.Reason, c.says) {
				t.Fatalf("%v %s (safe %v): %s", err, sent.SubmissionOutcome, sent.SafeToRetry, sent.Reason)
			}
			s.gone(row.ID)
			if r.bytes() != c.agent || r.took() != "" {
				t.Fatalf("the agent read %q, the program %q", r.bytes(), r.took())
			}
			if c.at != nil && times.Load() != 1 {
				t.Errorf("it was asked %d times", times.Load())
			}
			if off := s.tmux(r.socket, "display-message", "-p", "-t", r.pane, "#{pane_input_off}"); off != "0" {
				t.Error("the pane is still locked")
			}
			if left := s.tmux(r.socket, "list-buffers"); left != "" {
				t.Errorf("a buffer is left: %s", left)
			}
		})
	}
}

// The exec comes some time after the paste, whoever sees it first: once it is
// there, nobody reads an Enter, and the sender is told so.
func TestReplacedAfterThePaste(t *testing.T) {
	t.Parallel()
	window := newActorAgent().plan.SettleMillis
	for i := range 6 {
		delay := time.Duration(i*window/5) * time.Millisecond
		t.Run(delay.String(), func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			var r *role
			var row rpc.Row
			done := make(chan struct{})
			s.wrap = func(p panes.Provider) panes.Provider {
				return pastes{p, func() {
					time.AfterFunc(delay, func() { defer close(done); r.becomes(row.PID) })
				}}
			}
			r = s.actor(s.server(), ways{})
			row = r.ready()
			sent, err := s.desk.Send(t.Context(), human, rpc.SendParams{ID: row.ID, Request: "task", AcceptWaitMillis: 50_000})
			if err != nil {
				t.Fatal(err)
			}
			<-done
			s.gone(row.ID)
			// What was typed at the agent and not yet read is the program's: no
			// look can be later than the key. Nothing is typed twice.
			read := r.bytes() + r.took()
			if strings.Count(read, "task") > 1 || strings.Count(read, "\r") > 1 || sent.SafeToRetry {
				t.Errorf("the agent read %q, the program %q; %s", r.bytes(), r.took(), sent.Reason)
			}
			if !sent.Delivered && (strings.Contains(read, "\r") || !strings.Contains(sent.Reason, "Enter was not pressed")) {
				t.Errorf("the agent read %q, the program %q; %s: %s", r.bytes(), r.took(), sent.SubmissionOutcome, sent.Reason)
			}
		})
	}
}

// pastes tells when a paste is done.
type pastes struct {
	panes.Provider
	done func()
}

func (p pastes) Input(ctx context.Context, w panes.Write) (panes.Sent, error) {
	sent, err := p.Provider.Input(ctx, w)
	if w.Paste != "" {
		p.done()
	}
	return sent, err
}

// With the real recognisers: what an agent's process runs after an exec, and
// what happens to a process that has none.
func TestBecame(t *testing.T) {
	t.Parallel()
	sh, err := filepath.EvalSymlinks("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	begin := func(t *testing.T) (*terminal, lab.Binary, func(string)) {
		t.Helper()
		b, err := lab.Impersonate(sh, t.TempDir(), agents.Codex, actorVersion)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(b.Native)
		cmd.Dir = b.Dir
		in, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = in.Close(); _ = cmd.Wait() })
		x := &terminal{agent: codex.Agent{}, key: Key{PID: cmd.Process.Pid}}
		(&bench{t: t}).until("it runs", func() bool {
			exe, args, ok := procImage(x.key.PID)
			x.proc = agents.Process{PID: x.key.PID, Exe: exe, Args: args}
			_, is := x.agent.Match(&x.proc)
			return ok && is && len(args) > 0
		})
		x.image = imageOf(&x.proc)
		return x, b, func(line string) { _, _ = in.Write([]byte(line + "\n")) }
	}
	changed := func(t *testing.T, x *terminal) {
		t.Helper()
		(&bench{t: t}).until("its exec", func() bool {
			_, args, _ := procImage(x.key.PID)
			return len(args) > 0 && imageMark(x.key.PID) != x.image.mark
		})
	}
	is := func(t *testing.T, x *terminal, want became) {
		t.Helper()
		if got := x.became(); got != want {
			exe, args, _ := procImage(x.key.PID)
			t.Fatalf("%d, want %d: %s %q", got, want, exe, args)
		}
		exe, args, ok := procImage(x.key.PID)
		if ok && x.replaced([]agents.Process{{PID: x.key.PID, Exe: exe, Args: args}}) != (want == otherProgram) {
			t.Fatal("a look at the pane's processes says something else")
		}
	}
	t.Run("another program", func(t *testing.T) {
		x, _, say := begin(t)
		is(t, x, sameAgent)
		say("exec /usr/bin/env sleep 600")
		changed(t, x)
		(&bench{t: t}).until("sleep runs", func() bool { return x.became() != betweenPrograms })
		is(t, x, otherProgram)
	})
	t.Run("another program under its name", func(t *testing.T) {
		x, b, say := begin(t)
		if err := os.WriteFile(filepath.Join(b.Dir, "exec"), []byte("cat\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		say("exec " + b.Native + " exec") // codex exec draws no TUI
		changed(t, x)
		is(t, x, otherProgram)
	})
	t.Run("itself anew", func(t *testing.T) {
		x, b, say := begin(t)
		say("exec " + b.Native)
		changed(t, x)
		is(t, x, sameAgent)
	})
	t.Run("replaced by an update while it runs", func(t *testing.T) {
		x, b, _ := begin(t)
		if err := os.Remove(b.Native); err != nil {
			t.Fatal(err)
		}
		is(t, x, sameAgent)
		x.image.mark = "" // where there are no marks
		is(t, x, sameAgent)
	})
	t.Run("its file was moved", func(t *testing.T) {
		x, b, _ := begin(t)
		if err := os.Rename(b.Native, filepath.Join(t.TempDir(), "old")); err != nil {
			t.Fatal(err)
		}
		is(t, x, sameAgent)
	})
	t.Run("it ends", func(t *testing.T) {
		x, _, say := begin(t)
		say("exit")
		(&bench{t: t}).until("its end", func() bool { return x.became() == noProcess })
	})
	t.Run("what can't be read", func(t *testing.T) {
		x := &terminal{agent: codex.Agent{}, proc: agents.Process{Exe: "/usr/bin/node", Args: []string{"node", "/lib/codex.js"}}, image: image{exe: "/usr/bin/node", mark: "1"}}
		for _, c := range []struct {
			exe, mark string
			args      []string
			want      became
		}{
			{"", "", nil, sameAgent},
			{"", "2", []string{"x"}, sameAgent},
			{"/bin/tee", "2", nil, betweenPrograms},
			{"/bin/tee", "2", []string{"tee"}, otherProgram},
			{"/bin/tee", "", []string{"tee"}, otherProgram},
			{"/usr/bin/node", "1", []string{"codex"}, sameAgent}, // a title
			{"/usr/bin/node", "", []string{"codex"}, sameAgent},  // where there are no marks
			{"/usr/bin/node", "2", []string{"node", "/lib/other.js"}, otherProgram},
			{"/usr/bin/node", "2", []string{"node", "/lib/codex.js"}, sameAgent},
		} {
			if got := x.judge(c.exe, c.args, c.mark); got != c.want {
				t.Errorf("%q %q %q: %d, want %d", c.exe, c.args, c.mark, got, c.want)
			}
		}
	})
}

// A key is asked for its agent each time; so is a look at a pane.
func BenchmarkBecame(b *testing.B) {
	p := agents.Process{PID: os.Getpid()}
	p.Exe, p.Args, _ = procImage(p.PID)
	x := &terminal{agent: codex.Agent{}, key: Key{PID: p.PID}, proc: p, image: imageOf(&p)}
	for b.Loop() {
		if x.became() != sameAgent {
			b.Fatal("another program")
		}
	}
}
