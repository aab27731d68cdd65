package panes

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"

	"akk/controlmode"
)

// This file holds what chaos does to a server, one function an operation, and
// how often. Rule: one tmux command an operation, for the known crash needs two
// changes on one line; and nothing that changes a global setting.

// chaosOp is one kind of operation.
type chaosOp struct {
	name   string
	weight int
	do     func(*chaos) []string // the tmux command, nil if it did all itself
}

var chaosOps = []chaosOp{
	{"new-session", 2, func(c *chaos) []string {
		return when(c.count(aSession) < c.sess, "new-session", "-d", "-s", fmt.Sprintf("n%d", c.rnd.IntN(1e6)), "-x", c.number(20, 160), "-y", c.number(5, 50), c.program())
	}},
	{"group", 1, func(c *chaos) []string {
		return when(c.count(aSession) < c.sess+3, "new-session", "-d", "-t", c.one(aSession), "-s", fmt.Sprintf("g%d", c.rnd.IntN(1e6)))
	}},
	{"kill-session", 1, func(c *chaos) []string {
		return when(c.count(aSession) > c.sess-3, "kill-session", "-t", c.one(aSession))
	}},
	{"rename-session", 2, func(c *chaos) []string {
		return []string{"rename-session", "-t", c.one(aSession), c.name()}
	}},
	{"rename-window", 2, func(c *chaos) []string { return []string{"rename-window", "-t", c.window(), c.name()} }},
	{"new-window", 8, func(c *chaos) []string {
		return when(c.count(aPane) < c.panes, "new-window", "-d", "-t", c.one(aSession)+":", c.program())
	}},
	{"split-window", 10, func(c *chaos) []string {
		return when(c.count(aPane) < c.panes, "split-window", []string{"-h", "-v", "-fh", "-fv"}[c.rnd.IntN(4)], "-t", c.pane(), c.program())
	}},
	{"kill-window", 1, func(c *chaos) []string {
		return when(c.count(aPane) > c.panes/2, "kill-window", "-t", c.window())
	}},
	{"kill-pane", 4, func(c *chaos) []string {
		return when(c.count(aPane) > c.panes/2, "kill-pane", "-t", c.pane())
	}},
	{"die", 3, (*chaos).die},
	{"respawn", 3, (*chaos).respawn},
	{"link-window", 2, func(c *chaos) []string {
		return when(c.count(aWindow) < 2*c.panes, "link-window", "-d", "-s", c.window(), "-t", c.one(aSession)+":")
	}},
	{"unlink-window", 2, func(c *chaos) []string {
		return []string{"unlink-window", "-t", c.one(aPlace)}
	}},
	{"move-window", 3, func(c *chaos) []string {
		return []string{"move-window", "-d", "-s", c.window(), "-t", c.one(aSession) + ":"}
	}},
	{"swap-window", 3, func(c *chaos) []string { return []string{"swap-window", "-d", "-s", c.window(), "-t", c.window()} }},
	{"swap-pane", 5, func(c *chaos) []string { return []string{"swap-pane", "-d", "-s", c.pane(), "-t", c.pane()} }},
	{"join-pane", 4, func(c *chaos) []string { return []string{"join-pane", "-d", "-s", c.pane(), "-t", c.pane()} }},
	{"break-pane", 3, func(c *chaos) []string { return []string{"break-pane", "-d", "-s", c.pane()} }},
	{"zoom", 6, func(c *chaos) []string { return []string{"resize-pane", "-Z", "-t", c.pane()} }},
	{"resize-pane", 6, func(c *chaos) []string {
		return []string{"resize-pane", "-t", c.pane(), "-x", c.number(2, 100), "-y", c.number(2, 40)}
	}},
	{"resize-window", 6, func(c *chaos) []string {
		return []string{"resize-window", "-t", c.window(), "-x", c.number(10, 200), "-y", c.number(4, 60)}
	}},
	{"select-layout", 4, func(c *chaos) []string {
		return []string{"select-layout", "-t", c.window(), []string{"tiled", "even-horizontal", "even-vertical", "main-vertical"}[c.rnd.IntN(4)]}
	}},
	{"rotate-window", 3, func(c *chaos) []string { return []string{"rotate-window", "-t", c.window()} }},
	{"select-window", 3, func(c *chaos) []string { return []string{"select-window", "-t", c.window()} }},
	{"select-pane", 3, func(c *chaos) []string { return []string{"select-pane", "-t", c.pane()} }},
	{"copy-mode", 4, func(c *chaos) []string { return []string{"copy-mode", "-t", c.pane()} }},
	{"leave mode", 4, func(c *chaos) []string { return []string{"copy-mode", "-q", "-t", c.pane()} }},
	{"clock-mode", 1, func(c *chaos) []string { return []string{"clock-mode", "-t", c.pane()} }},
	{"clear-history", 2, func(c *chaos) []string { return []string{"clear-history", "-t", c.pane()} }},
	{"remain-on-exit", 2, func(c *chaos) []string {
		return []string{"set-option", "-p", "-t", c.pane(), "remain-on-exit", []string{"on", "off"}[c.rnd.IntN(2)]}
	}},
	{"title", 2, func(c *chaos) []string { return []string{"select-pane", "-t", c.pane(), "-T", c.name()} }},
	{"type", 12, func(c *chaos) []string { // in copy mode a key may open a prompt that waits for the human
		text := []string{"ls -la /etc | head -50", "seq 1 300", "printf '\\033[41mred\\033[m\\n'", "echo 日本語", "clear"}[c.rnd.IntN(5)]
		id := c.pane()
		return []string{"if-shell", "-F", "-t", id, "#{pane_in_mode}", "", "send-keys -t " + id + " -l " + controlmode.Quote(text+"\n")}
	}},
	{"flood", 3, func(c *chaos) []string { c.players.flood(c.pane(), 2000+c.rnd.IntN(20000)); return nil }},
	{"human comes", 2, (*chaos).humanComes},
	{"human goes", 1, func(c *chaos) []string { return c.humanGoes() }},
	{"human looks", 3, func(c *chaos) []string {
		return when(c.human != nil, "switch-client", "-t", c.one(aSession))
	}},
	{"human resizes", 2, func(c *chaos) []string {
		if c.human != nil {
			pty.Setsize(c.human.tty, &pty.Winsize{Rows: uint16(5 + c.rnd.IntN(50)), Cols: uint16(20 + c.rnd.IntN(150))})
		}
		return nil
	}},
	{"detach-client", 1, func(c *chaos) []string {
		return []string{"detach-client", "-s", c.one(aSession)}
	}},
	{"daemon stops", 1, (*chaos).daemonStops},
	{"daemon goes on", 4, func(c *chaos) []string { c.daemon.cont(); return nil }},
	{"daemon killed", 1, (*chaos).daemonKilled},
	{"daemon ends", 1, (*chaos).daemonEnds},
	{"client killed", 1, (*chaos).clientKilled},
}

// deadly are the operations that can meet a known crash (chaos_known_test.go);
// the suite's short run leaves them out, but for those that only change a width
// (4562: it takes a wide character in a pane of one column).
var deadly = []string{"respawn", "kill-session", "kill-window", "unlink-window", "die", "detach-client", "client killed", "daemon stops"}

func when(ok bool, cmd ...string) []string {
	if !ok {
		return nil
	}
	return cmd
}

// step does one operation; false when the server is dead afterwards.
func (c *chaos) step() bool {
	looked := c.time("looking")
	there := c.look()
	looked()
	if !there {
		return c.alive()
	}
	total := 0
	for _, o := range c.kinds {
		total += o.weight
	}
	n := c.rnd.IntN(total)
	for _, o := range c.kinds {
		if n -= o.weight; n >= 0 {
			continue
		}
		did, began := c.time(o.name), time.Now()
		cmd := o.do(c)
		c.counts[o.name]++
		c.note(o.name, strings.Join(cmd, " "), began)
		if cmd != nil {
			c.tmux(cmd...)
		}
		did()
		break
	}
	if c.rnd.IntN(4) == 0 {
		fitted := c.time("players")
		c.players.fit(c.list)
		fitted()
	}
	time.Sleep(time.Duration(c.rnd.IntN(60)) * time.Millisecond) // the pace of the chaos
	return true
}

// maxOps is how many operations are kept: more than clientWithin has.
const maxOps = 1000

// note keeps an operation, by when it began: what does all itself (a kill -9)
// may end seconds after the server.
func (c *chaos) note(name, more string, at time.Time) {
	text := strings.TrimSpace(name + " " + more)
	if len(text) > 80 {
		text = text[:80]
	}
	c.ops = append(c.ops, chaosOpAt{name, text, at})
	if len(c.ops) > maxOps {
		c.ops = c.ops[1:]
	}
}

// newest are the last operations, for a report.
func (c *chaos) newest() (out []string) {
	for _, o := range c.ops[max(0, len(c.ops)-12):] {
		out = append(out, o.text)
	}
	return out
}

func (c *chaos) number(from, to int) string { return strconv.Itoa(from + c.rnd.IntN(to-from)) }

func (c *chaos) name() string {
	return []string{"work", "日本語", "a b", "%exit", "x\ty", "#{pane_id}", "$HOME", "quote\"d", "-flag"}[c.rnd.IntN(9)] + strconv.Itoa(c.rnd.IntN(1000))
}

// look reads what the server has, once an operation; false when it does not
// answer.
func (c *chaos) look() bool {
	out, err := c.tmux("list-sessions", "-F", aSession, ";", "list-windows", "-a", "-F", aWindow+" "+aPlace, ";", "list-panes", "-a", "-F", aPane)
	c.have = map[string][]string{}
	for l := range strings.Lines(out) {
		switch l = strings.TrimSpace(l); l[:min(1, len(l))] {
		case "$":
			c.have[aSession] = append(c.have[aSession], l)
		case "@":
			id, at, _ := strings.Cut(l, " ")
			c.have[aWindow], c.have[aPlace] = append(c.have[aWindow], id), append(c.have[aPlace], at)
		case "%":
			c.have[aPane] = append(c.have[aPane], l)
		}
	}
	return err == nil && len(c.have[aPane]) > 0
}

// What look finds.
const (
	aSession = "#{session_id}"
	aWindow  = "#{window_id}"
	aPlace   = "#{session_id}:#{window_index}"
	aPane    = "#{pane_id}"
)

// one is a random one of them.
func (c *chaos) one(what string) string { return c.have[what][c.rnd.IntN(len(c.have[what]))] }

func (c *chaos) count(what string) int { return len(c.have[what]) }

func (c *chaos) pane() string   { return c.one(aPane) }
func (c *chaos) window() string { return c.one(aWindow) }

// die kills a pane's process.
func (c *chaos) die() []string {
	if c.count(aPane) <= c.panes/2 {
		return nil
	}
	id := c.pane()
	out, err := c.tmux("display-message", "-p", "-t", id, "#{pane_pid}")
	if pid, _ := strconv.Atoi(out); err == nil && pid > 1 {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	return nil
}

// human is a real tmux client on a terminal.
type human struct {
	cmd *exec.Cmd
	tty *os.File
	wg  sync.WaitGroup

	once *sync.Once // leave is called twice
}

func (c *chaos) humanComes() []string {
	if c.human != nil {
		return nil
	}
	h := &human{once: new(sync.Once), cmd: exec.Command("tmux", "-S", c.socket, "attach-session", "-t", c.one(aSession))}
	h.cmd.Env = append(clientEnv(), "TERM=xterm-256color")
	var err error
	if h.tty, err = pty.StartWithSize(h.cmd, &pty.Winsize{Rows: 30, Cols: 100}); err != nil {
		c.t.Fatal(err)
	}
	h.wg.Go(func() {
		buf := make([]byte, 32<<10)
		for {
			if _, err := h.tty.Read(buf); err != nil {
				return
			}
		}
	})
	c.human = h
	return nil
}

func (h *human) leave() {
	h.once.Do(func() {
		h.cmd.Process.Signal(syscall.SIGTERM)
		done := time.AfterFunc(patience, func() { h.cmd.Process.Kill() })
		h.cmd.Wait()
		done.Stop()
		h.tty.Close()
		h.wg.Wait()
	})
}

func (c *chaos) humanGoes() []string {
	if c.human != nil {
		c.human.leave()
		c.human = nil
	}
	return nil
}

// respawn takes a quiet pane, and now and then any: with a client that is
// behind, as chaos makes them, it kills the server (5499).
func (c *chaos) respawn() []string {
	if c.daemon.stopped {
		return nil
	}
	var quiet []string
	all := c.list()
	for id, p := range all {
		if strings.Contains(p.start, runShell) || p.dead {
			quiet = append(quiet, id)
		}
	}
	slices.Sort(quiet)
	id := c.pane()
	if len(quiet) > 0 && c.rnd.IntN(50) > 0 {
		id = quiet[c.rnd.IntN(len(quiet))]
	}
	return []string{"respawn-pane", "-k", "-t", id, c.program()}
}

func (c *chaos) daemonStops() []string { c.daemon.stop(); return nil }

// daemonKilled kills it in the middle of whatever it does; the next one finds
// what it left.
func (c *chaos) daemonKilled() []string {
	c.daemon.kill()
	c.startDaemon()
	return nil
}

// daemonEnds lets it leave and come back: no window changes its size for it.
func (c *chaos) daemonEnds() []string {
	c.daemon.cont()
	before := c.sizes()
	c.closeDaemon()
	if after := c.sizes(); c.human == nil && after != before {
		c.t.Errorf("sizes before the daemon left:\n%s\nafter:\n%s", before, after)
	}
	c.startDaemon()
	if after := c.sizes(); c.human == nil && after != before && c.alive() {
		c.t.Errorf("sizes before:\n%s\nwith a new daemon:\n%s", before, after)
	}
	return nil
}

// clientKilled kills one of the daemon's tmux clients.
func (c *chaos) clientKilled() []string {
	out, _ := c.tmux("list-clients", "-F", "#{?client_control_mode,#{client_pid},}")
	pids := strings.Fields(out)
	if len(pids) == 0 {
		return nil
	}
	if pid, err := strconv.Atoi(pids[c.rnd.IntN(len(pids))]); err == nil && pid > 1 {
		syscall.Kill(pid, syscall.SIGTERM)
	}
	return nil
}
