package product

// A human: a tmux client on a real terminal, keys one after the other as a
// hand types them, and akk's commands from a terminal that is no agent's.

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/creack/pty"

	"akk/agents/lab"
)

// keyGap is the pause between two keys of a hand. Codex takes characters
// closer than 8 ms for a paste, after which Enter is a newline for 120 ms.
const keyGap = 60 * time.Millisecond

// Human is somebody at a terminal with tmux in it.
type Human struct {
	p   *Akk
	tty *os.File
	cmd *exec.Cmd
}

// Attach puts a human before the session's window. He leaves with the test.
func (p *Akk) Attach(s *lab.Session) *Human {
	p.T.Helper()
	cmd := exec.Command("tmux", "-S", p.Srv.Socket, "attach-session", "-t", "="+s.Name)
	cmd.Env, cmd.Dir = p.Env, "/"
	// The window's own size: a client of another one would change it.
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: uint16(s.Cols), Rows: uint16(s.Rows)})
	if err != nil {
		p.T.Fatalf("attach a client: %v", err)
	}
	h := &Human{p: p, tty: tty, cmd: cmd}
	go io.Copy(io.Discard, tty) // ends when the client has left
	p.T.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM) // he detaches
		cmd.Wait()
		tty.Close()
	})
	return h
}

// Press sends keys as they are ("\r", "\x1b"), each as a key of its own.
func (h *Human) Press(keys ...string) {
	h.p.T.Helper()
	for _, k := range keys {
		time.Sleep(keyGap)
		if _, err := io.WriteString(h.tty, k); err != nil {
			h.p.T.Fatalf("the human's key: %v", err)
		}
	}
}

// Type sends text character by character.
func (h *Human) Type(text string) {
	h.p.T.Helper()
	for _, r := range text {
		h.Press(string(r))
	}
}

// AsHuman runs akk on a terminal of its own, as a human in a shell does.
func (p *Akk) AsHuman(args ...string) (out string, code int) {
	p.T.Helper()
	ctx, cancel := context.WithTimeout(p.T.Context(), runTime)
	defer cancel()
	cmd := p.Command(ctx, args...)
	cmd.SysProcAttr = nil // pty makes the session and its terminal
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 200, Rows: 50})
	if err != nil {
		p.T.Fatalf("akk %q on a terminal: %v", args, err)
	}
	defer tty.Close()
	var b bytes.Buffer
	io.Copy(&b, tty) // EIO when the process has left
	err = cmd.Wait()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		return b.String(), exit.ExitCode()
	}
	if err != nil {
		p.T.Fatalf("akk %q on a terminal: %v", args, err)
	}
	return b.String(), 0
}
