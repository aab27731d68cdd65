package model

// OpenAI's Responses API as Codex speaks it (wire_api "responses").

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"
)

type respBody struct {
	Model string `json:"model"`
	Tools []struct {
		Name string `json:"name"`
		Type string `json:"type"`
	} `json:"tools"`
	Text struct {
		Format struct {
			Type string `json:"type"`
		} `json:"format"`
	} `json:"text"`
	Input []respItem `json:"input"`
}

type respItem struct {
	Type    string          `json:"type"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	Output  json.RawMessage `json:"output"`
}

// ownText matches the user messages that Codex writes itself.
var ownText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^\s*<(environment_context|user_instructions|turn_aborted|permissions|skills|instructions|collaboration)|^# AGENTS\.md`)
})

func (it respItem) text() string {
	var s string
	if json.Unmarshal(it.Content, &s) == nil {
		return s
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(it.Content, &parts) != nil {
		return ""
	}
	var out []string
	for _, p := range parts {
		out = append(out, p.Text)
	}
	return strings.Join(out, "\n")
}

// read fills rec from the conversation.
func (b respBody) read(rec *Request) {
	rec.Model = b.Model
	for _, t := range b.Tools {
		rec.Tools = append(rec.Tools, cmpOr(t.Name, t.Type))
	}
	rec.Main = b.Text.Format.Type != "json_schema"
	inOutput := false
	for _, it := range b.Input {
		output := strings.HasSuffix(it.Type, "_output")
		if output {
			rec.Results = append(rec.Results, string(it.Output))
			if !inOutput {
				rec.Step++
			}
		}
		inOutput = output
		if it.Role != "user" || (it.Type != "message" && it.Type != "") {
			continue
		}
		if t := it.text(); !ownText().MatchString(t) {
			rec.UserTexts = append(rec.UserTexts, t)
			rec.Newest, rec.Step, rec.Results = t, 0, nil
		}
	}
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func (s *Server) responses(w http.ResponseWriter, r *http.Request, body []byte, rec *Request) {
	var b respBody
	if err := json.Unmarshal(body, &b); err != nil {
		rec.Status, rec.Ended = http.StatusBadRequest, time.Now()
		s.note(rec)
		writeJSON(w, rec.Status, errorDoc("invalid_request_error", "the request is not JSON of the Responses API"))
		return
	}
	b.read(rec)
	var reply Reply
	if rec.Main {
		rec.Rule, reply = s.choose(rec.Newest, rec.Step)
	} else {
		reply = Reply{Text(`{"title":"Run the scripted task"}`)}
	}
	if len(reply) > 0 && reply[0].Kind == KindHTTP {
		st := reply[0]
		rec.Status, rec.Ended = st.Status, time.Now()
		s.note(rec)
		writeJSON(w, st.Status, errorDoc(st.Code, st.Message))
		return
	}
	s.note(rec)
	n := s.next()
	out := &respWriter{stream: openStream(w, r.Context(), s.gate), id: fmt.Sprintf("resp_lab_%04d", n), n: n}
	out.run(reply.found(body))
	s.amend(func() { rec.Ended, rec.Aborted = time.Now(), out.gone() && !out.cut })
}

// respWriter writes one response.
type respWriter struct {
	*stream
	id     string
	n      int // number of the answer
	seq    int // number of the event
	output []any
	cut    bool // the script ended it early
}

func (o *respWriter) send(kind string, doc map[string]any) {
	doc["type"], doc["sequence_number"] = kind, o.seq
	o.seq++
	o.event(kind, doc)
}

func (o *respWriter) run(reply Reply) {
	o.send("response.created", map[string]any{"response": map[string]any{"id": o.id}})
	for _, st := range reply {
		if o.gone() {
			return
		}
		switch st.Kind {
		case KindSleep:
			o.pause(st.Every, nil)
		case KindGate:
			o.wait(nil)
		case KindDrop:
			o.cut = true
			o.drop()
			return
		case KindFail:
			o.cut = true
			o.send("response.failed", map[string]any{"response": map[string]any{
				"id": o.id, "error": map[string]string{"code": st.Code, "message": st.Message}}})
			return
		default:
			o.item(st)
		}
	}
	o.send("response.completed", map[string]any{"response": map[string]any{
		"id": o.id, "output": o.output, "usage": map[string]any{
			"input_tokens": 1234, "input_tokens_details": map[string]int{"cached_tokens": 0},
			"output_tokens": 56, "output_tokens_details": map[string]int{"reasoning_tokens": 7},
			"total_tokens": 1290}}})
}

// item streams one output item: opened, filled, done.
func (o *respWriter) item(st Step) {
	id := fmt.Sprintf("lab_%d_%d", o.n, len(o.output))
	var open, done map[string]any
	switch st.Kind {
	case KindText:
		item := func(text string) map[string]any {
			return map[string]any{"type": "message", "role": "assistant", "id": "msg_" + id,
				"content": []any{map[string]any{"type": "output_text", "text": text}}}
		}
		open, done = item(""), item(strings.ReplaceAll(st.Text, Hold, ""))
	case KindReason:
		open = map[string]any{"type": "reasoning", "id": "rs_" + id, "summary": []any{}}
		done = map[string]any{"type": "reasoning", "id": "rs_" + id, "encrypted_content": "lab",
			"summary": []any{map[string]any{"type": "summary_text", "text": st.Text}}}
	case KindTool:
		call := func(args string) map[string]any {
			m := map[string]any{"type": "function_call", "id": "fc_" + id, "call_id": "call_" + id,
				"name": st.Tool, "arguments": args}
			if st.Namespace != "" {
				m["namespace"] = st.Namespace
			}
			return m
		}
		open, done = call(""), call(encode(st.Input))
	case KindCustom:
		call := func(in string) map[string]any {
			return map[string]any{"type": "custom_tool_call", "id": "ctc_" + id, "call_id": "call_" + id,
				"name": st.Tool, "input": in}
		}
		open, done = call(""), call(st.Text)
	default:
		return // stop reasons belong to the other API
	}
	at := len(o.output)
	o.send("response.output_item.added", map[string]any{"output_index": at, "item": open})
	switch st.Kind {
	case KindText:
		o.deltas(st, nil, func(d string) {
			o.send("response.output_text.delta", map[string]any{
				"item_id": open["id"], "output_index": at, "content_index": 0, "delta": d})
		})
	case KindReason:
		o.send("response.reasoning_summary_part.added", map[string]any{"item_id": open["id"], "summary_index": 0})
		o.deltas(st, nil, func(d string) {
			o.send("response.reasoning_summary_text.delta", map[string]any{
				"item_id": open["id"], "summary_index": 0, "delta": d})
		})
	}
	o.send("response.output_item.done", map[string]any{"output_index": at, "item": done})
	o.output = append(o.output, done)
}

// encode never fails: an input that is not JSON becomes an empty object.
func encode(v any) string {
	if v == nil {
		return "{}"
	}
	b, err := json.Marshal(v)
	if err != nil {
		return "{}"
	}
	return string(b)
}
