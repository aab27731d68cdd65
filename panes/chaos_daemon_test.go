package panes

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// This file is the daemon's side of chaos: the test binary again, as a process
// of its own, so that it can be stopped and killed. It mirrors one server and
// compares what it has with what it is told tmux shows.

// chaosEnv makes the test binary the daemon of the server on that socket.
const chaosEnv = "AKK_PANES_CHAOS"

// shown is a pane as tmux shows it.
type shown struct {
	ID         string
	Cols, Rows int
	X, Y       int
	Lines      []string
	Shut       bool // all its sessions have a dead active pane: no client may attach (3776)
}

// chaosAsk is a line of the daemon's input.
type chaosAsk struct {
	Do    string // check | close
	Panes []shown
}

// chaosTell is a line of its output.
type chaosTell struct {
	Event    string // open | checked | gone | closed | error
	Text     string
	Diffs    []string
	Unproven []string // no audit got through in time; compared all the same
	Shut     int      // panes that are truly told as kept out of
	Audits   AuditCount
	Routines int
}

// settleWithin bounds how long the mirrors may take to become quiet.
const settleWithin = 20 * time.Second

func chaosDaemon(socket string) {
	out := json.NewEncoder(os.Stdout)
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	s, err := Open(ctx, Options{Socket: socket, Owner: "chaos", Logger: log})
	cancel()
	if err != nil {
		out.Encode(chaosTell{Event: "error", Text: err.Error()})
		return
	}
	tells := make(chan chaosTell)
	asks := make(chan chaosAsk)
	go func() { // a subscriber that looks at everything, as the desk does
		sub := s.Subscribe()
		for {
			ups, err := sub.Next(context.Background())
			if err != nil {
				return
			}
			for _, u := range ups {
				switch {
				case u.Screen != nil:
					_ = u.Screen.Line(0)
				case u.Kind == UpdateServerGone:
					tells <- chaosTell{Event: "gone", Text: fmt.Sprint(len(s.Panes()), " panes are still listed")}
				}
			}
		}
	}()
	go func() {
		in := bufio.NewReader(os.Stdin)
		for {
			line, err := in.ReadBytes('\n')
			var a chaosAsk
			if err != nil || json.Unmarshal(line, &a) != nil {
				a = chaosAsk{Do: "close"}
			}
			asks <- a
			if a.Do == "close" {
				return
			}
		}
	}()
	out.Encode(chaosTell{Event: "open"})
	for {
		select {
		case t := <-tells:
			out.Encode(t)
		case a := <-asks:
			if a.Do == "close" {
				s.Close()
				out.Encode(chaosTell{Event: "closed"})
				return
			}
			out.Encode(chaosCheck(s, a.Panes))
		}
	}
}

// chaosCheck waits until every mirror is audited, then compares all.
func chaosCheck(s *Server, want []shown) chaosTell {
	ctx, cancel := context.WithTimeout(context.Background(), settleWithin)
	defer cancel()
	sub := s.Subscribe()
	defer sub.Close()
	t := chaosTell{Event: "checked"}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		t.Unproven = unproven(ctx, s, want)
		if len(t.Unproven) == 0 {
			break
		}
		select {
		case <-tick.C:
			continue
		case <-ctx.Done():
		}
		break
	}
	shut := map[string]bool{}
	for _, w := range want {
		if w.Shut && keptOut(ctx, s, w.ID) {
			shut[w.ID] = true
			t.Shut++
			continue
		}
		scr, err := s.Screen(w.ID)
		if err != nil {
			t.Diffs = append(t.Diffs, w.ID+": "+err.Error())
			continue
		}
		diff, equal := "", false
		switch {
		case scr.Cols != w.Cols || scr.Rows != w.Rows:
			diff = fmt.Sprintf("size: tmux %dx%d, mirror %dx%d", w.Cols, w.Rows, scr.Cols, scr.Rows)
		default:
			diff, equal = scr.Mismatch(w.Lines, w.X, w.Y)
		}
		if !equal {
			t.Diffs = append(t.Diffs, fmt.Sprintf("%s (torn %v): %s", w.ID, scr.Torn, diff))
		}
	}
	for _, in := range s.Panes() {
		if !slices.ContainsFunc(want, func(w shown) bool { return w.ID == in.Pane }) {
			t.Diffs = append(t.Diffs, in.Pane+": mirrored, but tmux has no such pane")
		}
		if !in.Unsynced.IsZero() && !shut[in.Pane] {
			t.Diffs = append(t.Diffs, fmt.Sprintf("%s: not mirrored since %v: %s", in.Pane, in.Unsynced, in.UnsyncedWhy))
		}
	}
	t.Audits, _ = s.Audits(context.Background())
	t.Routines = runtime.NumGoroutine()
	return t
}

// keptOut tells whether a pane has no client because none may attach, and says so.
func keptOut(ctx context.Context, s *Server, id string) bool {
	out, _ := call(ctx, s, func(done func(bool, error)) {
		m := s.mirrors[id]
		done(m != nil && m.barred() && (m.info.Dead || strings.Contains(m.info.UnsyncedWhy, "3776")), nil)
	})
	return out
}

func unproven(ctx context.Context, s *Server, want []shown) []string {
	var out []string
	for _, w := range want {
		if w.Shut && keptOut(ctx, s, w.ID) {
			continue
		}
		if ok, err := s.Proven(ctx, w.ID); err != nil {
			out = append(out, w.ID+" "+err.Error())
		} else if !ok {
			why, _ := call(ctx, s, func(done func(string, error)) {
				m := s.mirrors[w.ID]
				if m == nil {
					done("gone", nil)
					return
				}
				done(fmt.Sprintf("state %d, feeder %v, torn %v, standing %v, waiters %d, last byte %v ago", m.state, m.feeder != nil, m.torn, m.standing, len(m.waiters), time.Since(m.last).Round(time.Millisecond)), nil)
			})
			out = append(out, w.ID+" "+why)
		}
	}
	if n := len(s.Panes()); n != len(want) {
		out = append(out, fmt.Sprintf("%d panes instead of %d", n, len(want)))
	}
	return out
}

// readTells hands on what a daemon says until it ends.
func readTells(r io.Reader, to chan<- chaosTell) {
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			close(to)
			return
		}
		var t chaosTell
		if json.Unmarshal([]byte(line), &t) == nil {
			to <- t
		} else if strings.TrimSpace(line) != "" {
			to <- chaosTell{Event: "error", Text: line}
		}
	}
}
