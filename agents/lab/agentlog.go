package lab

// The agent's own log, read here in the plainest way and independent of
// package agents, so that it can be a witness about akk's readers. It reads
// whole files: lab logs are small.

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"akk/agents"
)

// Log is what the agent's rollout or transcript says so far.
type Log struct {
	Path      string
	SessionID string
	UserTexts []string // accepted user messages, byte for byte
	Answers   []string // the final text of each ended turn, in order
	TurnOpen  bool
	Errors    []string // of failed turns
	Pending   []string // names of tool calls without a result
	Status    string   // Claude: idle | busy | waiting, "" if there is no status file
	Waiting   string   // Claude: waitingFor
}

// LogPath is the newest rollout or transcript, or ErrNoLog.
func (se *Session) LogPath() (string, error) {
	root := filepath.Join(se.Paths.Config, map[agents.Kind]string{agents.Codex: "sessions", agents.Claude: "projects"}[se.Binary.Agent])
	best, at := "", time.Time{}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(p, ".jsonl") {
			return nil // a folder that is not there yet
		}
		if st, err := d.Info(); err == nil && (best == "" || st.ModTime().After(at)) {
			best, at = p, st.ModTime()
		}
		return nil
	})
	if err != nil || best == "" {
		return "", ErrNoLog
	}
	return best, nil
}

// ReadLog reads the newest log; ErrNoLog before the first turn.
func (se *Session) ReadLog() (Log, error) {
	path, err := se.LogPath()
	if err != nil {
		return Log{}, err
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return Log{}, fmt.Errorf("read the agent's log: %w", err)
	}
	l := Log{Path: path}
	read := l.codex
	if se.Binary.Agent == agents.Claude {
		read = l.claude
	}
	open := map[string]string{}
	for line := range bytes.SplitSeq(b, []byte{'\n'}) {
		if json.Valid(line) { // a torn last line comes whole next time
			read(line, open)
		}
	}
	for _, name := range open {
		l.Pending = append(l.Pending, name)
	}
	slices.Sort(l.Pending)
	if se.Binary.Agent == agents.Claude {
		l.Status, l.Waiting = se.claudeStatus()
		// The status file says more than the transcript, which has no end mark
		// after some interrupts.
		switch l.Status {
		case "idle":
			l.TurnOpen = false
		case "busy", "waiting":
			l.TurnOpen = true
		}
	}
	return l, nil
}

// wrapped is how Claude Code 2.1.332 writes down a message that is one
// collapsed paste (4 lines or 801 characters and more), and sends it to the model.
var wrapped = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)^\s*<pasted_content id="([0-9a-f]+)">\n(.*)\n</pasted_content id="([0-9a-f]+)">\s*$`)
})

// Unwrap returns the text that a user message was made of: the message itself,
// or what is in its pasted_content.
func Unwrap(message string) string {
	if m := wrapped().FindStringSubmatch(message); m != nil && m[1] == m[3] {
		return m[2]
	}
	return message
}

// UserTexts are the accepted user messages; ErrNoLog before the first.
func (se *Session) UserTexts() ([]string, error) {
	l, err := se.ReadLog()
	return l.UserTexts, err
}

// WaitLog reads the log until ok is true.
func (se *Session) WaitLog(ctx context.Context, what string, ok func(Log) bool) error {
	end := time.Now().Add(stepTimeout)
	for {
		l, err := se.ReadLog()
		if err == nil && ok(l) {
			return nil
		}
		if time.Now().After(end) {
			scr, _ := se.Capture(ctx)
			return fmt.Errorf("wait %v for %s: %w; the log is %+v (%v), the screen was:\n%s",
				stepTimeout, what, ErrTimeout, l, err, strings.TrimRight(scr.Text(), "\n"))
		}
		if err := pause(ctx, pollEvery); err != nil {
			return err
		}
	}
}

// codex takes one rollout line.
func (l *Log) codex(line []byte, open map[string]string) {
	var r struct {
		Type    string `json:"type"`
		Payload struct {
			Type   string `json:"type"`
			ID     string `json:"id"`
			Name   string `json:"name"`
			CallID string `json:"call_id"`
			Last   string `json:"last_agent_message"`
			Error  struct {
				Message string `json:"message"`
			} `json:"error"`
			Item struct {
				Type    string `json:"type"`
				Content []struct {
					Type string `json:"type"`
					Text string `json:"text"`
				} `json:"content"`
			} `json:"item"`
		} `json:"payload"`
	}
	if json.Unmarshal(line, &r) != nil {
		return
	}
	p := r.Payload
	switch {
	case r.Type == "session_meta":
		l.SessionID = p.ID
	case p.Type == "task_started":
		l.TurnOpen = true
	case p.Type == "item_completed" && p.Item.Type == "UserMessage":
		var parts []string
		for _, c := range p.Item.Content {
			if c.Type == "text" {
				parts = append(parts, c.Text)
			}
		}
		l.UserTexts = append(l.UserTexts, strings.Join(parts, ""))
	case p.Type == "function_call" || p.Type == "custom_tool_call":
		open[p.CallID] = p.Name
	case p.Type == "function_call_output" || p.Type == "custom_tool_call_output":
		delete(open, p.CallID)
	case p.Type == "task_complete":
		l.TurnOpen = false
		clear(open)
		if p.Error.Message != "" {
			l.Errors = append(l.Errors, p.Error.Message)
		} else {
			l.Answers = append(l.Answers, p.Last)
		}
	case p.Type == "turn_aborted":
		l.TurnOpen = false
		clear(open)
	}
}

// claude takes one transcript line.
func (l *Log) claude(line []byte, open map[string]string) {
	var r struct {
		Type      string `json:"type"`
		Subtype   string `json:"subtype"`
		SessionID string `json:"sessionId"`
		Meta      bool   `json:"isMeta"`
		APIError  bool   `json:"isApiErrorMessage"`
		Sidechain bool   `json:"isSidechain"`
		Message   struct {
			Content json.RawMessage `json:"content"`
			Stop    string          `json:"stop_reason"`
		} `json:"message"`
	}
	if json.Unmarshal(line, &r) != nil || r.Sidechain {
		return
	}
	if r.SessionID != "" {
		l.SessionID = r.SessionID
	}
	type block struct {
		Type      string `json:"type"`
		Text      string `json:"text"`
		ID        string `json:"id"`
		Name      string `json:"name"`
		ToolUseID string `json:"tool_use_id"`
	}
	var blocks []block
	var s string
	if json.Unmarshal(r.Message.Content, &s) == nil {
		blocks = []block{{Type: "text", Text: s}}
	} else {
		_ = json.Unmarshal(r.Message.Content, &blocks) // lines without a message have none
	}
	for _, b := range blocks {
		switch {
		case b.Type == "tool_use":
			open[b.ID] = b.Name
		case b.Type == "tool_result":
			delete(open, b.ToolUseID)
		case b.Type == "text" && r.Type == "user" && !r.Meta:
			if strings.HasPrefix(b.Text, "[Request interrupted by user") {
				l.TurnOpen = false
				continue
			}
			l.UserTexts, l.TurnOpen = append(l.UserTexts, b.Text), true
		case b.Type == "text" && r.Type == "assistant" && r.APIError:
			l.Errors, l.TurnOpen = append(l.Errors, b.Text), false
		case b.Type == "text" && r.Type == "assistant" && r.Message.Stop == "end_turn":
			l.Answers, l.TurnOpen = append(l.Answers, b.Text), false
		}
	}
	if r.Type == "system" && r.Subtype == "turn_duration" {
		l.TurnOpen = false
	}
}

// claudeStatus reads sessions/<pid>.json; there is one agent in this home.
func (se *Session) claudeStatus() (status, waiting string) {
	files, _ := filepath.Glob(filepath.Join(se.Paths.Config, "sessions", "*.json"))
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		var d struct {
			Status  string `json:"status"`
			Waiting string `json:"waitingFor"`
		}
		if json.Unmarshal(b, &d) == nil && d.Status != "" {
			status, waiting = d.Status, d.Waiting
		}
	}
	return status, waiting
}
