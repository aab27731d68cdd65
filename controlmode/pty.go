package controlmode

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"github.com/creack/pty"
)

// This file starts tmux -CC on a pseudo terminal: what a tmux at the other end
// of an ssh connection brings. Rule: the terminal is closed only after the
// child has gone, for its closing would drop what is still to be read.

// startTerminal starts cmd on a terminal of its own. The terminal has no size,
// so that no window takes it over.
func startTerminal(cmd *exec.Cmd, done <-chan struct{}) (*terminal, error) {
	master, slave, err := pty.Open()
	if err != nil {
		return nil, fmt.Errorf("a terminal for tmux -CC: %w", err)
	}
	defer slave.Close()
	cmd.Stdin, cmd.Stdout = slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := begin(cmd, done); err != nil {
		master.Close()
		return nil, err
	}
	t := &terminal{File: master}
	return t, nil
}

// terminal is both ends of the pipe in one.
type terminal struct {
	*os.File
	once sync.Once
}

// Close ends the input only: an empty line detaches.
func (t *terminal) Close() (err error) {
	t.once.Do(func() { _, err = t.File.Write([]byte("\n")) })
	return err
}

// hang closes the terminal itself.
type hang struct{ *terminal }

func (h hang) Close() error { return h.File.Close() }
