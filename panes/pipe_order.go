package panes

import (
	"akk/controlmode"

	"golang.org/x/sys/unix"
)

// This file puts an order between a pane's pipe and the answers of tmux, which
// come by two ways: a capture may show what is still in the pipe (measured on a
// busy machine: two of three audits of a writing pane). Rule: a difference
// counts only when everything that the capture had seen has been taken in.

// caughtUp tells whether the mirror had taken in all that tmux had read before
// its last answer: tmux writes to the pipe in the turn after its reading, so
// one more command later the rest is in our socket, and from there on we look.
func (p *pipes) caughtUp(m *mirror, then func(bool)) {
	c := m.feeder
	if c == nil || c.pipe == nil {
		then(false)
		return
	}
	c.do(controlmode.Command{Line: "display-message -p x", Blocks: 1}, func(_ []controlmode.Reply, err error) {
		if err != nil || p.s.gone || m.feeder != c || c.pipe.behind() {
			then(false)
			return
		}
		p.s.post(func() { then(true) }) // behind what the reader has just queued
	})
}

// behind tells whether there is something that the reader has not queued yet;
// a pipe that has ended has nothing more.
func (r *pipeReader) behind() bool {
	if r == nil {
		return false
	}
	if !r.busy.TryLock() {
		return true
	}
	defer r.busy.Unlock()
	n := 0
	err := r.conn.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), fionread) })
	return err == nil && n > 0
}
