package rpc

import (
	"time"

	"akk/agents"
)

// Protocol is the number of this protocol; a client and a daemon with
// different numbers refuse each other with a cure.
const Protocol = 1

// The methods. Params and results are the types below, or as noted.
const (
	MethodHello    = "hello"    // HelloParams -> HelloResult; first on every connection
	MethodPing     = "ping"     // nil -> nil; answered whatever the daemon does
	MethodAttach   = "attach"   // AttachParams -> Server; idempotent
	MethodServers  = "servers"  // nil -> []Server
	MethodList     = "list"     // ListParams -> List
	MethodStatus   = "status"   // StatusParams -> Status
	MethodScreen   = "screen"   // ScreenParams -> Screen
	MethodExplain  = "explain"  // TargetParams -> Explain
	MethodSend     = "send"     // SendParams -> Send
	MethodEvents   = "events"   // EventsParams -> EventsResult, then NotifyEvent until the connection ends
	MethodFollow   = "follow"   // ListParams -> List, then NotifyRows on every change (latest wins)
	MethodRecord   = "record"   // TargetParams -> RecordStart, then NotifyBytes
	MethodDoctor   = "doctor"   // nil -> Doctor
	MethodShutdown = "shutdown" // nil -> nil; the daemon ends when its work is durable

	NotifyEvent = "event" // Event
	NotifyRows  = "rows"  // List
	NotifyBytes = "bytes" // Bytes
)

// HelloParams introduces a client.
type HelloParams struct {
	Protocol int    `json:"protocol"`
	Client   string `json:"client"` // cli | sidebar | host-bridge | hook | test
	Version  string `json:"version"`
	// Session is the Host's trusted session identity, set by host-bridge from
	// its own environment, never by a model (R177, R190). "" for humans.
	Session string `json:"session,omitempty"`
	// Route is where this Host's callbacks go, made by host-bridge from its Host
	// Profile; nil = it is not called back (R177, R182).
	Route *Route `json:"route,omitempty"`
}

// HelloResult introduces the daemon.
type HelloResult struct {
	Protocol int       `json:"protocol"`
	Version  string    `json:"version"`
	PID      int       `json:"pid"`
	StoreDir string    `json:"store_dir"`
	Started  time.Time `json:"started"`
	Caller   Caller    `json:"caller"`
	Spares   bool      `json:"spares,omitempty"` // ListParams.Known is understood
}

// Caller is who the daemon takes the peer for.
type Caller struct {
	Kind       string `json:"kind"`                  // human | host | agent | unknown
	TerminalID string `json:"terminal_id,omitempty"` // agent: the terminal it runs in
	PID        int    `json:"pid"`
	AgentPID   int    `json:"-"`                 // the agent's process that it runs under while TerminalID is not known, 0 for none
	InPane     bool   `json:"-"`                 // that agent runs below a terminal server
	Session    string `json:"session,omitempty"` // host: the bridge's trusted session identity
	Route      *Route `json:"-"`                 // host: where its callbacks go
}

// AttachParams names a tmux server by the absolute path of its socket.
type AttachParams struct {
	Socket string `json:"socket"`
}

// Server is one attached terminal server.
type Server struct {
	Socket  string    `json:"socket"`
	PID     int       `json:"pid"`
	Start   time.Time `json:"start"`
	Version string    `json:"version"`
	Panes   int       `json:"panes"`
	Agents  int       `json:"agents"`
	// Recordings are panes that play one; they are no agents.
	Recordings int    `json:"recordings,omitempty"`
	State      string `json:"state"` // attached | gone
	// Fresh: it was attached just now; its panes are being looked at.
	Fresh bool `json:"fresh,omitempty"`
}

// TargetParams names one pane or terminal: a full terminal id, "%3", or a
// unique short ref. Socket narrows "%3" when several servers are attached.
type TargetParams struct {
	ID     string `json:"id"`
	Socket string `json:"socket,omitempty"`
}

// ListParams filters as the list tool does (CONTRACT-outputs §2.1).
type ListParams struct {
	Agent  string `json:"agent,omitempty"`  // codex | claude
	Status string `json:"status,omitempty"` // a Turn status
	All    bool   `json:"all,omitempty"`
	Socket string `json:"socket,omitempty"` // only terminals of this server
	// Known is the id of an answer of this connection whose list the asker still
	// has: {"same":Known} may stand for that list then. 0 = none.
	Known int64 `json:"known,omitempty"`
}

// StatusParams has exactly one target.
type StatusParams struct {
	ID     string `json:"id,omitempty"` // terminal, pane or short ref
	TurnID string `json:"turn_id,omitempty"`
	Socket string `json:"socket,omitempty"`
	Trace  bool   `json:"trace,omitempty"`
	// WaitMillis > 0 holds the answer until the Turn has ended or, with ID,
	// until the reading is neither working nor starting; at most 50,000 ms.
	WaitMillis int `json:"wait_ms,omitempty"`
}

// ScreenParams asks for the live screen of any pane.
type ScreenParams struct {
	TargetParams
	Audit bool `json:"audit,omitempty"` // prove it against the server's own screen first
	// Format asks for Screen.Export too: ScreenANSI or ScreenSVG.
	Format string `json:"format,omitempty"`
}

// The formats of Screen.Export.
const (
	ScreenANSI = "ansi" // text with SGR sequences
	ScreenSVG  = "svg"  // a picture
)

// Screen is one screen, in the shape of `akk replay --json`. Export is drawn by
// the daemon, which knows how wide the server's tmux draws a character.
type Screen struct {
	TerminalID string    `json:"terminal_id,omitempty"`
	Pane       string    `json:"pane"`
	Generation uint64    `json:"generation"`
	Audited    bool      `json:"audited"`
	Time       time.Time `json:"time"`
	Cols       int       `json:"cols"`
	Rows       int       `json:"rows"`
	Cursor     struct {
		X       int  `json:"x"`
		Y       int  `json:"y"`
		Visible bool `json:"visible"`
	} `json:"cursor"`
	Alternate bool          `json:"alternate"`
	Title     string        `json:"title"`
	Lines     []string      `json:"lines"`
	Runs      [][][2]string `json:"runs"` // per row [text, style] as in `akk replay --json`
	Export    string        `json:"export,omitempty"`
}

// Explain tells how a reading came about.
type Explain struct {
	TerminalID string         `json:"terminal_id,omitempty"`
	Pane       string         `json:"pane"`
	Agent      string         `json:"agent,omitempty"`
	Version    string         `json:"agent_version,omitempty"`
	Process    *ProcessFacts  `json:"process,omitempty"`
	Reading    agents.Reading `json:"reading"`
	Evidence   []Evidence     `json:"evidence"`
	Sendable   bool           `json:"sendable"`
	Missing    []string       `json:"missing"` // what would have to be different for a send, in words
	Screen     Screen         `json:"screen"`
	LogPath    string         `json:"log_path,omitempty"`
}

// Evidence is an agents.Reason in full.
type Evidence struct {
	Layer string `json:"layer"`
	Rule  string `json:"rule"`
	Rows  []int  `json:"rows,omitempty"`
}

// ProcessFacts are shown by explain.
type ProcessFacts struct {
	PID     int       `json:"pid"`
	Start   time.Time `json:"start"`
	Exe     string    `json:"exe"`
	Args    []string  `json:"args"`
	Cwd     string    `json:"cwd"`
	PanePID int       `json:"pane_pid"`
}

// SendParams is one task.
type SendParams struct {
	ID        string `json:"id,omitempty"`         // terminal, pane or short ref; "" = the only send-ready one
	SessionID string `json:"session_id,omitempty"` // exclusive with ID
	Socket    string `json:"socket,omitempty"`
	Request   string `json:"request"`
	// RequestID makes a repeated call return the same receipt. "" = a new one.
	RequestID string `json:"request_id,omitempty"`
	Explicit  bool   `json:"explicit,omitempty"`
	// AcceptWaitMillis is how long the call waits for native acceptance before
	// it answers pending; 0 = 5,000, at most 50,000.
	AcceptWaitMillis int `json:"accept_wait_ms,omitempty"`
	// Minutes without activity, and in all, after which the Turn counts as
	// stalled; 0 = 60 and 720 (CONTRACT-outputs §5).
	AgentTimeoutMinutes     float64 `json:"agent_timeout_minutes,omitempty"`
	AgentHardTimeoutMinutes float64 `json:"agent_hard_timeout_minutes,omitempty"`
}

// EventsParams starts a reader of the journal.
type EventsParams struct {
	Since  uint64 `json:"since,omitempty"` // first seq wanted is Since+1; 0 = from now on
	All    bool   `json:"all,omitempty"`   // with Since 0: from the oldest kept
	Follow bool   `json:"follow"`
	Socket string `json:"socket,omitempty"`
}

// EventsResult says where the stream begins.
type EventsResult struct {
	Next uint64 `json:"next"` // seq of the first event that will come
}

// Event is one line of the journal: numbered without holes, durable. A reader
// whose Since has passed out of retention first gets Type "gap".
type Event struct {
	Seq        uint64          `json:"seq"`
	Time       time.Time       `json:"time"`
	Type       string          `json:"type"` // reading | terminal | turn | hold | watch | delivery | server | gap
	TerminalID string          `json:"terminal_id,omitempty"`
	TurnID     string          `json:"turn_id,omitempty"`
	SessionID  string          `json:"session_id,omitempty"`
	WatchID    string          `json:"watch_id,omitempty"`
	DeliveryID string          `json:"delivery_id,omitempty"`
	Pane       string          `json:"pane,omitempty"`
	Socket     string          `json:"socket,omitempty"`
	Agent      string          `json:"agent,omitempty"`
	Demo       string          `json:"demo,omitempty"`   // terminal, reading, hold: a recording plays there, of this
	Change     string          `json:"change,omitempty"` // appeared gone sent accepted completed failed aborted uncertain ...
	Reading    *agents.Reading `json:"reading,omitempty"`
	Text       string          `json:"text,omitempty"` // completed: the agent's final text, <= 4000 characters
	Reason     string          `json:"reason,omitempty"`
	From, To   uint64          `json:"-"` // gap: the missing numbers, see MarshalJSON
}

// RecordStart is the header of a recording.
type RecordStart struct {
	Pane  string    `json:"pane"`
	Cols  int       `json:"cols"`
	Rows  int       `json:"rows"`
	Title string    `json:"title"`
	Of    string    `json:"of,omitempty"` // the agent and its version, as "codex 0.155.1"
	Start time.Time `json:"start"`
	// Paint are the bytes that draw the screen on which the stream goes on.
	Paint []byte `json:"paint"`
}

// Bytes is a chunk of a recording. Resize is set instead of Data when the pane
// changed its size.
type Bytes struct {
	Time   time.Time `json:"time"`
	Data   []byte    `json:"data,omitempty"`
	Resize string    `json:"resize,omitempty"` // "80x24"
	Gap    bool      `json:"gap,omitempty"`
}

// Doctor is a list of checks.
type Doctor struct {
	Checks []Check `json:"checks"`
}

// Check is one line of doctor.
type Check struct {
	Name   string `json:"name"`
	Status string `json:"status"` // ok | warning | failed
	Detail string `json:"detail"`
	Cure   string `json:"cure,omitempty"`
}
