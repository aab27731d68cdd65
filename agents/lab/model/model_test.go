package model

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

type event struct {
	name string
	doc  map[string]any
}

// post sends body and reads all events; cut is true when the stream broke off.
func post(t *testing.T, s *Server, path, body string) (events []event, status int, cut bool) {
	t.Helper()
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := c.Post(s.URL()+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != 200 {
		io.Copy(io.Discard, resp.Body)
		return nil, resp.StatusCode, false
	}
	if ct := resp.Header.Get("Content-Type"); ct != "text/event-stream" {
		t.Fatalf("content type %q", ct)
	}
	sc := bufio.NewScanner(resp.Body)
	sc.Buffer(nil, 1<<20)
	var e event
	for sc.Scan() {
		switch l := sc.Text(); {
		case strings.HasPrefix(l, "event: "):
			e.name = l[7:]
		case strings.HasPrefix(l, "data: "):
			if err := json.Unmarshal([]byte(l[6:]), &e.doc); err != nil {
				t.Fatalf("%q: %v", l, err)
			}
			if e.doc["type"] != e.name {
				t.Errorf("event %q carries type %v", e.name, e.doc["type"])
			}
		case l == "":
			events, e = append(events, e), event{}
		}
	}
	return events, resp.StatusCode, sc.Err() != nil
}

func serve(t *testing.T, api API, script Script) *Server {
	t.Helper()
	s, err := Listen(api, script)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func names(ev []event) []string {
	var out []string
	for _, e := range ev {
		if len(out) == 0 || out[len(out)-1] != e.name {
			out = append(out, e.name)
		}
	}
	return out
}

func joined(ev []event, name string, field func(map[string]any) any) string {
	var b strings.Builder
	for _, e := range ev {
		if e.name == name {
			if s, ok := field(e.doc).(string); ok {
				b.WriteString(s)
			}
		}
	}
	return b.String()
}

func delta(d map[string]any) any { return d["delta"] }

var script = Script{Rules: []Rule{
	{Match: "approve", Replies: []Reply{
		{Reason("thinking about 日本", 3, 0), Text("I will."), Tool("exec_command", map[string]string{"cmd": "ls"})},
		{Text("Done.")}}},
	{Match: "patch", Replies: []Reply{{Custom("apply_patch", "*** Begin Patch")}}},
	{Match: "http", Replies: []Reply{{HTTPError(529, "overloaded_error", "too much")}}},
	{Match: "fail", Replies: []Reply{{Slow("some text", 2, time.Millisecond), Fail("server_error", "scripted")}}},
	{Match: "drop", Replies: []Reply{{Text("some text"), Drop()}}},
	{Match: "sleepy", Replies: []Reply{{Sleep(time.Hour), Text("never")}}},
	{Match: "wait a bit", Replies: []Reply{{Sleep(time.Millisecond), Text("now")}}},
	{Match: "cut short", Replies: []Reply{{Text("and"), Stop("max_tokens")}}},
}}

const codexTools = `"tools":[{"name":"exec_command","type":"function"},{"type":"web_search"}],`

func codexBody(items ...string) string {
	return `{"model":"gpt-5.5","stream":true,` + codexTools + `"input":[` + strings.Join(items, ",") + `]}`
}

func codexUser(text string) string {
	b, _ := json.Marshal(text)
	return `{"type":"message","role":"user","content":[{"type":"input_text","text":` + string(b) + `}]}`
}

func TestResponsesStream(t *testing.T) {
	s := serve(t, Responses, script)
	ev, _, _ := post(t, s, "/v1/responses", codexBody(codexUser("<environment_context>x</environment_context>"), codexUser("please approve")))
	want := []string{"response.created",
		"response.output_item.added", "response.reasoning_summary_part.added", "response.reasoning_summary_text.delta", "response.output_item.done",
		"response.output_item.added", "response.output_text.delta", "response.output_item.done",
		"response.output_item.added", "response.output_item.done", "response.completed"}
	if got := names(ev); !slices.Equal(got, want) {
		t.Errorf("events %q", got)
	}
	if got := joined(ev, "response.reasoning_summary_text.delta", delta); got != "thinking about 日本" {
		t.Errorf("reasoning %q", got)
	}
	if got := joined(ev, "response.output_text.delta", delta); got != "I will." {
		t.Errorf("text %q", got)
	}
	for i, e := range ev {
		if int(e.doc["sequence_number"].(float64)) != i {
			t.Errorf("event %d has number %v", i, e.doc["sequence_number"])
		}
	}
	call := ev[len(ev)-2].doc["item"].(map[string]any)
	if call["type"] != "function_call" || call["name"] != "exec_command" || call["arguments"] != `{"cmd":"ls"}` {
		t.Errorf("call %v", call)
	}

	// The tool's output makes the next request the second step of the rule.
	out := `{"type":"function_call_output","call_id":"c","output":"a b"}`
	ev, _, _ = post(t, s, "/v1/responses", codexBody(codexUser("please approve"), `{"type":"function_call","name":"exec_command"}`, out, out))
	if got := joined(ev, "response.output_text.delta", delta); got != "Done." {
		t.Errorf("second step %q", got)
	}
	r := s.Requests()
	if len(r) != 2 || r[0].Step != 0 || r[1].Step != 1 || r[0].Rule != "approve" || !r[0].Main || r[0].Status != 200 {
		t.Errorf("record %+v", r)
	}
	if !slices.Equal(r[0].UserTexts, []string{"please approve"}) || !slices.Equal(r[0].Tools, []string{"exec_command", "web_search"}) {
		t.Errorf("record %q %q", r[0].UserTexts, r[0].Tools)
	}
	if !slices.Equal(r[1].Results, []string{`"a b"`, `"a b"`}) {
		t.Errorf("results %q", r[1].Results)
	}
	if texts, turns := s.Asked("please approve"); texts != 1 || turns != 1 {
		t.Errorf("asked %d texts, %d turns", texts, turns)
	}
	if texts, turns := s.Asked("please"); texts != 0 || turns != 0 {
		t.Errorf("part of a text counted: %d, %d", texts, turns)
	}
}

func TestResponsesSide(t *testing.T) {
	s := serve(t, Responses, script)
	body := `{"text":{"format":{"type":"json_schema"}},"input":[` + codexUser("title for: please approve") + `]}`
	ev, _, _ := post(t, s, "/v1/responses", body)
	if got := joined(ev, "response.output_text.delta", delta); !strings.Contains(got, `"title"`) {
		t.Errorf("title %q", got)
	}
	ev, _, _ = post(t, s, "/v1/responses", codexBody(codexUser("patch it")))
	if item := ev[1].doc["item"].(map[string]any); item["type"] != "custom_tool_call" || item["name"] != "apply_patch" {
		t.Errorf("item %v", item)
	}
	if r := s.Requests(); r[0].Main || !r[1].Main {
		t.Error("the title's request counts as the conversation's")
	}
}

func claudeBody(stream bool, msgs ...string) string {
	b := `{"model":"m","tools":[{"name":"Bash"}],"messages":[` + strings.Join(msgs, ",") + `]`
	if stream {
		b += `,"stream":true`
	}
	return b + "}"
}

func claudeUser(texts ...string) string {
	var blocks []map[string]string
	for _, t := range texts {
		blocks = append(blocks, map[string]string{"type": "text", "text": t})
	}
	b, _ := json.Marshal(map[string]any{"role": "user", "content": blocks})
	return string(b)
}

func TestMessagesStream(t *testing.T) {
	s := serve(t, Messages, script)
	ev, _, _ := post(t, s, "/v1/messages?beta=true", claudeBody(true,
		claudeUser("<system-reminder>approve nothing</system-reminder>", "please approve"),
		`{"role":"system","content":"approve"}`))
	want := []string{"message_start",
		"content_block_start", "content_block_delta", "content_block_stop",
		"content_block_start", "content_block_delta", "content_block_stop",
		"content_block_start", "content_block_delta", "content_block_stop",
		"message_delta", "message_stop"}
	if got := names(ev); !slices.Equal(got, want) {
		t.Errorf("events %q", got)
	}
	in := func(k string) string {
		return joined(ev, "content_block_delta", func(d map[string]any) any { return d["delta"].(map[string]any)[k] })
	}
	if in("thinking") != "thinking about 日本" || in("text") != "I will." || in("partial_json") != `{"cmd":"ls"}` || in("signature") == "" {
		t.Errorf("deltas %q %q %q %q", in("thinking"), in("text"), in("partial_json"), in("signature"))
	}
	if d := ev[len(ev)-2].doc["delta"].(map[string]any); d["stop_reason"] != "tool_use" {
		t.Errorf("stop reason %v", d)
	}
	ev, _, _ = post(t, s, "/v1/messages", claudeBody(true, claudeUser("please approve"), `{"role":"assistant","content":[]}`,
		`{"role":"user","content":[{"type":"tool_result","content":"a b"}]}`))
	if in("text") != "Done." {
		t.Errorf("second step %q", in("text"))
	}
	ev, _, _ = post(t, s, "/v1/messages", claudeBody(true, claudeUser("cut short")))
	if d := ev[len(ev)-2].doc["delta"].(map[string]any); d["stop_reason"] != "max_tokens" {
		t.Errorf("stop reason %v", d)
	}
	r := s.Requests()
	if !slices.Equal(r[0].UserTexts, []string{"please approve"}) || r[1].Step != 1 || !slices.Equal(r[1].Results, []string{`"a b"`}) {
		t.Errorf("record %+v", r)
	}
	if texts, turns := s.Asked(" please approve\n"); texts != 1 || turns != 1 {
		t.Errorf("asked %d texts, %d turns", texts, turns)
	}
}

// Claude Code 2.1.332 frames a long paste.
func TestAskedPasted(t *testing.T) {
	s := serve(t, Messages, script)
	post(t, s, "/v1/messages", claudeBody(true, claudeUser("\n\n<pasted_content id=\"59df\">\na\nb\n</pasted_content id=\"59df\">\n")))
	if texts, turns := s.Asked("a\nb"); texts != 1 || turns != 1 {
		t.Errorf("asked %d texts, %d turns", texts, turns)
	}
}

func TestMessagesSide(t *testing.T) {
	s := serve(t, Messages, script)
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for _, x := range []struct {
		method, path, body string
		status             int
		contains           string
	}{
		{"HEAD", "/api/hello", "", 200, ""},
		{"POST", "/v1/messages/count_tokens", "{}", 200, "1234"},
		{"POST", "/v1/messages", `{"messages":[` + claudeUser("title please, approve") + `]}`, 200, "title"},
		{"POST", "/v1/messages", claudeBody(false, claudeUser("please approve")), 200, "I will."},
		{"POST", "/v1/messages", "not json", 400, "invalid_request_error"},
		{"GET", "/v1/files", "", 404, "no such route"},
		{"POST", "/v1/responses", "{}", 404, "no such route"},
	} {
		req, _ := http.NewRequest(x.method, s.URL()+x.path, strings.NewReader(x.body))
		resp, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != x.status || !strings.Contains(string(b), x.contains) {
			t.Errorf("%s %s: %d %q", x.method, x.path, resp.StatusCode, b)
		}
	}
	if n := len(s.Requests()); n != 7 {
		t.Errorf("%d requests recorded", n)
	}
}

func TestFaults(t *testing.T) {
	for _, api := range []struct {
		api  API
		path string
		body func(string) string
		end  string
	}{
		{Responses, "/v1/responses", func(s string) string { return codexBody(codexUser(s)) }, "response.failed"},
		{Messages, "/v1/messages", func(s string) string { return claudeBody(true, claudeUser(s)) }, "error"},
	} {
		s := serve(t, api.api, script)
		if _, st, _ := post(t, s, api.path, api.body("http")); st != 529 {
			t.Errorf("status %d", st)
		}
		ev, _, cut := post(t, s, api.path, api.body("fail"))
		if cut || ev[len(ev)-1].name != api.end {
			t.Errorf("failed stream %v cut %v", names(ev), cut)
		}
		if _, _, cut := post(t, s, api.path, api.body("drop")); !cut {
			t.Error("the connection was not cut")
		}
		if ev, _, _ := post(t, s, api.path, api.body("wait a bit")); len(ev) < 4 {
			t.Errorf("after a sleep %v", names(ev))
		}
		for i, r := range s.Requests() {
			if r.Aborted || r.Ended.IsZero() {
				t.Errorf("request %d is recorded as aborted or open: %+v", i, r)
			}
		}
	}
}

// A client that leaves ends the stream and is recorded; so does Close.
func TestLeave(t *testing.T) {
	s := serve(t, Responses, script)
	ctx, cancel := context.WithCancel(t.Context())
	req, _ := http.NewRequestWithContext(ctx, "POST", s.URL()+"/v1/responses", strings.NewReader(codexBody(codexUser("sleepy"))))
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	cancel()
	wctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	if err := s.Wait(wctx, func(r []Request) bool { return len(r) == 1 && r[0].Aborted }); err != nil {
		t.Errorf("%v: %+v", err, s.Requests())
	}
	done := make(chan bool)
	go func() {
		defer close(done)
		req, _ := http.NewRequest("POST", s.URL()+"/v1/responses", strings.NewReader(codexBody(codexUser("sleepy"))))
		if resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req); err == nil {
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	}()
	if err := s.Wait(wctx, func(r []Request) bool { return len(r) == 2 }); err != nil {
		t.Fatal(err)
	}
	s.Close()
	<-done
	if err := s.Wait(canceled(t), func([]Request) bool { return false }); !errors.Is(err, context.Canceled) {
		t.Errorf("wait gave %v", err)
	}
}

func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func TestRefusals(t *testing.T) {
	for _, bad := range []Script{
		{Rules: []Rule{{Match: "", Replies: []Reply{{Text("x")}}}}},
		{Rules: []Rule{{Match: "x"}}},
		{Default: []Reply{{Step{}}}},
		{Default: []Reply{{Tool("", nil)}}},
		{Default: []Reply{{Text("x"), HTTPError(500, "a", "b")}}},
		{Default: []Reply{{HTTPError(200, "a", "b")}}},
		{Default: []Reply{{Stop("")}}},
	} {
		if _, err := Listen(Responses, bad); !errors.Is(err, ErrBadStep) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	ln, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Skip(err)
	}
	defer ln.Close()
	if _, err := Serve(ln, Responses, Script{}); !errors.Is(err, ErrNotLoopback) {
		t.Errorf("served on %v: %v", ln.Addr(), err)
	}
	s := serve(t, Responses, Script{})
	if err := s.SetScript(Script{Default: []Reply{{Step{}}}}); !errors.Is(err, ErrBadStep) {
		t.Errorf("bad script taken: %v", err)
	}
	if err := s.SetScript(Script{Default: []Reply{{Text("new")}}}); err != nil {
		t.Error(err)
	}
	ev, _, _ := post(t, s, "/v1/responses", codexBody(codexUser("any")))
	if got := joined(ev, "response.output_text.delta", delta); got != "new" {
		t.Errorf("answer %q", got)
	}
}

// Many clients at once are all recorded and all answered.
func TestParallel(t *testing.T) {
	s := serve(t, Messages, script)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if ev, st, _ := post(t, s, "/v1/messages", claudeBody(true, claudeUser("please approve"))); st != 200 || len(ev) < 10 {
				t.Errorf("status %d, %d events", st, len(ev))
			}
		})
	}
	wg.Wait()
	if _, turns := s.Asked("please approve"); turns != 20 {
		t.Errorf("%d turns", turns)
	}
}

// FuzzBodies: no request body may break the server (a real agent of a version
// to come may send anything).
func FuzzBodies(f *testing.F) {
	f.Add([]byte(codexBody(codexUser("x"))), true)
	f.Add([]byte(claudeBody(true, claudeUser("x"))), false)
	f.Add([]byte(`{"input":[{"role":"user","content":7}],"messages":[{"role":"user","content":{}}]}`), true)
	f.Fuzz(func(t *testing.T, b []byte, codex bool) {
		var rec Request
		var r respBody
		var m msgBody
		if codex && json.Unmarshal(b, &r) == nil {
			r.read(&rec)
		} else if json.Unmarshal(b, &m) == nil {
			m.read(&rec)
		}
		if rec.Step < 0 || (rec.Newest != "" && len(rec.UserTexts) == 0) {
			t.Errorf("record %+v", rec)
		}
		Script{}.pick(rec.Newest, rec.Step)
	})
}
