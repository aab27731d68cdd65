package quick

import (
	"errors"
	"os"
	"syscall"
)

// This file is the way of one answer: what is asked for, where, the answer.

func init() {
	if len(os.Args) < 2 {
		return
	}
	if list, ok := answer(os.Args[1:]); ok && show(os.Stdout, list) {
		os.Exit(0)
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

// show prints the document. Where nothing could be written it steps back, and
// the usual command says why; behind a part that was written it says so itself,
// in the same words.
func show(f *os.File, list []byte) bool {
	w := counted{f: f}
	err := WriteIndented(&w, list)
	if err == nil {
		return true
	}
	if w.n == 0 && !errors.Is(err, syscall.EPIPE) {
		return false
	}
	if !errors.Is(err, syscall.EPIPE) { // else the reader has gone
		_, _ = os.Stderr.WriteString("akk: " + err.Error() + "\n")
	}
	os.Exit(1)
	return false
}

type counted struct {
	f *os.File
	n int
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.f.Write(b)
	c.n += n
	return n, err
}
