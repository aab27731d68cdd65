package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"time"
)

// This file is the bare half of make bench-bridge: a line goes through as many
// programs as a tool call does, and back, and nobody does anything with it. What
// that takes at the same pace is the machine's, not akk's.

const (
	chainArg = "pass-on"
	// chainLinks are the bridge and the daemon.
	chainLinks = 2
)

// passOn is one program of the chain: it asks the next one, the last answers.
func passOn(links int) error {
	in := bufio.NewReader(os.Stdin)
	ask := func(line []byte) ([]byte, error) { return line, nil }
	if links > 1 {
		next, err := startChain(links - 1)
		if err != nil {
			return err
		}
		defer next.close()
		ask = next.ask
	}
	for {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			line, err = ask(line)
		}
		if err == nil {
			_, err = os.Stdout.Write(line)
		}
		if err != nil {
			return err
		}
	}
}

// chain is its beginning.
type chain struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startChain(links int) (*chain, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &chain{cmd: exec.Command(self, chainArg, strconv.Itoa(links))}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.out = bufio.NewReader(out)
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	return c, c.cmd.Start()
}

func (c *chain) ask(line []byte) ([]byte, error) {
	if _, err := c.in.Write(line); err != nil {
		return nil, err
	}
	return c.out.ReadBytes('\n')
}

func (c *chain) close() {
	c.in.Close()
	_ = c.cmd.Wait()
}

// bare measures n lines, one every pause, in order of their times.
func bare(n int, pause time.Duration) ([]time.Duration, error) {
	c, err := startChain(chainLinks)
	if err != nil {
		return nil, err
	}
	defer c.close()
	d := make([]time.Duration, 0, n)
	for range n {
		time.Sleep(pause)
		began := time.Now()
		if _, err := c.ask([]byte("a line\n")); err != nil {
			return nil, err
		}
		d = append(d, time.Since(began))
	}
	slices.Sort(d)
	return d, nil
}
