package claude

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"akk/agents"
)

// events plays a transcript of a real session in batches of n lines.
func events(data []byte, n int) []agents.LogEvent {
	var t turns
	var out []agents.LogEvent
	var batch []record
	off := int64(0)
	for _, l := range bytes.SplitAfter(data, []byte("\n")) {
		off += int64(len(l))
		if r := parseLine(bytes.TrimSuffix(l, []byte("\n")), off); r.kind != recNone {
			batch = append(batch, r)
		}
		if len(batch) >= n {
			out = append(out, t.take(batch)...)
			batch = nil
		}
	}
	return append(out, t.take(batch)...)
}

func render(list []agents.LogEvent) string {
	names := map[string]string{}
	short := func(id string) string {
		if id == "" {
			return ""
		}
		if names[id] == "" {
			names[id] = "t" + itoa(len(names)+1)
		}
		return names[id]
	}
	var b strings.Builder
	for _, e := range list {
		fmt.Fprintf(&b, "%s %s", e.Kind, short(e.TurnID))
		for _, s := range []string{e.Tool, e.Detail, e.Text, e.Err} {
			if s != "" {
				if i := strings.IndexByte(s, '\n'); i > 0 {
					s = s[:i]
				}
				fmt.Fprintf(&b, " %.40s", s)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func transcriptOf(t *testing.T, version, scenario string) []byte {
	t.Helper()
	paths, _ := filepath.Glob(filepath.Join("testdata/logs", version, scenario, "*.jsonl.gz"))
	if len(paths) == 0 {
		t.Fatalf("no log of %s %s", version, scenario)
	}
	var all []byte
	for _, p := range paths {
		all = append(all, gunzip(t, p)...)
	}
	return all
}

func TestTranscripts(t *testing.T) {
	cases := []struct{ version, scenario, want string }{
		{"2.1.332", "errors", `accepted t1
turn_started t1
failed t1 API Error: Server error mid-response. Th
accepted t2
turn_started t2
failed t2 API Error: 400 lab says bad request
accepted t3
turn_started t3
failed t3 Please run /login · API Error: 401 lab s
accepted t4
turn_started t4
failed t4 API Error: Request rejected (429) · lab 
accepted t5
turn_started t5
failed t5 API Error: 500 lab says internal error. 
accepted t6
turn_started t6
failed t6 API Error: 529 Overloaded. This is a ser
accepted t7
turn_started t7
failed t7 API Error: Opus 5.5's safeguards flagged
accepted t8
turn_started t8
`},
		{"2.1.218", "work", `accepted t1
turn_started t1
accepted t2
aborted t2 taken back from the queue
accepted t3
completed t1 word1 word2 word3 word4 word5 word6 word
turn_started t3
completed t3 Lab model heard: a queued message
accepted t4
turn_started t4
aborted t4 Request interrupted by user
accepted t5
turn_started t5
aborted t5 another message was taken before it ende
accepted t6
turn_started t6
completed t6 Thought about it; done.
accepted t7
turn_started t7
`},
		{"2.1.332", "bg", `accepted t1
turn_started t1
tool_pending t1 Bash sleep 12; touch build/bg
tool_done t1 Bash
completed t1 Started in the background.
turn_started t2
completed t2 Started in the background.
accepted t3
turn_started t3
tool_pending t3 Agent
tool_done t3 Agent
completed t3 Sub-agent is back.
turn_started t4
accepted t5
completed t4 Sub-agent is back.
turn_started t5
tool_pending t5 Bash sleep 20; touch build/slept
`},
	}
	for _, c := range cases {
		data := transcriptOf(t, c.version, c.scenario)
		for _, n := range []int{5, 40, 1 << 20} {
			got := render(events(data, n))
			if !strings.HasPrefix(got, c.want) {
				t.Errorf("%s %s in batches of %d:\n%s", c.version, c.scenario, n, got)
			}
		}
	}
}

// TestAllTranscripts: every session's turns begin once and end once at most, and
// no event carries a user's text.
func TestAllTranscripts(t *testing.T) {
	paths, _ := filepath.Glob("testdata/logs/*/*/*.jsonl.gz")
	if len(paths) < 25 {
		t.Fatalf("only %d transcripts", len(paths))
	}
	for _, p := range paths {
		data := gunzip(t, p)
		open := map[string]bool{}
		accepted := 0
		for _, e := range events(data, 1<<20) {
			switch e.Kind {
			case agents.LogAccepted:
				accepted++
				if len(e.Hash) != 64 || e.TurnID == "" {
					t.Errorf("%s: accepted without hash or turn: %+v", p, e)
				}
			case agents.LogTurnStarted:
				if open[e.TurnID] {
					t.Errorf("%s: turn %s began twice", p, e.TurnID)
				}
				open[e.TurnID] = true
			case agents.LogCompleted, agents.LogFailed, agents.LogAborted:
				if !open[e.TurnID] && !strings.HasPrefix(e.TurnID, "queued-") {
					t.Errorf("%s: turn %s ended without a begin: %+v", p, e.TurnID, e)
				}
				delete(open, e.TurnID)
			}
			if e.Time.IsZero() || e.Offset <= 0 || e.Offset > int64(len(data)) {
				t.Errorf("%s: no time or place: %+v", p, e)
			}
			if b, _ := json.Marshal(e); bytes.Contains(b, []byte("please lab:")) {
				t.Errorf("%s: a prompt's text in %s", p, b)
			}
		}
		if accepted == 0 && bytes.Contains(data, []byte(`"promptSource":"typed"`)) {
			t.Errorf("%s: nothing accepted", p)
		}
	}
}

// TestOutOfOrder: in the first turn the answer and the end can stand before the
// message that they belong to.
func TestOutOfOrder(t *testing.T) {
	lines := []string{
		`{"type":"assistant","uuid":"b","parentUuid":"a","timestamp":"2026-01-01T00:00:02Z","message":{"content":[{"type":"text","text":"hello"}],"stop_reason":"end_turn"}}`,
		`{"type":"system","subtype":"turn_duration","uuid":"c","parentUuid":"b","timestamp":"2026-01-01T00:00:03Z"}`,
		`{"type":"user","uuid":"a","timestamp":"2026-01-01T00:00:01Z","promptId":"p","origin":{"kind":"human"},"message":{"content":"hi"}}`,
	}
	got := render(events([]byte(strings.Join(lines, "\n")+"\n"), 10))
	if want := "accepted t1\nturn_started t1\ncompleted t1 hello\n"; got != want {
		t.Fatalf("got %q", got)
	}
	// Parents in a circle end too.
	circle := `{"type":"user","uuid":"a","parentUuid":"b"}` + "\n" + `{"type":"user","uuid":"b","parentUuid":"a"}` + "\n"
	events([]byte(circle), 10)
}

func TestPastedContent(t *testing.T) {
	text := "one\ntwo\nthree\nfour"
	framed := "\n\n<pasted_content id=\"59df\">\n" + text + "\n</pasted_content id=\"59df\">\n"
	if hash(framed) != agents.HashRequest(text) {
		t.Error("the frame of 2.1.332 is not taken off")
	}
	for _, other := range []string{
		"before " + framed, strings.Replace(framed, "</pasted_content id=\"59df\"", "</pasted_content id=\"59de\"", 1), framed + framed,
	} {
		if hash(other) != agents.HashRequest(other) {
			t.Errorf("taken apart: %q", other)
		}
	}
}

// live is a session's files in a folder of its own.
type live struct {
	t      *testing.T
	config string
	proc   agents.Process
	cwd    string
}

func newLive(t *testing.T) *live {
	config := t.TempDir()
	l := &live{t: t, config: config, cwd: "/tmp/my.project_1",
		proc: agents.Process{PID: 4242, StartTime: time.Now().Add(-time.Minute), Env: map[string]string{"CLAUDE_CONFIG_DIR": config}}}
	for _, d := range []string{"sessions", "projects/-tmp-my-project-1"} {
		if err := os.MkdirAll(filepath.Join(config, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

func (l *live) status(session, status string) {
	b, _ := json.Marshal(map[string]any{"pid": l.proc.PID, "sessionId": session, "cwd": l.cwd, "status": status, "version": "2.1.267", "startedAt": time.Now().UnixMilli()})
	if err := os.WriteFile(statusPath(l.config, l.proc.PID), b, 0o600); err != nil {
		l.t.Fatal(err)
	}
}

func (l *live) add(session, text string) {
	f, err := os.OpenFile(filepath.Join(l.config, "projects/-tmp-my-project-1", session+".jsonl"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		l.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		l.t.Fatal(err)
	}
}

func (l *live) poll(log agents.Log) string {
	l.t.Helper()
	ev, err := log.Poll()
	if err != nil {
		l.t.Fatal(err)
	}
	return render(ev)
}

const (
	lineUser = `{"type":"user","uuid":"%s","timestamp":"2026-01-01T00:00:01Z","promptId":"p%[1]s","origin":{"kind":"human"},"message":{"content":"hi"}}` + "\n"
	lineEnd  = `{"type":"system","subtype":"turn_duration","uuid":"e","parentUuid":"a","timestamp":"2026-01-01T00:00:03Z"}` + "\n"
)

func TestFollow(t *testing.T) {
	l := newLive(t)
	if _, err := (Agent{}).OpenLog(&l.proc); !errors.Is(err, agents.ErrNoLog) {
		t.Fatalf("without a status file: %v", err)
	}
	l.status("s1", "idle")
	log, err := Agent{}.OpenLog(&l.proc)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if got := l.poll(log); got != "" || log.Path() != "" || log.Status().Status != "idle" {
		t.Fatalf("before the first message: %q %q", got, log.Path())
	}
	user := fmt.Sprintf(lineUser, "a")
	l.add("s1", user[:30])
	if got := l.poll(log); got != "session \n" {
		t.Fatalf("torn line: %q", got)
	}
	l.add("s1", user[30:])
	l.status("s1", "busy")
	if got := l.poll(log); got != "accepted t1\nturn_started t1\n" || !log.State().TurnOpen {
		t.Fatalf("message: %q %+v", got, log.State())
	}
	// /clear: what ended the old session comes first, under its path.
	l.add("s1", lineEnd)
	l.add("s2", fmt.Sprintf(lineUser, "b"))
	l.status("s2", "busy")
	if got := l.poll(log); got != "completed t1\n" || !strings.HasSuffix(log.Path(), "s1.jsonl") {
		t.Fatalf("end of the old session: %q %s", got, log.Path())
	}
	if got := l.poll(log); got != "session \naccepted t1\nturn_started t1\n" || !strings.HasSuffix(log.Path(), "s2.jsonl") {
		t.Fatalf("new session: %q %s", got, log.Path())
	}
	// Truncated: told, and read from the begin.
	if err := os.Truncate(log.Path(), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := log.Poll(); !errors.Is(err, agents.ErrLogReplaced) {
		t.Fatalf("truncated: %v", err)
	}
	l.add("s2", "not json\n"+fmt.Sprintf(lineUser, "c"))
	if got := l.poll(log); got != "accepted t1\nturn_started t1\n" {
		t.Fatalf("after the truncation: %q", got)
	}
	// Idle for a while without an end mark, no output: interrupted.
	log.(*sessionLog).now = func() time.Time { return time.Now().Add(time.Minute) }
	l.status("s2", "idle")
	if got := l.poll(log); got != "aborted t1 the agent is idle and has written no ans\n" {
		t.Fatalf("idle without an end: %q", got)
	}
	if err := os.Remove(statusPath(l.config, l.proc.PID)); err != nil {
		t.Fatal(err)
	}
	if l.poll(log); log.Status() != nil {
		t.Fatal("status of an agent that has gone")
	}
}

// TestStaleStatus: SIGKILL leaves the file, and process numbers come again.
func TestStaleStatus(t *testing.T) {
	l := newLive(t)
	l.status("s1", "idle")
	l.proc.StartTime = time.Now().Add(time.Minute)
	if _, err := (Agent{}).OpenLog(&l.proc); !errors.Is(err, agents.ErrNoLog) {
		t.Fatalf("another process's status file was taken: %v", err)
	}
}

func FuzzParseLine(f *testing.F) {
	for _, p := range []string{"errors", "work"} {
		paths, _ := filepath.Glob("testdata/logs/2.1.332/" + p + "/*.jsonl.gz")
		for _, path := range paths {
			for i, l := range bytes.Split(gunzip(f, path), []byte("\n")) {
				if i < 40 {
					f.Add(l)
				}
			}
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r := parseLine(b, int64(len(b)))
		var s turns
		s.take([]record{r, r})
		if r.kind == recPrompt && len(r.hash) != 64 {
			t.Fatalf("prompt without hash: %+v", r)
		}
	})
}

// Claude Code writes the end of an interrupted turn after its status names the next
// session, when a /clear was waiting for that end (2.1.267, seen on a fast machine).
// A turn whose end never comes does not hold the next session up for long.
func TestEndAfterTheClear(t *testing.T) {
	for _, ends := range []bool{true, false} {
		l := newLive(t)
		l.status("s1", "busy")
		l.add("s1", fmt.Sprintf(lineUser, "a"))
		log, err := Agent{}.OpenLog(&l.proc)
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		now := time.Now()
		log.(*sessionLog).now = func() time.Time { return now }
		l.poll(log)
		l.status("s2", "idle")
		l.add("s2", fmt.Sprintf(lineUser, "b"))
		if got := l.poll(log); got != "" || !log.State().TurnOpen || !strings.HasSuffix(log.Path(), "s1.jsonl") {
			t.Fatalf("before its end: %q %s", got, log.Path())
		}
		now = now.Add(endGrace / 2)
		if ends {
			l.add("s1", lineEnd)
			if got := l.poll(log); got != "completed t1\n" || !strings.HasSuffix(log.Path(), "s1.jsonl") {
				t.Fatalf("its end: %q %s", got, log.Path())
			}
		} else {
			if got := l.poll(log); got != "" {
				t.Fatalf("nothing has come: %q", got)
			}
			now = now.Add(endGrace)
		}
		if got := l.poll(log); got != "session \naccepted t1\nturn_started t1\n" || !strings.HasSuffix(log.Path(), "s2.jsonl") {
			t.Fatalf("the next session: %q %s", got, log.Path())
		}
	}
}
