package controlmode

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"akk/rawio"
)

// This file holds one connection: a `tmux -C attach` child on pipes (or -CC on
// a terminal, pty.go). Three goroutines: the reader parses and hands on, the writer sends what is queued,
// the reaper waits for the child. The reader calls the Handler and nothing
// else; a Handler must not wait.

const (
	// deadline is how long a command may take: a healthy server answers in
	// under 1 ms, one that drains a flood or is short of CPU in seconds; cutting
	// the connection would only give it more to do.
	deadline = 10 * time.Second
	// inFlight is how many command lines may be unanswered: replies are never
	// flow-controlled, so a few more lines could grow the server's memory.
	inFlight = 2
	// stall is how long the Handler may take for what one read brought. A reader
	// that stands still stops the programs in the panes: better no connection.
	stall = time.Second
	// killAfter is how long a child may take to leave after its input closed.
	killAfter = 2 * time.Second
)

// Handler gets a connection's events in the order of the stream. Its methods
// are called from one goroutine and must not wait: a reader that stalls can
// freeze the programs in the panes.
type Handler interface {
	Output(pane string, data []byte) // data is only valid during the call
	Notify(name, args string)
	// Flush is called when all that was read is handed over.
	Flush()
	// Exit is the last call. reason is tmux's word after %exit, err is not nil
	// for a crash or a time-out.
	Exit(reason string, err error)
}

// Command is one line for tmux.
type Command struct {
	Line string
	// Blocks is how many replies the line gives when all goes well; 0 means
	// until Until says so.
	Blocks int
	// Until ends a line with an unknown number of replies.
	Until func(Reply) bool
	// Count tells the number of body lines of reply i, from the replies before
	// it; < 0 unknown. nil = all unknown.
	Count func(i int, before []Reply) int
	// Plain is how many of the first replies have no line that begins with "%":
	// one that does is a notification, which some versions put into blocks.
	Plain int
	// Done gets all replies in the stream's order, from the reader's goroutine;
	// it must not wait. err is a *CommandError when tmux refused a part (the
	// replies up to and with that one are given), ErrNotSent when tmux never
	// saw the line, else why its answer is lost: ErrGone, ErrDeadline.
	Done func(replies []Reply, err error)
}

// AllPlain is Plain for a command of which no reply is raw text (a screen).
const AllPlain = math.MaxInt

// Config starts a client.
type Config struct {
	Tmux    string // path of the tmux binary
	Socket  string
	Session string // "$1"
	Env     []string
	Handler Handler
	// Terminal speaks -CC on a pseudo terminal instead of -C on pipes, as a
	// tmux behind ssh does.
	Terminal bool
	// SkipDead leaves a session alone whose active pane is dead: then Exit gets
	// a *DeadPaneError. Some versions of tmux end when a client attaches there.
	SkipDead bool
}

// Client is one connection.
type Client struct {
	h      Handler
	cmd    *exec.Cmd
	way    *relay
	in     io.WriteCloser
	out    io.ReadCloser
	parser Parser

	mu     sync.Mutex
	queue  []*pending // not written yet
	flying []*pending // written, oldest first
	wake   chan struct{}
	closed bool
	reason string
	fault  error
	begun  bool // the attach's own block was seen; reader only
	tested bool // a test comes before it; reader only
	ready  chan struct{}

	names names // interned pane ids, reader only
	done  chan struct{}
}

type pending struct {
	Command
	got   []Reply
	timer *countdown
}

// Start attaches. The connection may fail at once: then Exit is called.
func Start(c Config) (*Client, error) {
	mode := "-C"
	if c.Terminal {
		mode = "-CC"
	}
	way, socket := newRelay(c.Socket, c.SkipDead), c.Socket
	if way != nil {
		socket = way.path()
	}
	cmd := exec.Command(c.Tmux, append([]string{"-S", socket, mode}, attachCommand(c.Session, c.SkipDead)...)...)
	cmd.Env = c.Env
	cl := &Client{tested: c.SkipDead, h: c.Handler, cmd: cmd, way: way, wake: make(chan struct{}, 1), ready: make(chan struct{}), done: make(chan struct{})}
	if err := cl.connect(c.Terminal); err != nil {
		way.close()
		return nil, fmt.Errorf("start tmux in control mode: %w", err)
	}
	go cl.write()
	go cl.read()
	return cl, nil
}

// connect starts the child.
func (c *Client) connect(terminal bool) (err error) {
	if terminal {
		t, err := startTerminal(c.cmd, c.done)
		if err != nil {
			return err
		}
		c.in, c.out = t, hang{t}
		return nil
	}
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a terminal's Ctrl-Z must never stop it
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return err
	}
	if c.out, err = c.cmd.StdoutPipe(); err != nil {
		return err
	}
	return begin(c.cmd, c.done)
}

// Ready is closed when tmux has attached the connection. Commands wait for it:
// before, tmux answers some of them with "no current client".
func (c *Client) Ready() <-chan struct{} { return c.ready }

// PID is the process of the tmux client.
func (c *Client) PID() int { return c.cmd.Process.Pid }

// Done is closed when the connection has ended and Exit was called.
func (c *Client) Done() <-chan struct{} { return c.done }

// Do queues a command; the answer goes to its Done, which is called at once if
// the connection is closed. It never waits. A line is never empty (tmux would
// detach) and holds no line end (it would be two commands).
func (c *Client) Do(cmd Command) {
	if strings.TrimSpace(cmd.Line) == "" || strings.ContainsAny(cmd.Line, "\n\r\x00") {
		if cmd.Done != nil {
			cmd.Done(nil, fmt.Errorf("%w: a command must be one non-empty line", ErrNotSent))
		}
		return
	}
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		if cmd.Done != nil {
			cmd.Done(nil, ErrNotSent)
		}
		return
	}
	c.queue = append(c.queue, &pending{Command: cmd})
	c.mu.Unlock()
	c.poke()
}

func (c *Client) poke() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// Close detaches: the child's input is closed, its output drained to the end.
func (c *Client) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.poke()
	c.killLater()
}

// killLater ends a child that does not leave by itself.
func (c *Client) killLater() {
	time.AfterFunc(killAfter, func() {
		select {
		case <-c.done:
		default:
			c.cmd.Process.Kill()
			// The server holds the pipe's other end too: without this a frozen
			// server would keep the reader for ever.
			c.out.Close()
		}
	})
}

func (c *Client) write() {
	defer c.in.Close()
	attached := after(deadline, func() { c.fail(ErrDeadline) })
	for up := false; !up; {
		select {
		case <-c.ready:
			up = true
		case <-c.wake:
			c.mu.Lock()
			up = c.closed
			c.mu.Unlock()
		case <-c.done:
			up = true
		}
	}
	attached.stop()
	for {
		c.mu.Lock()
		closed := c.closed && len(c.queue) == 0 || c.fault != nil
		var next *pending
		if c.fault == nil && len(c.queue) > 0 && len(c.flying) < inFlight {
			next = c.queue[0]
			c.queue = c.queue[1:]
			c.flying = append(c.flying, next)
			next.timer = after(deadline, func() { c.late(next) })
		}
		c.mu.Unlock()
		switch {
		case next != nil:
			if _, err := io.WriteString(c.in, next.Line+"\n"); err != nil {
				c.fail(fmt.Errorf("%w: %v", ErrGone, err))
				return
			}
			continue
		case closed:
			return
		}
		select {
		case <-c.wake:
		case <-c.done:
			return
		}
	}
}

// late ends the connection for a command that was not answered.
func (c *Client) late(p *pending) {
	verb, _, _ := strings.Cut(p.Line, " ")
	c.mu.Lock()
	ahead := slices.Index(c.flying, p)
	n := len(p.got)
	c.mu.Unlock()
	c.fail(fmt.Errorf("%w (%s, %d replies came, %d commands are ahead)", ErrDeadline, verb, n, ahead))
}

// fail ends the connection for a fault.
func (c *Client) fail(err error) {
	c.mu.Lock()
	if c.fault == nil {
		c.fault = err
	}
	c.closed = true
	c.mu.Unlock()
	c.poke()
	c.cmd.Process.Signal(syscall.SIGTERM)
	c.killLater()
}

// tmux writes what many panes draw at once in many small pieces, each of which
// would wake the reader. When two small reads come within readGap, the next one
// waits for the rest of it: what is on its way then comes together. One piece
// alone, and a flood, is read at once.
const (
	readGap   = 2 * time.Millisecond
	smallRead = 2048 // bytes
)

func (c *Client) read() {
	buf, out := make([]byte, 64<<10), rawio.Reader(c.out)
	guard := after(stall, func() { c.fail(ErrStalled) })
	guard.stop()
	var last time.Time // when the read before came back
	for {
		n, err := out.Read(buf)
		now := time.Now()
		rest := readGap - now.Sub(last)
		last = now
		guard.restart()
		c.parser.Feed(buf[:n], sink{c})
		guard.stop()
		c.h.Flush()
		if err != nil {
			break
		}
		if n < smallRead && rest > 0 {
			time.Sleep(rest)
		}
	}
	werr := c.cmd.Wait()
	c.way.close()
	c.out.Close()
	c.mu.Lock()
	c.closed = true
	lost, unsent := c.flying, c.queue
	c.flying, c.queue = nil, nil
	reason, fault := c.reason, c.fault
	c.mu.Unlock()
	if fault == nil && werr != nil {
		fault = fmt.Errorf("%w: tmux client: %v", ErrGone, werr)
	}
	answer := fault
	if answer == nil {
		answer = ErrGone
	}
	for _, p := range lost {
		if p.timer != nil {
			p.timer.stop()
		}
		if p.Done != nil {
			p.Done(p.got, answer)
		}
	}
	for _, p := range unsent {
		if p.Done != nil {
			p.Done(nil, fmt.Errorf("%w: %w", ErrNotSent, answer))
		}
	}
	c.h.Exit(reason, fault)
	close(c.done)
	c.poke()
}

// sink is the reader's side of the client.
type sink struct{ c *Client }

func (s sink) Output(pane, data []byte) {
	s.c.h.Output(s.c.names.of(pane), data)
}

func (s sink) head() *pending {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	if len(s.c.flying) == 0 {
		return nil
	}
	return s.c.flying[0]
}

func (s sink) Begin() (rows int, plain bool) {
	p := s.head()
	if p == nil {
		return -1, false
	}
	rows, plain = -1, len(p.got) < p.Plain
	if p.Count != nil {
		rows = p.Count(len(p.got), p.got)
	}
	return rows, plain
}

func (s sink) Reply(r Reply) {
	if !r.Ours {
		if s.c.begun {
			return // a hook's, a timer's: not our business
		}
		if s.c.tested && !r.Err {
			s.c.tested = false // the test's own block; that of what it chose follows
			return
		}
		s.c.begun = true
		err := attachError(r)
		if err == nil {
			close(s.c.ready)
			return
		}
		s.c.mu.Lock()
		if s.c.fault == nil {
			s.c.fault = err
		}
		s.c.mu.Unlock()
		return
	}
	p := s.head()
	if p == nil {
		return // an answer nobody asked for
	}
	s.c.mu.Lock()
	p.got = append(p.got, r)
	s.c.mu.Unlock()
	var err error
	switch {
	case r.Err:
		err = &CommandError{r.Text()}
	case p.Blocks > 0 && len(p.got) < p.Blocks:
		return
	case p.Blocks == 0 && p.Until != nil && !p.Until(r):
		return
	}
	p.timer.stop()
	s.c.mu.Lock()
	s.c.flying = s.c.flying[1:]
	s.c.mu.Unlock()
	s.c.poke()
	if p.Done != nil {
		p.Done(p.got, err)
	}
}

func (s sink) Notify(name, args []byte) {
	if bytes.Equal(name, []byte("exit")) {
		s.c.mu.Lock()
		s.c.reason = string(args)
		s.c.mu.Unlock()
		return
	}
	s.c.h.Notify(string(name), string(args))
}

func (s sink) Noise([]byte) {}

// Overlong: what was dropped may have been anybody's output, so nothing that is
// known of this session is true any more.
func (s sink) Overlong() { s.c.fail(ErrOverlong) }
