package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"akk/agents"
	"akk/bridge/rpc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeDesk answers from fields; every call is kept.
type fakeDesk struct {
	Desk   // what a test does not expect panics, and a panic is a result
	mu     sync.Mutex
	sent   []rpc.SendParams
	send   func(ctx context.Context, p rpc.SendParams) (rpc.Send, error)
	status func(ctx context.Context, p rpc.StatusParams) (rpc.Status, error)
	list   func() (rpc.List, error)
	events chan rpc.Event
}

func (d *fakeDesk) ListJSON(context.Context, rpc.ListParams) (json.RawMessage, error) {
	l, err := d.list()
	if err != nil {
		return nil, err
	}
	return json.Marshal(l)
}
func (d *fakeDesk) StatusJSON(ctx context.Context, p rpc.StatusParams) (json.RawMessage, error) {
	st, err := d.Status(ctx, p)
	if err != nil {
		return nil, err
	}
	return json.Marshal(st)
}

func (d *fakeDesk) Status(ctx context.Context, p rpc.StatusParams) (rpc.Status, error) {
	return d.status(ctx, p)
}
func (d *fakeDesk) Send(ctx context.Context, p rpc.SendParams) (rpc.Send, error) {
	d.mu.Lock()
	d.sent = append(d.sent, p)
	d.mu.Unlock()
	return d.send(ctx, p)
}
func (d *fakeDesk) Events(ctx context.Context, _ rpc.EventsParams, started func(rpc.EventsResult) error, yield func(rpc.Event) error) error {
	if err := started(rpc.EventsResult{}); err != nil {
		return err
	}
	for {
		select {
		case e := <-d.events:
			if err := yield(e); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// connect returns a client of a server with that desk.
func connect(t *testing.T, o Options, co *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	st, ct := sdk.NewInMemoryTransports()
	ss, err := New(o).Connect(t.Context(), st, nil)
	if err != nil {
		t.Fatal(err)
	}
	cs, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, co).Connect(t.Context(), ct, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cs.Close(); ss.Wait() })
	return cs
}

func callTool(t *testing.T, cs *sdk.ClientSession, name string, args any) *sdk.CallToolResult {
	t.Helper()
	r, err := cs.CallTool(t.Context(), &sdk.CallToolParams{Name: prefix + name, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return r
}

func textOf(r *sdk.CallToolResult) string { return r.Content[0].(*sdk.TextContent).Text }

func docOf(t *testing.T, r *sdk.CallToolResult) map[string]any {
	t.Helper()
	m, ok := r.StructuredContent.(map[string]any)
	if !ok {
		t.Fatalf("structured content is %T", r.StructuredContent)
	}
	return m
}

const termID = "terminal:v2:tmux:codex:work:0.0:1234"

func oneTerminal() (rpc.List, error) {
	return rpc.List{StoreDir: "/s", Terminals: []rpc.Row{{ID: termID, ShortRef: "@0123456789", Agent: "codex", ActivityState: "idle", Cwd: "/w",
		AvailableActions: map[string]rpc.Action{"send": {Tool: prefix + "send", Arguments: map[string]any{"terminal_id": termID, "binding_id": "b"}, MissingRequired: []string{"request", "expected_fingerprint"}}},
		ActivityReason:   "proof 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef held"}}}, nil
}

func accepted(_ context.Context, p rpc.SendParams) (rpc.Send, error) {
	return rpc.Send{TurnID: "turn-1", TerminalID: termID, MessageID: p.RequestID, SubmissionOutcome: "agent_accepted", DeliveryReceipt: "agent_accepted", Delivered: true}, nil
}

// R34, R214: schemas are closed; annotations and names are the contract's.
func TestToolDeclarations(t *testing.T) {
	cs := connect(t, Options{Desk: &fakeDesk{}, Version: "1"}, nil)
	l, err := cs.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Tools) != len(tools) {
		t.Fatalf("%d tools, want %d", len(l.Tools), len(tools))
	}
	for _, tool := range l.Tools {
		in := tool.InputSchema.(map[string]any)
		if in["additionalProperties"] != false || in["type"] != "object" {
			t.Errorf("%s: the schema is open: %v", tool.Name, in)
		}
		if !strings.HasPrefix(tool.Name, prefix) || tool.Description == "" || tool.Title == "" || tool.Annotations == nil {
			t.Errorf("%s: incomplete declaration", tool.Name)
		}
		send := tool.Name == prefix+"send"
		if (tool.Name == prefix+"list" || tool.Name == prefix+"status") && !tool.Annotations.ReadOnlyHint || send && (tool.Annotations.ReadOnlyHint || !*tool.Annotations.DestructiveHint) {
			t.Errorf("%s: annotations %+v", tool.Name, tool.Annotations)
		}
	}
	caps, err := json.Marshal(cs.InitializeResult().Capabilities)
	if err != nil || !strings.Contains(string(caps), `"tools"`) || strings.Contains(string(caps), `"logging"`) {
		t.Errorf("capabilities: %s %v", caps, err)
	}
}

// R10, CONTRACT-outputs §1.2.
func TestSanitiser(t *testing.T) {
	cs := connect(t, Options{Desk: &fakeDesk{list: oneTerminal}}, nil)
	r := callTool(t, cs, "list", nil)
	if r.IsError {
		t.Fatal(textOf(r))
	}
	row := docOf(t, r)["terminals"].([]any)[0].(map[string]any)
	send := row["available_actions"].(map[string]any)["send"].(map[string]any)
	if _, ok := send["arguments"].(map[string]any)["binding_id"]; ok {
		t.Error("binding_id reaches the model")
	}
	if m := send["missing_required"].([]any); len(m) != 1 || m[0] != "request" {
		t.Errorf("missing_required: %v", m)
	}
	if s := row["activity_reason"].(string); s != "proof [removed] held" {
		t.Errorf("reason: %s", s)
	}
	if s := textOf(r); !strings.Contains(s, termID) || !strings.Contains(s, "takes a task") {
		t.Errorf("text: %s", s)
	}
	var same map[string]any
	if err := json.Unmarshal([]byte(r.Content[1].(*sdk.TextContent).Text), &same); err != nil || len(same) != len(docOf(t, r)) {
		t.Errorf("the text copy of the document: %v", err)
	}
	for key, want := range map[string]bool{"request_hash": true, "Approval-Fingerprint": true, "revision": true, "generation": true, "bindingGeneration": true, "expected_callback_x": true,
		"proof": true, "composer_proof": false, "progress": false, "generations": false, "request": false, "acceptance_evidence": true, "message_id": false, "pid": false} {
		if dropped(key) != want {
			t.Errorf("dropped(%q) = %v", key, !want)
		}
	}
}

// R34: whatever is not in the schema is refused before anything runs.
func TestBadArguments(t *testing.T) {
	ran := false
	d := &fakeDesk{list: func() (rpc.List, error) { ran = true; return rpc.List{}, nil },
		status: func(context.Context, rpc.StatusParams) (rpc.Status, error) { ran = true; return rpc.Status{}, nil },
		send:   func(context.Context, rpc.SendParams) (rpc.Send, error) { ran = true; return rpc.Send{}, nil }}
	cs := connect(t, Options{Desk: d}, nil)
	for _, c := range []struct{ tool, args, want string }{
		{"list", `{"agnet":"codex"}`, `no argument "agnet"`},
		{"list", `{"agent":"gemini"}`, "agent"},
		{"list", `{"all":"yes"}`, "all"},
		{"list", `{"idleTimeoutMinutes":0}`, "idleTimeoutMinutes"},
		{"list", `[1]`, "object"},
		{"status", `{}`, "exactly one"},
		{"status", `{"turn_id":"turn-1","conversation_id":"x"}`, "exactly one"},
		{"status", `{"turn_id":"turn-1","wait_seconds":46}`, "wait_seconds"},
		{"status", `{"watch_id":"x"}`, "watch_id"},
		{"status", `{"turn_id":"turn-1","cursor":3}`, "wait_seconds"},
		{"send", `{}`, "request"},
		{"send", `{"request":""}`, "request"},
		{"send", `{"request":"x","keys":"Enter"}`, `no argument "keys"`},
		{"send", `{"request":"x","terminal_id":"%3"}`, "terminal_id"},
		{"send", `{"request":"x","terminal_id":"` + termID + `","session_id":"s"}`, "exclude"},
		{"send", `{"request":"x","turn_id":"turn-1"}`, "alone"},
		{"send", `{"request":"x","type":"answer"}`, "type"},
		{"send", `{"request":"x","agentTimeoutMinutes":-1}`, "agentTimeoutMinutes"},
	} {
		r := callTool(t, cs, c.tool, json.RawMessage(c.args))
		if !r.IsError || !strings.Contains(textOf(r), c.want) || !strings.Contains(textOf(r), "Next: ") {
			t.Errorf("%s %s: error %v, %s", c.tool, c.args, r.IsError, textOf(r))
		}
		if docOf(t, r)["error"].(map[string]any)["message"] == "" {
			t.Errorf("%s %s: no structured error", c.tool, c.args)
		}
	}
	if ran {
		t.Error("a refused call reached the desk")
	}
}

// R56, CONTRACT-outputs §4.1: only proven acceptance is a success, a key that
// went out is none.
func TestSendOutcomes(t *testing.T) {
	for _, c := range []struct {
		s      rpc.Send
		failed bool
		text   string
	}{
		{rpc.Send{SubmissionOutcome: "agent_accepted", DeliveryReceipt: "agent_accepted", Delivered: true}, false, "Accepted"},
		{rpc.Send{SubmissionOutcome: "pending_acceptance", DeliveryReceipt: "enter_dispatched", Delivered: true, DoNotRetry: true}, true, "Do not send it again"},
		{rpc.Send{SubmissionOutcome: "not_accepted", DeliveryReceipt: "not_accepted"}, true, "composer"},
		{rpc.Send{SubmissionOutcome: "uncertain"}, true, "not known"},
		{rpc.Send{SubmissionOutcome: "aborted", SafeToRetry: true, Reason: "a draft is there"}, true, "Nothing was typed: a draft is there"},
		{rpc.Send{SubmissionOutcome: "agent_accepted", DeliveryReceipt: "enter_dispatched", Delivered: true}, true, ""},
	} {
		c.s.TurnID = "turn-9"
		d := &fakeDesk{send: func(context.Context, rpc.SendParams) (rpc.Send, error) { return c.s, nil }}
		r := callTool(t, connect(t, Options{Desk: d}, nil), "send", map[string]any{"request": "do it"})
		if r.IsError != c.failed || !strings.Contains(textOf(r), c.text) || docOf(t, r)["turn_id"] != "turn-9" {
			t.Errorf("%+v: error %v, %s", c.s, r.IsError, textOf(r))
		}
		if !strings.Contains(textOf(r), "Next: ") {
			t.Errorf("no next step in %s", textOf(r))
		}
	}
}

// message_id of CONTRACT-outputs §1.1: one call, one input.
func TestRequestID(t *testing.T) {
	d := &fakeDesk{send: accepted}
	cs := connect(t, Options{Desk: d, Session: "s1"}, nil)
	send := func(text string, meta sdk.Meta) string {
		t.Helper()
		if _, err := cs.CallTool(t.Context(), &sdk.CallToolParams{Meta: meta, Name: prefix + "send", Arguments: map[string]any{"request": text}}); err != nil {
			t.Fatal(err)
		}
		return d.sent[len(d.sent)-1].RequestID
	}
	first := send("a", sdk.Meta{MetaCall: 7})
	if first == "" || send("a", sdk.Meta{MetaCall: 7}) != first {
		t.Error("a repeated call has another request id")
	}
	for what, id := range map[string]string{"another call": send("a", sdk.Meta{MetaCall: 8}), "a text id": send("a", sdk.Meta{MetaCall: "7"}),
		"other arguments": send("b", sdk.Meta{MetaCall: 7}), "no id": send("a", nil), "no id again": send("a", nil)} {
		if id == first || id == "" {
			t.Errorf("%s: request id %q", what, id)
		}
	}
	use := send("a", sdk.Meta{metaToolUse: "toolu_1", MetaCall: 1})
	if send("a", sdk.Meta{metaToolUse: "toolu_1", MetaCall: 2}) != use {
		t.Error("one tool use has two request ids")
	}
}

func TestErrorsTellTheCure(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{&rpc.Error{Code: rpc.CodeNotFound, Message: "no terminal is called x", Cure: "run `akk list` to see what is there"}, "Next: call agent_knock_knock_list"},
		{rpc.ErrNoDaemon, "Next: try again"},
		{errors.New("plain"), "plain"},
	} {
		d := &fakeDesk{list: func() (rpc.List, error) { return rpc.List{}, c.err }}
		if r := callTool(t, connect(t, Options{Desk: d}, nil), "list", nil); !r.IsError || !strings.Contains(textOf(r), c.want) {
			t.Errorf("%v: %s", c.err, textOf(r))
		}
	}
	d := &fakeDesk{list: func() (rpc.List, error) { panic("boom") }}
	cs := connect(t, Options{Desk: d}, nil)
	for range 2 { // and the server goes on
		if r := callTool(t, cs, "list", nil); !r.IsError || !strings.Contains(textOf(r), "mistake") {
			t.Errorf("panic: %s", textOf(r))
		}
	}
}

func open(activity agents.Activity) rpc.Status {
	return rpc.Status{TurnID: "turn-1", Conversation: &rpc.Turn{TurnID: "turn-1", Agent: "codex", Status: "waiting_for_agent"},
		Terminal: &rpc.Row{ID: termID, Agent: "codex", Reading: rpc.RowReading{Reading: agents.Reading{Activity: activity}}}}
}

func ended() rpc.Status {
	now := time.Now()
	return rpc.Status{TurnID: "turn-1", Conversation: &rpc.Turn{TurnID: "turn-1", Agent: "codex", Outcome: "completed", EndedAt: &now, FinalText: "all done"}}
}

// cutDesk is one whose daemon dies under every reader of the journal.
type cutDesk struct{ *fakeDesk }

func (d cutDesk) Events(ctx context.Context, _ rpc.EventsParams, started func(rpc.EventsResult) error, _ func(rpc.Event) error) error {
	if err := started(rpc.EventsResult{Next: 8}); err != nil {
		return err
	}
	select {
	case <-time.After(50 * time.Millisecond):
		return rpc.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// What the next daemon can't tell yet is no end of a wait.
func TestWaitForAnUnreadTerminal(t *testing.T) {
	row := func(a agents.Activity) rpc.Status {
		st := open(a)
		st.Conversation, st.TurnID = nil, ""
		return st
	}
	d, set := waitDesk(row(agents.Working))
	cs := connect(t, Options{Desk: cutDesk{d}}, nil)
	time.AfterFunc(20*time.Millisecond, func() { set(row(agents.ActivityUnknown)) })
	time.AfterFunc(time.Second, func() { set(row(agents.Idle)) })
	began := time.Now()
	r := callTool(t, cs, "status", map[string]any{"conversation_id": termID, "wait_seconds": 45})
	if doc := docOf(t, r); doc["timed_out"] == true || time.Since(began) < time.Second || strings.Contains(textOf(r), "unknown") {
		t.Errorf("after %v: %v", time.Since(began), doc)
	}
}

// An agent that exits while it is waited for is no unknown terminal.
func TestWaitForAnAgentThatExits(t *testing.T) {
	first := open(agents.Working)
	first.Conversation, first.TurnID = nil, ""
	d, _ := waitDesk(first)
	known, looks := d.status, atomic.Int32{}
	d.status = func(ctx context.Context, p rpc.StatusParams) (rpc.Status, error) {
		if looks.Add(1) > 1 {
			return rpc.Status{}, &rpc.Error{Code: rpc.CodeNotFound, Message: "no agent's terminal is called that"}
		}
		return known(ctx, p)
	}
	r := callTool(t, connect(t, Options{Desk: cutDesk{d}}, nil), "status", map[string]any{"conversation_id": termID, "wait_seconds": 45})
	if !r.IsError || !strings.Contains(textOf(r), "is not there any more; it was when the wait began") {
		t.Error(textOf(r))
	}
}

// A wait goes on with the next daemon.
func TestWaitSurvivesTheDaemon(t *testing.T) {
	d, set := waitDesk(open(agents.Working))
	cs := connect(t, Options{Desk: cutDesk{d}}, nil)
	time.AfterFunc(500*time.Millisecond, func() { set(ended()) })
	r := callTool(t, cs, "status", map[string]any{"turn_id": "turn-1", "wait_seconds": 45})
	if doc := docOf(t, r); doc["timed_out"] == true {
		t.Errorf("the turn's end was not seen: %v", doc)
	}
}

// waitDesk answers status from cur, which tests change.
func waitDesk(first rpc.Status) (d *fakeDesk, set func(rpc.Status)) {
	var mu sync.Mutex
	cur := first
	d = &fakeDesk{events: make(chan rpc.Event)}
	d.status = func(_ context.Context, p rpc.StatusParams) (rpc.Status, error) {
		mu.Lock()
		defer mu.Unlock()
		return cur, nil
	}
	return d, func(s rpc.Status) { mu.Lock(); defer mu.Unlock(); cur = s }
}

func TestStatusWait(t *testing.T) {
	wait := map[string]any{"turn_id": "turn-1", "wait_seconds": 45}
	t.Run("until the turn ends, with progress", func(t *testing.T) {
		d, set := waitDesk(open(agents.Working))
		steps := make(chan string, 9)
		cs := connect(t, Options{Desk: d}, &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { steps <- r.Params.Message }})
		go func() {
			d.events <- rpc.Event{Seq: 1, Type: "turn", TurnID: "turn-2", Change: "failed"}
			d.events <- rpc.Event{Seq: 2, Type: "turn", TurnID: "turn-1", Change: "accepted"}
			if s := <-steps; s != "accepted" {
				t.Errorf("progress %q", s)
			}
			set(ended())
			d.events <- rpc.Event{Seq: 3, Type: "turn", TurnID: "turn-1", Change: "completed"}
		}()
		p := &sdk.CallToolParams{Name: prefix + "status", Arguments: wait}
		p.SetProgressToken("tok")
		r, err := cs.CallTool(t.Context(), p)
		if err != nil || r.IsError || !strings.Contains(textOf(r), "all done") || docOf(t, r)["cursor"] != 3.0 || docOf(t, r)["timed_out"] != nil {
			t.Fatalf("%v %v", r, err)
		}
	})
	t.Run("a dialog ends the wait", func(t *testing.T) {
		d, set := waitDesk(open(agents.Working))
		go func() {
			d.events <- rpc.Event{Seq: 1, Type: "turn", TurnID: "turn-1", Change: "accepted"} // looked at once: the terminal is known
			set(open(agents.Blocked))
			for seq := uint64(2); ; seq++ {
				select {
				case d.events <- rpc.Event{Seq: seq, Type: "reading", TerminalID: termID, Reading: &agents.Reading{Activity: agents.Blocked}}:
				case <-t.Context().Done():
					return
				}
			}
		}()
		r := callTool(t, connect(t, Options{Desk: d}, nil), "status", wait)
		if r.IsError || docOf(t, r)["timed_out"] != nil {
			t.Errorf("%s", textOf(r))
		}
	})
	t.Run("a cursor ends it at the first change", func(t *testing.T) {
		d, _ := waitDesk(open(agents.Working))
		go func() {
			d.events <- rpc.Event{Seq: 8, Type: "turn", TurnID: "turn-7", Change: "accepted"}
			d.events <- rpc.Event{Seq: 9, Type: "turn", TurnID: "turn-1", Change: "accepted"}
		}()
		r := callTool(t, connect(t, Options{Desk: d}, nil), "status", map[string]any{"turn_id": "turn-1", "wait_seconds": 45, "cursor": 7})
		if r.IsError || docOf(t, r)["timed_out"] != nil || docOf(t, r)["cursor"] != 9.0 {
			t.Errorf("%s %v", textOf(r), docOf(t, r))
		}
	})
	t.Run("the end of the bridge cuts it short", func(t *testing.T) {
		drain := make(chan struct{})
		d, _ := waitDesk(open(agents.Working))
		go func() { d.events <- rpc.Event{Seq: 1}; close(drain) }()
		r := callTool(t, connect(t, Options{Desk: d, Draining: drain}, nil), "status", wait)
		if r.IsError || docOf(t, r)["timed_out"] != true {
			t.Errorf("%s", textOf(r))
		}
	})
	t.Run("nothing to wait for", func(t *testing.T) {
		for _, st := range []rpc.Status{ended(), open(agents.Blocked)} {
			d, _ := waitDesk(st)
			r := callTool(t, connect(t, Options{Desk: d}, nil), "status", map[string]any{"conversation_id": "turn-1", "wait_seconds": 9})
			if r.IsError || docOf(t, r)["timed_out"] != nil {
				t.Errorf("%s", textOf(r))
			}
		}
	})
}

// R216: a send that is under way when the bridge ends still tells where it
// stands, under the same request id.
func TestSendWhileDraining(t *testing.T) {
	drain := make(chan struct{})
	d := &fakeDesk{}
	d.send = func(ctx context.Context, p rpc.SendParams) (rpc.Send, error) {
		if p.AcceptWaitMillis == 1 {
			return rpc.Send{TurnID: "turn-1", SubmissionOutcome: "pending_acceptance", Replayed: true}, nil
		}
		close(drain)
		<-ctx.Done()
		return rpc.Send{}, ctx.Err()
	}
	r := callTool(t, connect(t, Options{Desk: d, Draining: drain}, nil), "send", map[string]any{"request": "x"})
	if !r.IsError || docOf(t, r)["turn_id"] != "turn-1" {
		t.Errorf("%s", textOf(r))
	}
	if len(d.sent) != 2 || d.sent[0].RequestID != d.sent[1].RequestID || d.sent[0].RequestID == "" {
		t.Errorf("sent: %+v", d.sent)
	}
}

// FuzzSanitise compares the one pass with the plain way over a decoded document.
func FuzzSanitise(f *testing.F) {
	f.Add(`{"a":{"token":"x","reason":"0123456789abcdef0123456789abcdef"},"missing_required":["hash",1]}`)
	f.Add(`{"missing_required":["request_hash","request"],"x":[{"digest":1,"y":2},3],"errors":["a","\u0030123456789abcdef0123456789abcdef"]}`)
	f.Add(`[{"nonce":{"a":[1]}},{"generation":1},{}]`)
	f.Fuzz(func(t *testing.T, in string) {
		if !json.Valid([]byte(in)) {
			return
		}
		var one bytes.Buffer
		if err := json.Compact(&one, []byte(in)); err != nil {
			t.Fatal(err)
		}
		out, err := sanitise(json.RawMessage(one.Bytes()))
		if err != nil {
			t.Fatalf("%q: %v", in, err)
		}
		if !json.Valid(out) {
			t.Fatalf("%q became %q", in, out)
		}
		read := func(s []byte) any {
			d := json.NewDecoder(strings.NewReader(string(s)))
			d.UseNumber()
			var v any
			if err := d.Decode(&v); err != nil {
				t.Fatal(err)
			}
			return v
		}
		want, err := json.Marshal(plainly(keep, read([]byte(in))))
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(read(out))
		if err != nil || string(got) != string(want) {
			t.Fatalf("%q became %q, want %q", in, got, want)
		}
	})
}

// plainly is the sanitiser's rule over a decoded document.
func plainly(r rule, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, x := range v {
			if kr := ruleOf(k); kr != drop {
				out[k] = plainly(kr, x)
			}
		}
		return out
	case []any:
		out := []any{}
		for _, x := range v {
			if s, ok := x.(string); r == names && ok && dropped(s) {
				continue
			}
			out = append(out, plainly(r, x))
		}
		return out
	case string:
		if r == scrubIt {
			return scrub(v)
		}
	}
	return v
}
