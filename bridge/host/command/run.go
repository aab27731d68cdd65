package command

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// This file runs a program in a process group of its own. Invariants: it
// returns when the program has ended or was killed, whoever of its children
// still holds the pipes; all that the program wrote before its end is read; the
// limit bounds what is ever held.

// killWait bounds the wait for a program that was killed: one that hangs in the
// kernel must not hold the bridge.
const killWait = 2 * time.Second

// result is how a run ended.
type result struct {
	spawn   error  // it did not start
	killed  string // Code of why it was killed, "" if it ended by itself
	stdout  []byte
	success bool // exit code 0
	status  string
}

// run starts argv[0] with exactly env. limit bounds stdout and stderr together;
// stderr is counted and thrown away.
func run(ctx context.Context, argv, env []string, body string, timeout time.Duration, limit int) (res result) {
	var all pipes
	defer func() { all.close() }()
	in, out, errs, err := all.open()
	if err != nil {
		return result{spawn: err}
	}
	cmd := exec.Command(argv[0])
	cmd.Args, cmd.Env = argv, env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in.read, out.write, errs.write
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	if err := cmd.Start(); err != nil {
		return result{spawn: err}
	}
	in.read.Close()
	out.write.Close()
	errs.write.Close()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		cmd.Wait()
	}()
	var wg sync.WaitGroup
	defer wg.Wait()   // after the close below, which frees the writer
	defer all.close() // a second time is harmless
	wg.Go(func() {
		io.WriteString(in.write, body) // a program need not read it
		in.write.Close()
	})
	c := newCapture(limit)
	var readers sync.WaitGroup
	readers.Go(func() { c.read(out.read, true) })
	readers.Go(func() { c.read(errs.read, false) })

	select {
	case <-ended:
	case <-c.flood:
		res.killed = CodeOutput
	case <-timer.C:
		res.killed = CodeTimeout
	case <-ctx.Done():
		res.killed = CodeStopped
	}
	if res.killed != "" {
		select {
		case <-ended: // at the same moment: it has ended by itself
			if res.killed != CodeOutput {
				res.killed = ""
			}
		default:
			syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			cmd.Process.Kill() // if it left its group
			select {
			case <-ended:
			case <-time.After(killWait):
			}
		}
	}
	now := time.Unix(1, 0)
	out.read.SetReadDeadline(now)
	errs.read.SetReadDeadline(now)
	readers.Wait()
	if res.killed != "" {
		return res
	}
	c.rest(out.read, true)
	c.rest(errs.read, false)
	if c.flooded() {
		return result{killed: CodeOutput}
	}
	res.stdout, res.success, res.status = c.out, cmd.ProcessState.Success(), cmd.ProcessState.String()
	return res
}

// pipe has both ends.
type pipe struct{ read, write *os.File }

type pipes []*os.File

func (p *pipes) open() (in, out, errs pipe, err error) {
	for _, to := range []*pipe{&in, &out, &errs} {
		if to.read, to.write, err = os.Pipe(); err != nil {
			return in, out, errs, err
		}
		*p = append(*p, to.read, to.write)
	}
	return in, out, errs, nil
}

func (p pipes) close() {
	for _, f := range p {
		f.Close()
	}
}

// capture holds what was written, up to the limit of both streams together.
type capture struct {
	mu    sync.Mutex
	left  int
	out   []byte
	flood chan struct{} // closed when there was more
}

func newCapture(limit int) *capture { return &capture{left: limit, flood: make(chan struct{})} }

// take counts p and keeps it if it is stdout's; false = too much.
func (c *capture) take(p []byte, keep bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left < 0 {
		return false
	}
	if c.left -= len(p); c.left < 0 {
		close(c.flood)
		return false
	}
	if keep {
		c.out = append(c.out, p...)
	}
	return true
}

func (c *capture) flooded() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.left < 0
}

// chunk is how much is read at once.
const chunk = 32 << 10

// read reads until the end, the deadline or the flood.
func (c *capture) read(f *os.File, keep bool) {
	buf := make([]byte, chunk)
	for {
		n, err := f.Read(buf)
		if !c.take(buf[:n], keep) || err != nil {
			return
		}
	}
}

// rest reads what is in the pipe now, and does not wait for more: a child of
// the program may hold it open for ever.
func (c *capture) rest(f *os.File, keep bool) {
	f.SetReadDeadline(time.Time{})
	raw, err := f.SyscallConn()
	if err != nil {
		return
	}
	buf := make([]byte, chunk)
	for more := true; more; {
		err := raw.Read(func(fd uintptr) bool {
			n, err := syscall.Read(int(fd), buf)
			more = n > 0 && c.take(buf[:n], keep) || errors.Is(err, syscall.EINTR)
			return true
		})
		if err != nil {
			return
		}
	}
}
