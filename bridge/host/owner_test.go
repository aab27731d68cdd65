package host

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"akk/bridge/rpc"
)

// These tests are about the Host that owns the bridge.

const parentArg = "host-parent"

// hostParent is a Host that starts a bridge, tells its pid, and hangs.
func hostParent() int {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childEnv+"=1")
	in, err := c.StdinPipe()
	if err != nil {
		return 9
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return 9
	}
	if err := c.Start(); err != nil {
		return 9
	}
	for _, l := range initialize("2025-11-25") {
		io.WriteString(in, l+"\n")
	}
	io.WriteString(in, callLine("1", "status", `{"turn_id":"turn-1","wait_seconds":45}`, "")+"\n")
	s := bufio.NewScanner(out)
	s.Buffer(nil, 16<<20)
	if !s.Scan() {
		return 9
	}
	fmt.Println(c.Process.Pid)
	time.Sleep(time.Hour)
	return 0
}

// B142: the Host is killed with a call in flight; the bridge goes, too.
func TestHostIsKilled(t *testing.T) {
	c := exec.Command(os.Args[0], parentArg)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Wait()
	defer c.Process.Kill()
	var pid int
	if _, err := fmt.Fscan(out, &pid); err != nil || pid <= 0 {
		t.Fatalf("no bridge: %v", err)
	}
	c.Process.Kill()
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		if time.Now().After(end) {
			if p, err := os.FindProcess(pid); err == nil {
				p.Kill()
			}
			t.Fatal("the bridge lives on")
		}
	}
}

// B140: no tool can be asked to wait longer than clients wait (60 s). R190,
// R219: none takes a profile, a Host or its identity.
func TestWhatNoToolTakes(t *testing.T) {
	b := start(t, Options{Connect: func(context.Context) (*rpc.Client, error) { return nil, rpc.ErrNoDaemon }})
	b.write(initialize("2025-11-25")...)
	b.write(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	var list struct {
		Tools []struct {
			Name        string
			InputSchema struct {
				Properties map[string]struct{ Maximum *float64 }
			}
		}
	}
	if err := json.Unmarshal(b.answer("1").Result, &list); err != nil || len(list.Tools) == 0 {
		t.Fatalf("%v, %d tools", err, len(list.Tools))
	}
	waits := 0
	for _, tool := range list.Tools {
		for name, p := range tool.InputSchema.Properties {
			if name == "wait_seconds" {
				waits++
				if p.Maximum == nil || *p.Maximum > 50 {
					t.Errorf("%s waits without a bound below 50 s", tool.Name)
				}
			}
			for _, never := range []string{"profile", "host", "route", "controller", "callback", "executable", "environment"} {
				if strings.Contains(strings.ToLower(name), never) {
					t.Errorf("%s takes %s", tool.Name, name)
				}
			}
		}
	}
	if waits == 0 {
		t.Error("no tool waits")
	}
}
