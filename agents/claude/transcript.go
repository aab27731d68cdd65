package claude

import (
	"encoding/json"
	"regexp"
	"strings"
	"sync"
	"time"

	"akk/agents"
)

// This file reads one line of a transcript. Rule: a line that is torn, foreign
// or of a kind that does not count is nothing, never an error; a user's text is
// kept as a hash only.

// record is what counts of one line.
type record struct {
	kind    recordKind
	time    time.Time
	session string
	uuid    string
	parent  string
	turn    string // promptId, else the user record's own uuid
	hash    string // prompt, queued: of its text
	queued  bool   // prompt that had waited in the queue
	text    string // answer: its text
	final   bool   // answer that ends the model's turn
	calls   []call
	results []string // ids of tool calls
	err     string
	offset  int64
}

type call struct{ id, tool, detail string }

type recordKind int

const (
	recNone      recordKind = iota
	recLink                 // only its place in the chain counts
	recPrompt               // a user message was taken
	recSystem               // a message that the agent sent itself (a task's end)
	recAnswer               // text of the model
	recCalls                // tool calls
	recResults              // tool results
	recEnd                  // the turn's end with its duration
	recError                // the turn ended in an error
	recInterrupt            // the human stopped it
	recEnqueue
	recDequeue
	recTakeBack
	recQueuedUse // a queued message went into the running turn
)

// line is the JSON of a transcript's line.
type line struct {
	Type       string          `json:"type"`
	Subtype    string          `json:"subtype"`
	Timestamp  time.Time       `json:"timestamp"`
	SessionID  string          `json:"sessionId"`
	UUID       string          `json:"uuid"`
	ParentUUID string          `json:"parentUuid"`
	PromptID   string          `json:"promptId"`
	Sidechain  bool            `json:"isSidechain"`
	Meta       bool            `json:"isMeta"`
	Summary    bool            `json:"isCompactSummary"`
	APIError   bool            `json:"isApiErrorMessage"`
	Source     string          `json:"promptSource"`
	Operation  string          `json:"operation"`
	Content    json.RawMessage `json:"content"`
	Origin     *struct {
		Kind string `json:"kind"`
	} `json:"origin"`
	Message *struct {
		Content    json.RawMessage `json:"content"`
		StopReason string          `json:"stop_reason"`
	} `json:"message"`
	Attachment *struct {
		Type   string          `json:"type"`
		Prompt json.RawMessage `json:"prompt"`
	} `json:"attachment"`
}

// block is one part of a message.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
}

// parseLine reads a line; offset is the byte behind it.
func parseLine(b []byte, offset int64) record {
	var l line
	if json.Unmarshal(b, &l) != nil {
		return record{}
	}
	r := record{time: l.Timestamp, session: l.SessionID, uuid: l.UUID, parent: l.ParentUUID, turn: l.PromptID, offset: offset}
	if l.Sidechain {
		return record{}
	}
	if l.UUID != "" {
		r.kind = recLink
	}
	switch l.Type {
	case "user":
		r.user(&l)
	case "assistant":
		r.assistant(&l)
	case "system":
		if l.Subtype == "turn_duration" {
			r.kind = recEnd
		}
	case "queue-operation":
		r.queue(&l)
	case "attachment":
		if l.Attachment != nil && l.Attachment.Type == "queued_command" {
			if text, _ := textOf(l.Attachment.Prompt); text != "" {
				r.kind, r.hash = recQueuedUse, hash(text)
			}
		}
	}
	return r
}

// The texts that the agent itself writes as a user's.
const interruptMark = "[Request interrupted by user"

func (r *record) user(l *line) {
	if l.Message == nil || l.Meta || l.Summary {
		return
	}
	text, blocks := textOf(l.Message.Content)
	for _, b := range blocks {
		if b.Type == "tool_result" {
			r.kind = recResults
			r.results = append(r.results, b.ToolUseID)
		}
	}
	switch {
	case r.kind == recResults:
	case strings.HasPrefix(text, interruptMark):
		r.kind, r.err = recInterrupt, strings.Trim(text, "[]")
	case l.Origin != nil && l.Origin.Kind != "human":
		r.kind = recSystem
	case l.Origin == nil && (strings.HasPrefix(text, "<") || text == ""):
		// a command's echo or output
	default:
		r.kind, r.hash, r.queued = recPrompt, hash(text), l.Source == "queued"
	}
	if (r.kind == recPrompt || r.kind == recSystem) && r.turn == "" {
		r.turn = r.uuid
	}
}

func (r *record) assistant(l *line) {
	if l.Message == nil {
		return
	}
	text, blocks := textOf(l.Message.Content)
	if l.APIError {
		r.kind, r.err = recError, text
		return
	}
	for _, b := range blocks {
		if b.Type == "tool_use" {
			r.kind = recCalls
			r.calls = append(r.calls, call{b.ID, b.Name, detail(b.Input)})
		}
	}
	if r.kind != recCalls && text != "" {
		r.kind, r.text, r.final = recAnswer, text, l.Message.StopReason == "end_turn" || l.Message.StopReason == "stop_sequence"
	}
}

func (r *record) queue(l *line) {
	text, _ := textOf(l.Content)
	switch l.Operation {
	case "enqueue":
		if !strings.HasPrefix(text, "<") {
			r.kind, r.hash = recEnqueue, hash(text)
		}
	case "dequeue":
		r.kind = recDequeue
	case "popAll", "remove":
		r.kind, r.hash = recTakeBack, hash(text)
	}
}

// textOf reads content that is a string or a list of blocks; several texts are
// joined by newlines.
func textOf(raw json.RawMessage) (string, []block) {
	if len(raw) == 0 {
		return "", nil
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s, nil
	}
	var blocks []block
	if json.Unmarshal(raw, &blocks) != nil {
		return "", nil
	}
	var texts []string
	for _, b := range blocks {
		if b.Type == "text" {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n"), blocks
}

// detail is what a tool call is about: the command, the path, the address.
func detail(input json.RawMessage) string {
	var in struct {
		Command  string `json:"command"`
		FilePath string `json:"file_path"`
		Path     string `json:"path"`
		URL      string `json:"url"`
	}
	if json.Unmarshal(input, &in) != nil {
		return ""
	}
	for _, s := range []string{in.Command, in.FilePath, in.URL, in.Path} {
		if s != "" {
			return s
		}
	}
	return ""
}

// pasted is the frame that 2.1.332 puts around a paste that its composer had
// collapsed; the id is four hex digits, the same at both ends.
var pasted = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)^\s*<pasted_content id="([0-9A-Za-z]+)">\r?\n(.*)\r?\n</pasted_content id="([0-9A-Za-z]+)">\s*$`)
})

// hash is the identity of a user message as it was sent: without the frame, if
// the whole message is one framed paste.
func hash(text string) string {
	if m := pasted().FindStringSubmatch(text); m != nil && m[1] == m[3] && !strings.Contains(m[2], "<pasted_content id=") {
		text = m[2]
	}
	return agents.HashRequest(text)
}
