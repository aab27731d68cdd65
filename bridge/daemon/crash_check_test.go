package daemon

// This file holds what a daemon tells after a death against the bytes that the
// agents read, and the fail points of the source against those that were passed.

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"akk/agents"
	"akk/bridge/rpc"
)

// free hands back what a human took before the death.
func (s *scene) free(c *rpc.Client) {
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		l, err := c.List(context.Background(), rpc.ListParams{})
		if err != nil {
			continue
		}
		seen := 0
		for _, row := range l.Terminals {
			if row.TerminalControl.PaneID == s.panes[0] || row.TerminalControl.PaneID == s.panes[1] {
				seen++
			}
		}
		if seen == 2 {
			break
		}
	}
	e, err := c.Explain(context.Background(), rpc.TargetParams{ID: s.panes[0]})
	if err == nil && strings.Contains(strings.Join(e.Missing, "\n"), "holds the terminal") {
		s.human(c, "handback")
	}
}

// compare holds one task's record against its pane's bytes and its agent's log.
func (s *scene) compare(c *rpc.Client, k task) {
	t := s.t
	t.Helper()
	bytes, log := readFile(s.dirs[k.pane], "bytes"), readFile(s.dirs[k.pane], "log")
	pastes := strings.Count(bytes, "\x1b[200~"+k.text+"\x1b[201~")
	taken := strings.Count(log, `"`+agents.HashRequest(k.text)+`"`)
	enters, lines := strings.Count(bytes, "\r"), strings.Count(log, `"accepted"`)
	if pastes > 1 || taken > 1 || enters > lines {
		t.Fatalf("%q: %d pastes, taken %d times, %d Enters for %d messages: %q", k.text, pastes, taken, enters, lines, bytes)
	}
	if strings.Count(bytes, "\x03") > 1 {
		t.Fatalf("interrupted more than once: %q", bytes)
	}
	if pastes == 0 && taken == 0 {
		return // the next lines would type it: nothing is known of it, or nothing went out
	}
	// The same request again is its receipt, never a second dispatch.
	p := rpc.SendParams{ID: s.panes[k.pane], Request: k.text, RequestID: k.id, Explicit: k.explicit}
	var r rpc.Send
	var err error
	until(t, "the receipt of "+k.text, func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		r, err = c.Send(ctx, p)
		return err == nil
	})
	if again := readFile(s.dirs[k.pane], "bytes"); again != bytes {
		t.Fatalf("%q: the same request again typed %q", k.text, again[len(bytes):])
	}
	turn := r.Conversation
	s.sent[r.TurnID] = s.hosts[k.host].Session
	switch {
	case !r.Replayed || turn == nil:
		t.Fatalf("%q was typed, the same request again is told %+v", k.text, r)
	case taken == 1 && r.SubmissionOutcome != "agent_accepted":
		t.Fatalf("%q was taken, but is told %s: %s", k.text, r.SubmissionOutcome, r.Reason)
	case taken == 0 && r.SubmissionOutcome != "uncertain" && r.SubmissionOutcome != "not_accepted":
		t.Fatalf("%q was typed and not taken, but is told %s", k.text, r.SubmissionOutcome)
	}
	want := map[bool]string{true: "completed aborted failed closed", false: "uncertain not_accepted closed"}[taken == 1]
	if !slices.Contains(strings.Fields(want), turn.Outcome) {
		t.Fatalf("%q ended as %q (%s), taken %d times", k.text, turn.Outcome, turn.Reason, taken)
	}
	if taken == 1 && strings.HasPrefix(k.text, "fail") && turn.Outcome != "failed" && turn.Outcome != "closed" {
		t.Fatalf("%q ended as %q", k.text, turn.Outcome)
	}
	t.Logf("%q: %d pastes, taken %d times, %s at %s, %s", k.text, pastes, taken, turn.Outcome, turn.Stage, turn.Reason)
}

// callbacks: the end of each accepted task is queued exactly once, given to a
// bridge at most once an attempt, and comes to its end.
func (s *scene) callbacks(c *rpc.Client) {
	t := s.t
	t.Helper()
	for _, h := range s.hosts {
		b, err := s.dial(h)
		if err != nil {
			t.Fatal(err)
		}
		s.take(b, h)
		list, err := b.Callbacks(context.Background(), rpc.CallbacksParams{All: true, Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		turns, err := b.Turns(context.Background(), rpc.TurnsParams{All: true, Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		ends := map[string]int{}
		for _, d := range list {
			if d.TurnID != "" && (d.Type == "done" || d.Type == "error") {
				ends[d.TurnID]++
			}
			if d.Status == "in_flight" || d.Status == "pending" || d.Status == "retryable" {
				t.Errorf("a callback stays %s: %+v", d.Status, d)
			}
		}
		for _, turn := range turns {
			mine := s.sent[turn.TurnID] == h.Session
			ended := slices.Contains([]string{"completed", "failed", "aborted", "lost"}, turn.Outcome)
			if mine && ended && ends[turn.TurnID] != 1 || ends[turn.TurnID] > 1 {
				t.Errorf("the end of %s (%s) was queued %d times", turn.TurnID, turn.Outcome, ends[turn.TurnID])
			}
		}
		_ = b.Close()
	}
	attempts := map[string]bool{}
	for line := range strings.Lines(readFile(filepath.Dir(s.leases()), filepath.Base(s.leases()))) {
		if attempts[line] {
			t.Errorf("an attempt was given out twice: %s", line)
		}
		attempts[line] = true
	}
}

// take delivers what is due to a Host until nothing is open any more.
func (s *scene) take(b *rpc.Client, h rpc.HelloParams) {
	t := s.t
	stream, err := s.dial(h)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = stream.Deliveries(ctx, func(l rpc.Lease) error {
			_, err := b.Outcome(ctx, rpc.OutcomeParams{DeliveryID: l.Envelope.DeliveryID, LeaseID: l.LeaseID, Outcome: rpc.OutcomeAccepted, AcceptanceID: "a"})
			return err
		})
	}()
	until(t, "the callbacks of "+h.Session+" end", func() bool {
		list, err := b.Callbacks(ctx, rpc.CallbacksParams{All: true, Limit: 1000})
		if err != nil {
			return false
		}
		for _, d := range list {
			if d.Status == "in_flight" || d.Status == "pending" {
				return false
			}
		}
		return true
	})
	cancel()
	_ = stream.Close()
	<-done
}

// elsewhere are fail points that have their own test: a compaction is no part of
// a daemon's work (TestCompactCrash in store).
var elsewhere = []string{"store.compact.written", "store.compact.renamed"}

// missedPoints reads the fail points of the source and returns those that were
// not passed, in words. A name that is put together must have been passed with
// each of its ends.
func missedPoints(t *testing.T, passed map[string]bool) (missed []string) {
	t.Helper()
	ends := map[string][]string{
		"outbox.committed.":  {"pending", "in_flight", "accepted", "uncertain"},
		"handoff.hold.":      {"takeover", "handback", "begun", "ended"},
		"handoff.watch.":     {"active", "completed", "cancelled"},
		"handoff.committed.": {"prepared", "text_injected", "sent", "accepted", "completed", "failed", "aborted", "not_accepted", "question", "answered", "closed", "control"},
	}
	n := 0
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			if e != nil && e.IsDir() && strings.HasPrefix(e.Name(), ".") && path != root {
				return fs.SkipDir
			}
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return nil // half written by somebody; the build tells
		}
		ast.Inspect(f, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 {
				return true
			}
			name := ""
			switch fun := call.Fun.(type) {
			case *ast.SelectorExpr:
				if x, ok := fun.X.(*ast.Ident); ok && x.Name == "store" {
					name = fun.Sel.Name
				}
			case *ast.Ident:
				name = fun.Name
			}
			if name != "FailAt" && name != "failAt" {
				return true
			}
			arg := call.Args[0]
			if sum, ok := arg.(*ast.BinaryExpr); ok {
				arg = sum.X
			}
			lit, ok := arg.(*ast.BasicLit)
			if !ok {
				return true // the door to it
			}
			n++
			point, _ := strconv.Unquote(lit.Value)
			words := []string{point}
			if strings.HasSuffix(point, ".") {
				words = nil
				for _, end := range ends[point] {
					words = append(words, point+end)
				}
				if len(words) == 0 {
					t.Errorf("fail point %q of %s is not known here", point, path)
				}
			}
			for _, w := range words {
				if !passed[w] && !slices.Contains(elsewhere, w) {
					missed = append(missed, fmt.Sprintf("fail point %q of %s is passed by no script", w, path))
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n < 10 {
		t.Errorf("only %d fail points were found", n)
	}
	return missed
}
