package handoff

// This file holds the stage: a desk with its own store on real tmux servers
// whose panes run actors. Nothing between the desk and the actor's stdin is
// replaced; the checks are on what the actor read and on what a Host is told.

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"akk/agents"
	"akk/bridge/rpc"
	"akk/panes"
	"akk/store"
)

// stage is a desk on real tmux servers.
type stage struct {
	*bench
	dir     string // short: the path of a socket is bounded
	sockets []string
	n       int
	how     panes.Transport                     // of servers that are attached from now on
	wrap    func(panes.Provider) panes.Provider // what the desk gets of a server; nil = the server
}

func newStage(t *testing.T, list ...agents.Agent) *stage {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	dir, err := os.MkdirTemp("/tmp", "akks")
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{bench: &bench{t: t, dir: filepath.Join(dir, "store")}, dir: dir}
	t.Cleanup(func() {
		for _, socket := range s.sockets {
			_ = s.cmd(socket, "kill-server").Run()
		}
		_ = os.RemoveAll(dir)
	})
	t.Cleanup(s.close) // before the servers go
	if len(list) == 0 {
		list = []agents.Agent{newActorAgent()}
	}
	s.desk, s.db = s.begin(s.bench.dir, list)
	return s
}

// begin is a daemon on a store of that folder.
func (s *stage) begin(dir string, list []agents.Agent) (*Desk, *store.DB) {
	s.t.Helper()
	db, err := store.Open(dir, store.Options{Schema: Schema()})
	if err != nil {
		s.t.Fatal(err)
	}
	d, err := New(Options{DB: db, Agents: list, Attach: func(ctx context.Context, socket string) (panes.Provider, error) {
		p, err := panes.Open(ctx, panes.Options{Socket: socket, Owner: filepath.Base(dir), Transport: s.how})
		if err != nil {
			return nil, err
		}
		if s.wrap != nil {
			return s.wrap(p), nil
		}
		return p, nil
	}})
	if err != nil {
		s.t.Fatal(err)
	}
	return d, db
}

// again is the daemon's restart; between runs while none is there.
func (s *stage) again(between func()) {
	s.t.Helper()
	list := s.desk.agents
	s.close()
	between()
	s.desk, s.db = s.begin(s.bench.dir, list)
	for _, socket := range s.sockets {
		s.attach(s.desk, socket)
	}
}

func (s *stage) attach(d *Desk, socket string) {
	s.t.Helper()
	if _, err := d.Attach(s.t.Context(), rpc.AttachParams{Socket: socket}); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) cmd(socket string, args ...string) *exec.Cmd {
	c := exec.Command("tmux", append([]string{"-S", socket, "-f", "/dev/null"}, args...)...)
	c.Env = append(os.Environ(), "TMUX=", "TMUX_PANE=", "SHELL=/bin/sh", actorEnv+"=1")
	return c
}

func (s *stage) tmux(socket string, args ...string) string {
	s.t.Helper()
	out, err := s.cmd(socket, args...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %v: %v %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// server starts a tmux server with one session "s" whose pane is a shell, and
// attaches the desk to it.
func (s *stage) server() (socket string) {
	s.t.Helper()
	socket = filepath.Join(s.dir, fmt.Sprint("t", len(s.sockets)))
	s.tmux(socket, "new-session", "-d", "-s", "s", "-x", "80", "-y", "24", "exec /bin/sh")
	s.sockets = append(s.sockets, socket)
	// Nothing is left behind by a test binary that is killed.
	s.tmux(socket, "run-shell", "-b", fmt.Sprintf("while kill -0 %d 2>/dev/null; do sleep 2; done; tmux -S %s kill-server", os.Getpid(), socket))
	s.attach(s.desk, socket)
	return socket
}

// role is an actor in its pane.
type role struct {
	s            *stage
	socket, pane string
	dir          string
}

// command is the shell's line that starts an actor, whose folder is made.
func (s *stage) command(w ways) (line, dir string) {
	s.t.Helper()
	s.n++
	dir = filepath.Join(s.dir, fmt.Sprint("a", s.n))
	b, err := json.Marshal(w)
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "ways"), b, 0o600)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	return actorEnv + "=1 " + exe + " actor " + dir, dir
}

// actor starts one in a window of its own; below a shell, which stays.
func (s *stage) actor(socket string, w ways) *role {
	s.t.Helper()
	line, dir := s.command(w)
	pane := s.tmux(socket, "new-window", "-d", "-P", "-F", "#{pane_id}", line+"; exec /bin/sh")
	return &role{s, socket, pane, dir}
}

// tell gives the actor a word and returns its answer.
func (r *role) tell(word string, arg string) string {
	r.s.t.Helper()
	var c net.Conn
	r.s.until("the actor listens", func() (ok bool) {
		var err error
		c, err = net.Dial("unix", filepath.Join(r.dir, "ctl"))
		return err == nil
	})
	defer c.Close()
	b, _ := json.Marshal(arg)
	_, _ = fmt.Fprintf(c, "%s %s\n", word, b)
	answer, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		r.s.t.Fatalf("the actor does not answer: %v", err)
	}
	return strings.TrimSpace(answer)
}

// reads is what the actor read so far.
func (r *role) reads() (out []keyRead) {
	f, err := os.Open(filepath.Join(r.dir, "reads"))
	if err != nil {
		return nil
	}
	defer f.Close()
	for d := json.NewDecoder(f); ; {
		var k keyRead
		if d.Decode(&k) != nil {
			return out
		}
		out = append(out, k)
	}
}

// bytes are the reads' bytes, the paste's markers left in.
func (r *role) bytes() string {
	var b strings.Builder
	for _, k := range r.reads() {
		b.WriteString(k.Bytes)
	}
	return b.String()
}

// row waits until the actor is listed with that activity.
func (r *role) row(a agents.Activity) (got rpc.Row) {
	r.s.t.Helper()
	r.s.until(fmt.Sprintf("%s of %s is %s", r.pane, r.socket, a), func() bool {
		for _, row := range r.s.rows() {
			if row.TerminalControl.PaneID == r.pane && row.TerminalControl.SocketPath == r.socket && row.Reading.Activity == a && r.s.whole(row.ID) {
				got = row
				return true
			}
		}
		return false
	})
	return got
}

// ready waits until a send is offered.
func (r *role) ready() (got rpc.Row) {
	r.s.t.Helper()
	r.s.until(r.pane+" is ready", func() bool {
		got = r.row(agents.Idle)
		_, ok := got.AvailableActions["send"]
		return ok
	})
	return got
}

// send is a human's task with much patience.
func (r *role) send(text string, more ...func(*rpc.SendParams)) (rpc.Send, error) {
	p := rpc.SendParams{ID: r.ready().ID, Request: text, AcceptWaitMillis: 50_000}
	for _, f := range more {
		f(&p)
	}
	return r.s.desk.Send(r.s.t.Context(), human, p)
}

// accepted is a task that must be taken.
func (r *role) accepted(text string) rpc.Send {
	r.s.t.Helper()
	s, err := r.send(text)
	if err != nil || s.SubmissionOutcome != "agent_accepted" {
		r.s.t.Fatalf("%v %s: %s; it read %q", err, s.Status, s.Reason, r.bytes())
	}
	return s
}

// pasted is what the actor reads of a task.
func pasted(text string) string { return pasteBegin + text + pasteEnd + "\r" }
