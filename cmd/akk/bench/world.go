package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// This file is the bench's own little machine: a tmux server, a daemon, panes.

const (
	// readyWait bounds everything that must happen before a measurement.
	readyWait = 60 * time.Second
	// missAfter is when a change counts as not seen.
	missAfter = 3 * time.Second
	// pollEvery is the period of the loop that others use.
	pollEvery = 200 * time.Millisecond
)

type world struct {
	dir   string
	akk   string
	env   []string
	panes []string
	asks  map[string]net.Conn
	rd    map[string]*bufio.Reader
	evs   *exec.Cmd
}

func newWorld(akk string) (*world, error) {
	dir, err := os.MkdirTemp("", "akkb") // short: a socket's path is bounded
	if err != nil {
		return nil, err
	}
	w := &world{dir: dir, akk: akk, asks: map[string]net.Conn{}, rd: map[string]*bufio.Reader{}}
	for _, kv := range os.Environ() {
		k, _, _ := strings.Cut(kv, "=")
		switch k {
		case "TMUX", "TMUX_PANE", "TMUX_TMPDIR", "HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "LC_ALL":
		default:
			w.env = append(w.env, kv)
		}
	}
	for _, d := range []string{"home", "run", "tmux"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			return nil, err
		}
	}
	w.env = append(w.env, "HOME="+dir+"/home", "XDG_STATE_HOME="+dir+"/state", "XDG_CONFIG_HOME="+dir+"/config", "XDG_RUNTIME_DIR="+dir+"/run", "TMUX_TMPDIR="+dir+"/tmux", "LC_ALL=C.UTF-8")
	return w, nil
}

func (w *world) run(ctx context.Context, name string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Env = w.env
	out, err := c.Output()
	if ee, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%s %s: %s", filepath.Base(name), args[0], strings.TrimSpace(string(ee.Stderr)))
	}
	return strings.TrimSpace(string(out)), err
}

// start opens n panes, ten to a session, every second one busy.
func (w *world) start(ctx context.Context, program string, n int) error {
	for i := range n {
		kind := "calm"
		if i%2 == 1 {
			kind = "busy"
		}
		session := "s" + strconv.Itoa(i/10)
		args := []string{"new-window", "-d", "-t", session + ":"}
		if i%10 == 0 {
			args = []string{"-f", "/dev/null", "new-session", "-d", "-s", session, "-x", strconv.Itoa(cols), "-y", strconv.Itoa(rows)}
			if i > 0 {
				args = args[2:]
			}
		}
		id, err := w.run(ctx, "tmux", append(args, "-P", "-F", "#{pane_id}", program, "pane", w.dir, kind)...)
		if err != nil {
			return err
		}
		w.panes = append(w.panes, id)
	}
	end := time.Now().Add(readyWait)
	for _, id := range w.panes {
		for {
			c, err := net.Dial("unix", filepath.Join(w.dir, id))
			if err == nil {
				w.asks[id], w.rd[id] = c, bufio.NewReader(c)
				break
			}
			if time.Now().After(end) {
				return fmt.Errorf("pane %s never answered: %w", id, err)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	return nil
}

// ask sends one word to a pane's program and returns its answer.
func (w *world) ask(id, word string) (string, error) {
	if _, err := fmt.Fprintln(w.asks[id], word); err != nil {
		return "", err
	}
	s, err := w.rd[id].ReadString('\n')
	return strings.TrimSpace(s), err
}

// flip changes a pane's picture and returns when its bytes were written.
// It tells what the picture now says.
func (w *world) flip(id string) (at time.Time, activity string, err error) {
	s, err := w.ask(id, "flip")
	if err != nil {
		return time.Time{}, "", err
	}
	s, activity, _ = strings.Cut(s, " ")
	ns, err := strconv.ParseInt(s, 10, 64)
	return time.Unix(0, ns), activity, err
}

func (w *world) calm() {
	for _, id := range w.panes {
		_, _ = w.ask(id, "calm")
	}
}

// settled waits until the daemon's looks for agents after a start (up to 4 s) are over.
func settled(ctx context.Context) error {
	select {
	case <-time.After(6 * time.Second):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// seen is a reading's change as `akk events` printed it.
type seen struct {
	pane, activity string
	at             time.Time
}

// events starts the reader of the journal once all n agents are listed.
func (w *world) events(ctx context.Context, n int) (<-chan seen, error) {
	for end := time.Now().Add(readyWait); ; time.Sleep(100 * time.Millisecond) {
		out, err := w.run(ctx, w.akk, "list", "--json")
		var l struct {
			Terminals []struct {
				Reading struct{ Activity string }
			}
		}
		if err == nil {
			err = json.Unmarshal([]byte(out), &l)
		}
		known := 0
		for _, t := range l.Terminals {
			if t.Reading.Activity != "unknown" && t.Reading.Activity != "" {
				known++
			}
		}
		if known == n {
			break
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf("akk list shows %d of %d agents, %d of them read: %v", len(l.Terminals), n, known, err)
		}
	}
	c := exec.CommandContext(ctx, w.akk, "events", "--json")
	c.Env = w.env
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	w.evs = c
	ch := make(chan seen, 4096)
	go func() {
		defer close(ch)
		in := bufio.NewReader(out)
		for {
			l, err := in.ReadBytes('\n')
			if err != nil {
				return
			}
			at := time.Now()
			var e struct {
				Type, Pane string
				Reading    struct{ Activity string }
			}
			if json.Unmarshal(l, &e) == nil && e.Type == "reading" {
				ch <- seen{e.Pane, e.Reading.Activity, at}
			}
		}
	}()
	return ch, w.listening(ctx, ch)
}

// listening waits until the reader is served: a change is seen.
func (w *world) listening(ctx context.Context, ch <-chan seen) error {
	for range 20 {
		if _, _, err := w.flip(w.panes[0]); err != nil {
			return err
		}
		select {
		case <-ch:
			return nil
		case <-time.After(500 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return errors.New("akk events prints no change of a reading")
}

// push measures akk events.
// The times are apart by what the reading becomes: the way down to blocked is
// told at once, every other change at the end of a frame.
func (w *world) push(ctx context.Context, ch <-chan seen, samples int) (d map[string][]time.Duration, missed map[string]int, err error) {
	d, missed = map[string][]time.Duration{}, map[string]int{}
	for i := range samples {
		for quiet := false; !quiet; { // what earlier changes still cause
			select {
			case <-ch:
			case <-time.After(60 * time.Millisecond):
				quiet = true
			}
		}
		id := w.panes[i%len(w.panes)]
		at, becomes, err := w.flip(id)
		if err != nil {
			return nil, nil, err
		}
		limit := time.After(missAfter)
	wait:
		for {
			select {
			case s, ok := <-ch:
				if !ok {
					return nil, nil, errors.New("akk events ended")
				}
				if s.pane == id && s.activity == becomes {
					d[becomes] = append(d[becomes], s.at.Sub(at))
					break wait
				}
			case <-limit:
				missed[becomes]++
				break wait
			case <-ctx.Done():
				return nil, nil, ctx.Err()
			}
		}
	}
	return d, missed, nil
}

// poll measures a loop that captures every pane in a process of its own, as
// other tools do; the next round begins 200 ms after the last began, or at once
// if that one took longer.
func (w *world) poll(ctx context.Context, samples int) (d []time.Duration, missed int, err error) {
	old := map[string]string{}
	type change struct {
		pane string
		at   time.Time
	}
	ch := make(chan change, 1024)
	ctx2, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx2.Err() == nil {
			next := time.After(pollEvery)
			for _, id := range w.panes {
				s, err := w.run(ctx2, "tmux", "capture-pane", "-p", "-t", id)
				if err != nil {
					return
				}
				s = strings.Join(strings.Split(s, "\n")[1:], "\n") // the busy row is not the change
				if was, ok := old[id]; ok && was != s {
					ch <- change{id, time.Now()}
				}
				old[id] = s
			}
			select {
			case <-next:
			case <-ctx2.Done():
			}
		}
	}()
	defer func() { stop(); <-done }()
	// Two rounds first, so that every pane was seen.
	time.Sleep(2*pollEvery + time.Duration(len(w.panes))*20*time.Millisecond)
	for i := range samples {
		id := w.panes[i%len(w.panes)]
		time.Sleep(time.Duration(i*37%200) * time.Millisecond) // not in step with the loop
		at, _, err := w.flip(id)
		if err != nil {
			return nil, 0, err
		}
		limit := time.After(4 * missAfter)
	wait:
		for {
			select {
			case c := <-ch:
				if c.pane == id && c.at.After(at) {
					d = append(d, c.at.Sub(at))
					break wait
				}
			case <-limit:
				missed++
				break wait
			case <-ctx.Done():
				return nil, 0, ctx.Err()
			}
		}
	}
	return d, missed, nil
}

// close ends everything of the bench's own.
func (w *world) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), readyWait)
	defer cancel()
	if w.evs != nil {
		_ = w.evs.Process.Kill()
		_ = w.evs.Wait()
	}
	for _, c := range w.asks {
		c.Close()
	}
	_, _ = w.run(ctx, w.akk, "serve", "--stop")
	_, _ = w.run(ctx, "tmux", "kill-server")
	return os.RemoveAll(w.dir)
}
