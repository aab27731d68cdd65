package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"akk/bridge/host/profile"
	"akk/bridge/rpc"
)

// These tests run real programs: the test binary itself, as a Host's command.

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "host" {
		os.Exit(hostCommand(os.Args[2], os.Args[3:]))
	}
	goleak.VerifyTestMain(m)
}

// report is what the command saw.
type report struct {
	Args  []string
	Env   []string
	Body  string
	Group bool // it leads its process group
	Files []string
}

// hostCommand behaves as mode says; args are session, delivery, message.
func hostCommand(mode string, args []string) int {
	mode, what, _ := strings.Cut(mode, ":")
	session, delivery, message := args[0], args[1], args[2]
	word, acceptance := "accepted", "a-1"
	answer := func() {
		fmt.Printf(`{"result":{"status":%q,"acceptance_id":%q},"request":{"delivery_id":%q,"message_id":%q}}`+"\n", word, acceptance, delivery, message)
	}
	forever := func() { time.Sleep(time.Hour) }
	switch mode {
	case "report": // into the file that the session names
		body, _ := io.ReadAll(os.Stdin)
		r := report{Args: os.Args, Env: os.Environ(), Body: string(body), Group: syscall.Getpgrp() == os.Getpid()}
		files, _ := os.ReadDir("/proc/self/fd")
		for _, f := range files {
			to, _ := os.Readlink("/proc/self/fd/" + f.Name())
			r.Files = append(r.Files, to)
		}
		b, _ := json.Marshal(r)
		if err := os.WriteFile(session, b, 0o600); err != nil {
			return 9
		}
		answer()
	case "word":
		word = what
		answer()
	case "exit": // with an answer
		answer()
		code, _ := strconv.Atoi(what)
		return code
	case "silent":
		code, _ := strconv.Atoi(what)
		return code
	case "print":
		fmt.Print(strings.NewReplacer("{NL}", "\n", "{FF}", "\xff").Replace(what)) // an argument has no newline
	case "delivery":
		delivery = what
		answer()
	case "message":
		message = what
		answer()
	case "acceptance":
		if acceptance = what; what == "ENV" {
			acceptance = "id-" + os.Getenv("AKK_T_TOKEN")
		}
		answer()
	case "crash":
		syscall.Kill(os.Getpid(), syscall.SIGSEGV)
		forever()
	case "hang":
		answer()
		forever()
	case "deaf": // ignores every signal that can be, after telling that it does
		signal.Ignore()
		os.WriteFile(session, []byte("on"), 0o600)
		forever()
	case "flood":
		for {
			if _, err := os.Stdout.Write(bytes.Repeat([]byte(" "), 4096)); err != nil {
				forever()
			}
		}
	case "grumble":
		fmt.Fprint(os.Stderr, strings.Repeat("secret ", 1000))
		answer()
	case "unread": // never reads stdin
		answer()
	case "child", "childhang", "childflood": // leaves a child that holds the pipes
		c := exec.Command(os.Args[0], "host", map[string]string{"child": "hang", "childhang": "hang", "childflood": "flood"}[mode], session, delivery, message)
		c.Stderr = os.Stderr
		if mode != "child" {
			c.Stdout = os.Stdout
		} else if r, w, err := os.Pipe(); err == nil { // it holds our stdout only as its stderr
			c.Stdout, c.Stderr = w, os.Stdout
			_ = r
		}
		if err := c.Start(); err != nil {
			return 9
		}
		os.WriteFile(session, []byte(strconv.Itoa(c.Process.Pid)), 0o600)
		if mode == "childhang" {
			forever()
		}
		answer()
	}
	return 0
}

// setup makes a runner of a profile whose command is this binary in that mode.
func setup(t *testing.T, mode string, more ...func(map[string]any)) (*Runner, rpc.Envelope, *bytes.Buffer) {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal(profile.Starter(), &doc); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cb := doc["callback"].(map[string]any)
	cb["executable"] = exe
	cb["arguments"] = []string{"host", mode, "${controller.session_id}", "${envelope.delivery_id}", "${envelope.message_id}", "k=${envelope.idempotency_key}"}
	cb["environment"] = map[string]any{"allow": []string{"AKK_T_TOKEN", "AKK_T_UNSET"}}
	cb["timeoutMs"] = 30_000
	for _, f := range more {
		f(cb)
	}
	file := filepath.Join(t.TempDir(), "p.json")
	b, err := json.Marshal(doc)
	if err == nil {
		err = os.WriteFile(file, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	session := filepath.Join(t.TempDir(), "session")
	env := map[string]string{"AKK_T_TOKEN": "s3cret-value", "AKK_T_OTHER": "other", "HOME": "/h"}
	var log bytes.Buffer
	r := &Runner{Profile: p, Session: session, Lookup: func(k string) (string, bool) { v, ok := env[k]; return v, ok },
		Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	e := rpc.Envelope{DeliveryID: "d-1", IdempotencyKey: "key-1",
		Route: rpc.Route{Transport: "command_json_v1", ProfileID: p.ID, ProfileRevision: p.Revision, ControllerSessionID: session},
		Event: rpc.EnvelopeEvent{ID: "m-1", Body: "the body\nof it"}}
	return r, e, &log
}

func timeout(ms int) func(map[string]any) {
	return func(cb map[string]any) { cb["timeoutMs"] = ms }
}
func output(n int) func(map[string]any) {
	return func(cb map[string]any) { cb["maxOutputBytes"] = n }
}
func executable(p string) func(map[string]any) {
	return func(cb map[string]any) { cb["executable"] = p }
}

// killTimeout is short enough for the suite and long enough that the program
// runs: what it must have done by then is waited for by the file that it writes.
const killTimeout = 2500

// R206, R207: what each end of the command means.
func TestOutcomes(t *testing.T) {
	ok := `{"result":{"status":"accepted","acceptance_id":"x"},"request":{"delivery_id":"d-1","message_id":"m-1"}}`
	for _, c := range []struct {
		name, mode    string
		outcome, code string
		more          func(map[string]any)
	}{
		{"accepted", "word:accepted", rpc.OutcomeAccepted, "", nil},
		{"retry", "word:retry", rpc.OutcomeRetryable, CodeHost, nil},
		{"rejected", "word:rejected", rpc.OutcomePermanent, CodeHost, nil},
		{"host does not know", "word:unknown", rpc.OutcomeUncertain, CodeHost, nil},
		{"unknown word", "word:delivered", rpc.OutcomeUncertain, CodeUnknown, nil},
		{"generic word that is not mapped", "word:retryable_failure", rpc.OutcomeUncertain, CodeUnknown, nil},
		{"empty word", "word:", rpc.OutcomeUncertain, CodeUnknown, nil},
		{"wrong delivery", "delivery:d-2", rpc.OutcomeUncertain, CodeEcho, nil},
		{"delivery with a blank", "delivery:d-1 ", rpc.OutcomeUncertain, CodeEcho, nil},
		{"wrong message", "message:M-1", rpc.OutcomeUncertain, CodeEcho, nil},
		{"no acceptance id", "acceptance:", rpc.OutcomeUncertain, CodeAcceptance, nil},
		{"acceptance id of control characters", `print:{"result":{"status":"accepted","acceptance_id":"\u0007 \u0000"},"request":{"delivery_id":"d-1","message_id":"m-1"}}`, rpc.OutcomeUncertain, CodeAcceptance, nil},
		{"blank acceptance id", "acceptance: ", rpc.OutcomeUncertain, CodeAcceptance, nil},
		{"rejected with a wrong echo", `print:{"result":{"status":"rejected"},"request":{"delivery_id":"d-2","message_id":"m-1"}}`, rpc.OutcomeUncertain, CodeEcho, nil},
		{"rejected without acceptance id", `print:{"result":{"status":"rejected"},"request":{"delivery_id":"d-1","message_id":"m-1"}}`, rpc.OutcomePermanent, CodeHost, nil},
		{"blanks around", "print:{NL} " + ok + "{NL}{NL}", rpc.OutcomeAccepted, "", nil},
		{"nothing", "silent:0", rpc.OutcomeUncertain, CodeMalformed, nil},
		{"no JSON", "print:accepted", rpc.OutcomeUncertain, CodeMalformed, nil},
		{"text before", "print:done{NL}" + ok, rpc.OutcomeUncertain, CodeMalformed, nil},
		{"two documents", "print:" + ok + ok, rpc.OutcomeUncertain, CodeMalformed, nil},
		{"cut off", "print:" + ok[:len(ok)-1], rpc.OutcomeUncertain, CodeMalformed, nil},
		{"two words", `print:{"result":{"status":"rejected","status":"accepted","acceptance_id":"x"},"request":{"delivery_id":"d-1","message_id":"m-1"}}`, rpc.OutcomeUncertain, CodeMalformed, nil},
		{"no UTF-8", "print:" + strings.Replace(ok, `"x"`, `"{FF}"`, 1), rpc.OutcomeUncertain, CodeMalformed, nil},
		{"word is a number", `print:{"result":{"status":1}}`, rpc.OutcomeUncertain, CodeMalformed, nil},
		{"array", `print:[]`, rpc.OutcomeUncertain, CodeMalformed, nil},
		{"exit 3 without an answer", "silent:3", rpc.OutcomeUncertain, CodeExit, nil},
		{"exit 3 with its answer", "exit:3", rpc.OutcomeAccepted, "", nil},
		{"ends by a signal", "crash:", rpc.OutcomeUncertain, CodeExit, nil},
		{"stderr is not an answer", "grumble:", rpc.OutcomeAccepted, "", nil},
		{"does not read its input", "unread:", rpc.OutcomeAccepted, "", nil},
		{"flood", "flood:", rpc.OutcomeUncertain, CodeOutput, output(1 << 20)},
		{"flood on stderr", "grumble:", rpc.OutcomeUncertain, CodeOutput, output(3000)},
		{"one byte too much", "print:" + ok, rpc.OutcomeUncertain, CodeOutput, output(len(ok) - 1)},
		{"to the last byte", "print:" + ok, rpc.OutcomeAccepted, "", output(len(ok))},
		{"timeout after the answer", "hang:", rpc.OutcomeUncertain, CodeTimeout, timeout(killTimeout)},
		{"ENOENT", "word:accepted", rpc.OutcomePermanent, CodeMissing, executable("/nonexistent/akk-test")},
		{"EACCES", "word:accepted", rpc.OutcomePermanent, CodeDenied, executable("/etc/passwd")},
		{"folder", "word:accepted", rpc.OutcomePermanent, CodeRefused, executable("/etc")},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.more == nil {
				c.more = func(map[string]any) {}
			}
			r, e, log := setup(t, c.mode, c.more)
			o := r.Deliver(t.Context(), e)
			if o.Outcome != c.outcome || o.Code != c.code {
				t.Errorf("%+v, want %s %s", o, c.outcome, c.code)
			}
			if (o.AcceptanceID != "") != (o.Outcome == rpc.OutcomeAccepted) || (o.Detail == "") != (o.Outcome == rpc.OutcomeAccepted) || len(o.Detail) > 300 {
				t.Errorf("%+v", o)
			}
			if s := log.String() + o.Detail; strings.Contains(s, "secret") || strings.Contains(s, "body") || !strings.Contains(s, o.Outcome) {
				t.Errorf("log: %s", s)
			}
		})
	}
}

// R201, R202, R208, R213: what the command gets, and who never sees it.
func TestWhatTheCommandGets(t *testing.T) {
	t.Setenv("AKK_T_LEAK", "x") // the test's own environment is not the command's
	r, e, log := setup(t, "report")
	e.IdempotencyKey = "$(touch x); `id` | a && b"
	e.Event.Body = strings.Repeat("é\x1b[31m$(x)\n", 20_000) // more than a pipe holds
	if o := r.Deliver(t.Context(), e); o.Outcome != rpc.OutcomeAccepted || o.AcceptanceID != "a-1" {
		t.Fatalf("%+v", o)
	}
	var got report
	b, err := os.ReadFile(r.Session)
	if err == nil {
		err = json.Unmarshal(b, &got)
	}
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"host", "report", r.Session, "d-1", "m-1", "k=" + e.IdempotencyKey}; !slices.Equal(got.Args[1:], want) {
		t.Errorf("argv %q", got.Args)
	}
	if got.Body != e.Event.Body {
		t.Errorf("stdin has %d bytes of %d", len(got.Body), len(e.Event.Body))
	}
	if !slices.Equal(got.Env, []string{"AKK_T_TOKEN=s3cret-value"}) {
		t.Errorf("environment %q", got.Env)
	}
	if !got.Group {
		t.Error("it is in the bridge's process group")
	}
	for _, f := range got.Files {
		if strings.HasPrefix(f, "socket:") || strings.HasPrefix(f, filepath.Dir(r.Profile.Source)) {
			t.Errorf("it holds %s", f)
		}
	}
	if s := strings.Join(got.Args, " ") + log.String(); strings.Contains(s, "s3cret") || strings.Contains(log.String(), "é") {
		t.Errorf("a secret or the body got out: %s", s)
	}
}

// R213: a Host that echoes a credential.
func TestEchoedSecret(t *testing.T) {
	r, e, log := setup(t, "acceptance:ENV")
	o := r.Deliver(t.Context(), e)
	if o.Outcome != rpc.OutcomeAccepted || strings.Contains(fmt.Sprint(o)+log.String(), "s3cret") {
		t.Errorf("%+v", o)
	}
	r, e, _ = setup(t, "acceptance:"+strings.Repeat("é", 1000))
	if o := r.Deliver(t.Context(), e); len([]rune(o.AcceptanceID)) != acceptanceMax {
		t.Errorf("%+v", o)
	}
}

// alive waits for the file with a pid and tells whether that process runs.
func pidIn(t *testing.T, file string) int {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		b, _ := os.ReadFile(file)
		if pid, err := strconv.Atoi(string(b)); err == nil {
			return pid
		}
	}
	t.Fatal("the command did not say its child's pid")
	return 0
}

func gone(t *testing.T, pid int) bool {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || bytes.Contains(stat, []byte(") Z ")) {
			return true
		}
	}
	return false
}

// R207: SIGKILL, for those who ignore the rest and for their children.
func TestKilled(t *testing.T) {
	t.Run("ignores signals", func(t *testing.T) {
		t.Parallel()
		r, e, _ := setup(t, "deaf", timeout(killTimeout))
		if o := r.Deliver(t.Context(), e); o.Code != CodeTimeout {
			t.Errorf("%+v", o)
		}
	})
	t.Run("with its child", func(t *testing.T) {
		t.Parallel()
		r, e, _ := setup(t, "childhang", timeout(killTimeout))
		o := r.Deliver(t.Context(), e)
		if o.Code != CodeTimeout {
			t.Errorf("%+v", o)
		}
		if pid := pidIn(t, r.Session); !gone(t, pid) {
			syscall.Kill(pid, syscall.SIGKILL)
			t.Error("its child lives")
		}
	})
	t.Run("the bridge ends", func(t *testing.T) {
		t.Parallel()
		r, e, _ := setup(t, "deaf")
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan Outcome, 1)
		go func() { done <- r.Deliver(ctx, e) }()
		for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
			if _, err := os.Stat(r.Session); err == nil {
				break
			} else if time.Now().After(end) {
				t.Error("it did not start")
				break
			}
		}
		cancel()
		if o := <-done; o.Outcome != rpc.OutcomeUncertain || o.Code != CodeStopped {
			t.Errorf("%+v", o)
		}
	})
	// A command that has ended is not waited for because its child holds the
	// pipes; all that it wrote counts.
	t.Run("a child holds stdout", func(t *testing.T) {
		t.Parallel()
		r, e, _ := setup(t, "child")
		began := time.Now()
		o := r.Deliver(t.Context(), e)
		pid := pidIn(t, r.Session)
		defer syscall.Kill(pid, syscall.SIGKILL)
		if o.Outcome != rpc.OutcomeAccepted || time.Since(began) > 25*time.Second {
			t.Errorf("%+v after %v", o, time.Since(began))
		}
	})
	t.Run("a child floods", func(t *testing.T) {
		t.Parallel()
		r, e, _ := setup(t, "childflood")
		o := r.Deliver(t.Context(), e)
		syscall.Kill(pidIn(t, r.Session), syscall.SIGKILL)
		if o.Outcome == rpc.OutcomeAccepted && o.AcceptanceID != "a-1" || o.Outcome == rpc.OutcomePermanent {
			t.Errorf("%+v", o)
		}
	})
}

// R181, R199, R210, R211, R212: nothing runs.
func TestFences(t *testing.T) {
	for _, c := range []struct {
		name          string
		change        func(*testing.T, *Runner, *rpc.Envelope)
		outcome, code string
	}{
		{"transport", func(_ *testing.T, _ *Runner, e *rpc.Envelope) { e.Route.Transport = "openclaw" }, rpc.OutcomePermanent, CodeRoute},
		{"profile", func(_ *testing.T, _ *Runner, e *rpc.Envelope) { e.Route.ProfileID = "x" }, rpc.OutcomePermanent, CodeRoute},
		{"revision", func(_ *testing.T, _ *Runner, e *rpc.Envelope) { e.Route.ProfileRevision = "x" }, rpc.OutcomePermanent, CodeRoute},
		{"session", func(_ *testing.T, _ *Runner, e *rpc.Envelope) { e.Route.ControllerSessionID += "x" }, rpc.OutcomePermanent, CodeRoute},
		{"no delivery id", func(_ *testing.T, _ *Runner, e *rpc.Envelope) { e.DeliveryID = "" }, rpc.OutcomePermanent, CodeEnvelope},
		{"NUL in the message id", func(_ *testing.T, _ *Runner, e *rpc.Envelope) { e.Event.ID = "a\x00b" }, rpc.OutcomePermanent, CodeEnvelope},
		{"changed profile", func(t *testing.T, r *Runner, _ *rpc.Envelope) {
			b, err := os.ReadFile(r.Profile.Source)
			if err == nil {
				err = os.WriteFile(r.Profile.Source, append(b, '\n'), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}, rpc.OutcomeRetryable, CodeChanged},
		{"profile gone", func(t *testing.T, r *Runner, _ *rpc.Envelope) { os.Remove(r.Profile.Source) }, rpc.OutcomeRetryable, CodeChanged},
		{"executable became a shell", func(t *testing.T, r *Runner, _ *rpc.Envelope) {
			link := filepath.Join(t.TempDir(), "cb")
			if err := os.Symlink("/bin/sh", link); err != nil {
				t.Fatal(err)
			}
			r.Profile.Callback.Executable = link
		}, rpc.OutcomePermanent, CodeRefused},
	} {
		r, e, _ := setup(t, "report")
		c.change(t, r, &e)
		o := r.Deliver(t.Context(), e)
		if o.Outcome != c.outcome || o.Code != c.code || !strings.Contains(o.Detail, "nothing was run") {
			t.Errorf("%s: %+v", c.name, o)
		}
		if _, err := os.Stat(r.Session); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: it ran", c.name)
		}
	}
	// route_bound_v1 takes the session of the route (R211).
	r, e, _ := setup(t, "report")
	r.Profile.Scope, r.Session = profile.ScopeRouteBound, "another"
	if o := r.Deliver(t.Context(), e); o.Outcome != rpc.OutcomeAccepted {
		t.Errorf("route bound: %+v", o)
	}
}

// R206: whatever a command prints, accepted needs both ids and an acceptance.
func FuzzRead(f *testing.F) {
	p, err := profile.Parse("p", profile.Starter())
	if err != nil {
		f.Fatal(err)
	}
	r := &Runner{Profile: p, Lookup: func(string) (string, bool) { return "", false }}
	f.Add([]byte(`{"result":{"status":"accepted","acceptance_id":"x"},"request":{"delivery_id":"d-1","message_id":"m-1"}}`))
	f.Add([]byte(`{"result":{"status":"retry","status":"accepted"}}`))
	f.Add([]byte("[{}\xff"))
	f.Fuzz(func(t *testing.T, out []byte) {
		o := r.read(result{stdout: out, success: true}, rpc.Envelope{DeliveryID: "d-1", Event: rpc.EnvelopeEvent{ID: "m-1"}})
		if o.Outcome == rpc.OutcomeAccepted && (o.AcceptanceID == "" || !bytes.Contains(out, []byte("d-1")) && !bytes.Contains(out, []byte("\\u")) || !json.Valid(out)) {
			t.Fatalf("%q is %+v", out, o)
		}
		if o.Outcome == "" || o.Outcome != rpc.OutcomeAccepted && o.Code == "" {
			t.Fatalf("%q is %+v", out, o)
		}
	})
}

// R207: the interpreter is missing: ENOENT comes from the start itself.
func TestMissingInterpreter(t *testing.T) {
	script := filepath.Join(t.TempDir(), "cb")
	if err := os.WriteFile(script, []byte("#!/nonexistent/node\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	r, e, _ := setup(t, "", executable(script))
	if o := r.Deliver(t.Context(), e); o.Outcome != rpc.OutcomePermanent || o.Code != CodeMissing {
		t.Errorf("%+v", o)
	}
	for err, want := range map[error]string{syscall.EAGAIN: rpc.OutcomeRetryable, syscall.ENOEXEC: rpc.OutcomePermanent, syscall.E2BIG: rpc.OutcomePermanent} {
		if o := notRun(err); o.Outcome != want {
			t.Errorf("%v: %+v", err, o)
		}
	}
}
