package quick

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// This file is the way of one answer: what is asked for, where, the answer.

func init() {
	if len(os.Args) < 2 {
		return
	}
	if list, ok := answer(os.Args[1:]); ok {
		if code, ok := show(os.Stdout, os.Stderr, list); ok {
			os.Exit(code)
		}
	}
}

// answer is the daemon's document for a command line; false = step back.
func answer(args []string) (list []byte, ok bool) {
	q, ok := parse(args)
	if !ok || !plain(Version) || !settingsDoNot() {
		return nil, false
	}
	t := talk{only: q.socket != "" || q.server != ""}
	if t.store, ok = q.storeDir(); !ok {
		return nil, false
	}
	if t.tmux, ok = q.tmuxSocket(); !ok {
		return nil, false
	}
	if t.daemon, ok = daemonSocket(t.store); !ok {
		return nil, false
	}
	return t.ask()
}

// show prints the document; false = step back. It does where nothing could be
// written, and the usual command says why; behind a part that was written it says
// so itself, in the same words. A reader that has gone needs none.
func show(out, errs io.Writer, list []byte) (code int, ok bool) {
	w := counted{w: out}
	switch err := WriteIndented(&w, list); {
	case err == nil:
		return 0, true
	case errors.Is(err, syscall.EPIPE):
		return 1, true
	case w.n == 0:
		return 0, false
	default:
		_, _ = io.WriteString(errs, "akk: "+err.Error()+"\n")
		return 1, true
	}
}

type counted struct {
	w io.Writer
	n int // bytes that went out
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += n
	return n, err
}
