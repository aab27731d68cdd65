package agents

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
)

// LogKind is a thing that an agent's own log (Codex rollout, Claude
// transcript) says.
type LogKind string

// The log kinds.
const (
	LogSession     LogKind = "session"      // the log's session id became known
	LogAccepted    LogKind = "accepted"     // a user message was taken; Hash is of its text
	LogTurnStarted LogKind = "turn_started" // TurnID
	LogToolPending LogKind = "tool_pending" // a tool call without a result; Tool, Detail
	LogToolDone    LogKind = "tool_done"
	LogCompleted   LogKind = "completed" // Text is the agent's final message
	LogFailed      LogKind = "failed"    // Err
	LogAborted     LogKind = "aborted"   // Err is the reason
)

// LogEvent is one line's meaning. No part of a user's prompt is in it but its
// hash (R226).
type LogEvent struct {
	Kind      LogKind
	Time      time.Time // as written by the agent
	SessionID string
	TurnID    string // the agent's own id of the turn, "" if it has none
	Hash      string // HashRequest of the user message
	Text      string // completed only
	Tool      string
	Detail    string // tool_pending: the command or path
	Err       string
	Offset    int64  // byte offset behind the line
	Path      string // of the file that says it, "" = the log has one only
}

// LogState is the sum of the events so far.
type LogState struct {
	Path      string
	SessionID string
	TurnOpen  bool      // a turn has started and not ended
	Pending   *LogEvent // the oldest tool call without a result
	Last      *LogEvent
}

// AppStatus is what Claude Code writes to sessions/<pid>.json.
type AppStatus struct {
	Status     string // idle | busy | waiting
	WaitingFor string
	SessionID  string
	Version    string
	ModTime    time.Time
}

// HashRequest is the identity of a request's text: sha256 in hex over the text
// with CRLF and CR as LF and without white space at both ends, because both
// agents trim a message before they write it down.
func HashRequest(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.ReplaceAll(text, "\r", "\n")
	sum := sha256.Sum256([]byte(strings.TrimSpace(text)))
	return hex.EncodeToString(sum[:])
}
