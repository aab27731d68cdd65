package panes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// This file is chaos (`make chaos-mirror`): a tmux server of its own, changed
// at random in every way that tmux knows, while agents' recordings play in its
// panes and the daemon, a process of its own, is stopped, continued and killed.
// At every quiet point each mirror must equal what capture-pane shows, and what
// a human has set in tmux must be as it was.

// Settings by environment; without them it is the suite's short run.
const (
	chaosTimeEnv = "CHAOS_TIME" // "10m"
	chaosSeedEnv = "CHAOS_SEED"
	chaosOpsEnv  = "CHAOS_OPS" // a regular expression: only these operations, to look for one's fault
	shortChaos   = 5 * time.Second
)

type chaos struct {
	t       *testing.T
	rnd     *rand.Rand
	kinds   []chaosOp
	dir     string
	socket  string
	players *players
	panes   int // wanted
	sess    int // wanted
	human   *human

	server *serverProc
	daemon *chaosProc
	serial int
	ops    []chaosOpAt // the newest
	counts map[string]int
	took   map[string]time.Duration
	have   map[string][]string // look
	audits AuditCount
	quiet  int // points that were equal
	faults int
	shut   int      // panes that were kept out of (3776), of all quiet points
	lost   []string // servers that died of a known crash: which, and why
}

func TestChaosMirror(t *testing.T) {
	length, panes, sess, seed := shortChaos, 12, 4, uint64(7)
	if v := os.Getenv(chaosTimeEnv); v != "" {
		d, err := time.ParseDuration(v)
		if err != nil {
			t.Fatalf("%s: %v", chaosTimeEnv, err)
		}
		length, panes, sess, seed = d, 60, 12, rand.Uint64()
	}
	if v := os.Getenv(chaosSeedEnv); v != "" {
		n, err := strconv.ParseUint(v, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", chaosSeedEnv, err)
		}
		seed = n
	}
	t.Logf("%s=%d, %d panes in %d sessions, %v", chaosSeedEnv, seed, panes, sess, length)
	dir, err := os.MkdirTemp("", "akkx")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	c := &chaos{t: t, rnd: rand.New(rand.NewPCG(seed, 2)), dir: dir, panes: panes, sess: sess, counts: map[string]int{}, took: map[string]time.Duration{}}
	only := regexp.MustCompile(os.Getenv(chaosOpsEnv))
	c.kinds = slices.DeleteFunc(slices.Clone(chaosOps), func(o chaosOp) bool {
		return !only.MatchString(o.name) || os.Getenv(chaosTimeEnv) == "" && slices.Contains(deadly, o.name)
	})
	c.players = newPlayers(t, seed)
	c.newServer()
	defer c.endServer()
	settings := c.settings()
	c.startDaemon()
	for end := time.Now().Add(length); time.Now().Before(end) && !t.Failed(); {
		for range 40 + c.rnd.IntN(80) {
			if time.Now().After(end) || t.Failed() {
				break
			}
			if !c.step() {
				c.recover()
				settings = c.settings()
			}
		}
		c.quietPoint()
	}
	c.closeDaemon()
	c.goneFromServer(settings)
	t.Logf("%d operations %v", sum(c.counts), c.counts)
	t.Logf("time: %v", c.took)
	t.Logf("%d quiet points equal, %d mismatches, %d servers lost to known crashes of tmux; %d times a pane was kept out of (3776); the daemons' own audits: %+v", c.quiet, c.faults, len(c.lost), c.shut, c.audits)
	for i, why := range c.lost {
		t.Logf("lost server %d: %s", i+1, why)
	}
	if c.quiet == 0 && len(c.lost) == 0 {
		t.Error("no quiet point was reached")
	}
}

// time adds what passes until its end to a kind of work.
func (c *chaos) time(kind string) func() {
	began := time.Now()
	return func() { c.took[kind] += time.Since(began).Round(time.Millisecond) }
}

func sum(m map[string]int) (n int) {
	for _, v := range m {
		n += v
	}
	return n
}

// tmux runs one command; it fails when the server is gone or the command was
// refused, which chaos expects.
func (c *chaos) tmux(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "tmux", append([]string{"-S", c.socket}, args...)...)
	cmd.Env = clientEnv()
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		c.t.Errorf("the server did not answer %q in 30 s; before: %q", args, c.newest())
	}
	return strings.TrimRight(string(out), "\n"), err
}

func (c *chaos) newServer() {
	c.serial++
	c.socket = filepath.Join(c.dir, "s"+strconv.Itoa(c.serial))
	c.server = startTmux(c.t, c.socket)
	eventually(c.t, "the server", func() bool { _, err := os.Stat(c.socket); return err == nil })
	for i := range c.sess {
		if out, err := c.tmux("new-session", "-d", "-s", fmt.Sprintf("s%d", i), "-x", "120", "-y", "40", c.program()); err != nil {
			c.t.Fatalf("new-session: %v %s", err, out)
		}
	}
	c.tmux("set-buffer", "-b", "mine", "a human's buffer")
	c.tmux("set-option", "-g", "@mine", "a human's option")
	c.tmux("set-hook", "-g", "after-rename-window[99]", "run-shell true")
	for range c.panes - c.sess {
		c.tmux("new-window", "-d", "-t", fmt.Sprintf("s%d:", c.rnd.IntN(c.sess)), c.program())
	}
	c.players.fit(c.list)
}

func (c *chaos) program() string {
	return []string{runRecording, runRecording, runNoise, runShell}[c.rnd.IntN(4)]
}

func (c *chaos) serverPID() int {
	out, err := c.tmux("display-message", "-p", "#{pid}")
	n, _ := strconv.Atoi(out)
	if err != nil {
		return 0
	}
	return n
}

func (c *chaos) list() map[string]chaosPane {
	out, err := c.tmux("list-panes", "-a", "-F", "#{pane_id}\t#{pane_tty}\t#{pane_pid}\t#{pane_dead}\t#{pane_start_command}")
	all := map[string]chaosPane{}
	if err != nil {
		return all
	}
	for l := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimRight(l, "\n"), "\t", 5)
		if len(f) == 5 {
			all[f[0]] = chaosPane{id: f[0], tty: f[1], pid: f[2], dead: f[3] == "1", start: f[4]}
		}
	}
	return all
}

// snapshot reads all panes as tmux shows them.
func (c *chaos) snapshot() ([]shown, error) {
	out, err := c.tmux("list-panes", "-a", "-F", "#{pane_id} #{pane_width} #{pane_height} #{cursor_x} #{cursor_y} #{session_id} #{?#{&&:#{&&:#{window_active},#{pane_active}},#{pane_dead}},1,0}")
	if err != nil {
		return nil, fmt.Errorf("list: %s", out)
	}
	var all []shown
	seen, shut := map[string]bool{}, map[string]bool{}
	in := map[string][]string{} // pane -> sessions
	var args []string
	for l := range strings.Lines(out) {
		var s shown
		var session string
		var dead int
		if n, _ := fmt.Sscanf(l, "%s %d %d %d %d %s %d", &s.ID, &s.Cols, &s.Rows, &s.X, &s.Y, &session, &dead); n != 7 {
			return nil, fmt.Errorf("list: %q", l)
		}
		in[s.ID] = append(in[s.ID], session)
		shut[session] = shut[session] || dead == 1
		if seen[s.ID] {
			continue
		}
		seen[s.ID] = true
		all = append(all, s)
		if len(args) > 0 {
			args = append(args, ";")
		}
		args = append(args, "capture-pane", "-p", "-e", "-N", "-t", s.ID)
	}
	cmd := exec.Command("tmux", append([]string{"-S", c.socket}, args...)...)
	cmd.Env = clientEnv()
	text, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for i := range all {
		if len(lines) < all[i].Rows {
			return nil, errors.New("captures are too short")
		}
		all[i].Lines, lines = lines[:all[i].Rows], lines[all[i].Rows:]
		all[i].Shut = !slices.ContainsFunc(in[all[i].ID], func(s string) bool { return !shut[s] })
	}
	if len(lines) != 0 {
		return nil, errors.New("captures are too long")
	}
	return all, nil
}

// standStill waits until two snapshots are the same.
func (c *chaos) standStill() []shown {
	var last []byte
	for end := time.Now().Add(3 * patience); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		all, err := c.snapshot()
		if err != nil {
			if !c.alive() {
				return nil
			}
			continue
		}
		now, _ := json.Marshal(all)
		if bytes.Equal(now, last) {
			return all
		}
		last = now
	}
	c.t.Error("the server does not stand still")
	return nil
}

func (c *chaos) alive() bool {
	_, err := c.tmux("display-message", "-p", "x")
	return err == nil
}

// quietPoint stops all writers and compares every pane.
func (c *chaos) quietPoint() {
	c.players.pause.Lock()
	defer c.players.pause.Unlock()
	c.daemon.cont()
	for range 5 {
		stood := c.time("standing still")
		all := c.standStill()
		stood()
		if all == nil {
			if !c.t.Failed() && !c.alive() {
				c.recoverPaused()
			}
			return
		}
		checked := c.time("checks")
		tell, ok := c.daemon.ask(chaosAsk{Do: "check", Panes: all})
		checked()
		if !ok {
			if c.alive() {
				c.t.Errorf("the daemon ended: %s", c.daemon.errors())
			} else {
				c.recoverPaused()
			}
			return
		}
		before, _ := json.Marshal(all)
		again, err := c.snapshot()
		after, _ := json.Marshal(again)
		if err != nil || !bytes.Equal(before, after) {
			continue // it moved all the same: a shell's prompt, a timer
		}
		c.audits = tell.Audits
		if len(tell.Diffs) == 0 {
			c.quiet++
			c.shut += tell.Shut
			if len(tell.Unproven) > 0 {
				c.t.Logf("equal but not audited: %q", tell.Unproven)
			}
			return
		}
		c.faults += len(tell.Diffs)
		c.t.Errorf("mirrors differ: %q\nunproven: %q\nthe newest operations: %q\nthe daemon says: %s", tell.Diffs, tell.Unproven, c.newest(), c.daemon.errors())
		return
	}
	c.t.Log("no quiet point: the server kept moving")
}

// settings is what a human has set and chaos does not change.
func (c *chaos) settings() string {
	var b strings.Builder
	for _, cmd := range [][]string{{"show-options", "-s"}, {"show-options", "-g"}, {"show-options", "-gw"}, {"show-hooks", "-g"}, {"show-environment", "-g"}, {"show-environment", "-gh"}, {"list-keys"}, {"list-buffers"}} {
		out, _ := c.tmux(cmd...)
		fmt.Fprintf(&b, "== %s\n%s\n", cmd, out)
	}
	return b.String()
}

func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("line %d was %q, is %q", i+1, x[i], y[i])
		}
	}
	return fmt.Sprintf("%d lines were, %d are", len(x), len(y))
}

// sizes is what the daemon's coming and going must not change.
func (c *chaos) sizes() string {
	out, _ := c.tmux("list-windows", "-a", "-F", "#{window_id} #{window_width}x#{window_height} #{window_layout}")
	lines := strings.Split(out, "\n")
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "\n")
}

// goneFromServer looks for what the daemon has left.
func (c *chaos) goneFromServer(settings string) {
	if c.human != nil {
		c.human.leave()
		c.human = nil
	}
	eventually(c.t, "all clients to go", func() bool { out, _ := c.tmux("list-clients"); return out == "" })
	if now := c.settings(); now != settings {
		c.t.Errorf("settings changed: %s", firstDifference(settings, now))
	}
	panes := c.list()
	eventually(c.t, "the server to have one terminal for each pane", func() bool { return terminals(c.serverPID()) == alive(panes) })
}

func alive(all map[string]chaosPane) (n int) {
	for _, p := range all {
		if !p.dead {
			n++
		}
	}
	return n
}

// terminals counts the pseudo terminals that a process holds.
func terminals(pid int) (n int) {
	fds, _ := filepath.Glob(procFile(pid, "fd/*"))
	for _, f := range fds {
		if to, _ := os.Readlink(f); to == "/dev/ptmx" || to == "/dev/pts/ptmx" {
			n++
		}
	}
	return n
}

func (c *chaos) endServer() {
	c.players.stop()
	if c.human != nil {
		c.human.leave()
	}
	if c.daemon != nil {
		c.daemon.kill()
	}
	c.tmux("kill-server")
	if d := c.server.death(); d.running || d.signal != 0 || d.code != 0 {
		c.t.Errorf("the server's own end: %v", d)
		c.server.cmd.Process.Kill()
	}
}

// recover is called when the server has died: its daemon must say so, and a new
// server is another one for it.
func (c *chaos) recover() {
	c.players.pause.Lock()
	defer c.players.pause.Unlock()
	c.recoverPaused()
}

func (c *chaos) recoverPaused() {
	c.daemon.cont()
	if !c.daemon.ended() {
		if t, ok := c.daemon.wait("gone"); !ok {
			c.t.Errorf("the server died and the daemon did not tell: %s", c.daemon.errors())
		} else if t.Text != "0 panes are still listed" && t.Text != "" {
			c.t.Logf("gone: %s", t.Text)
		}
	}
	c.judge()
	c.daemon.kill()
	if c.human != nil {
		c.human.leave()
		c.human = nil
	}
	c.players.pause.Unlock() // stopping them needs the lock to be free
	c.players.stop()
	c.players.pause.Lock()
	c.newServer()
	c.ops = nil
	c.startDaemon()
}

// judge looks what the server died of.
func (c *chaos) judge() {
	d := c.server.death()
	if d.running {
		c.t.Errorf("the server does not answer, and lives; the newest operations: %q", c.newest())
		c.server.cmd.Process.Kill()
		<-c.server.done
		return
	}
	ops := append(slices.Clone(c.ops), movesOf(c.daemon.errors())...)
	slices.SortStableFunc(ops, func(a, b chaosOpAt) int { return a.at.Compare(b.at) })
	_, why := verdict(d, ops)
	if why == "" {
		c.t.Errorf("the server died of something else than a known crash: %v; the newest operations: %q; it said %q", d, c.newest(), c.server.said.String())
		return
	}
	c.lost = append(c.lost, fmt.Sprintf("%v; %s", d, why))
	var moves []string
	for _, o := range ops {
		if ago := d.at.Sub(o.at); o.name == "client" && ago >= 0 && ago < endsWithin {
			moves = append(moves, fmt.Sprintf("%s %v before", o.text, ago.Round(time.Millisecond)))
		}
	}
	c.t.Logf("server lost: %v; %s; clients: %q; the newest operations: %q", d, why, moves, c.newest())
}

// chaosProc is a daemon as a process.
type chaosProc struct {
	c     *chaos
	cmd   *exec.Cmd
	in    io.WriteCloser
	tells chan chaosTell
	done  chan struct{}
	mu    sync.Mutex
	log   bytes.Buffer

	stopped bool // by a signal
}

func (p *chaosProc) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.Write(b)
}

func (c *chaos) startDaemon() {
	self, err := os.Executable()
	if err != nil {
		c.t.Fatal(err)
	}
	p := &chaosProc{c: c, cmd: exec.Command(self), tells: make(chan chaosTell, 100), done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), chaosEnv+"="+c.socket)
	p.cmd.Stderr = p
	p.in, err = p.cmd.StdinPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	go func() {
		readTells(out, p.tells)
		p.cmd.Wait()
		close(p.done)
	}()
	c.daemon = p
	if _, ok := p.wait("open"); !ok && c.alive() {
		c.t.Fatalf("the daemon did not open: %s", p.errors())
	}
	c.note("daemon starts", "", time.Now())
	if c.rnd != nil && c.rnd.IntN(5) > 0 { // else changes come while its clients attach, which is the other known crash
		c.attached()
	}
}

// attached waits until every session has its client.
func (c *chaos) attached() {
	for end := time.Now().Add(3 * patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		sessions, err := c.tmux("list-sessions", "-F", "#{session_id}")
		clients, _ := c.tmux("list-clients", "-F", "#{?client_control_mode,#{session_id},}")
		if err != nil || len(strings.Fields(clients)) >= len(strings.Fields(sessions)) {
			return
		}
	}
}

func (p *chaosProc) stop() { p.stopped = true; p.cmd.Process.Signal(syscall.SIGSTOP) }
func (p *chaosProc) cont() { p.stopped = false; p.cmd.Process.Signal(syscall.SIGCONT) }

func (p *chaosProc) kill() {
	p.cmd.Process.Kill()
	p.in.Close()
	for range p.tells {
	}
	<-p.done
	if strings.Contains(p.errors(), "DATA RACE") {
		p.c.t.Error(p.errors())
	}
}

func (p *chaosProc) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// wait waits for a tell; false when none came in time or the daemon ended.
func (p *chaosProc) wait(event string) (chaosTell, bool) {
	end := time.After(6 * patience)
	for {
		select {
		case t, ok := <-p.tells:
			if !ok {
				return chaosTell{}, false
			}
			if t.Event == event {
				return t, true
			}
			if t.Event == "error" {
				p.Write([]byte("error: " + t.Text + "\n"))
			}
		case <-end:
			return chaosTell{}, false
		}
	}
}

func (p *chaosProc) ask(a chaosAsk) (chaosTell, bool) {
	b, err := json.Marshal(a)
	if err != nil {
		return chaosTell{}, false
	}
	if _, err := p.in.Write(append(b, '\n')); err != nil {
		return chaosTell{}, false
	}
	return p.wait("checked")
}

// errors is the end of what the daemon wrote.
func (p *chaosProc) errors() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.log.Bytes()
	return string(b[max(0, len(b)-6000):])
}

func (c *chaos) closeDaemon() {
	c.daemon.cont()
	p := c.daemon
	if b, err := json.Marshal(chaosAsk{Do: "close"}); err == nil {
		p.in.Write(append(b, '\n'))
	}
	if _, ok := p.wait("closed"); !ok && c.alive() {
		c.t.Errorf("the daemon did not close: %s", p.errors())
	}
	p.kill()
}
