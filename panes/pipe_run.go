package panes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"akk/controlmode"
)

// This file carries the commands of the pipe transport: one tmux process for
// each line, the same lines that the control transport sends. Rule: what tmux
// was given and did not answer is never taken for refused.

const (
	// runDeadline bounds one command, as the control transport's.
	runDeadline = 5 * time.Second
	// runAtOnce is how many run side by side.
	runAtOnce = 8
)

// carrier sends commands: a control client, or a runner.
type carrier interface {
	Do(controlmode.Command)
	Close()
	Ready() <-chan struct{}
	Done() <-chan struct{}
}

// runner is the carrier of the pipe transport.
type runner struct {
	s     *Server
	slots chan struct{}

	mu     sync.Mutex
	closed bool
	work   sync.WaitGroup
	ready  chan struct{}
	done   chan struct{}
	once   sync.Once
}

func newRunner(s *Server) *runner {
	r := &runner{s: s, slots: make(chan struct{}, runAtOnce), ready: make(chan struct{}), done: make(chan struct{})}
	close(r.ready)
	return r
}

// Ready implements carrier: there is nothing to wait for.
func (r *runner) Ready() <-chan struct{} { return r.ready }

// Done is closed when all commands have ended after Close.
func (r *runner) Done() <-chan struct{} { return r.done }

// Close lets what was given end and takes no more. It may be called twice.
func (r *runner) Close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.once.Do(func() {
		go func() { r.work.Wait(); close(r.done) }()
	})
}

// Do implements carrier. Commands that are given before an earlier one was
// answered may overtake it.
func (r *runner) Do(cmd controlmode.Command) {
	args, stdin := argv(cmd.Line)
	r.do(args, stdin, func(out []byte, err error) {
		if cmd.Done == nil {
			return
		}
		replies, rerr := split(cmd, out)
		if err == nil {
			err = rerr
		}
		cmd.Done(replies, err)
	})
}

// do runs one tmux process and hands over what it printed.
func (r *runner) do(args []string, stdin []byte, done func([]byte, error)) {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		done(nil, controlmode.ErrNotSent)
		return
	}
	r.work.Add(1)
	r.mu.Unlock()
	go func() {
		defer r.work.Done()
		r.slots <- struct{}{}
		out, err := r.run(context.Background(), args, stdin)
		<-r.slots
		done(out, err)
	}()
}

// argv turns a line into tmux's arguments: if-shell reads the line by the same
// parser as a control client's. A text for a buffer goes by standard input, for
// tmux takes no more than 16 KiB of arguments.
func argv(line string) ([]string, []byte) {
	if rest, ok := strings.CutPrefix(line, "set-buffer -b "); ok {
		if name, text, ok := strings.Cut(rest, " -- "); ok {
			return []string{"load-buffer", "-b", name, "-"}, unquote(text)
		}
	}
	return []string{"if-shell", "-F", "1", line}, nil
}

// unquote undoes controlmode.Quote.
func unquote(word string) []byte {
	word = strings.TrimSuffix(strings.TrimPrefix(word, `"`), `"`)
	out := make([]byte, 0, len(word))
	for i := 0; i < len(word); i++ {
		c := word[i]
		if c != '\\' || i+1 == len(word) {
			out = append(out, c)
			continue
		}
		i++
		if d := word[i]; d >= '0' && d <= '7' && i+2 < len(word) {
			out = append(out, (d-'0')<<6|(word[i+1]-'0')<<3|(word[i+2]-'0'))
			i += 2
			continue
		}
		out = append(out, word[i])
	}
	return out
}

// run runs tmux. Its error is a *CommandError when tmux refused and nothing
// came of the line, ErrNotSent when no tmux was reached, else ErrGone.
func (r *runner) run(ctx context.Context, args []string, stdin []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, runDeadline)
	defer cancel()
	return r.exec(ctx, args, stdin)
}

func (r *runner) exec(ctx context.Context, args []string, stdin []byte) ([]byte, error) {
	cmd := exec.CommandContext(ctx, r.s.tmux, append([]string{"-S", r.s.id.Socket}, args...)...)
	cmd.Env = clientEnv()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if stdin != nil {
		cmd.Stdin = bytes.NewReader(stdin)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%w: %v", controlmode.ErrNotSent, err)
	}
	err := cmd.Wait()
	if err == nil {
		return out.Bytes(), nil
	}
	text := strings.TrimSpace(errs.String())
	switch {
	case ctx.Err() != nil:
		return out.Bytes(), controlmode.ErrDeadline
	case strings.HasPrefix(text, "no server running"), strings.HasPrefix(text, "error connecting"), strings.HasPrefix(text, "protocol version"):
		return nil, fmt.Errorf("%w: %s", controlmode.ErrNotSent, text)
	case text == "", strings.HasPrefix(text, "server exited"), strings.HasPrefix(text, "lost server"), errors.Is(err, exec.ErrWaitDelay):
		return out.Bytes(), fmt.Errorf("%w: %s", controlmode.ErrGone, text)
	}
	return out.Bytes(), &controlmode.CommandError{Text: text}
}

// split makes replies of what a process printed. A line that types is known by
// its last word only; any refusal in it that is not of its target came after
// the typing had begun.
func split(cmd controlmode.Command, out []byte) ([]controlmode.Reply, error) {
	rows := bytes.Split(bytes.TrimSuffix(out, []byte("\n")), []byte("\n"))
	if len(out) == 0 {
		rows = nil
	}
	var replies []controlmode.Reply
	if cmd.Until != nil {
		for _, row := range rows {
			replies = append(replies, controlmode.Reply{Lines: [][]byte{row}, Ours: true})
			if cmd.Until(replies[len(replies)-1]) {
				return replies, nil
			}
		}
		return replies, controlmode.ErrGone
	}
	for i := range cmd.Blocks {
		n := len(rows)
		if cmd.Count != nil {
			if c := cmd.Count(i, replies); c >= 0 {
				n = min(c, n)
			}
		}
		replies = append(replies, controlmode.Reply{Lines: rows[:n:n], Ours: true})
		rows = rows[n:]
	}
	return replies, nil
}
