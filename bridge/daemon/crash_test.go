package daemon

// B128 and issue 6's first proof: the daemon is killed (SIGKILL) at every fail
// point and at random moments of tasks, holds, interrupts, explicit sends,
// watches, callbacks and two Hosts at once, on a real tmux with agents that log
// their bytes. Never two submits, never an accepted Turn lost, never a stuck
// terminal, every Turn ends as the bytes say, nothing is left behind in tmux, the
// store is sound each time.

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"akk/bridge/handoff"
	"akk/bridge/rpc"
	"akk/panes"
	"akk/store"
)

// dieAt makes this process kill itself at the fail point that the environment
// names ("name" or "name#3" for its third time), and note all that it passes in
// the file.
func dieAt(spec, file string) {
	if spec == "" && file == "" {
		return
	}
	name, nth, _ := strings.Cut(spec, "#")
	left := 1
	_, _ = fmt.Sscan(nth, &left)
	var mu sync.Mutex
	seen := map[string]bool{}
	store.TestOnlyFailPoint(func(at string) {
		mu.Lock()
		defer mu.Unlock()
		if file != "" && !seen[at] {
			seen[at] = true
			if f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err == nil {
				fmt.Fprintln(f, at)
				_ = f.Close()
			}
		}
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
		s.t.Errorf("tmux %v: %v %s", args, err, out)
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

// state is what must not change: options, keys, hooks, buffers, the hidden
// environment (marks of locks) and sizes of the server, locked panes.
func (s *tmuxServer) state() string {
	s.t.Helper()
	var b strings.Builder
	for _, args := range [][]string{{"show-options", "-g"}, {"show-options", "-s"}, {"show-options", "-gw"}, {"show-options"}, {"list-keys"}, {"show-hooks", "-g"}, {"show-hooks"},
		{"list-buffers", "-F", "buffer #{buffer_name}"}, {"show-environment", "-gh"}, {"list-panes", "-a", "-f", "#{pane_input_off}", "-F", "locked #{pane_id}"},
		{"list-clients", "-F", "client #{client_name}"}, {"list-windows", "-t", "w:0", "-F", "#{window_width}x#{window_height}"}} {
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

// crashRun is one death: a script and where it dies ("" = at a random moment of
// it).
type crashRun struct {
	script script
	point  string
}

// lanes are how many runs go side by side: they mostly wait.
const lanes = 3

func TestCrash(t *testing.T) {
	_ = home(t) // the environment of all lanes
	long := os.Getenv("AKK_CRASH") != ""
	random := 300
	if n, err := strconv.Atoi(os.Getenv("AKK_CRASH")); err == nil && n > 1 {
		random = n
	}
	var runs []crashRun
	if !long { // the short form, in the suite
		for _, point := range []string{"handoff.committed.prepared", "handoff.typed", "handoff.enter", "handoff.committed.accepted", ""} {
			runs = append(runs, crashRun{scripts[0], point})
		}
	} else {
		runs = append(everyPoint(t), runs...)
		for n := range random {
			runs = append(runs, crashRun{script: scripts[n%len(scripts)]})
		}
	}
	began := time.Now()
	todo := make(chan crashRun, len(runs))
	for _, r := range runs {
		todo <- r
	}
	close(todo)
	t.Run("lanes", func(t *testing.T) {
		for lane := range lanes {
			t.Run(fmt.Sprint(lane), func(t *testing.T) {
				t.Parallel()
				tm := startTmux(t)
				o := newHome(t, fmt.Sprint("lane", lane))
				n := 0
				for r := range todo {
					n++
					t.Run(strings.ReplaceAll(fmt.Sprint(n, " ", r.script.name, " ", r.point), " ", "_"), func(t *testing.T) { crashOnce(t, tm, o, r, n) })
					tm.t = t
					if t.Failed() && n > 20 {
						return
					}
				}
			})
		}
	})
	t.Logf("%d deaths in %s", len(runs), time.Since(began).Round(time.Second))
}

// newHome is a store folder beside home's.
func newHome(t *testing.T, name string) Options {
	t.Helper()
	store := filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), name)
	o := Options{StoreDir: store, Version: "1.0.0", Client: "test", Self: []string{os.Args[0], store}}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := Stop(ctx, o); err != nil {
			t.Error(err)
		}
	})
	return o
}

// newScene starts the agents of a run.
func newScene(t *testing.T, tm *tmuxServer, o Options, r crashRun, n int, points string) *scene {
	t.Helper()
	tm.t = t
	s := &scene{t: t, tm: tm, o: o, dying: o, sent: map[string]string{}}
	s.dying.Self = []string{"/usr/bin/env", "AKK_TEST_CRASH=" + r.point, "AKK_TEST_POINTS=" + points, os.Args[0], o.StoreDir}
	for i := range 2 {
		s.panes[i], s.dirs[i] = tm.player(10*n + i)
		session := fmt.Sprintf("%s-%d-%c", filepath.Base(o.StoreDir), n, 'a'+i)
		s.hosts[i] = rpc.HelloParams{Client: "host-bridge", Session: session, Route: route(session)}
	}
	for _, pane := range s.panes {
		until(t, "the agent draws", func() bool { return strings.Contains(tm.run("capture-pane", "-p", "-t", pane), "idle composer") })
	}
	return s
}

func (s *scene) end() {
	s.killBridges()
	for _, pane := range s.panes {
		_ = exec.Command("tmux", "-S", s.tm.socket, "kill-pane", "-t", pane).Run()
	}
}

// begin starts the daemon that will die, and attaches the server.
func (s *scene) begin() (*rpc.Client, int) {
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	socket, err := Ensure(ctx, s.dying)
	if err != nil { // it died at its very start
		s.t.Logf("the first daemon: %v", err)
		return nil, 0
	}
	c, err := rpc.Dial(ctx, socket, s.hosts[0])
	if err != nil {
		s.t.Logf("the first daemon: %v", err)
		return nil, 0
	}
	_, _ = c.Attach(ctx, rpc.AttachParams{Socket: s.tm.socket})
	s.bridge(0)
	return c, c.Hello().PID
}

func crashOnce(t *testing.T, tm *tmuxServer, o Options, r crashRun, n int) {
	tm.t = t
	before := tm.state()
	s := newScene(t, tm, o, r, n, "")
	defer s.end()
	c, pid := s.begin()
	if c != nil {
		var timer *time.Timer
		if r.point == "" {
			timer = time.AfterFunc(time.Duration(rand.Int64N(int64(r.script.long))), func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
		}
		r.script.run(s, c)
		if timer != nil {
			timer.Stop()
		}
		_ = syscall.Kill(pid, syscall.SIGKILL) // if it is through before
		gone(t, pid)
		_ = c.Close()
	}
	s.check(before)
}

// scriptTries is how often the scripts run until every point was passed: some
// race with what they start, as a human does.
const scriptTries = 4

// everyPoint runs each script and returns a run for each fail point that it
// passes. A fail point of the source that none passes fails the test.
func everyPoint(t *testing.T) (runs []crashRun) {
	passed, known := map[string]bool{}, map[string]bool{}
	tm := startTmux(t)
	o := newHome(t, "points")
	for n := range scriptTries * len(scripts) {
		if n > 0 && n%len(scripts) == 0 && len(missedPoints(t, passed)) == 0 {
			break
		}
		sc := scripts[n%len(scripts)]
		t.Run("points of "+strings.ReplaceAll(sc.name, " ", "_"), func(t *testing.T) {
			tm.t = t
			file := filepath.Join(tm.dir, fmt.Sprint("points", n))
			before := tm.state()
			s := newScene(t, tm, o, crashRun{script: sc}, n, file)
			defer s.end()
			c, pid := s.begin()
			if c == nil {
				t.Fatal("no daemon")
			}
			sc.run(s, c)
			_ = syscall.Kill(pid, syscall.SIGKILL)
			gone(t, pid)
			_ = c.Close()
			for _, point := range strings.Fields(readFile(tm.dir, fmt.Sprint("points", n))) {
				passed[point] = true
				if !known[sc.name+" "+point] {
					runs = append(runs, crashRun{sc, point})
				}
				known[sc.name+" "+point] = true
			}
			s.check(before)
		})
	}
	for _, m := range missedPoints(t, passed) {
		t.Error(m)
	}
	for n := 2; n <= 9; n++ { // each commit of a task's life, before and after
		runs = append(runs, crashRun{scripts[0], fmt.Sprint("store.commit#", n)}, crashRun{scripts[0], fmt.Sprint("store.committed#", n)})
	}
	runs = append(runs, crashRun{scripts[0], "handoff.typed#2"}) // Enter
	return runs
}

// check starts a daemon that lives and holds what it tells against the bytes.
func (s *scene) check(before string) {
	t := s.t
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	socket, err := Ensure(ctx, s.o)
	if err != nil {
		t.Fatal(err)
	}
	c, err := rpc.Dial(ctx, socket, s.hosts[0])
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Attach(ctx, rpc.AttachParams{Socket: s.tm.socket}); err != nil {
		t.Fatal(err)
	}
	s.killBridges()
	s.free(c)
	var all []rpc.Turn
	until(t, "every turn ends", func() bool {
		s.finish()
		for _, pane := range s.panes { // a question of before
			if strings.Contains(s.tm.run("capture-pane", "-p", "-t", pane), "blocked approval") {
				s.tm.run("send-keys", "-t", pane, "y")
			}
		}
		if all, err = c.Turns(ctx, rpc.TurnsParams{All: true, Limit: 1000}); err != nil {
			return false
		}
		for _, turn := range all {
			if turn.Outcome == "" {
				return false
			}
		}
		return true
	})
	for _, k := range s.asked {
		s.compare(c, k)
	}
	s.callbacks(c)
	for i, pane := range s.panes { // nothing is stuck
		if strings.Contains(s.tm.run("capture-pane", "-p", "-t", pane), "idle composer\n> ") {
			s.tm.run("send-keys", "-t", pane, "C-u") // what was left, or what a human wrote
		}
		until(t, "the next task goes to pane "+strconv.Itoa(i), func() bool {
			r, err := c.Send(ctx, rpc.SendParams{ID: pane, Request: s.text("and then")})
			switch { // what free and the look above came too early for, the human does now
			case err == nil:
			case strings.Contains(err.Error(), "holds the terminal"):
				s.human(c, "handback")
			case strings.Contains(err.Error(), "a draft stands"):
				s.tm.run("send-keys", "-t", pane, "C-u")
			}
			return err == nil && r.SubmissionOutcome == "agent_accepted"
		})
	}
	s.end()
	stop, cancelStop := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancelStop()
	if err := Stop(stop, s.o); err != nil {
		t.Fatal(err)
	}
	gone(t, c.Hello().PID)
	db, err := store.Open(s.o.StoreDir, store.Options{Schema: handoff.Schema()})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, err := range db.Check() {
		t.Errorf("store: %v", err)
	}
	until(t, "tmux is as it was", func() bool { return s.tm.state() == before }) // a lock of ours ends after 2 s
	if left, _ := filepath.Glob(filepath.Join(s.tm.dir, ".*akk*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
