package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"akk/agents"
	"akk/bridge/handoff"
	"akk/bridge/rpc"
	"akk/store"
)

// TestMain is the daemon too: Ensure starts this very test binary.
func TestMain(m *testing.M) {
	if os.Getenv("AKK_TEST_BRIDGE") != "" {
		asBridge(os.Args[1], os.Args[2], os.Args[3])
	}
	if os.Getenv("AKK_TEST_PLAYER") == "human" && len(os.Args) == 5 {
		asHuman(os.Args[1], os.Args[2], os.Args[3], os.Args[4])
		os.Exit(0)
	}
	if os.Getenv("AKK_TEST_PLAYER") != "" && len(os.Args) == 3 {
		play(os.Args[2])
		os.Exit(0)
	}
	if os.Getenv("AKK_TEST_DAEMON") != "" {
		dieAt(os.Getenv("AKK_TEST_CRASH"), os.Getenv("AKK_TEST_POINTS"))
		o := Options{StoreDir: os.Args[1], Version: os.Getenv("AKK_TEST_VERSION"), Grace: time.Second, Attach: openTmux, Agents: []agents.Agent{playerAgent{}}}
		if err := Run(context.Background(), o); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("gopkg.in/natefinch/lumberjack%2ev2.(*Logger).millRun"))
}

// home is a store folder with a short path, and the way to start a daemon on it.
func home(t *testing.T) Options {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "akkd")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_RUNTIME_DIR", dir)
	t.Setenv("AKK_TEST_DAEMON", "1")
	t.Setenv("AKK_TEST_VERSION", "1.0.0")
	o := Options{StoreDir: filepath.Join(dir, "store"), Version: "1.0.0", Client: "test", Self: []string{os.Args[0], filepath.Join(dir, "store")}}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := Stop(ctx, o); err != nil {
			t.Error(err)
		}
		_ = os.RemoveAll(dir)
	})
	return o
}

func ensure(t *testing.T, o Options) (string, *rpc.Client) {
	t.Helper()
	socket, err := Ensure(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	c, err := rpc.Dial(t.Context(), socket, rpc.HelloParams{Client: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return socket, c
}

func gone(t *testing.T, pid int) {
	t.Helper()
	for end := time.Now().Add(60 * time.Second); syscall.Kill(pid, 0) == nil; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("pid %d still runs", pid)
		}
	}
}

func TestEnsureStartsOne(t *testing.T) {
	o := home(t)
	var wg sync.WaitGroup
	pids := make([]int, 6)
	clients := make([]*rpc.Client, len(pids)) // they stay until all are there: a daemon that nobody needs ends
	for i := range pids {
		wg.Go(func() {
			socket, err := Ensure(t.Context(), o)
			if err != nil {
				t.Error(err)
				return
			}
			c, err := rpc.Dial(t.Context(), socket, rpc.HelloParams{Client: "test"})
			if err != nil {
				t.Error(err)
				return
			}
			pids[i], clients[i] = c.Hello().PID, c
		})
	}
	wg.Wait()
	for _, c := range clients {
		if c != nil {
			_ = c.Close()
		}
	}
	for _, pid := range pids {
		if pid == 0 || pid != pids[0] {
			t.Fatalf("daemons: %v", pids)
		}
	}
	st, err := os.Stat(o.StoreDir)
	if err != nil || st.Mode().Perm() != 0o700 {
		t.Fatalf("store folder: %v %v", st.Mode(), err)
	}
	gone(t, pids[0]) // nothing needs it
	if _, there := readNote(o.StoreDir); there {
		t.Fatal("a daemon that ended left its note")
	}
}

func TestOwnSessionAndEnvironment(t *testing.T) {
	o := home(t)
	t.Setenv("TMUX", "/tmp/none,1,0")
	_, c := ensure(t, o)
	pid := c.Hello().PID
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		t.Skip("no /proc here")
	}
	if strings.Contains("\x00"+string(raw), "\x00TMUX=") {
		t.Error("the daemon believes to be in its starter's pane")
	}
	if sid, _, _ := syscall.RawSyscall(syscall.SYS_GETSID, uintptr(pid), 0, 0); int(sid) != pid {
		t.Errorf("session %d, pid %d", sid, pid)
	}
	if cwd, _ := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid)); cwd != "/" {
		t.Errorf("cwd %s", cwd)
	}
	strange := func() (found []string) {
		fds, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
		for _, fd := range fds {
			to, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", pid, fd.Name()))
			if strings.HasPrefix(to, "/dev/pts") || strings.HasPrefix(to, "pipe:") {
				found = append(found, fd.Name()+" is "+to)
			}
		}
		return found
	}
	// The one that told us of the start is closed right after it.
	for end := time.Now().Add(10 * time.Second); len(strange()) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("descriptors: %v", strange())
		}
	}
}

// TestKilled is issue 2's sixth proof without tmux: the next command starts it
// again, on the same store.
func TestKilled(t *testing.T) {
	o := home(t)
	socket, c := ensure(t, o)
	if err := syscall.Kill(c.Hello().PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	gone(t, c.Hello().PID)
	again, c2 := ensure(t, o)
	if again != socket || c2.Hello().PID == c.Hello().PID {
		t.Fatalf("%s %d", again, c2.Hello().PID)
	}
}

func TestAnotherRuntimeDir(t *testing.T) {
	o := home(t)
	socket, _ := ensure(t, o)
	t.Setenv("XDG_RUNTIME_DIR", "")
	again, err := Ensure(t.Context(), o)
	if err != nil || again != socket {
		t.Fatalf("%s %v", again, err)
	}
}

func TestNewerTakesOver(t *testing.T) {
	o := home(t)
	_, c := ensure(t, o)
	t.Setenv("AKK_TEST_VERSION", "1.1.0")
	o.Version = "1.1.0"
	_, c2 := ensure(t, o)
	if c2.Hello().Version != "1.1.0" {
		t.Fatalf("version %s", c2.Hello().Version)
	}
	gone(t, c.Hello().PID)
	o.Version = "1.0.5" // an older one uses it
	if _, err := Ensure(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

func TestTerminated(t *testing.T) {
	o := home(t)
	_, c := ensure(t, o)
	_ = syscall.Kill(c.Hello().PID, syscall.SIGHUP) // a terminal that closes
	if _, err := c.Servers(t.Context()); err != nil {
		t.Fatal(err)
	}
	_ = syscall.Kill(c.Hello().PID, syscall.SIGTERM)
	gone(t, c.Hello().PID)
}

// A read that never returns (here a pipe in the place of an agent's log, opened
// as no reader of ours does any more) does not keep the daemon from its end; the
// store is sound after it.
func TestTerminatedWhileAReadHangs(t *testing.T) {
	tm := startTmux(t)
	o := home(t)
	_, dir := tm.player(900)
	if err := syscall.Mkfifo(filepath.Join(dir, "hang"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, c := ensure(t, o)
	if _, err := c.Attach(t.Context(), rpc.AttachParams{Socket: tm.socket}); err != nil {
		t.Fatal(err)
	}
	until(t, "a read hangs", func() bool { return exists(filepath.Join(dir, "hanging")) })
	_ = syscall.Kill(c.Hello().PID, syscall.SIGTERM)
	gone(t, c.Hello().PID)
	db, err := store.Open(o.StoreDir, store.Options{Schema: handoff.Schema()})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, err := range db.Check() {
		t.Error(err)
	}
}

// A second signal ends it at once.
func TestTerminatedTwice(t *testing.T) {
	tm := startTmux(t)
	o := home(t)
	_, dir := tm.player(901)
	if err := syscall.Mkfifo(filepath.Join(dir, "hang"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, c := ensure(t, o)
	if _, err := c.Attach(t.Context(), rpc.AttachParams{Socket: tm.socket}); err != nil {
		t.Fatal(err)
	}
	until(t, "a read hangs", func() bool { return exists(filepath.Join(dir, "hanging")) })
	began := time.Now()
	for time.Since(began) < time.Minute && syscall.Kill(c.Hello().PID, syscall.SIGTERM) == nil {
		time.Sleep(20 * time.Millisecond)
	}
	gone(t, c.Hello().PID)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
}

func TestBadStores(t *testing.T) {
	for name, c := range map[string]struct {
		make func(t *testing.T, dir string)
		want string
	}{
		"foreign": {func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, store.FileName), strings.Repeat("not a store", 2000))
		}, "not an akk store"},
		"link": {func(t *testing.T, dir string) { _ = os.Symlink("/etc/passwd", filepath.Join(dir, store.FileName)) }, "symbolic link"},
		"locked": {func(t *testing.T, dir string) {
			db, err := store.Open(dir, store.Options{Schema: store.Schema{Version: 1}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() })
		}, "in use"},
		"newer": {func(t *testing.T, dir string) {
			db, err := store.Open(dir, store.Options{Schema: store.Schema{Version: 99}})
			if err != nil {
				t.Fatal(err)
			}
			_ = db.Close()
		}, "newer akk"},
	} {
		t.Run(name, func(t *testing.T) {
			o := home(t)
			if err := os.MkdirAll(o.StoreDir, 0o700); err != nil {
				t.Fatal(err)
			}
			c.make(t, o.StoreDir)
			_, err := Ensure(t.Context(), o)
			var e *rpc.Error
			if !errors.As(err, &e) || !strings.Contains(e.Message, c.want) || e.Cure == "" {
				t.Fatalf("%#v", err)
			}
		})
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestUnstartable(t *testing.T) {
	o := home(t)
	o.Self = []string{"/nonexistent/akk"}
	_, err := Ensure(t.Context(), o)
	var e *rpc.Error
	if !errors.As(err, &e) || e.Cure == "" {
		t.Fatalf("%#v", err)
	}
	sh, err := exec.LookPath("false")
	if err != nil {
		t.Skip("no false here")
	}
	o.Self = []string{sh}
	if _, err = Ensure(t.Context(), o); !errors.As(err, &e) || !strings.Contains(e.Message, "before it was ready") {
		t.Fatalf("%#v", err)
	}
}

func TestOlder(t *testing.T) {
	for _, c := range []struct {
		have, want string
		older      bool
	}{{"1.0.0", "1.0.1", true}, {"1.0.1", "1.0.0", false}, {"1.0.0", "1.0.0", false}, {"(devel)", "1.0.0", false}, {"1.0.0", "(devel)", false}, {"v1.2.0", "1.10.0", true}} {
		if got := older(c.have, c.want); got != c.older {
			t.Errorf("older(%q, %q) = %v", c.have, c.want, got)
		}
	}
}

func TestLongPaths(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", "/tmp/"+strings.Repeat("x", 90))
	p, err := PathsFor("/tmp/" + strings.Repeat("y", 200))
	if err != nil || len(p.Socket) > maxSocketPath {
		t.Fatalf("%q %v", p.Socket, err)
	}
}

func TestReadyLine(t *testing.T) {
	var r ready
	if err := json.Unmarshal(ready{Error: failed("cure\n", "a\nb")}.line(), &r); err != nil || r.Error.Message != "a\nb" {
		t.Fatal(err)
	}
}
