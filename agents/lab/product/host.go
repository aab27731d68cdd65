package product

// A Host: an MCP client of `akk host-bridge` with a profile whose command is
// this test binary. It upholds: every run of the command is written down, so
// that "once" is counted where the callback arrives.

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The tools.
const (
	toolPrefix = "agent_knock_knock_"
	ToolList   = toolPrefix + "list"
	ToolStatus = toolPrefix + "status"
	ToolSend   = toolPrefix + "send"
	ToolClose  = toolPrefix + "close"
)

// callbackArg makes the test binary the callback command:
// callbackArg FILE SESSION DELIVERY MESSAGE, the body on standard input.
const callbackArg = "akk-host-callback"

// Callback is one run of a Host's command.
type Callback struct {
	Time     time.Time `json:"time"`
	Session  string    `json:"session"`
	Delivery string    `json:"delivery"`
	Message  string    `json:"message"`
	Body     string    `json:"body"`
}

// callback notes the run and accepts.
func callback(args []string) int {
	body, err := io.ReadAll(os.Stdin)
	if err != nil || len(args) != 4 {
		return 2
	}
	line, err := json.Marshal(Callback{time.Now(), args[1], args[2], args[3], string(body)})
	if err != nil {
		return 2
	}
	f, err := os.OpenFile(args[0], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return 2
	}
	defer f.Close()
	if _, err := f.Write(append(line, '\n')); err != nil {
		return 2
	}
	fmt.Printf(`{"result":{"status":"accepted","acceptance_id":"a-%s"},"request":{"delivery_id":%q,"message_id":%q}}`, args[2], args[2], args[3])
	return 0
}

// profile is a Host Profile v1 whose command appends to file.
func profile(exe, file string) any {
	type m = map[string]any
	at := func(p string) m { return m{"jsonPointer": p} }
	return m{
		"schema": "agent-knock-knock/host-profile", "version": 1, "id": "lab-host", "revision": "1",
		"compatibility":     m{"host": "lab-host", "range": ">=1.0.0 <2.0.0"},
		"controllerContext": m{"driver": "environment_v1", "sessionIdVariable": "LAB_HOST_SESSION"},
		"callback": m{
			"driver": "command_json_v1", "executable": exe,
			"arguments":   []string{callbackArg, file, "${controller.session_id}", "${envelope.delivery_id}", "${envelope.message_id}"},
			"stdin":       "${envelope.body}",
			"environment": m{"allow": []string{}}, "timeoutMs": 30000, "maxOutputBytes": 65536,
			"acknowledgement": m{
				"disposition":  m{"jsonPointer": "/result/status", "mapping": m{"accepted": "accepted"}},
				"acceptanceId": at("/result/acceptance_id"), "acknowledgedDeliveryId": at("/request/delivery_id"), "acknowledgedMessageId": at("/request/message_id"),
			},
		},
	}
}

// Host is one connected Host.
type Host struct {
	p    *Akk
	name string
	file string
	s    *mcp.ClientSession
}

// Host connects a Host whose trusted session is name. It leaves with the test.
func (p *Akk) Host(name string) *Host {
	p.T.Helper()
	exe, err := os.Executable()
	if err != nil {
		p.T.Fatal(err)
	}
	h := &Host{p: p, name: name, file: filepath.Join(p.Dir, name+".callbacks")}
	doc, err := json.Marshal(profile(exe, h.file))
	path := filepath.Join(p.Dir, name+".json")
	if err == nil {
		err = os.WriteFile(path, doc, 0o600)
	}
	if err != nil {
		p.T.Fatal(err)
	}
	log, err := os.Create(filepath.Join(p.Dir, name+".log"))
	if err != nil {
		p.T.Fatal(err)
	}
	cmd := p.Command(context.WithoutCancel(p.T.Context()), "host-bridge", "--profile", path, "--host", "lab-host", "--host-version", "1.0.0")
	cmd.Env, cmd.Stderr = append(cmd.Env[:len(cmd.Env):len(cmd.Env)], "LAB_HOST_SESSION="+name), log
	c := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1.0.0"}, nil)
	h.s, err = c.Connect(p.T.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		p.T.Fatalf("connect %s to akk host-bridge: %v", name, err)
	}
	p.T.Cleanup(func() { h.s.Close(); log.Close() })
	return h
}

// Call calls a tool; doc is the result's JSON.
func (h *Host) Call(tool string, args map[string]any) (doc string, isError bool) {
	h.p.T.Helper()
	r, err := h.s.CallTool(h.p.T.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		h.p.T.Fatalf("%s: %s %v: %v", h.name, tool, args, err)
	}
	return Text(r), r.IsError
}

// Text is a result's JSON: the structured content, else the text.
func Text(r *mcp.CallToolResult) string {
	if r.StructuredContent != nil {
		if b, err := json.Marshal(r.StructuredContent); err == nil {
			return string(b)
		}
	}
	var b strings.Builder
	for _, c := range r.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			b.WriteString(t.Text)
		}
	}
	return b.String()
}

// List is the list as this Host sees it.
func (h *Host) List() List {
	h.p.T.Helper()
	doc, bad := h.Call(ToolList, map[string]any{})
	var l List
	Decode(h.p.T, doc, &l)
	if bad {
		h.p.T.Fatalf("%s: list: %s", h.name, doc)
	}
	return l
}

// Sent is a send's document, or its refusal.
type Sent struct {
	TurnID                  string `json:"turn_id"`
	SessionID               string `json:"session_id"`
	Scope                   string `json:"scope"`
	Status                  string `json:"status"`
	SubmissionOutcome       string `json:"submission_outcome"`
	DeliveryReceipt         string `json:"delivery_receipt"`
	Delivered               bool   `json:"delivered"`
	TerminalInputDispatched bool   `json:"terminal_input_dispatched"`
	AgentAcceptance         string `json:"agent_acceptance"`
	Replayed                bool   `json:"replayed"`
	Reason                  string `json:"reason"`
	Error                   *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Next    string `json:"next_step"`
	} `json:"error"`
	Doc     string `json:"-"`
	IsError bool   `json:"-"`
}

// Send calls send with an action's arguments and the request.
func (h *Host) Send(a Action, request string) Sent {
	h.p.T.Helper()
	args := map[string]any{"request": request}
	for k, v := range a.Arguments {
		args[k] = v
	}
	var s Sent
	s.Doc, s.IsError = h.Call(ToolSend, args)
	Decode(h.p.T, s.Doc, &s)
	return s
}

// Accepted sends, and ends the test unless the agent has taken the task.
func (h *Host) Accepted(pane, request string) Sent {
	h.p.T.Helper()
	r, _ := h.List().Pane(pane)
	a, ok := r.AvailableActions["send"]
	if !ok {
		h.p.T.Fatalf("%s: no send is offered to pane %s: %+v", h.name, pane, r)
	}
	s := h.Send(a, request)
	if s.TurnID != "" && s.SubmissionOutcome != "agent_accepted" {
		// A loaded machine: the agent's log came after the call had to answer.
		h.p.T.Logf("%s: %s at first: %s", h.name, s.SubmissionOutcome, s.Reason)
		t := h.p.WaitTurn(s.TurnID, "accepted", func(t Turn) bool { return t.Stage == "agent_accepted" })
		s.SubmissionOutcome, s.SessionID, s.IsError = "agent_accepted", t.SessionID, false
	}
	if s.IsError || s.SubmissionOutcome != "agent_accepted" {
		scr, _ := h.p.Srv.Look(h.p.T.Context(), pane)
		h.p.T.Fatalf("%s: send: %s\nthe screen:\n%s", h.name, s.Doc, scr.Text())
	}
	return s
}

// Callbacks are the runs of its command so far.
func (h *Host) Callbacks() []Callback {
	h.p.T.Helper()
	b, err := os.ReadFile(h.file)
	if err != nil && !os.IsNotExist(err) {
		h.p.T.Fatal(err)
	}
	var out []Callback
	for line := range bytes.Lines(b) {
		var c Callback
		if json.Unmarshal(line, &c) == nil { // a torn last line comes whole next time
			out = append(out, c)
		}
	}
	return out
}

// Decode reads a JSON document.
func Decode(t *testing.T, doc string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(doc), into); err != nil {
		t.Fatalf("no JSON document: %v\n%s", err, doc)
	}
}
