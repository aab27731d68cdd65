package codex

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"akk/agents"
)

// This file reads one rollout line by line. Rules: a line that is torn or of
// an unknown shape says nothing; of a user's message only the hash is kept.

// line is the part of a rollout line that is looked at.
type line struct {
	Timestamp time.Time       `json:"timestamp"`
	Type      string          `json:"type"`
	Payload   json.RawMessage `json:"payload"`
}

type payload struct {
	Type     string          `json:"type"`
	ID       string          `json:"id"`
	ThreadID string          `json:"thread_id"`
	TurnID   string          `json:"turn_id"`
	Item     item            `json:"item"`
	Last     string          `json:"last_agent_message"`
	Error    *turnError      `json:"error"`
	Reason   string          `json:"reason"`
	Name     string          `json:"name"`
	Space    string          `json:"namespace"`
	Args     string          `json:"arguments"`
	Input    string          `json:"input"`
	CallID   string          `json:"call_id"`
	Meta     passthrough     `json:"internal_chat_message_metadata_passthrough"`
	Cwd      string          `json:"cwd"`
	Source   json.RawMessage `json:"source"`
	Origin   string          `json:"originator"`
}

type item struct {
	Type    string `json:"type"`
	Content []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
}

type turnError struct {
	Message string `json:"message"`
}

type passthrough struct {
	TurnID string `json:"turn_id"`
}

// toolArgs are the arguments of the tools that may ask.
type toolArgs struct {
	Cmd string `json:"cmd"`
}

// rollout is the sum of one file's lines.
type rollout struct {
	since   time.Time // turns that began before are another process's
	state   agents.LogState
	pending map[string]agents.LogEvent // tool calls by call id
	order   []string
	cwd     string
	sub     bool // a thread of a sub-agent, not the one on the screen
}

func newRollout(path string, since time.Time) *rollout {
	return &rollout{since: since, state: agents.LogState{Path: path}, pending: map[string]agents.LogEvent{}}
}

// interesting are the marks of lines that are worth decoding: most of a
// rollout is prompts and tool output.
var interesting = [][]byte{
	[]byte(`"session_meta"`), []byte(`"task_started"`), []byte(`"task_complete"`), []byte(`"turn_aborted"`),
	[]byte(`"UserMessage"`), []byte(`"function_call`), []byte(`"custom_tool_call`),
}

// markBytes is how much of a line is searched for its mark: types stand at
// its begin.
const markBytes = 400

// parseLine reads one line's meaning; ok is false if it has none. It never
// panics, whatever the line is.
func (r *rollout) parseLine(b []byte, end int64) (agents.LogEvent, bool) {
	var e agents.LogEvent
	if !marked(b) {
		return e, false
	}
	var l line
	var p payload
	if json.Unmarshal(b, &l) != nil || json.Unmarshal(l.Payload, &p) != nil {
		return e, false
	}
	e = agents.LogEvent{Time: l.Timestamp, SessionID: r.state.SessionID, TurnID: p.TurnID, Offset: end}
	switch l.Type {
	case "session_meta":
		if p.ID == "" || r.state.SessionID != "" {
			return e, false // a forked conversation repeats its parent's
		}
		r.cwd, r.sub = p.Cwd, bytes.HasPrefix(bytes.TrimSpace(p.Source), []byte("{"))
		e.Kind, e.SessionID = agents.LogSession, p.ID
	case "event_msg":
		if !event(&e, &p) {
			return e, false
		}
	case "response_item":
		if e.TurnID == "" {
			e.TurnID = p.Meta.TurnID
		}
		if !r.call(&e, &p) {
			return e, false
		}
	default:
		return e, false
	}
	r.add(e, p.CallID)
	return e, true
}

func marked(b []byte) bool {
	head := b[:min(len(b), markBytes)]
	for _, m := range interesting {
		if bytes.Contains(head, m) {
			return true
		}
	}
	return false
}

// event fills in what an event_msg means.
func event(e *agents.LogEvent, p *payload) bool {
	switch p.Type {
	case "task_started":
		e.Kind = agents.LogTurnStarted
	case "item_completed":
		if p.Item.Type != "UserMessage" {
			return false
		}
		var text strings.Builder
		for _, c := range p.Item.Content {
			if c.Type == "text" {
				text.WriteString(c.Text)
			}
		}
		e.Kind, e.Hash = agents.LogAccepted, agents.HashRequest(text.String())
	case "task_complete":
		if p.Error != nil { // a failed turn completes, too
			e.Kind, e.Err = agents.LogFailed, p.Error.Message
			break
		}
		e.Kind, e.Text = agents.LogCompleted, p.Last
	case "turn_aborted":
		e.Kind, e.Err = agents.LogAborted, p.Reason
	default:
		return false
	}
	return true
}

// call fills in what a response_item about a tool means.
func (r *rollout) call(e *agents.LogEvent, p *payload) bool {
	switch p.Type {
	case "function_call", "custom_tool_call":
		e.Kind, e.Tool, e.Detail = agents.LogToolPending, p.Name, p.Input
		if p.Space != "" {
			e.Tool = p.Space + "." + p.Name
		}
		if p.Args != "" {
			var a toolArgs
			if json.Unmarshal([]byte(p.Args), &a) == nil {
				e.Detail = a.Cmd
			}
		}
	case "function_call_output", "custom_tool_call_output":
		e.Kind = agents.LogToolDone
		if was, ok := r.pending[p.CallID]; ok {
			e.Tool = was.Tool
		}
	default:
		return false
	}
	return p.CallID != ""
}

// add carries the event into the state.
func (r *rollout) add(e agents.LogEvent, call string) {
	s := &r.state
	switch e.Kind {
	case agents.LogSession:
		s.SessionID = e.SessionID
	case agents.LogTurnStarted:
		// A turn of a process that is gone may never have been ended.
		s.TurnOpen = e.Time.IsZero() || !e.Time.Before(r.since)
		r.forget()
	case agents.LogCompleted, agents.LogFailed, agents.LogAborted:
		s.TurnOpen = false
		r.forget()
	case agents.LogToolPending:
		r.pending[call] = e
		r.order = append(r.order, call)
	case agents.LogToolDone:
		delete(r.pending, call)
	}
	s.Last = &e
	s.Pending = nil
	for _, id := range r.order {
		if p, ok := r.pending[id]; ok {
			s.Pending = &p
			break
		}
	}
}

func (r *rollout) forget() {
	clear(r.pending)
	r.order = r.order[:0]
}
