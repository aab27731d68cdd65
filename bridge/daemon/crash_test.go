package daemon

// B128 and issue 6's first proof, for what issue 2 has: the daemon is killed
// (SIGKILL) at every fail point and at random moments of a send, on a real tmux
// with an agent that logs its bytes. Never two submits, never an accepted turn
// lost, never a stuck terminal, the store sound each time.

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"akk/bridge/handoff"
	"akk/bridge/outbox"
	"akk/bridge/rpc"
	"akk/panes"
	"akk/store"
)

// dieAt makes this process kill itself at the fail point that the environment
// names ("name" or "name#3" for its third time).
func dieAt(spec string) {
	if spec == "" {
		return
	}
	name, nth, _ := strings.Cut(spec, "#")
	left := 1
	_, _ = fmt.Sscan(nth, &left)
	store.TestOnlyFailPoint(func(at string) {
		if at != name {
			return
		}
		if left--; left == 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	})
}

func openTmux(ctx context.Context, socket string) (panes.Provider, error) {
	return panes.Open(ctx, panes.Options{Socket: socket})
}

// tmuxServer is a private tmux server.
type tmuxServer struct {
	t      *testing.T
	dir    string
	socket string
}

func startTmux(t *testing.T) *tmuxServer {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	dir, err := os.MkdirTemp("/tmp", "akkc")
	if err != nil {
		t.Fatal(err)
	}
	s := &tmuxServer{t: t, dir: dir, socket: filepath.Join(dir, "t")}
	s.run("new-session", "-d", "-s", "w", "-x", "80", "-y", "24", "sleep 3600")
	t.Cleanup(func() {
		_ = exec.Command("tmux", "-S", s.socket, "kill-server").Run()
		_ = os.RemoveAll(dir)
	})
	return s
}

func (s *tmuxServer) run(args ...string) string {
	s.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-S", s.socket, "-f", "/dev/null"}, args...)...)
	cmd.Env = append(os.Environ(), "TMUX=", "AKK_TEST_DAEMON=", "AKK_TEST_PLAYER=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %v: %v %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// player starts an agent in a new pane and returns its pane and folder.
func (s *tmuxServer) player(n int) (pane, dir string) {
	s.t.Helper()
	dir = filepath.Join(s.dir, fmt.Sprint("p", n))
	if err := os.Mkdir(dir, 0o700); err != nil {
		s.t.Fatal(err)
	}
	pane = s.run("new-window", "-d", "-P", "-F", "#{pane_id}", "-e", "AKK_TEST_PLAYER=1", fmt.Sprintf("exec %s player %s", os.Args[0], dir))
	return pane, dir
}

// state is what must not change: options, keys and sizes of the server.
func (s *tmuxServer) state() string {
	s.t.Helper()
	var b strings.Builder
	for _, args := range [][]string{{"show-options", "-g"}, {"show-options", "-s"}, {"show-options", "-gw"}, {"list-keys"}, {"list-windows", "-t", "w:0", "-F", "#{window_width}x#{window_height}"}} {
		fmt.Fprintln(&b, s.run(args...))
	}
	return b.String()
}

func readFile(dir, name string) string {
	b, _ := os.ReadFile(filepath.Join(dir, name))
	return string(b)
}

func until(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(60 * time.Second); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

func TestCrash(t *testing.T) {
	tm := startTmux(t)
	o := home(t)
	points := []string{"handoff.committed.prepared", "handoff.paste", "handoff.typed", "handoff.committed.text_injected", "handoff.enter", "handoff.typed#2",
		"handoff.committed.sent", "handoff.committed.accepted", "handoff.committed.completed"}
	for n := 2; n <= 8; n++ { // each commit of a task's life, before and after
		points = append(points, fmt.Sprint("store.commit#", n), fmt.Sprint("store.committed#", n))
	}
	random := 300
	if n, err := strconv.Atoi(os.Getenv("AKK_CRASH")); err == nil && n > 1 {
		random = n
	}
	if os.Getenv("AKK_CRASH") == "" { // the short form; make crash runs everything
		points, random = []string{"handoff.committed.prepared", "handoff.typed", "handoff.enter", "handoff.committed.accepted"}, 1
	}
	for range random {
		points = append(points, "random")
	}
	before := ""
	for n, point := range points {
		t.Run(fmt.Sprint(n, " ", point), func(t *testing.T) {
			tm.t = t
			pane, dir := tm.player(n)
			if before == "" {
				before = tm.state()
			}
			defer func() { _ = exec.Command("tmux", "-S", tm.socket, "kill-pane", "-t", pane).Run() }()
			crashOnce(t, tm, o, point, pane, dir)
		})
	}
	tm.t = t
	tm.run("new-window", "-d", "sleep 3600") // the player of the first look
	old, now := strings.Split(before, "\n"), strings.Split(tm.state(), "\n")
	for _, line := range now {
		if !slices.Contains(old, line) {
			t.Errorf("tmux has now %q", line)
		}
	}
	for _, line := range old {
		if !slices.Contains(now, line) {
			t.Errorf("tmux lacks now %q", line)
		}
	}
}

func crashOnce(t *testing.T, tm *tmuxServer, o Options, point, pane, dir string) {
	text, id := "do "+strings.ReplaceAll(t.Name(), "/", " "), "msg-"+t.Name()
	if point == "random" {
		t.Setenv("AKK_TEST_CRASH", "")
	} else {
		t.Setenv("AKK_TEST_CRASH", point)
	}
	until(t, "the agent draws", func() bool { return strings.Contains(tm.run("capture-pane", "-p", "-t", pane), "idle composer") })
	host := rpc.HelloParams{Client: "host-bridge", Session: t.Name(), Route: &rpc.Route{Schema: outbox.RouteSchema, Version: 1, Transport: "command_json_v1",
		ProfileID: "crash", ProfileRevision: "1", ControllerSessionID: "s-" + strings.NewReplacer("/", "-", "#", "-", " ", "-").Replace(t.Name()), Capabilities: rpc.RouteCapabilities{Wake: true}}}
	first := func() (rpc.Send, error) {
		socket, err := Ensure(t.Context(), o)
		if err != nil {
			return rpc.Send{}, err
		}
		c, err := rpc.Dial(t.Context(), socket, host)
		if err != nil {
			return rpc.Send{}, err
		}
		defer c.Close()
		pid := c.Hello().PID
		if _, err := c.Attach(t.Context(), rpc.AttachParams{Socket: tm.socket}); err != nil {
			return rpc.Send{}, err
		}
		for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			if e, err := c.Explain(t.Context(), rpc.TargetParams{ID: pane}); err != nil || e.Sendable {
				break // killed already, or ready
			}
		}
		if point == "random" {
			time.AfterFunc(time.Duration(rand.IntN(160))*time.Millisecond, func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
		}
		s, err := c.Send(t.Context(), rpc.SendParams{ID: pane, Request: text, RequestID: id})
		if err == nil && point == "random" {
			gone(t, pid)
		}
		return s, err
	}
	s1, err1 := first()
	t.Logf("first daemon: %s %s %v", s1.Status, s1.TurnID, err1)

	t.Setenv("AKK_TEST_CRASH", "")
	_, c := ensure(t, o)
	if _, err := c.Attach(t.Context(), rpc.AttachParams{Socket: tm.socket}); err != nil {
		t.Fatal(err)
	}
	var turn *rpc.Turn
	until(t, "an answer for the pane", func() bool {
		st, err := c.Status(t.Context(), rpc.StatusParams{ID: pane})
		if err != nil {
			return false
		}
		turn = st.Conversation
		if turn == nil && st.Terminal.Managed.RecentTurn != nil {
			turn = st.Terminal.Managed.RecentTurn
		}
		return turn == nil || turn.Outcome != ""
	})
	bytes, log := readFile(dir, "bytes"), readFile(dir, "log")
	pastes, enters := strings.Count(bytes, "\x1b[200~"), strings.Count(bytes, "\r")
	accepted := strings.Count(log, `"accepted"`)
	if pastes > 1 || enters > 1 || accepted > 1 {
		t.Fatalf("%d pastes, %d Enters, %d accepted: %q", pastes, enters, accepted, bytes)
	}
	switch {
	case turn == nil:
		if pastes+enters > 0 {
			t.Fatalf("bytes without a turn: %q", bytes)
		}
	case accepted == 1 && turn.Outcome != "completed":
		t.Fatalf("accepted, but told %s: %s", turn.Outcome, turn.Reason)
	case accepted == 0 && (turn.Outcome == "completed" || turn.Stage == handoff.StageAccepted):
		t.Fatalf("told %s without acceptance", turn.Outcome)
	case turn.Outcome == "not_submitted" && pastes > 0:
		t.Fatalf("told not submitted: %q", bytes)
	}
	if turn != nil {
		t.Logf("turn: %s at %s, %s", turn.Outcome, turn.Stage, turn.Reason)
	}
	if turn != nil && turn.Outcome == "completed" {
		delivered(t, c.Hello().PID, o, host, turn.TurnID)
	}
	// The same request again: a receipt, or the first dispatch; never a second.
	until(t, "the reading settles", func() bool {
		e, err := c.Explain(t.Context(), rpc.TargetParams{ID: pane})
		return err == nil && (e.Sendable || turn != nil)
	})
	s2, err := c.Send(t.Context(), rpc.SendParams{ID: pane, Request: text, RequestID: id})
	if err != nil || turn != nil && s2.TurnID != turn.TurnID || turn == nil && s2.SubmissionOutcome != "agent_accepted" {
		t.Fatalf("the same request again: %v %+v", err, s2)
	}
	if bytes := readFile(dir, "bytes"); strings.Count(bytes, "\r") > 1 || strings.Count(bytes, "\x1b[200~") > 1 {
		t.Fatalf("typed twice: %q", bytes)
	}
	// Nothing is stuck: with an empty composer the next task goes.
	if accepted == 1 || turn == nil {
		until(t, "the next task goes", func() bool {
			s, err := c.Send(t.Context(), rpc.SendParams{ID: pane, Request: "and then"})
			return err == nil && s.SubmissionOutcome == "agent_accepted"
		})
	}
	_ = c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := Stop(ctx, o); err != nil {
		t.Fatal(err)
	}
	gone(t, c.Hello().PID)
	db, err := store.Open(o.StoreDir, store.Options{Schema: handoff.Schema()})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, err := range db.Check() {
		t.Errorf("store: %v", err)
	}
}

// delivered leases the Host's callbacks: the end of the Turn is told exactly
// once, whatever moment the daemon died in (scenario 65, B136).
func delivered(t *testing.T, pid int, o Options, host rpc.HelloParams, turn string) {
	t.Helper()
	socket, err := Ensure(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	lease, err := rpc.Dial(t.Context(), socket, host) // a stream has a connection of its own
	if err != nil {
		t.Fatal(err)
	}
	defer lease.Close()
	answer, err := rpc.Dial(t.Context(), socket, host)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
	defer cancel()
	ends, quiet := 0, time.AfterFunc(time.Hour, cancel)
	err = lease.Deliveries(ctx, func(l rpc.Lease) error {
		if l.Envelope.Source.TurnID == turn && l.Envelope.Event.Type == "done" {
			if ends++; ends == 1 {
				quiet.Reset(200 * time.Millisecond) // a second one would follow at once
			}
		}
		_, err := answer.Outcome(ctx, rpc.OutcomeParams{DeliveryID: l.Envelope.DeliveryID, LeaseID: l.LeaseID, Outcome: rpc.OutcomeAccepted, AcceptanceID: "a"})
		return err
	})
	if ends != 1 {
		rows, _ := answer.Callbacks(t.Context(), rpc.CallbacksParams{All: true})
		t.Logf("callbacks: %+v", rows)
		_ = answer.Events(t.Context(), rpc.EventsParams{All: true}, func(rpc.EventsResult) error { return nil }, func(e rpc.Event) error {
			if e.TurnID == turn || e.Type == "delivery" {
				t.Logf("%d %s %s %s", e.Seq, e.Type, e.Change, e.Reason)
			}
			return nil
		})
		t.Fatalf("daemon %d told the end %d times: %v", pid, ends, err)
	}
}
