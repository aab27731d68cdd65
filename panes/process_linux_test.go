package panes

import (
	"os"
	"os/exec"
	"slices"
	"testing"
)

// TestFactsDuringExec: between the moment in which a process gets its new program
// and the one in which it gets its arguments and environment, it is nobody's
// agent: without its environment its log would never be found.
func TestFactsDuringExec(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	seen, between := 0, 0
	for range 300 {
		c := exec.Command(self, "-test.run=^$", "-test.count=1")
		c.Env = []string{"AKK_MARK=there"}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			p, ok := processFacts(c.Process.Pid)
			switch {
			case !ok:
			case p.Exe == "":
				between++
				if p.Args != nil || p.Env != nil {
					t.Errorf("%+v", p)
				}
			case p.Exe == self:
				seen++
				if !slices.Equal(p.Args, c.Args) || p.Env["AKK_MARK"] != "there" {
					t.Errorf("the program is new, and its arguments are %q, its environment %q", p.Args, p.Env)
				}
			}
			if t.Failed() {
				break
			}
		}
		_ = c.Process.Kill()
		_ = c.Wait()
		if t.Failed() {
			return
		}
	}
	if seen == 0 {
		t.Error("no process was seen")
	}
	t.Logf("%d looks, %d between", seen, between)
}
