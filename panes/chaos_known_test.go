package panes

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"akk/vtparse"
)

// This file says which deaths of a server are known, by their signature. They
// are crashes of tmux before 3.8 with a control client attached, and two that
// need none (4562, 3776); each was reproduced with the build below, whose
// instructions are named.

// knownBuild is Debian 12's tmux 3.3a, amd64.
const knownBuild = "6bc8936e2460f4f152ae903234ad7dbd5361f6c3"

// knownLibevent is the libevent_core that comes with it, both builds of Debian's
// 2.1.12-stable-8: where its bufferevent_write takes the NULL event's output.
var knownLibevent = map[string]uint64{
	"3378e16ccdd10834f45633d4d30bdc456205505b": 0x11db4,
	"f92a311a4cb2adab1f65175158014f1933187758": 0x11da4,
}

// signature is one way to die and what must have been done for it.
type signature struct {
	issue, what string
	signal      syscall.Signal // 0: exit status 1, which is tmux's own fatal()
	at          uint64         // instruction in knownBuild, if not in a library
	null        bool           // the address is in the first page
	ops         []string       // one of these in the time before
	within      time.Duration
	exact       bool // ops are too common: only the instruction tells it
	in          *inLibrary
}

// inLibrary is where knownBuild stood in a library.
type inLibrary struct {
	at      map[string]uint64 // instruction, by the library's build
	callers []uint64          // in knownBuild, behind the call
}

// Times: what a session or a window needs to end after its program was killed;
// what a client needs to come back after it was thrown out or stopped
// (backoffMax, attachLatest, and a machine that is short of CPU).
const (
	endsWithin   = 3 * time.Second
	clientWithin = 15 * time.Second
)

var (
	endsSomething = []string{"kill-", "die", "unlink-window", "move-window", "join-pane", "break-pane", "respawn"}
	// All that gives a pane another width, also by a human's client or by the
	// room that a dead pane leaves. akk's clients are not among them (ignore-size).
	changesWidth = []string{"resize-", "select-", "zoom", "split-window", "join-pane", "break-pane", "swap-", "rotate-window", "move-window", "link-window", "unlink-window", "kill-", "die", "human", "detach-client"}
	// The human's acts that bring a focus event; akk's own clients bring none to a
	// dead pane. A pane that goes makes its neighbour the active one.
	movesFocus   = []string{"human comes", "human goes", "human looks", "detach-client", "kill-pane", "join-pane", "break-pane", "die"}
	movesClients = []string{"daemon", "client", "detach-client", "human", "new-session", "group", "kill-session", "kill-window", "kill-pane", "die", "unlink-window", "move-window"}
)

var signatures = []signature{
	{"5243", "a window change is announced for a session that has just ended (its current window is NULL)", syscall.SIGSEGV, 0x3b459, true, endsSomething, endsWithin, false, nil},
	{"4980", "a line is written to a control client that is half attached or half gone (its control state is NULL)", syscall.SIGSEGV, 0x3da13, true, movesClients, clientWithin, false, nil},
	{"5004", "a control client ended before it had said who it is (its control state is NULL)", syscall.SIGSEGV, 0x3f107, true, movesClients, clientWithin, false, nil},
	{"5499", "a respawned pane's output is read with the old program's offsets", syscall.SIGSEGV, 0x54ae2, false, []string{"respawn"}, endsWithin, false, nil},
	{"5499", "a respawned pane has less output than a client has still to take (fatal: not enough data)", 0, 0, false, []string{"respawn"}, endsWithin, false, nil},
	{"5444", "clients that left together have not taken a pane's output (fatal: not enough data)", 0, 0, false, []string{"daemon killed", "client killed", "detach-client", "daemon stops"}, endsWithin, false, nil},
	{"4562", "a pane's text is wrapped anew and an empty line that counts as wrapped is followed by nothing to join (no line to take from)", syscall.SIGSEGV, 0x5167d, true, changesWidth, endsWithin, true, nil},
	{"3776", "a focus event is written to a pane that is dead (its event is NULL)", syscall.SIGSEGV, 0, true, movesFocus, endsWithin, true, &inLibrary{knownLibevent, []uint64{0xa7aa8, 0xa7ac2}}},
}

// chaosOpAt is an operation with its time.
type chaosOpAt struct {
	name, text string
	at         time.Time
}

// coarse is how far the time of a core file may lie behind the clock: the kernel
// takes it from its last tick.
const coarse = 20 * time.Millisecond

// knows tells whether the builds, and the caller in a library, are the known ones.
func (s signature) knows(c *coreFacts) bool {
	if s.in == nil {
		return c.build == knownBuild
	}
	at, ok := s.in.at[c.build]
	return ok && c.at == at && c.callerBuild == knownBuild && slices.Contains(s.in.callers, c.caller)
}

// verdict tells which known crash a death was, and why; "" if none.
func verdict(d death, ops []chaosOpAt) (issue, why string) {
	for _, s := range signatures {
		if d.running || d.signal != s.signal || d.signal == 0 && d.code != 1 || s.exact && (d.core == nil || !s.knows(d.core)) {
			continue
		}
		how := "by its signal and what was done before; no core tells where"
		if c := d.core; c != nil {
			if c.addr < 4096 != s.null {
				continue
			}
			how = "by the address that it read and what was done before; this build's instructions are not known"
			switch {
			case s.in != nil:
				how = fmt.Sprintf("by the instruction, %s+%#x, called from tmux+%#x, reading %#x", filepath.Base(c.file), c.at, c.caller, c.addr)
			case filepath.Base(c.file) != "tmux":
				continue // in a library, where none of them is: it is not another build of tmux
			case c.build == knownBuild:
				if c.at != s.at {
					continue
				}
				how = fmt.Sprintf("by the instruction, tmux+%#x, reading %#x", c.at, c.addr)
			}
		}
		if d.signal == 0 {
			how = "by exit status 1 and what was done before"
		}
		for _, o := range slices.Backward(ops) {
			if o.at.After(d.at.Add(coarse)) {
				continue // it met a dead server
			}
			if d.at.Sub(o.at) > s.within {
				break
			}
			if slices.ContainsFunc(s.ops, func(p string) bool { return strings.HasPrefix(o.name, p) }) {
				return s.issue, fmt.Sprintf("tmux %s: %s; %s; %q %v before", s.issue, s.what, how, o.text, d.at.Sub(o.at).Round(time.Millisecond))
			}
		}
	}
	return "", ""
}

// clientMoves are the comings and goings of control clients in a daemon's log:
// they stand beside the operations, for the daemon attaches by itself.
var clientMoves = regexp.MustCompile(`(?m)^time=(\S+) .*msg="(control client (?:starts|ended))".* session=(\S+)`)

func movesOf(log string) (ops []chaosOpAt) {
	for _, m := range clientMoves.FindAllStringSubmatch(log, -1) {
		if at, err := time.Parse(time.RFC3339Nano, m[1]); err == nil {
			ops = append(ops, chaosOpAt{"client", m[2] + " on " + m[3], at})
		}
	}
	return ops
}

// What is excused and what is not.
func TestKnownDeaths(t *testing.T) {
	now := time.Now()
	ops := func(name string, ago time.Duration) []chaosOpAt {
		return []chaosOpAt{{name, name + " x", now.Add(-ago)}, {"zoom", "zoom", now.Add(-ago / 2)}}
	}
	seg := func(addr, at uint64, build string) death {
		return death{code: -1, signal: syscall.SIGSEGV, core: &coreFacts{addr: addr, at: at, file: "/usr/bin/tmux", build: build}}
	}
	lib := func(caller uint64, build string) death {
		return death{code: -1, signal: syscall.SIGSEGV, core: &coreFacts{addr: 0x118, at: 0x11da4, file: "/usr/lib/x86_64-linux-gnu/libevent_core-2.1.so.7.0.1", build: "f92a311a4cb2adab1f65175158014f1933187758", caller: caller, callerBuild: build}}
	}
	other := lib(0xa7ac2, knownBuild)
	other.core.build, other.core.at = "3378e16ccdd10834f45633d4d30bdc456205505b", 0x11db4
	torn := lib(0xa7ac2, knownBuild)
	torn.core.at = 0x11db4
	for _, c := range []struct {
		name string
		d    death
		ops  []chaosOpAt
		want string
	}{
		{"window change of a dead session", seg(0x10, 0x3b459, knownBuild), ops("die", 100*time.Millisecond), "5243"},
		{"half attached client", seg(0x20, 0x3da13, knownBuild), ops("client", 2*time.Second), "4980"},
		{"respawn", seg(0x5600_0000_0000, 0x54ae2, knownBuild), ops("respawn", 100*time.Millisecond), "5499"},
		{"respawn, fatal", death{code: 1}, ops("respawn", 100*time.Millisecond), "5499"},
		{"daemon killed, fatal", death{code: 1}, ops("daemon killed", time.Second), "5444"},
		{"a split wraps anew", seg(8, 0x5167d, knownBuild), ops("split-window", 100*time.Millisecond), "4562"},
		{"a human's client wraps anew", seg(8, 0x5167d, knownBuild), []chaosOpAt{{"human resizes", "human resizes", now.Add(-time.Second)}}, "4562"},
		{"wrapped anew without a cause", seg(8, 0x5167d, knownBuild), []chaosOpAt{{"daemon killed", "daemon killed", now}}, ""},
		{"wrapped anew too long after its cause", seg(8, 0x5167d, knownBuild), []chaosOpAt{{"zoom", "zoom", now.Add(-time.Minute)}}, ""},
		{"wrapped anew, another build", seg(8, 0x5167d, "00"), ops("copy-mode", 0), ""},
		{"wrapped anew, no core", death{code: -1, signal: syscall.SIGSEGV}, ops("copy-mode", 0), ""},
		{"another build", seg(0x18, 0x12345, "00"), ops("kill-session", time.Second), "5243"},
		{"no core", death{code: -1, signal: syscall.SIGSEGV}, ops("kill-session", time.Second), "5243"},
		{"another instruction", seg(0x10, 0x3b460, knownBuild), ops("die", 0), ""},
		{"the instruction without a cause", seg(0x10, 0x3b459, knownBuild), ops("copy-mode", 0), ""},
		{"too long ago", seg(0x10, 0x3b459, knownBuild), ops("die", time.Minute), ""},
		{"in a library", death{code: -1, signal: syscall.SIGSEGV, core: &coreFacts{addr: 0x118, at: 0x11db4, file: "/usr/lib/x86_64-linux-gnu/libevent_core-2.1.so.7.0.1", build: "3378e16ccdd1"}}, ops("move-window", 191*time.Millisecond), ""},
		{"a focus event", lib(0xa7ac2, knownBuild), ops("kill-pane", 100*time.Millisecond), "3776"},
		{"a focus event, the other", lib(0xa7aa8, knownBuild), []chaosOpAt{{"human goes", "human goes", now}}, "3776"},
		{"a focus event, the other library", other, ops("kill-pane", 0), "3776"},
		{"a focus event, the other library's place", torn, ops("kill-pane", 0), ""},
		{"a focus event without a cause", lib(0xa7ac2, knownBuild), []chaosOpAt{{"daemon killed", "daemon killed", now}, {"client", "control client starts on $1", now}, {"move-window", "move-window", now}}, ""},
		{"the same function, called elsewhere", lib(0xa7ac3, knownBuild), ops("kill-pane", 0), ""},
		{"the same function, another build", lib(0xa7ac2, "00"), ops("kill-pane", 0), ""},
		{"another build, far address", seg(0x7f00_0000, 0x12345, "00"), ops("kill-session", 0), ""},
		{"exit", death{}, ops("kill-session", 0), ""},
		{"exit 1 without a cause", death{code: 1}, ops("resize-pane", 0), ""},
		{"killed by somebody", death{code: -1, signal: syscall.SIGKILL}, ops("respawn", 0), ""},
		{"abort", death{code: -1, signal: syscall.SIGABRT}, ops("respawn", 0), ""},
		{"hangs", death{running: true}, ops("respawn", 0), ""},
	} {
		c.d.at = now
		if got, why := verdict(c.d, c.ops); got != c.want || (got == "") != (why == "") {
			t.Errorf("%s: %q (%s), want %q", c.name, got, why, c.want)
		}
	}
}

// The reading of an end, on a real one: tmux 5243 on one command line.
func TestRealCrashIsRecognised(t *testing.T) {
	dir, err := os.MkdirTemp("", "akkx")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	ts := &tmuxServer{t, filepath.Join(dir, "s")}
	p := startTmux(t, ts.socket)
	t.Cleanup(func() { p.cmd.Process.Kill(); <-p.done })
	eventually(t, "the server", func() bool { _, err := os.Stat(ts.socket); return err == nil })
	ts.run("new-session", "-d", "-s", "keep", "cat")
	ts.run("new-session", "-d", "-s", "ends", "cat")
	ts.run("new-window", "-d", "-t", "ends:", "cat")
	s := openServer(t, ts)
	if atLeast(s.Version(), 3, 8) || s.pipe != nil {
		t.Skip("needs a control client of a tmux before 3.8")
	}
	waitScreen(t, s, "%2", func(*vtparse.Screen) bool { return true })
	ops := []chaosOpAt{{"kill-session", "kill-session -t ends", time.Now()}}
	cmd := exec.Command("tmux", "-S", ts.socket, "select-window", "-t", "ends:1", ";", "kill-session", "-t", "ends")
	cmd.Env = clientEnv()
	cmd.Run()
	d := p.death()
	issue, why := verdict(d, ops)
	if issue != "5243" {
		t.Errorf("%v: %q %s", d, issue, why)
	}
	t.Logf("%v; %s", d, why)
}
