package lab

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"akk/agents"
	"akk/agents/lab/model"
)

// fakeNPM puts a program "npm" into PATH that does what the script says and
// counts its runs in a file.
func fakeNPM(t *testing.T, script string) (runs func() int) {
	t.Helper()
	dir := t.TempDir()
	log := filepath.Join(dir, "runs")
	body := "#!/bin/sh\necho run >> " + quote(log) + "\n" + script
	if err := os.WriteFile(filepath.Join(dir, "npm"), []byte(body), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	return func() int {
		b, _ := os.ReadFile(log)
		return strings.Count(string(b), "run")
	}
}

// goodNPM lays out a package as npm does; $3 is the prefix, the last argument
// the package. Its program prints the version that is in VERSION.
const goodNPM = `
for last; do :; done
v=${last##*@}
case $last in
@openai*) f=$3/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex; e=$3/node_modules/@openai/codex/bin/codex.js;;
*) f=$3/node_modules/@anthropic-ai/claude-code-linux-x64/claude; e=$3/node_modules/@anthropic-ai/claude-code/cli-wrapper.cjs;;
esac
mkdir -p "$(dirname $f)" "$(dirname $e)"
printf '#!/bin/sh\necho tool %s\n' ${SAYS:-$v} > $f
chmod 755 $f; echo > $e
`

func TestInstall(t *testing.T) {
	for _, kind := range []agents.Kind{agents.Codex, agents.Claude} {
		runs := fakeNPM(t, goodNPM)
		cache := t.TempDir()
		var wg sync.WaitGroup
		got := make([]Binary, 8)
		for i := range got {
			wg.Go(func() {
				var err error
				if got[i], err = Install(t.Context(), kind, "1.2.3", cache); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		for _, b := range got {
			if b != got[0] || b.Version != "1.2.3" || !strings.HasPrefix(b.Native, filepath.Join(cache, string(kind)+"-1.2.3")) || b.Entry == "" {
				t.Errorf("%+v", b)
			}
		}
		if runs() != 1 {
			t.Errorf("npm ran %d times", runs())
		}
		left, _ := filepath.Glob(filepath.Join(cache, ".install-*"))
		if len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

func TestInstallFails(t *testing.T) {
	for _, x := range []struct {
		name, npm, version string
		kind               agents.Kind
		want               error
		text               string
	}{
		{"registry", "echo 'npm error 404 no such version' >&2; exit 1", "9.9.9", agents.Codex, ErrNoVersion, "404 no such version"},
		{"no network", "echo 'npm error code ENOTFOUND' >&2; exit 1", "9.9.9", agents.Codex, ErrNetwork, "ENOTFOUND"},
		{"npm fails", "echo 'npm error code EACCES' >&2; exit 1", "9.9.9", agents.Claude, ErrInstall, "EACCES"},
		{"empty package", "exit 0", "9.9.9", agents.Claude, ErrNoBinary, "claude-code@9.9.9"},
		{"other version", "SAYS=0.0.1\n" + goodNPM, "9.9.9", agents.Claude, ErrNoBinary, "0.0.1"},
		{"no version", "exit 1", "1.2.3; rm -rf x", agents.Codex, ErrBadVersion, "1.2.3; rm"},
		{"path", "exit 1", "../../x", agents.Codex, ErrBadVersion, ""},
		{"agent", "exit 1", "1.2.3", "gemini", ErrUnknownAgent, "gemini"},
	} {
		t.Run(x.name, func(t *testing.T) {
			fakeNPM(t, x.npm)
			cache := t.TempDir()
			_, err := Install(t.Context(), x.kind, x.version, cache)
			if !errors.Is(err, x.want) || !strings.Contains(err.Error(), x.text) {
				t.Errorf("%v", err)
			}
			if left, _ := os.ReadDir(cache); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
	t.Run("no npm", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		if _, err := Install(t.Context(), agents.Codex, "1.2.3", t.TempDir()); !errors.Is(err, ErrNoNPM) {
			t.Error(err)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		fakeNPM(t, "exec sleep 60")
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := Install(ctx, agents.Codex, "1.2.3", t.TempDir()); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
	t.Run("latest", func(t *testing.T) {
		fakeNPM(t, "case $1 in view) echo 1.2.3;; *) shift 0;"+goodNPM+";; esac")
		if b, err := Install(t.Context(), agents.Codex, "latest", t.TempDir()); err != nil || b.Version != "1.2.3" {
			t.Error(b, err)
		}
	})
}

func TestAtLeast(t *testing.T) {
	for _, x := range []struct {
		v    string
		want bool
	}{{"0.155.1", false}, {"0.159.0", true}, {"0.171.0", true}, {"1.0.0", true}, {"0.159.0-alpha.1", true}, {"", false}} {
		if atLeast(x.v, 0, 159) != x.want {
			t.Error(x)
		}
	}
}

func newServer(t *testing.T) *Server {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("needs tmux")
	}
	t.Setenv(CacheEnv, t.TempDir())
	s, err := NewServer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// Close ends all that the lab started, even what left the pane and ignores
// hang-ups, and removes its folders.
func TestServerClose(t *testing.T) {
	s := newServer(t)
	_, err := s.Tmux(t.Context(), "new-window", "-d", "-t", "lab-0", "trap '' HUP; setsid sh -c \"trap '' HUP; sleep 600\" & sleep 600")
	if err != nil {
		t.Fatal(err)
	}
	end := time.Now().Add(20 * time.Second)
	for len(marked(s.mark)) < 4 && time.Now().Before(end) { // tmux, sleep, shell, shell, sleep
		time.Sleep(pollEvery)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if left := marked(s.mark); len(left) > 0 {
		t.Errorf("left running: %v", left)
	}
	for _, d := range []string{s.Dir, filepath.Dir(s.Socket)} {
		if _, err := os.Stat(d); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", d, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error("second close:", err)
	}
	if _, err := s.Model(agents.Codex, model.Script{}); err == nil {
		t.Error("a closed lab made a model server")
	}
}

// What runs in a lab reaches the lab's model and nothing else; nobody outside
// reaches the model.
func TestIsolation(t *testing.T) {
	s := newServer(t)
	if !s.Isolated() {
		t.Skip(s.Isolation())
	}
	m, err := s.Model(agents.Codex, model.Script{})
	if err != nil {
		t.Fatal(err)
	}
	addr := strings.TrimPrefix(m.URL(), "http://")
	if c, err := net.DialTimeout("tcp", addr, time.Second); err == nil {
		c.Close()
		t.Error("the model is reachable from outside of the lab")
	}
	outside, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer outside.Close()
	try := func(addr string) string {
		host, port, _ := net.SplitHostPort(addr)
		return fmt.Sprintf("(exec 3<>/dev/tcp/%s/%s) 2>/dev/null && echo %s=open || echo %s=shut;", host, port, addr, addr)
	}
	other := outside.Addr().String()
	pane, err := s.Tmux(t.Context(), "new-window", "-d", "-P", "-F", "#{pane_id}", "-t", "lab-0",
		"bash -c "+quote(try(addr)+try(other)+try("192.0.2.1:80")+"echo end; sleep 600"))
	if err != nil {
		t.Fatal(err)
	}
	scr, err := s.WaitPane(t.Context(), pane, "the end of the tries", 20*time.Second, func(s Screen) bool { return s.Has("end") })
	if err != nil {
		t.Fatal(err)
	}
	if !scr.Has(addr+"=open", other+"=shut", "192.0.2.1:80=shut") {
		t.Error(scr.Text())
	}
}

// The byte logger shows the picture of a real version, and its log has every
// byte that was typed, and no other.
func TestByteLogger(t *testing.T) {
	s := newServer(t)
	prog, err := BuildByteLogger(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b, err := Impersonate(prog, t.TempDir(), agents.Codex, "0.155.1")
	if err != nil {
		t.Fatal(err)
	}
	f, err := CastFrame("../../testdata/demo/codex-approval.cast.gz", "1 approval")
	if err != nil {
		t.Fatal(err)
	}
	l, err := s.ByteLogger(t.Context(), b.Native, f.Output, f.Cols, f.Rows)
	if err != nil {
		t.Fatal(err)
	}
	scr, err := s.WaitPane(t.Context(), l.Pane, "the picture", 10*time.Second, func(s Screen) bool {
		return s.Has("Would you like to run the following command?", "Yes, proceed (y)")
	})
	if err != nil {
		t.Fatal(err)
	}
	if scr.Command != "codex" || scr.CursorVisible {
		t.Errorf("command %q, cursor visible %v", scr.Command, scr.CursorVisible)
	}
	if got, err := l.Bytes(); err != nil || len(got) > 0 {
		t.Errorf("read %q before anything was typed: %v", got, err)
	}
	if _, err := s.Tmux(t.Context(), "send-keys", "-t", l.Pane, "-l", "é\x1b"); err != nil {
		t.Fatal(err)
	}
	end := time.Now().Add(10 * time.Second)
	var got []byte
	for !slices.Equal(got, []byte("é\x1b")) && time.Now().Before(end) {
		if got, err = l.Bytes(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(pollEvery)
	}
	if string(got) != "é\x1b" {
		t.Errorf("read %q", got)
	}
}

func TestCastFrame(t *testing.T) {
	good := "{\"version\":2,\"width\":80,\"height\":24}\n[0.1,\"o\",\"ab\"]\n[0.2,\"m\",\"1 first\"]\n[0.3,\"o\",\"cd\"]\n[0.4,\"r\",\"90x30\"]\n[0.5,\"m\",\"2 second\"]\n"
	f, err := frame(strings.NewReader(good), "x", "first")
	if err != nil || string(f.Output) != "ab" || f.Cols != 80 || f.Rows != 24 {
		t.Errorf("%+v %v", f, err)
	}
	for _, x := range []struct{ cast, label string }{
		{good, "second"}, {good, "third"}, {"", "first"}, {"{\"version\":1}", "first"}, {good[:50], "first"},
	} {
		if _, err := frame(strings.NewReader(x.cast), "x", x.label); err == nil {
			t.Errorf("%q, %q was taken", x.cast, x.label)
		}
	}
	if _, err := CastFrame("/nonexistent", "x"); err == nil {
		t.Error("a missing file was taken")
	}
}

// Lines as the real versions write them.
func TestReadLog(t *testing.T) {
	for _, x := range []struct {
		kind agents.Kind
		file string
		log  string
		want Log
	}{
		{agents.Codex, "sessions/2026/11/30/rollout-x.jsonl",
			`{"type":"session_meta","payload":{"id":"abc"}}
{"type":"event_msg","payload":{"type":"task_started","turn_id":"1"}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"hello\n日本"}]}}
{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"UserMessage","content":[{"type":"text","text":"hello\n日本"}]}}}
{"type":"response_item","payload":{"type":"function_call","name":"exec_command","call_id":"c1"}}
{"type":"response_item","payload":{"type":"function_call","name":"other","call_id":"c2"}}
{"type":"response_item","payload":{"type":"function_call_output","call_id":"c2"}}
{"type":"event_msg","payl`,
			Log{SessionID: "abc", UserTexts: []string{"hello\n日本"}, TurnOpen: true, Pending: []string{"exec_command"}}},
		{agents.Codex, "sessions/rollout-x.jsonl",
			`{"type":"event_msg","payload":{"type":"task_started"}}
{"type":"event_msg","payload":{"type":"task_complete","last_agent_message":"bye"}}
{"type":"event_msg","payload":{"type":"task_started"}}
{"type":"event_msg","payload":{"type":"task_complete","last_agent_message":null,"error":{"message":"bad"}}}`,
			Log{Answers: []string{"bye"}, Errors: []string{"bad"}}},
		{agents.Claude, "projects/-p/s.jsonl",
			`{"type":"mode"}
{"type":"user","sessionId":"s1","message":{"role":"user","content":"hello"}}
{"type":"user","isMeta":true,"message":{"role":"user","content":"not a human"}}
{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash"}],"stop_reason":"tool_use"}}`,
			Log{SessionID: "s1", UserTexts: []string{"hello"}, TurnOpen: true, Pending: []string{"Bash"}}},
		{agents.Claude, "projects/-p/s.jsonl",
			`{"type":"user","message":{"content":[{"type":"text","text":"hello"}]}}
{"type":"assistant","message":{"content":[{"type":"text","text":"bye"}],"stop_reason":"end_turn"}}
{"type":"user","message":{"content":"again"}}
{"type":"user","message":{"content":[{"type":"text","text":"[Request interrupted by user]"}]}}`,
			Log{UserTexts: []string{"hello", "again"}, Answers: []string{"bye"}}},
	} {
		dir := t.TempDir()
		se := &Session{Binary: Binary{Agent: x.kind}, Paths: Paths{Config: dir}}
		if _, err := se.ReadLog(); !errors.Is(err, ErrNoLog) {
			t.Errorf("without a log: %v", err)
		}
		f := filepath.Join(dir, x.file)
		if err := os.MkdirAll(filepath.Dir(f), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f, []byte(x.log), 0o600); err != nil {
			t.Fatal(err)
		}
		x.want.Path = f
		got, err := se.ReadLog()
		if err != nil || fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", x.want) {
			t.Errorf("%v\n got %+v\nwant %+v", err, got, x.want)
		}
	}
}

func TestUnwrap(t *testing.T) {
	for in, want := range map[string]string{
		"a\nb": "a\nb",
		"\n\n<pasted_content id=\"59df\">\na\n\nb \n</pasted_content id=\"59df\">\n": "a\n\nb ",
		"x <pasted_content id=\"59df\">\na\n</pasted_content id=\"59df\">":           "x <pasted_content id=\"59df\">\na\n</pasted_content id=\"59df\">",
		"<pasted_content id=\"59df\">\na\n</pasted_content id=\"59d0\">":             "<pasted_content id=\"59df\">\na\n</pasted_content id=\"59d0\">",
		"<pasted_content id=\"59df\">\n\n</pasted_content id=\"59df\">":              "",
	} {
		if got := Unwrap(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}

// The script for both agents is valid and has every scenario.
func TestScenarios(t *testing.T) {
	for _, k := range []agents.Kind{agents.Codex, agents.Claude} {
		s := Scenarios(k, Paths{Project: "/p", Outside: "/o"})
		if err := s.Validate(); err != nil {
			t.Error(err)
		}
		for _, w := range []string{Hello, Slow, Think, Silent, Long, Approval, Patch, Question, Three, Fail, HTTP500, Dropped} {
			if !slices.ContainsFunc(s.Rules, func(r model.Rule) bool { return r.Match == w }) {
				t.Errorf("%s has no %s", k, w)
			}
		}
	}
}
