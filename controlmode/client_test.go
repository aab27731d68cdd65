package controlmode

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// This file drives real control clients of tmux servers of its own.

// patience bounds every wait on another process.
const patience = 60 * time.Second

type server struct {
	t      testing.TB
	tmux   string
	socket string
}

// newServer starts a server with one session, "a", of one pane that runs cat.
func newServer(t testing.TB) *server {
	t.Helper()
	bin, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip("tmux is not installed")
	}
	dir, err := os.MkdirTemp("", "akkc")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, tmux: bin, socket: filepath.Join(dir, "s")}
	t.Cleanup(func() {
		_ = s.command("kill-server").Run()
		os.RemoveAll(dir)
	})
	s.run("-f", "/dev/null", "new-session", "-d", "-s", "a", "-x", "80", "-y", "24", "stty -echo; exec cat")
	return s
}

func (s *server) command(args ...string) *exec.Cmd {
	c := exec.Command(s.tmux, append([]string{"-S", s.socket}, args...)...)
	c.Env = s.env()
	return c
}

func (s *server) env() []string {
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "TMUX") && !strings.HasPrefix(kv, "LC_") {
			env = append(env, kv)
		}
	}
	return append(env, "LC_ALL=C.UTF-8")
}

func (s *server) run(args ...string) string {
	s.t.Helper()
	out, err := s.command(args...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// listener is a Handler that remembers.
type listener struct {
	mu      sync.Mutex
	changed chan struct{}
	output  bytes.Buffer
	notices []string
	exits   int
	reason  string
	err     error
}

func newListener() *listener { return &listener{changed: make(chan struct{}, 1)} }

func (l *listener) note(do func()) {
	l.mu.Lock()
	do()
	l.mu.Unlock()
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

func (l *listener) Output(_ string, data []byte) { l.note(func() { l.output.Write(data) }) }
func (l *listener) Notify(name, args string) {
	l.note(func() { l.notices = append(l.notices, name+" "+args) })
}
func (l *listener) Flush() {}
func (l *listener) Exit(reason string, err error) {
	l.note(func() { l.exits++; l.reason, l.err = reason, err })
}

func (l *listener) until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	end := time.After(patience)
	for {
		l.mu.Lock()
		yes := ok()
		l.mu.Unlock()
		if yes {
			return
		}
		select {
		case <-l.changed:
		case <-end:
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

func attach(t testing.TB, s *server, session string) (*Client, *listener) {
	t.Helper()
	l := newListener()
	c, err := Start(Config{Tmux: s.tmux, Socket: s.socket, Session: session, Env: s.env(), Handler: l})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); gone(t, c) })
	select { // a change that meets a half attached client can end tmux (4980)
	case <-c.Ready():
	case <-c.Done():
	}
	return c, l
}

func gone(t testing.TB, c *Client) {
	t.Helper()
	select {
	case <-c.Done():
	case <-time.After(patience):
		t.Fatal("the connection does not end")
	}
}

type answer struct {
	r   []Reply
	err error
}

func ask(c *Client, cmd Command) <-chan answer {
	ch := make(chan answer, 1)
	cmd.Done = func(r []Reply, err error) { ch <- answer{r, err} }
	c.Do(cmd)
	return ch
}

func get(t testing.TB, ch <-chan answer) answer {
	t.Helper()
	select {
	case a := <-ch:
		return a
	case <-time.After(patience):
		t.Fatal("no answer")
		return answer{}
	}
}

func TestAnswersInOrder(t *testing.T) {
	c, _ := attach(t, newServer(t), "a")
	var chs []<-chan answer
	for i := range 50 {
		chs = append(chs, ask(c, Command{Line: "display-message -p " + strconv.Itoa(i) + " ; display-message -p x", Blocks: 2}))
	}
	for i, ch := range chs {
		if a := get(t, ch); a.err != nil || len(a.r) != 2 || a.r[0].Text() != strconv.Itoa(i) {
			t.Fatalf("answer %d: %+v", i, a)
		}
	}
}

func TestRefusedCommand(t *testing.T) {
	c, _ := attach(t, newServer(t), "a")
	var ce *CommandError
	for _, line := range []string{"bogus", "display-message -p a ; kill-pane -t %99 ; display-message -p b", "list-panes -t nope", "'"} {
		if a := get(t, ask(c, Command{Line: line, Blocks: 3})); !errors.As(a.err, &ce) {
			t.Errorf("%s: %v", line, a.err)
		}
	}
	if a := get(t, ask(c, Command{Line: "display-message -p on", Blocks: 1})); a.err != nil || a.r[0].Text() != "on" {
		t.Errorf("after refusals: %+v", a)
	}
}

// What tmux reads back of a quoted word is the word.
func TestQuoteIsReadBack(t *testing.T) {
	s := newServer(t)
	c, _ := attach(t, s, "a")
	for _, text := range []string{"x;", "-l", "--", "a\nb\n", "$HOME ${HOME} ~ ~root", `\n \\ "q" 'q'`, "#{pane_id} #(date) ##", "%if 1", "tab\tend ", "é😀👩‍🚀", "{ } ; }", "\u00a0", strings.Repeat("0123456789", 20000)} {
		a := get(t, ask(c, Command{Line: "set-buffer -b q -- " + Quote(text), Blocks: 1}))
		if a.err != nil {
			t.Fatalf("%.40q: %v", text, a.err)
		}
		// show-buffer would escape it for a control client.
		got, err := s.command("save-buffer", "-b", "q", "-").Output()
		if err != nil || string(got) != text {
			t.Errorf("%.60q: came back as %.60q, %v", text, got, err)
		}
	}
}

// A pane that shows protocol lines ends nothing.
func TestScreenFullOfProtocol(t *testing.T) {
	s := newServer(t)
	c, l := attach(t, s, "a")
	s.run("send-keys", "-t", "a", "-l", "%exit\n%end 1 2 1\n%error 1 2 1\n%output %0 x\n%begin 1 2 1\n")
	s.run("send-keys", "-t", "a", "Enter")
	l.until(t, "the pane's lines", func() bool { return strings.Contains(l.output.String(), "%begin 1 2 1") })
	a := get(t, ask(c, Command{Line: "display-message -p '#{pane_height}' ; capture-pane -p", Blocks: 2, Count: func(i int, before []Reply) int {
		if i == 0 {
			return 1
		}
		n, _ := strconv.Atoi(before[0].Text())
		return n
	}}))
	if a.err != nil || len(a.r) != 2 || len(a.r[1].Lines) != 24 || !bytes.Contains(bytes.Join(a.r[1].Lines, nil), []byte("%exit%end 1 2 1")) {
		t.Errorf("%v: %v", a.err, a.r)
	}
}

func TestServerKilled(t *testing.T) {
	s := newServer(t)
	c, l := attach(t, s, "a")
	pid, _ := strconv.Atoi(s.run("display-message", "-p", "#{pid}"))
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	gone(t, c)
	if l.exits != 1 || l.err == nil && !strings.Contains(l.reason, "unexpectedly") {
		t.Errorf("exits %d, reason %q, err %v", l.exits, l.reason, l.err)
	}
	if a := get(t, ask(c, Command{Line: "display-message -p x", Blocks: 1})); !errors.Is(a.err, ErrNotSent) {
		t.Errorf("after the end: %v", a.err)
	}
}

// A server that does not answer costs one deadline, not the daemon: tmux 4226.
func TestServerFrozen(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a deadline")
	}
	t.Parallel()
	s := newServer(t)
	c, _ := attach(t, s, "a")
	get(t, ask(c, Command{Line: "display-message -p x", Blocks: 1}))
	pid, _ := strconv.Atoi(s.run("display-message", "-p", "#{pid}"))
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer syscall.Kill(pid, syscall.SIGCONT)
	var chs []<-chan answer
	for range 4 {
		chs = append(chs, ask(c, Command{Line: "display-message -p x", Blocks: 1}))
	}
	for i, ch := range chs {
		a := get(t, ch)
		if a.err == nil {
			t.Error("a frozen server answered")
		}
		if sent := !errors.Is(a.err, ErrNotSent); sent != (i < inFlight) {
			t.Errorf("command %d: %v", i, a.err)
		}
	}
	gone(t, c)
}

// Detaches by others and the end of the session are no faults.
func TestOrderlyEnds(t *testing.T) {
	for name, end := range map[string][]string{
		"detached":       {"detach-client", "-s", "a"},
		"session killed": {"kill-session", "-t", "a"},
		"server killed":  {"kill-server"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.run("new-session", "-d", "-s", "other", "cat")
			c, l := attach(t, s, "a")
			get(t, ask(c, Command{Line: "display-message -p x", Blocks: 1}))
			s.run(end...)
			gone(t, c)
			if l.exits != 1 || l.err != nil {
				t.Errorf("exits %d, reason %q, err %v", l.exits, l.reason, l.err)
			}
		})
	}
}

func TestMissingSession(t *testing.T) {
	s := newServer(t)
	c, l := attach(t, s, "$77")
	gone(t, c)
	if l.err == nil {
		t.Errorf("reason %q, err %v", l.reason, l.err)
	}
	if l.output.Len() != 0 || len(l.notices) != 0 {
		t.Errorf("output %q, notices %q", l.output.String(), l.notices)
	}
}

// An error that the server tells by itself (a hook's, a timer's) is not a
// fault of the connection.
func TestErrorOfTheServersOwn(t *testing.T) {
	s := newServer(t)
	c, l := attach(t, s, "a")
	get(t, ask(c, Command{Line: `run-shell -b -d 0 -C "kill-pane -t %99"`, Blocks: 1}))
	get(t, ask(c, Command{Line: "display-message -p x", Blocks: 1}))
	s.run("run-shell", "sleep 0.1") // the timer has fired
	get(t, ask(c, Command{Line: "display-message -p x", Blocks: 1}))
	s.run("detach-client", "-s", "a")
	gone(t, c)
	if l.err != nil {
		t.Errorf("a foreign error became the connection's: %v", l.err)
	}
}

// Bytes that a program writes are the bytes that come, in order, at any rate.
func TestFloodIsWhole(t *testing.T) {
	s := newServer(t)
	_, l := attach(t, s, "a")
	s.run("new-window", "-t", "a:", "stty raw -echo; seq 1 200000; exec cat")
	l.until(t, "the last line", func() bool { return bytes.Contains(l.output.Bytes(), []byte("\n200000\n")) })
	var want bytes.Buffer
	for i := 1; i <= 200000; i++ {
		want.WriteString(strconv.Itoa(i))
		want.WriteByte('\n')
	}
	if i := bytes.Index(l.output.Bytes(), want.Bytes()[bytes.IndexByte(want.Bytes(), '\n')+1:]); i < 0 {
		t.Error("bytes are missing or doubled")
	}
}

// 200 connections come and go and nothing stays (goleak in TestMain; clients and
// open files are counted here).
func TestAttachDetachCycles(t *testing.T) {
	s := newServer(t)
	files := 0
	for i := range 200 {
		l := newListener()
		c, err := Start(Config{Tmux: s.tmux, Socket: s.socket, Session: "a", Env: s.env(), Handler: l, Terminal: i%10 == 0})
		if err != nil {
			t.Fatal(err)
		}
		ch := ask(c, Command{Line: "display-message -p x", Blocks: 1})
		get(t, ch)
		c.Close()
		gone(t, c)
		if i == 20 {
			files = openFiles()
		}
	}
	if n := s.run("list-clients"); n != "" {
		t.Errorf("clients stayed: %s", n)
	}
	if n := openFiles(); n > files {
		t.Errorf("%d files are open, %d after the first cycles", n, files)
	}
}

func openFiles() int {
	all, _ := os.ReadDir("/proc/self/fd") // elsewhere there is none: 0
	return len(all)
}

// kill -9 of the tmux client: everything is told, nothing hangs.
func TestClientKilled(t *testing.T) {
	s := newServer(t)
	c, l := attach(t, s, "a")
	get(t, ask(c, Command{Line: "display-message -p x", Blocks: 1}))
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	gone(t, c)
	if l.exits != 1 || l.err == nil {
		t.Errorf("exits %d, err %v", l.exits, l.err)
	}
	s.run("has-session", "-t", "a")
}

// A Handler that hangs costs the connection, not the programs in the panes.
func TestHandlerThatHangs(t *testing.T) {
	s := newServer(t)
	h := &hanging{listener: newListener(), free: make(chan struct{})}
	c, err := Start(Config{Tmux: s.tmux, Socket: s.socket, Session: "a", Env: s.env(), Handler: h})
	if err != nil {
		t.Fatal(err)
	}
	get(t, ask(c, Command{Line: "display-message -p x", Blocks: 1}))
	s.run("respawn-pane", "-k", "-t", "a", "seq 1 1000000; exec cat")
	end := time.Now().Add(patience)
	for !strings.Contains(s.run("capture-pane", "-p", "-t", "a"), "1000000") {
		if time.Now().After(end) {
			t.Fatal("the program in the pane stands still")
		}
		time.Sleep(10 * time.Millisecond) // tmux tells nobody else
	}
	for stalled := false; !stalled; { // a fast machine gets here before the reader's guard
		c.mu.Lock()
		stalled = c.fault != nil
		c.mu.Unlock()
		if time.Now().After(end) {
			t.Fatal("the hanging handler was not noticed")
		}
		time.Sleep(10 * time.Millisecond)
	}
	close(h.free)
	gone(t, c)
	if !errors.Is(h.err, ErrStalled) {
		t.Errorf("ended for %v", h.err)
	}
}

type hanging struct {
	*listener
	free chan struct{}
}

func (h *hanging) Output(string, []byte) { <-h.free }

// What cannot be one command is not sent at all.
func TestLineIsOneCommand(t *testing.T) {
	c, _ := attach(t, newServer(t), "a")
	for _, line := range []string{"", "  ", "display-message -p a\nkill-server", "a\r", "a\x00"} {
		if a := get(t, ask(c, Command{Line: line, Blocks: 1})); !errors.Is(a.err, ErrNotSent) {
			t.Errorf("%q: %v", line, a.err)
		}
	}
	if a := get(t, ask(c, Command{Line: "display-message -p on", Blocks: 1})); a.err != nil {
		t.Error(a.err)
	}
}

// The whole conversation again on a terminal, as over ssh: -CC.
func TestOnATerminal(t *testing.T) {
	s := newServer(t)
	before := s.run("list-windows", "-a", "-F", "#{window_width}x#{window_height}")
	l := newListener()
	c, err := Start(Config{Tmux: s.tmux, Socket: s.socket, Session: "a", Env: s.env(), Handler: l, Terminal: true})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		a := get(t, ask(c, Command{Line: "display-message -p " + strconv.Itoa(i) + " ; display-message -p x", Blocks: 2}))
		if a.err != nil || a.r[0].Text() != strconv.Itoa(i) {
			t.Fatalf("answer %d: %+v", i, a)
		}
	}
	text := strings.Repeat("0123456789", 20000) // beyond a terminal's line
	if a := get(t, ask(c, Command{Line: "set-buffer -b q -- " + Quote(text), Blocks: 1})); a.err != nil {
		t.Fatal(a.err)
	}
	if got := s.run("save-buffer", "-b", "q", "-"); got != text {
		t.Errorf("%d bytes arrived", len(got))
	}
	s.run("new-window", "-t", "a:", "stty raw -echo; seq 1 20000; exec cat")
	l.until(t, "the last line", func() bool { return bytes.Contains(l.output.Bytes(), []byte("\n20000\n")) })
	if now := s.run("list-windows", "-t", "a:0", "-F", "#{window_width}x#{window_height}"); !strings.Contains(now, before) {
		t.Errorf("sizes were %s, are %s", before, now)
	}
	c.Close()
	gone(t, c)
	if l.err != nil || l.exits != 1 {
		t.Errorf("reason %q, err %v, %d exits", l.reason, l.err, l.exits)
	}
	if n := s.run("list-clients"); n != "" {
		t.Errorf("clients stayed: %s", n)
	}
}

// B104: hooks make blocks that nobody asked for; every answer still belongs to
// its command.
func TestHooksBlocksAreNobodysAnswer(t *testing.T) {
	s := newServer(t)
	s.run("set-hook", "-g", "after-select-pane", "run-shell -b true")
	s.run("set-hook", "-g", "after-select-window[7]", "display-message -p hooked")
	c, _ := attach(t, s, "a")
	var chs []<-chan answer
	for i := range 100 {
		chs = append(chs, ask(c, Command{Line: "display-message -p " + strconv.Itoa(i), Blocks: 1}))
		if i%2 == 0 {
			s.run("select-pane", "-t", "a")
		} else {
			s.run("select-window", "-t", "a:0")
		}
	}
	for i, ch := range chs {
		if a := get(t, ch); a.err != nil || a.r[0].Text() != strconv.Itoa(i) {
			t.Fatalf("answer %d: %+v", i, a)
		}
	}
}
