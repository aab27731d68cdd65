package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"akk/vtparse"
)

// This file measures what can't be saved: the emulation of the same bytes, a
// screen for each picture; and the memory of mirrors with a history.

// emulationTries bounds how often it is tried at the machine's own speed.
const emulationTries = 10

// emulation is the CPU, in % of a core over took seconds, of vtparse alone.
func (w *server) emulation(ctx context.Context, took float64) (percent float64, err error) {
	for range emulationTries {
		began := time.Now()
		if percent, err = w.emulateOnce(ctx, took); err != nil || !w.speed.Slow(began, time.Now()) {
			break
		}
	}
	return percent, err
}

func (w *server) emulateOnce(ctx context.Context, took float64) (float64, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	var in bytes.Buffer
	for _, b := range w.bytes {
		in.Write(b)
		in.WriteByte(1) // the next pane
	}
	c := exec.CommandContext(ctx, self, "emulate")
	c.Stdin = &in
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return 0, err
	}
	var ns int64
	if err := json.Unmarshal(out, &ns); err != nil {
		return 0, err
	}
	return 100 * float64(ns) / 1e9 / took, nil
}

// emulate feeds what it is given, picture by picture (0), pane by pane (1), in
// turns as they were written.
func emulate(context.Context, []string) error {
	in, err := io.ReadAll(bufio.NewReader(os.Stdin))
	if err != nil {
		return err
	}
	type pane struct {
		t    *vtparse.Terminal
		left [][]byte
	}
	var ps []*pane
	for b := range bytes.SplitSeq(bytes.TrimSuffix(in, []byte{1}), []byte{1}) {
		if len(b) > 0 {
			ps = append(ps, &pane{vtparse.New(120, 40, vtparse.Options{}), bytes.Split(bytes.TrimSuffix(b, []byte{0}), []byte{0})})
		}
	}
	before := used()
	for more := true; more; {
		more = false
		for _, p := range ps {
			if len(p.left) > 0 {
				p.t.Write(p.left[0])
				p.t.Screen()
				p.left = p.left[1:]
				more = true
			}
		}
	}
	return json.NewEncoder(os.Stdout).Encode(used() - before)
}

func used() int64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u.Utime.Nano() + u.Stime.Nano()
}

const (
	memoryPanes = 200
	memoryLines = 2000
	memoryBar   = 150 // MB
)

// memory fills the history of many panes and looks at the process.
func memory(ctx context.Context) error {
	w, err := newServer(ctx, memoryPanes, 1, 200, 50)
	if err != nil {
		return err
	}
	defer w.close()
	o, err := w.observe(ctx, "akk", strconv.Itoa(memoryLines))
	if err != nil {
		return err
	}
	defer o.stop()
	fmt.Printf("%d panes of 200x50: %.1f MB before they have a history\n", memoryPanes, resident(o.cmd.Process.Pid))
	var b strings.Builder
	for i := range memoryLines + 100 {
		fmt.Fprintf(&b, "\r\n\x1b[2m%5d\x1b[0m \x1b[3%dm%s\x1b[0m %s", i, i%8, words(i, 30), words(i+3, 40+i%110))
	}
	b.WriteString("\r\n#1#")
	text := []byte(b.String())
	for i, tty := range w.ttys {
		if _, err := tty.Write(text); err != nil {
			return err
		}
		w.count[i] = 1
	}
	full := 0
	for end := time.Now().Add(readyWait); time.Now().Before(end); {
		if err := sleep(ctx, settleFor); err != nil {
			return err
		}
		r, err := o.end()
		if err != nil {
			return err
		}
		full = 0
		for _, n := range r.Last {
			full += n
		}
		if full == memoryPanes {
			break
		}
	}
	word := "holds"
	if mb := resident(o.cmd.Process.Pid); mb > memoryBar {
		word = "MISSED"
	}
	fmt.Printf("%d panes of 200x50 with %d lines of %d bytes each (%d panes are through): %.1f MB, bar %d: %s\n", memoryPanes, memoryLines, len(text)/(memoryLines+100), full,
		resident(o.cmd.Process.Pid), memoryBar, word)
	return nil
}

// words is text of n columns.
func words(seed, n int) string {
	const text = "the quick brown fox jumps over the lazy dog while the agent writes another file and runs its tests again; "
	s := strings.Repeat(text, n/len(text)+2)
	return s[seed%len(text):][:n]
}
