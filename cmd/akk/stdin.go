package main

import (
	"context"
	"io"
)

// This file reads standard input. It upholds: Ctrl-C and SIGTERM end every
// command, one that waits for a human's text, too.

// errInput is returned by a read of standard input that a signal ended.
var errInput = fail("end the input with Ctrl-D, or give a file or a text as an argument", "interrupted while standard input was read; nothing was done")

// stdin is standard input until ctx ends; from then on each read fails with
// errInput. Only one may be made.
func (a *app) stdin(ctx context.Context) io.Reader {
	return &untilDone{ctx: ctx, from: a.in}
}

type untilDone struct {
	ctx  context.Context
	from io.Reader
	got  chan chunk
	rest []byte
	err  error // after rest
}

type chunk struct {
	data []byte
	err  error
}

func (u *untilDone) Read(p []byte) (int, error) {
	if u.got == nil {
		u.got = make(chan chunk)
		go u.pump()
	}
	if len(u.rest) == 0 && u.err == nil {
		select {
		case c := <-u.got:
			u.rest, u.err = c.data, c.err
		case <-u.ctx.Done():
			u.err = errInput
		}
	}
	if len(u.rest) == 0 {
		return 0, u.err
	}
	n := copy(p, u.rest)
	u.rest = u.rest[n:]
	return n, nil
}

// pump reads ahead by one chunk. A read that waits for a terminal can't be
// called off: it ends with the process.
func (u *untilDone) pump() {
	for {
		b := make([]byte, 1<<16)
		n, err := u.from.Read(b)
		select {
		case u.got <- chunk{b[:n], err}:
		case <-u.ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}
