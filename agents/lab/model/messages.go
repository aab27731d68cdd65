package model

// Anthropic's Messages API as Claude Code speaks it.

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

type msgBody struct {
	Model  string `json:"model"`
	Stream bool   `json:"stream"`
	Tools  []struct {
		Name string `json:"name"`
	} `json:"tools"`
	Messages []msgItem       `json:"messages"`
	System   json.RawMessage `json:"system"`
}

type msgItem struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

type msgBlock struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	Content json.RawMessage `json:"content"`
}

// ownTags matches what Claude Code itself puts into user messages.
var ownTags = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)<(system-reminder|local-command-[a-z]+|command-[a-z]+|bash-[a-z]+)>.*?</[a-z-]+>`)
})

func (m msgItem) blocks() []msgBlock {
	var s string
	if json.Unmarshal(m.Content, &s) == nil {
		return []msgBlock{{Type: "text", Text: s}}
	}
	var b []msgBlock
	if json.Unmarshal(m.Content, &b) != nil {
		return nil
	}
	return b
}

func (b msgBody) read(rec *Request) {
	rec.Model = b.Model
	for _, t := range b.Tools {
		rec.Tools = append(rec.Tools, t.Name)
		// The main loop is known by its tools; titles and summaries have none.
		rec.Main = rec.Main || t.Name == "Bash" || t.Name == "Read"
	}
	for _, m := range b.Messages {
		if m.Role == "assistant" {
			rec.Step++
			continue
		}
		if m.Role != "user" {
			continue // Claude Code also sends "system" messages in mid-conversation
		}
		for _, bl := range m.blocks() {
			if bl.Type == "tool_result" {
				rec.Results = append(rec.Results, string(bl.Content))
			}
			if bl.Type != "text" {
				continue
			}
			if t := ownTags().ReplaceAllString(bl.Text, ""); strings.TrimSpace(t) != "" {
				rec.UserTexts = append(rec.UserTexts, t)
				rec.Newest, rec.Step, rec.Results = t, 0, nil
			}
		}
	}
}

func (s *Server) messages(w http.ResponseWriter, r *http.Request, body []byte, rec *Request) {
	var b msgBody
	if err := json.Unmarshal(body, &b); err != nil {
		rec.Status, rec.Ended = http.StatusBadRequest, time.Now()
		s.note(rec)
		writeJSON(w, rec.Status, errorDoc("invalid_request_error", "the request is not JSON of the Messages API"))
		return
	}
	b.read(rec)
	var reply Reply
	if rec.Main {
		rec.Rule, reply = s.choose(rec.Newest, rec.Step)
		reply = slices.Clone(reply)
	} else {
		reply = Reply{Text(`{"title": "Lab session"}`)}
	}
	if len(reply) > 0 && reply[0].Kind == KindHTTP {
		st := reply[0]
		rec.Status, rec.Ended = st.Status, time.Now()
		s.note(rec)
		w.Header().Set("X-Should-Retry", "false")
		writeJSON(w, st.Status, errorDoc(st.Code, st.Message))
		return
	}
	s.note(rec)
	n := s.next()
	if !b.Stream {
		s.whole(w, b, reply, n)
		s.amend(func() { rec.Ended = time.Now() })
		return
	}
	out := &msgWriter{stream: openStream(w, r.Context(), s.gate), n: n, model: b.Model, stop: "end_turn"}
	out.run(reply.found(body))
	s.amend(func() { rec.Ended, rec.Aborted = time.Now(), out.gone() && !out.cut })
}

// whole answers a request that did not ask for a stream.
func (s *Server) whole(w http.ResponseWriter, b msgBody, reply Reply, n int) {
	var text strings.Builder
	for _, st := range reply {
		if st.Kind == KindText {
			text.WriteString(st.Text)
		}
	}
	writeJSON(w, http.StatusOK, map[string]any{"id": fmt.Sprintf("msg_lab%04d", n), "type": "message",
		"role": "assistant", "model": b.Model, "stop_reason": "end_turn", "stop_sequence": nil,
		"content": []any{map[string]any{"type": "text", "text": text.String()}},
		"usage":   map[string]int{"input_tokens": 10, "output_tokens": 5}})
}

// msgWriter writes one message.
type msgWriter struct {
	*stream
	n     int
	model string
	stop  string
	index int
	cut   bool
}

func (o *msgWriter) send(kind string, doc map[string]any) {
	doc["type"] = kind
	o.event(kind, doc)
}

func (o *msgWriter) ping() { o.send("ping", map[string]any{}) }

func (o *msgWriter) run(reply Reply) {
	o.send("message_start", map[string]any{"message": map[string]any{
		"id": fmt.Sprintf("msg_lab%04d", o.n), "type": "message", "role": "assistant", "model": o.model,
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil,
		"usage": map[string]int{"input_tokens": 1234, "output_tokens": 1,
			"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}}})
	for _, st := range reply {
		if o.gone() {
			return
		}
		switch st.Kind {
		case KindSleep:
			o.pause(st.Every, o.ping)
		case KindGate:
			o.wait(o.ping)
		case KindDrop:
			o.cut = true
			o.drop()
			return
		case KindFail:
			o.cut = true
			o.send("error", map[string]any{"error": map[string]string{"type": st.Code, "message": st.Message}})
			return
		case KindStop:
			o.stop = st.Code
		default:
			o.block(st)
		}
	}
	o.send("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": o.stop, "stop_sequence": nil},
		"usage": map[string]int{"output_tokens": 56}})
	o.send("message_stop", map[string]any{})
}

// block streams one content block: started, filled, stopped.
func (o *msgWriter) block(st Step) {
	var start map[string]any
	kind, field := "", ""
	switch st.Kind {
	case KindText:
		start, kind, field = map[string]any{"type": "text", "text": ""}, "text_delta", "text"
	case KindReason:
		start = map[string]any{"type": "thinking", "thinking": "", "signature": ""}
		kind, field = "thinking_delta", "thinking"
	case KindTool:
		o.stop = "tool_use"
		start = map[string]any{"type": "tool_use", "name": st.Tool, "input": map[string]any{},
			"id": fmt.Sprintf("toolu_lab%04d%02d", o.n, o.index)}
		kind, field = "input_json_delta", "partial_json"
		st.Text, st.Chunk, st.Every = encode(st.Input), 200, 0
	default:
		return // custom tools belong to the other API
	}
	o.send("content_block_start", map[string]any{"index": o.index, "content_block": start})
	o.deltas(st, o.ping, func(d string) {
		o.send("content_block_delta", map[string]any{"index": o.index, "delta": map[string]any{"type": kind, field: d}})
	})
	if st.Kind == KindReason {
		o.send("content_block_delta", map[string]any{"index": o.index,
			"delta": map[string]any{"type": "signature_delta", "signature": "bGFi"}})
	}
	o.send("content_block_stop", map[string]any{"index": o.index})
	o.index++
}
