package codex

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"akk/agents"
)

func readRollout(t testing.TB, path string) ([]agents.LogEvent, agents.LogState) {
	t.Helper()
	all, err := io.ReadAll(unzip(t, path))
	if err != nil {
		t.Fatal(err)
	}
	sum := newRollout(path, time.Time{})
	var events []agents.LogEvent
	var end int64
	for l := range bytes.Lines(all) {
		end += int64(len(l))
		if e, ok := sum.parseLine(bytes.TrimSuffix(l, []byte("\n")), end); ok {
			events = append(events, e)
		}
	}
	return events, sum.state
}

// TestRollouts counts what real rollouts say.
func TestRollouts(t *testing.T) {
	paths, err := filepath.Glob("testdata/rollouts/*.gz")
	if err != nil || len(paths) < 5 {
		t.Fatal("no rollouts", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			events, state := readRollout(t, path)
			n := map[agents.LogKind]int{}
			for _, e := range events {
				n[e.Kind]++
				switch {
				case e.Time.IsZero():
					t.Errorf("%s without time", e.Kind)
				case e.Kind != agents.LogSession && e.SessionID == "":
					t.Errorf("%s without session", e.Kind)
				case e.Kind == agents.LogAccepted && (len(e.Hash) != 64 || e.Text != "" || e.Detail != "" || e.TurnID == ""):
					t.Errorf("accepted: %+v", e)
				case e.Kind == agents.LogFailed && e.Err == "":
					t.Error("failed without reason")
				case e.Kind == agents.LogAborted && e.Err == "":
					t.Error("aborted without reason")
				}
			}
			if n[agents.LogSession] != 1 || n[agents.LogAccepted] < 1 || n[agents.LogTurnStarted] < 1 {
				t.Errorf("events: %v", n)
			}
			ended := n[agents.LogCompleted] + n[agents.LogFailed] + n[agents.LogAborted]
			if ended > n[agents.LogTurnStarted] || state.TurnOpen != (ended < n[agents.LogTurnStarted]) {
				t.Errorf("%d turns, %d ended, open %v", n[agents.LogTurnStarted], ended, state.TurnOpen)
			}
			if !state.TurnOpen && state.Pending != nil {
				t.Errorf("tool call without a turn: %+v", state.Pending)
			}
		})
	}
}

// TestRolloutTurn reads one turn with an approval line by line.
func TestRolloutTurn(t *testing.T) {
	paths, _ := filepath.Glob("testdata/rollouts/0.155.1_s04*.gz")
	events, _ := readRollout(t, paths[0])
	var kinds []string
	for _, e := range events[:6] {
		kinds = append(kinds, string(e.Kind))
	}
	want := "session turn_started accepted tool_pending tool_done completed"
	if got := strings.Join(kinds, " "); got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
	if events[2].Hash != agents.HashRequest("exec-approve one") {
		t.Error("hash of the user's message")
	}
	if events[3].Tool != "exec_command" || events[3].Detail != "touch /opt/akk-lab/outside/x1" {
		t.Errorf("tool call: %+v", events[3])
	}
	if events[5].Text != "Command handled." || events[5].TurnID != events[1].TurnID {
		t.Errorf("completed: %+v", events[5])
	}
}

// TestFailedTurn: a failed turn is written as task_complete, too.
func TestFailedTurn(t *testing.T) {
	paths, _ := filepath.Glob("testdata/rollouts/0.155.1_s10*.gz")
	events, _ := readRollout(t, paths[0])
	for _, e := range events {
		if e.Kind == agents.LogFailed && strings.Contains(e.Err, "usage limit") {
			return
		}
	}
	t.Error("the usage limit did not make a turn fail")
}

func TestHeldLog(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "sessions", "rollout-1.jsonl"), filepath.Join(dir, "sessions", "rollout-2.jsonl")
	if err := os.MkdirAll(filepath.Dir(a), 0o700); err != nil {
		t.Fatal(err)
	}
	meta := func(id string) string {
		return `{"timestamp":"2026-11-29T23:47:32Z","type":"session_meta","payload":{"id":"` + id + `","cwd":"/x","source":"cli"}}` + "\n"
	}
	started := func(at, id string) string {
		return `{"timestamp":"` + at + `","type":"event_msg","payload":{"type":"task_started","turn_id":"` + id + `"}}` + "\n"
	}
	write := func(path, text string) {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	held := []string{}
	find := func(int) ([]string, error) { return held, nil }
	if _, err := openHeld(1, time.Time{}, find); !errors.Is(err, agents.ErrNoLog) {
		t.Fatalf("no rollout: %v", err)
	}
	write(a, meta("A")+started("2026-11-29T23:48:00Z", "a1")[:40])
	held = []string{a}
	l, err := openHeld(1, time.Date(2026, 11, 29, 23, 0, 0, 0, time.UTC), find)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	now := time.Now()
	l.now = func() time.Time { return now }
	poll := func(want int) []agents.LogEvent {
		t.Helper()
		events, err := l.Poll()
		if err != nil || len(events) != want {
			t.Fatalf("got %d events, %v; want %d", len(events), err, want)
		}
		return events
	}
	poll(1)
	if l.State().TurnOpen {
		t.Error("a torn line opened a turn")
	}
	write(a, started("2026-11-29T23:48:00Z", "a1")[40:]+"not json\n{\"type\":\"task_started\"}\n")
	poll(1)
	if s := l.State(); !s.TurnOpen || s.SessionID != "A" {
		t.Errorf("state %+v", s)
	}
	// A new conversation: another rollout is opened and written.
	write(b, meta("B")+started("2026-11-29T23:50:00Z", "b1"))
	held = []string{a, b}
	poll(0) // not looked at yet
	now = now.Add(recheck)
	poll(2)
	if l.Path() != b || l.State().SessionID != "B" {
		t.Errorf("current is %s, session %s", l.Path(), l.State().SessionID)
	}
	// A resumed conversation whose last turn belongs to a dead process.
	old, err := openHeld(1, time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), find)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	if _, err := old.Poll(); err != nil || old.State().TurnOpen {
		t.Errorf("a turn of an earlier process counts as open, %v", err)
	}
	// Truncated.
	if err := os.Truncate(b, 10); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Poll(); !errors.Is(err, agents.ErrLogReplaced) {
		t.Errorf("truncated: %v", err)
	}
}

// TestSharedLog: with a shared daemon only accepted hashes and ends are told,
// and one hash in two rollouts is nobody's (R49; 0.171, default start).
func TestSharedLog(t *testing.T) {
	root := t.TempDir()
	day := filepath.Join(root, "2026", "11", "29")
	if err := os.MkdirAll(day, 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(name, cwd, source string, texts ...string) {
		var b strings.Builder
		b.WriteString(`{"timestamp":"2026-11-29T23:47:32Z","type":"session_meta","payload":{"id":"` + name + `","cwd":"` + cwd + `","source":` + source + `}}` + "\n")
		for _, x := range texts {
			b.WriteString(`{"timestamp":"2026-11-29T23:48:00Z","type":"event_msg","payload":{"type":"item_completed","turn_id":"t","item":{"type":"UserMessage","content":[{"type":"text","text":"` + x + `"}]}}}` + "\n")
		}
		if err := os.WriteFile(filepath.Join(day, "rollout-"+name+".jsonl"), []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	since := time.Date(2026, 11, 29, 23, 0, 0, 0, time.UTC)
	write("other", "/other", `"cli"`, "hello")
	write("sub", "/x", `{"subagent":"review"}`, "hello")
	if _, err := openShared(root, "/x", since); !errors.Is(err, agents.ErrNoLog) {
		t.Fatalf("no candidate: %v", err)
	}
	write("one", "/x", `"vscode"`, "hello", "only one")
	write("two", "/x", `"vscode"`, "hello")
	l, err := openShared(root, "/x", since)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	events, err := l.Poll()
	if err != nil || len(events) != 1 || events[0].Hash != agents.HashRequest("only one") || events[0].SessionID != "one" {
		t.Fatalf("got %+v, %v", events, err)
	}
	if len(l.Candidates()) != 2 || l.Path() != "" || l.State().TurnOpen {
		t.Errorf("candidates %v, state %+v", l.Candidates(), l.State())
	}
}

// FuzzParseLine: no line makes the parser panic or tell a user's words.
func FuzzParseLine(f *testing.F) {
	paths, _ := filepath.Glob("testdata/rollouts/*.gz")
	for _, p := range paths[:3] {
		all, err := io.ReadAll(unzip(f, p))
		if err != nil {
			f.Fatal(err)
		}
		for l := range bytes.Lines(all) {
			if len(l) < 2000 {
				f.Add(l)
			}
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		sum := newRollout("x", time.Time{})
		for range 2 {
			e, ok := sum.parseLine(b, 1)
			if ok && e.Kind == "" {
				t.Error("an event without kind")
			}
			if e.Kind == agents.LogAccepted && (e.Text != "" || e.Detail != "") {
				t.Error("a user's words were kept")
			}
		}
	})
}
