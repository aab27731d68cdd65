package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"akk/bridge/host/command"
	"akk/bridge/host/profile"
	"akk/bridge/rpc"
)

// These tests run a bridge with a profile against a desk behind a real socket;
// the command is this test binary.

const commandArg = "host-command"

// hostCommand appends what it does to the file in its session's folder. Modes:
// ok answers at once, wait when the file "go" is there.
func hostCommand(mode string, args []string) int {
	dir, delivery, message := args[0], args[1], args[2]
	note := func(s string) {
		f, err := os.OpenFile(filepath.Join(dir, "runs"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			fmt.Fprintln(f, s, delivery)
			f.Close()
		}
	}
	body, _ := io.ReadAll(os.Stdin)
	note("begin")
	for mode == "wait" {
		if _, err := os.Stat(filepath.Join(dir, "go")); err == nil {
			break
		}
		time.Sleep(2 * time.Millisecond)
	}
	note("end")
	fmt.Fprint(os.Stderr, "TOKEN is "+os.Getenv("AKK_T_TOKEN")+", body is "+string(body))
	fmt.Printf(`{"result":{"status":"accepted","acceptance_id":"a-%s"},"request":{"delivery_id":%q,"message_id":%q}}`, delivery, delivery, message)
	return 0
}

// identity makes a profile whose command is hostCommand, and its Identity.
func identity(t *testing.T, mode string) Identity {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal(profile.Starter(), &doc); err != nil {
		t.Fatal(err)
	}
	cb := doc["callback"].(map[string]any)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cb["executable"], cb["timeoutMs"] = exe, 30_000
	cb["arguments"] = []string{commandArg, mode, "${controller.session_id}", "${envelope.delivery_id}", "${envelope.message_id}"}
	cb["environment"] = map[string]any{"allow": []string{"AKK_T_TOKEN"}}
	b, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "p.json")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	id, err := Resolve(environment(map[string]string{"MY_AGENT_SESSION_ID": t.TempDir()}), Selection{Profile: file, Host: "my-agent", HostVersion: "1.8.0"})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func environment(m map[string]string) func(string) (string, bool) {
	return func(k string) (string, bool) { v, ok := m[k]; return v, ok }
}

// outbox is a desk that has callbacks.
type outbox struct {
	*desk
	leases   chan rpc.Lease
	outcomes chan rpc.OutcomeParams
	callers  chan rpc.Caller
}

func newOutbox() *outbox {
	return &outbox{desk: &desk{}, leases: make(chan rpc.Lease, 9), outcomes: make(chan rpc.OutcomeParams, 9), callers: make(chan rpc.Caller, 9)}
}

func (o *outbox) Deliveries(ctx context.Context, c rpc.Caller, yield func(rpc.Lease) error) error {
	select {
	case o.callers <- c:
	default:
	}
	for {
		select {
		case l := <-o.leases:
			if err := yield(l); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (o *outbox) Outcome(_ context.Context, c rpc.Caller, p rpc.OutcomeParams) (rpc.Delivery, error) {
	if c.Kind != "host" || c.Route == nil {
		return rpc.Delivery{}, &rpc.Error{Code: rpc.CodeForbidden, Message: "not a host"}
	}
	o.outcomes <- p
	return rpc.Delivery{}, nil
}

func (o *outbox) lease(id Identity, n int) {
	e := rpc.Envelope{DeliveryID: fmt.Sprintf("d-%d", n), Route: *id.Route, Event: rpc.EnvelopeEvent{ID: fmt.Sprintf("m-%d", n), Body: "the secret body"}}
	o.leases <- rpc.Lease{LeaseID: fmt.Sprintf("l-%d", n), Expires: time.Now().Add(2 * time.Minute), Attempt: 1, Envelope: e}
}

func (o *outbox) outcome(t *testing.T) rpc.OutcomeParams {
	t.Helper()
	select {
	case p := <-o.outcomes:
		return p
	case <-time.After(3 * patience):
		t.Fatal("no outcome")
		panic("")
	}
}

// carry starts a bridge of that identity.
func carry(t *testing.T, id Identity, path string) *bridge {
	t.Helper()
	return start(t, Options{Identity: id, Lookup: environment(map[string]string{"AKK_T_TOKEN": "s3cret-value"}),
		Connect: func(ctx context.Context) (*rpc.Client, error) {
			return rpc.Dial(ctx, path, rpc.HelloParams{Client: "host-bridge", Session: id.Session, Route: id.Route})
		}})
}

// runs waits until the command's file has n lines.
func runs(t *testing.T, id Identity, n int) []string {
	t.Helper()
	for end := time.Now().Add(3 * patience); ; time.Sleep(2 * time.Millisecond) {
		b, _ := os.ReadFile(filepath.Join(id.Session, "runs"))
		if l := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n"); len(b) > 0 && len(l) >= n {
			return l
		}
		if time.Now().After(end) {
			t.Fatalf("the command ran so far: %q", b)
		}
	}
}

func (id Identity) release(t *testing.T) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(id.Session, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// R175, R177, R181, R213, B136: delivered one after the other, on the route of the
// profile; neither body nor credential in the log or an outcome.
func TestCallbacks(t *testing.T) {
	path, o := socket(t), newOutbox()
	daemon(t, o, path)
	id := identity(t, "ok")
	for n := range 3 {
		o.lease(id, n)
	}
	b := carry(t, id, path)
	for n := range 3 {
		p := o.outcome(t)
		if p.DeliveryID != fmt.Sprintf("d-%d", n) || p.LeaseID != fmt.Sprintf("l-%d", n) || p.Outcome != rpc.OutcomeAccepted || p.AcceptanceID != fmt.Sprintf("a-d-%d", n) {
			t.Errorf("outcome %+v", p)
		}
		if strings.Contains(fmt.Sprint(p), "secret") {
			t.Errorf("%+v", p)
		}
	}
	for i, l := range runs(t, id, 6) {
		if want := fmt.Sprintf("%s d-%d", []string{"begin", "end"}[i%2], i/2); l != want {
			t.Errorf("line %d is %q, want %q", i, l, want)
		}
	}
	c := <-o.callers
	if c.Kind != "host" || c.Session != id.Session || c.Route == nil || *c.Route != *id.Route {
		t.Errorf("the daemon takes the bridge for %+v", c)
	}
	if r := c.Route; r.Schema != "agent-knock-knock/callback-route" || r.Version != 1 || r.Transport != "command_json_v1" || r.ProfileID != "my-agent-command" || r.ProfileRevision == "" || r.ControllerSessionID != id.Session {
		t.Errorf("route %+v", r)
	}
	began := time.Now()
	b.in.Close()
	b.mustEnd(began)
	if s := b.errs.b.String(); strings.Contains(s, "s3cret") || strings.Contains(s, "secret body") || !strings.Contains(s, "outcome=accepted") {
		t.Errorf("log: %s", s)
	}
}

// A command that runs holds up neither tools nor the outcome; a daemon that was
// restarted meanwhile still gets it, and nothing runs twice.
func TestDaemonGoesAwayDuringACallback(t *testing.T) {
	path, o := socket(t), newOutbox()
	stop := daemon(t, o, path)
	id := identity(t, "wait")
	b := carry(t, id, path)
	b.write(initialize("2025-11-25")...)
	b.answer(`"init"`)
	o.lease(id, 1)
	runs(t, id, 1)
	b.write(callLine("1", "list", "{}", ""))
	if m := b.answer("1"); strings.Contains(string(m.Result), `"isError":true`) {
		t.Errorf("%s", m.Result)
	}
	stop()
	id.release(t)
	runs(t, id, 2)
	daemon(t, o, path)
	if p := o.outcome(t); p.Outcome != rpc.OutcomeAccepted || p.LeaseID != "l-1" {
		t.Errorf("%+v", p)
	}
	o.lease(id, 2)
	if p := o.outcome(t); p.DeliveryID != "d-2" {
		t.Errorf("%+v", p)
	}
	if got := runs(t, id, 4); len(got) != 4 {
		t.Errorf("%q", got)
	}
}

// R216, R217, B142: at the end of stdin a command that runs still gets its outcome;
// one that hangs is killed and uncertain; what was not begun is given back.
func TestEndDuringACallback(t *testing.T) {
	for name, end := range map[string]func(*bridge){"eof": func(b *bridge) { b.in.Close() }, "context": func(b *bridge) { b.cancel() }} {
		t.Run("finished "+name, func(t *testing.T) {
			t.Parallel()
			path, o := socket(t), newOutbox()
			daemon(t, o, path)
			id := identity(t, "wait")
			b := carry(t, id, path)
			o.lease(id, 1)
			runs(t, id, 1)
			end(b)
			id.release(t)
			if p := o.outcome(t); p.Outcome != rpc.OutcomeAccepted && p.ErrorCode != command.CodeStopped { // a machine slower than CallbackDrain
				t.Errorf("%+v", p)
			}
			b.mustEnd(time.Now())
		})
		t.Run("hanging "+name, func(t *testing.T) {
			t.Parallel()
			path, o := socket(t), newOutbox()
			daemon(t, o, path)
			id := identity(t, "wait")
			b := carry(t, id, path)
			o.lease(id, 1)
			o.lease(id, 2)
			runs(t, id, 1)
			began := time.Now()
			end(b)
			if p := o.outcome(t); p.DeliveryID != "d-1" || p.Outcome != rpc.OutcomeUncertain || p.ErrorCode != command.CodeStopped {
				t.Errorf("%+v", p)
			}
			select {
			case p := <-o.outcomes:
				if p.DeliveryID != "d-2" || p.Outcome != rpc.OutcomeRetryable || !strings.Contains(p.Detail, "nothing was run") {
					t.Errorf("%+v", p)
				}
			case <-time.After(patience): // the second lease never came over: it is still the daemon's
			}
			b.mustEnd(began.Add(CallbackDrain))
			if got := runs(t, id, 1); len(got) != 1 {
				t.Errorf("%q", got)
			}
		})
	}
}

// R210: a changed file stops everything that the bridge would do; what was
// there before it stays as it was.
func TestChangedProfile(t *testing.T) {
	path, o := socket(t), newOutbox()
	daemon(t, o, path)
	id := identity(t, "ok")
	b := carry(t, id, path)
	b.write(initialize("2025-06-18")...)
	b.answer(`"init"`)
	<-o.callers
	good, err := os.ReadFile(id.Profile.Source)
	if err != nil {
		t.Fatal(err)
	}
	write := func(data []byte) {
		if err := os.WriteFile(id.Profile.Source, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write([]byte(strings.Replace(string(good), "30000", "29999", 1)))
	for i, tool := range []string{"list", "send"} {
		b.write(callLine(fmt.Sprint(i), tool, map[string]string{"list": "{}", "send": `{"request":"x"}`}[tool], ""))
		if m := b.answer(fmt.Sprint(i)); !strings.Contains(string(m.Result), `"isError":true`) || !strings.Contains(string(m.Result), "changed") || !strings.Contains(string(m.Result), "restart") {
			t.Errorf("%s: %s", tool, m.Result)
		}
	}
	o.lease(id, 1)
	if p := o.outcome(t); p.Outcome != rpc.OutcomeRetryable || p.ErrorCode != command.CodeChanged {
		t.Errorf("%+v", p)
	}
	write(good)
	select {
	case <-o.callers: // the stream was closed, and is opened again
	case <-time.After(3 * patience):
		t.Fatal("no stream any more")
	}
	o.lease(id, 2)
	if p := o.outcome(t); p.Outcome != rpc.OutcomeAccepted {
		t.Errorf("%+v", p)
	}
	b.write(callLine("9", "list", "{}", ""))
	if m := b.answer("9"); strings.Contains(string(m.Result), `"isError":true`) {
		t.Errorf("%s", m.Result)
	}
	if got := runs(t, id, 2); len(got) != 2 {
		t.Errorf("%q", got)
	}
}

// R190, R191, R195, R197 to R199, R218, R219, B139: a profile or session that
// can't be used leaves initialize working; every tool tells the cure.
func TestProfileProblems(t *testing.T) {
	dir := t.TempDir()
	write := func(name, old, new string) string {
		p := filepath.Join(dir, name+".json")
		s := strings.Replace(string(profile.Starter()), "/opt/my-agent/bin/my-agent", "/usr/bin/tmux", 1)
		if err := os.WriteFile(p, []byte(strings.Replace(s, old, new, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	good := write("good", "", "")
	env := environment(map[string]string{"MY_AGENT_SESSION_ID": "s-1", "OTHER": "o"})
	link := filepath.Join(dir, "cb")
	if err := os.Symlink("/bin/sh", link); err != nil {
		t.Fatal(err)
	}
	if id, err := Resolve(env, Selection{Profile: good, Host: "my-agent", HostVersion: "1.8.0"}); err != nil || id.Session != "s-1" || id.Route == nil {
		t.Fatalf("%+v, %v", id, err)
	}
	t.Chdir(dir)
	if id, err := Resolve(env, Selection{Profile: "good.json", Host: "my-agent", HostVersion: "1.8.0"}); err != nil || id.Profile.Source != good { // R218
		t.Errorf("%+v, %v", id, err)
	}
	if id, err := Resolve(env, Selection{SessionVariable: "OTHER"}); err != nil || id.Session != "o" || id.Route != nil {
		t.Errorf("%+v, %v", id, err)
	}
	for name, c := range map[string]struct {
		s    Selection
		env  func(string) (string, bool)
		says string
	}{
		"no host":            {Selection{Profile: good, HostVersion: "1.8.0"}, env, "together"},
		"no version":         {Selection{Profile: good, Host: "my-agent"}, env, "together"},
		"no profile":         {Selection{Host: "my-agent", HostVersion: "1.8.0"}, env, "--profile"},
		"two variables":      {Selection{Profile: good, Host: "my-agent", HostVersion: "1.8.0", SessionVariable: "OTHER"}, env, "--session-variable"},
		"no file":            {Selection{Profile: dir + "/none.json", Host: "my-agent", HostVersion: "1.8.0"}, env, "none.json"},
		"invalid":            {Selection{Profile: write("bad", `"version": 1`, `"version": 2`), Host: "my-agent", HostVersion: "1.8.0"}, env, "/version"},
		"another host":       {Selection{Profile: good, Host: "codex", HostVersion: "1.8.0"}, env, "not for this host"},
		"another version":    {Selection{Profile: good, Host: "my-agent", HostVersion: "2.0.0"}, env, "range"},
		"route bound":        {Selection{Profile: write("bound", `"driver": "environment_v1",`, `"driver": "environment_v1", "scope": "route_bound_v1",`), Host: "my-agent", HostVersion: "1.8.0"}, env, "startup_v1"},
		"no session":         {Selection{Profile: good, Host: "my-agent", HostVersion: "1.8.0"}, environment(nil), "MY_AGENT_SESSION_ID"},
		"empty session":      {Selection{Profile: good, Host: "my-agent", HostVersion: "1.8.0"}, environment(map[string]string{"MY_AGENT_SESSION_ID": " "}), "MY_AGENT_SESSION_ID"},
		"no executable":      {Selection{Profile: write("gone", "/usr/bin/tmux", "/nonexistent/x"), Host: "my-agent", HostVersion: "1.8.0"}, env, "callback.executable"},
		"executable a shell": {Selection{Profile: write("shell", "/usr/bin/tmux", link), Host: "my-agent", HostVersion: "1.8.0"}, env, "runs whatever it is told"},
	} {
		t.Run(name, func(t *testing.T) {
			id, err := Resolve(c.env, c.s)
			var e *rpc.Error
			if !errors.As(err, &e) || e.Cure == "" || !strings.Contains(e.Message+e.Cure, c.says) {
				t.Fatalf("%+v, %v", id, err)
			}
			b := start(t, Options{Identity: id, Problem: err, Connect: func(context.Context) (*rpc.Client, error) { t.Error("it connects"); return nil, io.EOF }})
			b.write(initialize("2025-11-25")...)
			if m := b.answer(`"init"`); m.Error != nil {
				t.Fatalf("%+v", m.Error)
			}
			b.write(callLine("1", "list", "{}", ""))
			if m := b.answer("1"); !strings.Contains(string(m.Result), `"isError":true`) || !strings.Contains(string(m.Result), "Next: ") {
				t.Errorf("%s", m.Result)
			}
		})
	}
}

// fakeCarrier is what a command did.
type fakeCarrier func() command.Outcome

func (f fakeCarrier) Deliver(context.Context, rpc.Envelope) command.Outcome { return f() }

// R185, R215: a mistake of ours is uncertain and does not end the next one; a lease that
// would end under the command is not begun.
func TestMistakes(t *testing.T) {
	b := newCallbacks(nil, fakeCarrier(func() command.Outcome { panic("boom") }), nil, time.Second, slog.New(slog.DiscardHandler))
	defer b.kill()
	defer b.stop()
	if o := b.deliver(rpc.Lease{Expires: time.Now().Add(time.Hour)}); o.Outcome != rpc.OutcomeUncertain || o.Code != "internal" {
		t.Errorf("%+v", o)
	}
	if o := b.deliver(rpc.Lease{Expires: time.Now().Add(time.Second / 2)}); o.Outcome != rpc.OutcomeRetryable || !strings.Contains(o.Detail, "nothing was run") {
		t.Errorf("%+v", o)
	}
}
