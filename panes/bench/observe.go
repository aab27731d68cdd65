package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"time"

	"akk/panes"
	"akk/vtparse"
)

// This file holds the measured processes. Each says "ready", hears "begin" and
// "end", and answers with what it saw between them.

var observers = map[string]func(context.Context, []string) error{
	"bare":    func(c context.Context, a []string) error { return bare(c, a, false) },
	"bare+vt": func(c context.Context, a []string) error { return bare(c, a, true) },
	"akk":     func(c context.Context, a []string) error { return mirror(c, a, panes.Control) },
	"pipe":    func(c context.Context, a []string) error { return mirror(c, a, panes.Pipe) },
	"poll":    poll, "emulate": emulate,
	panes.PassCommand: func(_ context.Context, a []string) error { return panes.PassPipe(a[0], a[1]) },
}

// seen collects what an observer saw.
type seen struct {
	mu     sync.Mutex
	probes map[string]bool
	marks  map[string]int64 // newest mark of a probe
	r      result
}

func newSeen(probes string) *seen {
	s := &seen{probes: map[string]bool{}, marks: map[string]int64{}}
	for p := range strings.SplitSeq(probes, ",") {
		s.probes[p] = true
	}
	return s
}

// mark takes a moment that a probe shows; only a new one counts.
func (s *seen) mark(pane string, at int64) {
	now := time.Now().UnixNano()
	s.mu.Lock()
	defer s.mu.Unlock()
	if at > s.marks[pane] {
		s.marks[pane] = at
		s.r.Samples = append(s.r.Samples, sample{now, now - at})
	}
}

// moment finds "@...@" in a text, 0 if there is none.
func moment(text []byte) int64 {
	i := bytes.LastIndexByte(text, '@')
	if i < 0 {
		return 0
	}
	j := bytes.LastIndexByte(text[:i], '@')
	n, err := strconv.ParseInt(string(text[j+1:i]), 10, 64)
	if j < 0 || err != nil {
		return 0
	}
	return n
}

var pictureNumber = regexp.MustCompile(`#(\d+)#`)

// talk serves the driver until it hangs up.
func (s *seen) talk(last func() map[string]int, more func(*result)) error {
	out := json.NewEncoder(os.Stdout)
	if err := out.Encode("ready"); err != nil {
		return err
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		switch in.Text() {
		case "begin":
			if os.Args[1] == "akk" {
				profile()
			}
			s.mu.Lock()
			s.r = result{}
			s.mu.Unlock()
		case "end":
			pprof.StopCPUProfile()
			l := last()
			s.mu.Lock()
			r := s.r
			s.mu.Unlock()
			r.Last = l
			if more != nil {
				more(&r)
			}
			if err := out.Encode(r); err != nil {
				return err
			}
		}
	}
	return in.Err()
}

// profile begins to write down where the CPU time goes, into the file of the
// environment; the last measurement of a process wins.
func profile() {
	if name := os.Getenv("AKK_BENCH_PROFILE"); name != "" {
		if f, err := os.Create(name); err == nil {
			_ = pprof.StartCPUProfile(f)
		}
	}
}

// bare attaches like akk and only unescapes what comes; with vt it also emulates
// it, a screen for each picture.
func bare(ctx context.Context, args []string, vt bool) error {
	s := newSeen(args[2])
	if vt {
		panes.PaceCollector() // as akk's
	}
	var stop []io.Closer
	for id := range strings.SplitSeq(args[1], ",") {
		c := exec.CommandContext(ctx, "tmux", "-S", args[0], "-C", "attach-session", "-E", "-t", id, "-f", "ignore-size,pause-after=5")
		in, err := c.StdinPipe()
		if err != nil {
			return err
		}
		out, err := c.StdoutPipe()
		if err != nil {
			return err
		}
		if err := c.Start(); err != nil {
			return err
		}
		stop = append(stop, in)
		ready := make(chan struct{})
		go func() {
			r, once := bufio.NewReaderSize(out, 64<<10), sync.Once{}
			var buf []byte
			terms := map[string]*vtparse.Terminal{}
			for {
				l, err := r.ReadSlice('\n')
				if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
					return
				}
				if bytes.HasPrefix(l, []byte("%session-changed")) {
					once.Do(func() { close(ready) })
				}
				rest, ok := bytes.CutPrefix(l, []byte("%extended-output "))
				if !ok {
					continue
				}
				pane, rest, _ := bytes.Cut(rest, []byte(" "))
				_, data, _ := bytes.Cut(rest, []byte(" : "))
				buf = unescape(buf[:0], data)
				if vt {
					t := terms[string(pane)]
					if t == nil {
						t = vtparse.New(120, 40, vtparse.Options{})
						terms[string(pane)] = t
					}
					t.Write(buf)
					if bytes.Contains(buf, []byte(pictureEnd)) {
						t.Screen()
					}
				}
				if s.probes[string(pane)] {
					if at := moment(buf); at != 0 {
						s.mark(string(pane), at)
					}
				}
			}
		}()
		<-ready
	}
	err := s.talk(func() map[string]int { return nil }, nil)
	for _, c := range stop {
		c.Close()
	}
	return err
}

func unescape(to, from []byte) []byte {
	for i := 0; i < len(from); i++ {
		if c := from[i]; c == '\\' && i+3 < len(from) {
			to = append(to, (from[i+1]-'0')<<6|(from[i+2]-'0')<<3|(from[i+3]-'0'))
			i += 3
		} else {
			to = append(to, c)
		}
	}
	return to
}

// mirror is akk's own part of the daemon: all panes, one subscriber.
func mirror(ctx context.Context, args []string, t panes.Transport) error {
	s := newSeen(args[2])
	history := 0
	if len(args) > 5 {
		history, _ = strconv.Atoi(args[5])
	}
	runtime.GOMAXPROCS(1) // as `akk serve`
	panes.PaceCollector()
	m, err := panes.Open(ctx, panes.Options{Socket: args[0], Transport: t, History: history})
	if err != nil {
		return err
	}
	defer m.Close()
	ids := strings.Split(args[3], ",")
	for end := time.Now().Add(readyWait); ; time.Sleep(20 * time.Millisecond) {
		missing, count := "", 0
		for _, id := range ids {
			if _, err := m.Screen(id); err != nil {
				missing, count = fmt.Sprintf("%s: %v", id, err), count+1
			}
		}
		if missing == "" {
			break
		}
		if time.Now().After(end) {
			return fmt.Errorf("%d panes are not mirrored after %s: %s", count, readyWait, missing)
		}
	}
	sub := m.Subscribe()
	defer sub.Close()
	go func() {
		for {
			ups, err := sub.Next(ctx)
			if err != nil {
				return
			}
			for i := range ups {
				if u := &ups[i]; (u.Kind == panes.UpdateScreen || u.Kind == panes.UpdateFrame) && s.probes[u.Pane] {
					if at := moment([]byte(u.Screen.Line(u.Screen.Cursor.Y))); at != 0 {
						s.mark(u.Pane, at)
					}
				}
			}
		}
	}()
	return s.talk(func() map[string]int {
		last := map[string]int{}
		for _, id := range ids {
			if scr, err := m.Screen(id); err == nil {
				if f := pictureNumber.FindStringSubmatch(scr.Line(scr.Cursor.Y)); f != nil {
					last[id], _ = strconv.Atoi(f[1])
				}
			}
		}
		return last
	}, func(r *result) {
		if a, err := m.Audits(ctx); err == nil {
			r.Audits, r.Mismatches = a.Audits, a.Mismatches
		}
	})
}

// poll runs capture-pane for every pane, every so often.
func poll(ctx context.Context, args []string) error {
	every, err := time.ParseDuration(args[4])
	if err != nil {
		return err
	}
	s := newSeen(args[2])
	last := map[string]int{}
	round := func() {
		for id := range strings.SplitSeq(args[3], ",") {
			out, err := exec.CommandContext(ctx, "tmux", "-S", args[0], "capture-pane", "-p", "-t", id).Output()
			if err != nil {
				continue
			}
			if s.probes[id] {
				if at := moment(out); at != 0 {
					s.mark(id, at)
				}
			}
			if f := pictureNumber.FindAllSubmatch(out, -1); f != nil {
				s.mu.Lock()
				last[id], _ = strconv.Atoi(string(f[len(f)-1][1]))
				s.mu.Unlock()
			}
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		for ctx.Err() == nil {
			start := time.Now()
			round()
			select {
			case <-time.After(time.Until(start.Add(every))):
			case <-ctx.Done():
			}
		}
	}()
	return s.talk(func() map[string]int {
		time.Sleep(2 * every)
		s.mu.Lock()
		defer s.mu.Unlock()
		out := map[string]int{}
		for k, v := range last {
			out[k] = v
		}
		return out
	}, nil)
}
