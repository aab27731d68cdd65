package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"akk/panes/bench/pace"
)

// This file is the bench's own tmux server, and who writes into its panes. The
// panes' programs do nothing: the bytes are written to their terminals from
// here, so that the moment of the write is known.

const (
	// period is an agent's that streams: 20 pictures a second.
	period = 50 * time.Millisecond
	// turns spread the panes' writes over the period.
	turns = 10
	// probes are the panes whose latency is measured.
	probes = 5
	// settleFor lets what was before end.
	settleFor = 1500 * time.Millisecond
	// lateWait is how long the last picture may take.
	lateWait = 15 * time.Second
	// readyWait bounds the start of an observer and the way of its last byte.
	readyWait = 60 * time.Second
)

type server struct {
	dir, socket string
	pid         int
	sessions    []string // ids
	panes       []string
	ttys        []*os.File
	count       []int // pictures written, by pane
	bytes       [][]byte
	keep        bool // bytes are kept
	speed       *pace.Watch
}

func newServer(ctx context.Context, panes, sessions, cols, rows int) (*server, error) {
	dir, err := os.MkdirTemp("", "akkm")
	if err != nil {
		return nil, err
	}
	w := &server{dir: dir, socket: filepath.Join(dir, "s"), count: make([]int, panes), speed: pace.Start()}
	const idle = "stty raw -echo; exec sleep 86400"
	for i := range panes {
		var args []string
		if i < sessions {
			args = []string{"-f", "/dev/null", "new-session", "-d", "-s", "s" + strconv.Itoa(i), "-x", strconv.Itoa(cols), "-y", strconv.Itoa(rows)}
		} else {
			args = []string{"new-window", "-d", "-t", "s" + strconv.Itoa(i%sessions) + ":"}
		}
		out, err := w.tmux(ctx, append(args, "-P", "-F", "#{session_id} #{pane_id} #{pane_tty}", idle)...)
		if err != nil {
			w.close()
			return nil, err
		}
		f := strings.Fields(out)
		if len(f) != 3 {
			w.close()
			return nil, fmt.Errorf("tmux answered %q", out)
		}
		if i < sessions {
			w.sessions = append(w.sessions, f[0])
		}
		w.panes = append(w.panes, f[1])
		tty, err := os.OpenFile(f[2], os.O_WRONLY, 0)
		if err != nil {
			w.close()
			return nil, err
		}
		w.ttys = append(w.ttys, tty)
	}
	out, err := w.tmux(ctx, "display-message", "-p", "#{pid}")
	if err == nil {
		w.pid, err = strconv.Atoi(out)
	}
	if err != nil {
		w.close()
		return nil, err
	}
	return w, sleep(ctx, settleFor) // until the shells have set their terminals
}

func (w *server) close() {
	w.speed.Stop()
	for _, f := range w.ttys {
		f.Close()
	}
	exec.Command("tmux", "-S", w.socket, "kill-server").Run()
	os.RemoveAll(w.dir)
}

func (w *server) tmux(ctx context.Context, args ...string) (string, error) {
	c := exec.CommandContext(ctx, "tmux", append([]string{"-S", w.socket}, args...)...)
	c.Env = append(os.Environ(), "TMUX=", "TMUX_TMPDIR="+w.dir, "LC_ALL=C.UTF-8")
	out, err := c.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("tmux %s: %s", args[0], bytes.TrimSpace(out))
	}
	return string(bytes.TrimSpace(out)), nil
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// probed tells whether a pane's pictures carry the moment of their writing:
// streaming panes of different sessions.
func (w *server) probed(i int) bool {
	step := max(len(w.panes)/probes, 1)
	return i%step == 0 && i/step < probes
}

func (w *server) probeList() string {
	var ids []string
	for i, id := range w.panes {
		if w.probed(i) {
			ids = append(ids, id)
		}
	}
	return strings.Join(ids, ",")
}

const pictureEnd = "\x1b[?2026l"

// picture is what an agent that works draws: its status line within one
// synchronized update, and now and then a line of text above it.
func (w *server) picture(i int) []byte {
	w.count[i]++
	n := w.count[i]
	var b bytes.Buffer
	b.WriteString("\x1b[?2026h\r\x1b[K")
	if n%4 == 0 {
		fmt.Fprintf(&b, "\x1b[1m•\x1b[0m Edited \x1b[36mmain.go\x1b[0m (+%d -%d): the next lines of an answer that is streamed\r\n", n%90, n%7)
	}
	fmt.Fprintf(&b, "\x1b[38;5;174m%c\x1b[0m Working \x1b[2m(%ds · esc to interrupt)\x1b[0m #%d#", []rune("✢✳✶✻✽")[n%5], n/20, n)
	if w.probed(i) {
		fmt.Fprintf(&b, "@%d@", time.Now().UnixNano())
	}
	b.WriteString(pictureEnd)
	return b.Bytes()
}

// stream writes into the chosen panes for a while.
func (w *server) stream(ctx context.Context, which func(i int) bool, d time.Duration) error {
	t := time.NewTicker(period / turns)
	defer t.Stop()
	end := time.Now().Add(d)
	for turn := 0; time.Now().Before(end) || turn%turns != 0; turn++ {
		select {
		case <-t.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		for i := turn % turns; i < len(w.panes); i += turns {
			if !which(i) {
				continue
			}
			p := w.picture(i)
			if w.keep {
				w.bytes[i] = append(w.bytes[i], p...)
				w.bytes[i] = append(w.bytes[i], 0)
			}
			if _, err := w.ttys[i].Write(p); err != nil {
				return err
			}
		}
	}
	return nil
}

// sample is one latency, in ns, and when it was over, in ns since 1970.
type sample struct{ At, Took int64 }

// result is what an observer says at its end.
type result struct {
	Samples    []sample       `json:"samples"`
	Last       map[string]int `json:"last"` // newest picture of each pane
	Audits     int            `json:"audits"`
	Mismatches int            `json:"mismatches"`
}

// measure runs one way for a while.
func (w *server) measure(ctx context.Context, way string, streaming bool, d time.Duration) (r row, err error) {
	r.way = way
	var o *observer
	if way != "none" {
		if o, err = w.observe(ctx, way); err != nil {
			return r, err
		}
		defer o.stop()
	}
	half := func(i int) bool { return w.probed(i) || i%2 == 0 }
	if err := sleep(ctx, settleFor); err != nil {
		return r, err
	}
	w.keep, w.bytes = way == "akk" && streaming, make([][]byte, len(w.panes))
	before := slices.Clone(w.count)
	if o != nil {
		if err := o.say("begin"); err != nil {
			return r, err
		}
	}
	m := w.meter(o)
	if streaming {
		err = w.stream(ctx, half, d)
	} else {
		err = sleep(ctx, d)
	}
	all, brisk := m.end()
	if err != nil {
		return r, err
	}
	r.own, r.clients, r.tmux, r.ownBrisk = all.percent(0), all.percent(1), all.percent(2), brisk.percent(0)
	r.slow = w.speed.Share(m.began, m.ended)
	if !streaming { // the latency of a quiet server, after its CPU was counted
		if err := w.stream(ctx, w.probed, min(d, 5*time.Second)); err != nil {
			return r, err
		}
	}
	if o == nil {
		return r, nil
	}
	sent := 0
	for i := range w.panes {
		if w.probed(i) {
			sent += w.count[i] - before[i]
		}
	}
	var res result
	for end := time.Now().Add(lateWait); ; { // a machine with other work is late, not wrong
		if err := sleep(ctx, settleFor); err != nil {
			return r, err
		}
		if res, err = o.end(); err != nil {
			return r, err
		}
		r.lost = 0
		for i, id := range w.panes {
			if w.count[i] > before[i] && !strings.HasPrefix(way, "bare") && res.Last[id] != w.count[i] {
				r.lost++
			}
		}
		if r.lost == 0 || time.Now().After(end) {
			break
		}
	}
	r.rss = resident(o.cmd.Process.Pid)
	r.n, r.skipped, r.audits, r.wrongs = len(res.Samples), sent-len(res.Samples), res.Audits, res.Mismatches
	var took, quick []int64
	for _, x := range res.Samples {
		took = append(took, x.Took)
		if at := time.Unix(0, x.At); !w.speed.Slow(at.Add(-time.Duration(x.Took)), at) {
			quick = append(quick, x.Took)
		}
	}
	r.p50, r.p95, r.p99, r.p95Brisk = quantile(took, 0.5), quantile(took, 0.95), quantile(took, 0.99), quantile(quick, 0.95)
	if w.keep {
		w.keep = false
		if r.emulation, err = w.emulation(ctx, all.seconds); err != nil {
			return r, err
		}
	}
	return r, nil
}

// quantile is of times in ns, in ms; 0 of none.
func quantile(ns []int64, q float64) float64 {
	if len(ns) == 0 {
		return 0
	}
	slices.Sort(ns)
	return float64(ns[min(int(q*float64(len(ns))), len(ns)-1)]) / 1e6
}

// observer is a measured process.
type observer struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *json.Decoder
}

func (w *server) observe(ctx context.Context, way string, extra ...string) (*observer, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	name, every, _ := strings.Cut(way, "-")
	c := exec.CommandContext(ctx, self, append([]string{name, w.socket, strings.Join(w.sessions, ","), w.probeList(), strings.Join(w.panes, ","), every}, extra...)...)
	c.Env = append(os.Environ(), "TMUX=", "TMUX_TMPDIR="+w.dir, "LC_ALL=C.UTF-8")
	c.Stderr = os.Stderr
	o := &observer{cmd: c}
	if o.in, err = c.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	o.out = json.NewDecoder(out)
	if err := c.Start(); err != nil {
		return nil, err
	}
	var ready string
	if err := o.out.Decode(&ready); err != nil || ready != "ready" {
		o.stop()
		return nil, errors.Join(fmt.Errorf("did not start: %q", ready), err)
	}
	return o, nil
}

func (o *observer) say(word string) error {
	_, err := fmt.Fprintln(o.in, word)
	return err
}

func (o *observer) end() (result, error) {
	var r result
	if err := o.say("end"); err != nil {
		return r, err
	}
	err := o.out.Decode(&r)
	return r, err
}

func (o *observer) stop() {
	o.in.Close()
	t := time.AfterFunc(readyWait, func() { o.cmd.Process.Kill() })
	o.cmd.Wait()
	t.Stop()
}
