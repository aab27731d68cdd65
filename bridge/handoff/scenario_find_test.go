package handoff

// Scenarios of discovery and list, and bug reports about who is in a pane: on
// real tmux servers with real processes where the machine can be made to show
// the case, in memory where it can't (a process id that is used again).

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"akk/agents"
	"akk/agents/claude"
	"akk/bridge/rpc"
	"akk/panes"
	"akk/store"
)

// Scenario 1: two servers, each with a session s whose pane 0.0 runs an agent:
// two rows with names of their own, neither is taken for the other.
func TestScenario1TwoServers(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	var roles []*role
	for range 2 {
		r := &role{s: s, socket: s.server(), pane: "%0"}
		line := ""
		line, r.dir = s.command(ways{})
		s.tmux(r.socket, "send-keys", "-t", "s:0.0", line, "Enter")
		roles = append(roles, r)
	}
	a, b := roles[0].ready(), roles[1].ready()
	if a.TerminalControl.Target != "s:0.0" || b.TerminalControl.Target != "s:0.0" || a.ID == b.ID || a.ShortRef == b.ShortRef || len(s.rows()) != 2 {
		t.Fatalf("%s %s and %s %s", a.ID, a.TerminalControl.Target, b.ID, b.TerminalControl.Target)
	}
	roles[0].accepted("for the first")
	if roles[1].bytes() != "" || roles[0].bytes() != pasted("for the first") {
		t.Fatalf("read %q and %q", roles[0].bytes(), roles[1].bytes())
	}
	_, err := s.send("%0", "for whom?") // the pane's id alone fits both
	s.refused(err, "several servers")
}

// Scenario 2: below a wrapper the row is the agent's: its process id is in the
// terminal's name, the pane's process is another.
func TestScenario2Wrapper(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.actor(s.server(), ways{})
	row := r.ready()
	if row.PID == row.TerminalControl.PanePID || !strings.HasSuffix(row.ID, ":"+strconv.Itoa(row.PID)) {
		t.Fatalf("%s: agent %d, pane %d", row.ID, row.PID, row.TerminalControl.PanePID)
	}
	args, err := os.ReadFile("/proc/" + strconv.Itoa(row.PID) + "/cmdline")
	if err != nil || !strings.Contains(string(args), "\x00actor\x00"+r.dir) {
		t.Fatalf("process %d is %q", row.PID, args)
	}
}

// Scenario 4: the native installation runs as .../claude/versions/2.1.237; the
// real reader knows it and its version by that.
func TestScenario4NativeClaude(t *testing.T) {
	t.Parallel()
	s := newStage(t, claude.Agent{})
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(s.dir, ".local/share/claude/versions/2.1.237")
	if err = os.MkdirAll(filepath.Dir(bin), 0o700); err == nil {
		err = os.Link(exe, bin)
		if err != nil { // another file system
			var b []byte
			if b, err = os.ReadFile(exe); err == nil {
				err = os.WriteFile(bin, b, 0o700)
			}
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	socket := s.server()
	line, _ := s.command(ways{})
	pane := s.tmux(socket, "new-window", "-d", "-P", "-F", "#{pane_id}", strings.Replace(line, exe, bin, 1))
	var row rpc.Row
	s.until("it is listed", func() bool {
		rows := s.rows()
		if len(rows) == 1 {
			row = rows[0]
		}
		return len(rows) == 1
	})
	if row.Agent != "claude" || row.AgentVersion != "2.1.237" || row.TerminalControl.PaneID != pane {
		t.Fatalf("%s %s in %s", row.Agent, row.AgentVersion, row.TerminalControl.PaneID)
	}
}

// Scenario 7: the same process id, another birth: another incarnation. The old
// Session and its Turn are not its own, the old name is refused.
func TestScenario7PIDReused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	s := b.sendAs(human, p, "for the old one")
	p.complete("done")
	b.w.leave(p)
	b.until("the old one is gone", func() bool { return len(b.rows()) == 0 })
	b.w.mu.Lock()
	b.w.nextPID, b.w.born = p.pid-1, time.Unix(1_800_009_000, 0) // the next process gets the same number
	b.w.mu.Unlock()
	q := b.w.playIn(p.id)
	if q.pid != p.pid {
		t.Fatalf("process %d, want %d", q.pid, p.pid)
	}
	row := b.row(q, agents.Idle)
	if row.Managed.SessionID != nil || row.ManagementState != "unmanaged" {
		t.Fatalf("the old session %s is the new one's", *row.Managed.SessionID)
	}
	_, err := b.send("", "for the old one's session", func(p *rpc.SendParams) { p.SessionID = s.SessionID })
	if err == nil {
		t.Fatal("the old session took a task")
	}
	next := b.sendAs(human, q, "for the new one")
	if next.SessionID == s.SessionID || q.bytes() != "for the new one\r" {
		t.Fatalf("session %s, read %q", next.SessionID, q.bytes())
	}
}

// Scenario 8: another program's screen in the agent's pane (a pager, an editor,
// a shell's prompt that the agent opened): unknown, listed, never sent to.
func TestScenario8UnknownScreen(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.actor(s.server(), ways{})
	id := r.ready().ID
	for _, screen := range []string{"~\r\n~\r\n~\r\n\"notes.txt\" 3L, 20B", "a page\r\nof text\r\n\x1b[7m(END)\x1b[m", "$ ls\r\nfile\r\n$ "} {
		r.tell("raw", screen)
		row := r.row(agents.ActivityUnknown)
		if row.ScreenState != "unknown" || row.AvailableActions["send"].Tool != "" || row.ID != id {
			t.Errorf("%q: %s, %+v", screen, row.ScreenState, row.AvailableActions["send"])
		}
		for _, more := range [][]func(*rpc.SendParams){nil, {explicitly}} {
			_, err := s.send(id, "task", more...)
			s.refused(err, "not known")
		}
	}
	if got := r.bytes(); got != "" {
		t.Fatalf("read %q", got)
	}
}

// Scenario 11: broken records in the store: everything else is listed, the fault
// is told by the list's reader of faults.
func TestScenario11BrokenRecords(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p, q := b.w.play(), b.w.play()
	s := b.sendAs(human, p, "work")
	if _, err := b.desk.Watch(t.Context(), human, rpc.WatchParams{ID: q.id}); err != nil {
		t.Fatal(err)
	}
	b.close()
	db, err := store.Open(b.dir, store.Options{Schema: Schema()})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *store.Tx) error {
		for _, name := range []string{"turns", "watches", "sessions"} {
			if _, err := store.NewCollection[json.RawMessage](name).Put(tx, "broken", json.RawMessage(`"?"`), 0); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	b.open()
	b.row(p, agents.Working)
	b.row(q, agents.Idle)
	for _, all := range []bool{false, true} {
		l, err := b.desk.List(t.Context(), human, rpc.ListParams{All: all})
		if err != nil || len(l.Terminals) != 2 || len(l.TerminalWatches) != 1 {
			t.Fatalf("all %v: %v, %d terminals, %d watches", all, err, len(l.Terminals), len(l.TerminalWatches))
		}
	}
	if row := b.row(p, agents.Working); row.Managed.CurrentTurn == nil || row.Managed.CurrentTurn.TurnID != s.TurnID {
		t.Errorf("%+v", row.Managed)
	}
	report, err := b.desk.StoreCheck(t.Context(), human)
	if err != nil || len(report.Faults) != 3 {
		t.Errorf("the check tells %v %v", report.Faults, err)
	}
	b.desk.Close() // the check of the end would find the three
	_ = b.db.Close()
	b.desk = nil
}

// flaky is a server whose look at the processes fails while it is told to.
type flaky struct {
	panes.Provider
	fails *atomic.Bool
	asked *atomic.Int32
}

func (f flaky) Processes(id string) []agents.Process {
	if f.fails.Load() {
		f.asked.Add(1)
		return nil
	}
	return f.Provider.Processes(id)
}

// B121: two daemons, two stores, one server. A look that fails is not "gone";
// a daemon that ends takes nothing with it that it did not start.
func TestB121NothingOfOthers(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	var fails atomic.Bool
	var asked atomic.Int32
	s.wrap = func(p panes.Provider) panes.Provider { return flaky{p, &fails, &asked} }
	socket := s.server()
	r := s.actor(socket, ways{})
	sent := r.accepted("long work")
	fails.Store(true)
	s.tmux(socket, "set-option", "-p", "-t", r.pane, "remain-on-exit", "on") // and what makes the desk look again
	for i := range 3 {
		s.tmux(socket, "rename-window", "-t", r.pane, "w"+strconv.Itoa(i))
	}
	s.lookAgain(r)
	s.until("it was asked", func() bool { return asked.Load() > 0 })
	s.lookAgain(r)
	fails.Store(false)
	if row := r.row(agents.Working); row.Managed.CurrentTurn == nil || row.Managed.CurrentTurn.TurnID != sent.TurnID {
		t.Fatalf("%+v", row.Managed)
	}
	for _, e := range s.events() {
		if e.Change == "gone" || e.Change == OutcomeLost {
			t.Errorf("told %s %s: %s", e.Type, e.Change, e.Reason)
		}
	}
	if turn := s.turn(sent.TurnID); !turn.open() {
		t.Fatalf("the turn is %s: %s", turn.Outcome, turn.Reason)
	}

	before := s.tmux(socket, "list-panes", "-a", "-F", "#{pane_id} #{pane_pid} #{pane_dead}")
	other, db := s.begin(filepath.Join(s.dir, "other"), s.desk.agents)
	s.attach(other, socket)
	s.until("the other one sees it", func() bool {
		l, err := other.List(t.Context(), human, rpc.ListParams{})
		return err == nil && len(l.Terminals) == 1
	})
	other.Close()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if now := s.tmux(socket, "list-panes", "-a", "-F", "#{pane_id} #{pane_pid} #{pane_dead}"); now != before {
		t.Errorf("before\n%s\nnow\n%s", before, now)
	}
	r.tell("complete", "done all the same")
	s.until("its end", func() bool { return s.turn(sent.TurnID).FinalText == "done all the same" })
}

// lookAgain makes the desk look for the agent of a pane, as another command in
// it does.
func (s *stage) lookAgain(r *role) {
	for _, srv := range s.desk.serverList() {
		if srv.id.Socket == r.socket {
			srv.scan(context.Background(), r.pane)
		}
	}
}

// B122: the agent ended while no daemon ran: a bare shell is no idle agent. Its
// Turn is told lost, nothing is typed into the shell.
func TestB122ShellAfterRestart(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	socket := s.server()
	r, stays := s.actor(socket, ways{}), s.actor(socket, ways{})
	sent := r.accepted("work")
	was := r.row(agents.Working)
	stays.ready()
	s.again(func() {
		r.tell("leave", "")
		s.until("only a shell is in the pane", func() bool { return syscall.Kill(was.PID, 0) != nil })
	})
	stays.ready()
	if rows := s.rows(); len(rows) != 1 {
		t.Fatalf("%d rows: %s", len(rows), rows[0].ID)
	}
	pwned := filepath.Join(s.dir, "pwned")
	_, err := s.send(r.pane, "touch "+pwned)
	s.refused(err, "no agent runs in pane")
	_, err = s.send(was.ID, "touch "+pwned)
	s.refused(err, "no agent's terminal")
	for _, srv := range s.desk.serverList() { // what the end of the first search does
		s.desk.settleOrphans(srv.id, srv.left)
	}
	s.until("its turn is lost", func() bool { return s.turn(sent.TurnID).Outcome == OutcomeLost })
	if _, err := os.Stat(pwned); err == nil {
		t.Fatal("the task ran in the shell")
	}
}

// B127: a neighbour that is split off and exits is nothing to the agent.
func TestB127Neighbour(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	socket := s.server()
	r := s.actor(socket, ways{})
	sent := r.accepted("long work")
	row := r.row(agents.Working)
	hooks := s.tmux(socket, "show-hooks", "-g")
	for range 3 {
		beside := s.tmux(socket, "split-window", "-d", "-t", r.pane, "-P", "-F", "#{pane_id}", "exit 3")
		s.until("the neighbour is gone", func() bool {
			return !slices.Contains(strings.Fields(s.tmux(socket, "list-panes", "-a", "-F", "#{pane_id}")), beside)
		})
	}
	r.tell("complete", "done")
	s.until("its end", func() bool { return s.turn(sent.TurnID).FinalText == "done" })
	after := r.ready()
	if after.PID != row.PID || after.TerminalControl.PaneID != row.TerminalControl.PaneID {
		t.Errorf("%+v", after.TerminalControl)
	}
	for _, e := range s.events() {
		if e.TerminalID == row.ID && e.Change == "gone" {
			t.Errorf("told %s: %s", e.Change, e.Reason)
		}
	}
	if now := s.tmux(socket, "show-hooks", "-g"); now != hooks {
		t.Errorf("hooks were %q, are %q", hooks, now)
	}
}

// B64: whatever is asked, the answer is the same: the list, the status, the
// explanation and the journal tell one state at each of 50 changes.
func TestB64OneTruth(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.actor(s.server(), ways{})
	id := r.ready().ID
	for i := range 50 {
		owner, state := "composer", []agents.Activity{agents.Working, agents.Idle, agents.Blocked}[i%3]
		if state == agents.Blocked {
			owner = "approval"
		}
		r.tell("look", string(state)+" "+owner)
		row := r.row(state)
		st, err := s.desk.Status(t.Context(), human, rpc.StatusParams{ID: id})
		if err != nil {
			t.Fatal(err)
		}
		e, err := s.desk.Explain(t.Context(), human, rpc.TargetParams{ID: id})
		if err != nil {
			t.Fatal(err)
		}
		var told *agents.Reading
		s.until("the journal tells it", func() bool {
			for _, ev := range s.events() {
				if ev.Type == "reading" && ev.TerminalID == id {
					told = ev.Reading
				}
			}
			return told != nil && told.Activity == state
		})
		still := r.row(state).Reading.Generation == row.Reading.Generation // a picture may come in two parts
		for name, g := range map[string]agents.Reading{"list": row.Reading.Reading, "status": st.Terminal.Reading.Reading, "explain": e.Reading, "journal": *told} {
			if g.Activity != state || string(g.Owner) != owner || still && name != "journal" && g.Generation != row.Reading.Generation {
				t.Errorf("%d: the %s tells %s %s of picture %d, the list %s %s of %d", i, name, g.Activity, g.Owner, g.Generation, state, owner, row.Reading.Generation)
			}
		}
		if want, _ := screenState(row.Reading.Reading); row.ActivityState != want || st.TerminalStatus.ActivityState != want {
			t.Errorf("%d: the words are %s and %s", i, row.ActivityState, st.TerminalStatus.ActivityState)
		}
	}
}
