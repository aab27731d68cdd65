package handoff

// This file holds what the desk keeps in the store, and the schema. It upholds
// R226: no text of a request, draft or prompt is in a record, only hashes.

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
	"unicode"

	"akk/agents"
	"akk/bridge/outbox"
	"akk/bridge/rpc"
	"akk/panes"
	"akk/store"
)

const (
	schemaVersion = 2
	// journalKeep is how many events stay readable; some 50 MB at most.
	journalKeep = 100_000
	// finalTextMax bounds the agent's final text in a record, in characters
	// (CONTRACT-outputs §7: done, <= 4000).
	finalTextMax = 4000
)

// Key is the identity of a terminal (R1): the server, the pane with its
// process, and the agent's process.
type Key struct {
	Pane  panes.Identity `json:"pane"`
	PID   int            `json:"pid"`
	Start time.Time      `json:"start"`
}

// startSlack is how far two measurements of one process's start time may lie
// apart: clock ticks (10 ms) and a stepped wall clock behind the boot time.
const startSlack = 2 * time.Second

// Same tells whether k and o are the same incarnation.
func (k Key) Same(o Key) bool {
	return k.Pane.Server.Socket == o.Pane.Server.Socket && k.Pane.Server.PID == o.Pane.Server.PID &&
		near(k.Pane.Server.Start, o.Pane.Server.Start) && k.Pane.Pane == o.Pane.Pane &&
		k.Pane.PanePID == o.Pane.PanePID && k.PID == o.PID && near(k.Start, o.Start)
}

func near(a, b time.Time) bool { return a.Sub(b).Abs() <= startSlack }

// Session is a continuing context (R3).
type Session struct {
	ID         string    `json:"id"`
	Key        Key       `json:"key"`
	TerminalID string    `json:"terminal_id"`
	Agent      string    `json:"agent"`
	Workspace  string    `json:"workspace"`
	NativeID   string    `json:"native_id,omitempty"`
	Lineage    string    `json:"lineage"` // attach | human_observed
	CreatedAt  time.Time `json:"created_at"`
	// Status is "" while it is bound; detached and quarantined Sessions are no
	// target any more (R173).
	Status string `json:"status,omitempty"`
	// Generation counts the conversations that this terminal has shown (R7).
	Generation int `json:"generation,omitempty"`
}

// The statuses of a Session that is no target.
const (
	SessionDetached    = "detached"
	SessionQuarantined = "quarantined"
)

// Anchor is the place in the agent's log behind which an acceptance counts
// (R132): what stood before it is history.
type Anchor struct {
	Path   string    `json:"path,omitempty"` // "" = there was no log yet
	Offset int64     `json:"offset"`
	Time   time.Time `json:"time"`
}

// Turn is one attempted or accepted dispatch (R5, R56).
type Turn struct {
	ID         string     `json:"id"`
	SessionID  string     `json:"session_id"`
	Key        Key        `json:"key"`
	TerminalID string     `json:"terminal_id"`
	Agent      string     `json:"agent"`
	Workspace  string     `json:"workspace"`
	RequestID  string     `json:"request_id"`
	Host       string     `json:"host,omitempty"`        // who asked: kind of caller
	Owner      string     `json:"owner,omitempty"`       // the Host's session, or the terminal of the agent that asked
	Generation int        `json:"generation,omitempty"`  // of the Session, when it was sent (R12)
	Unmanaged  bool       `json:"unmanaged,omitempty"`   // the store could not keep it when it was typed (R50)
	Steer      bool       `json:"steer,omitempty"`       // sent into a running turn
	Rounds     int        `json:"rounds,omitempty"`      // answers that were sent in it (R69)
	Answered   []string   `json:"answered,omitempty"`    // their request ids
	HumanSince *time.Time `json:"human_since,omitempty"` // a human has had the terminal since then
	// InterruptedAt is when the key that interrupts it was ordered (R169).
	InterruptedAt *time.Time `json:"interrupted_at,omitempty"`
	ClosedAt      *time.Time `json:"closed_at,omitempty"`
	Closed        string     `json:"closed,omitempty"` // why it was closed
	Limits
	Scope      string     `json:"scope"`
	Hash       string     `json:"hash"`
	AltHash    string     `json:"alt_hash,omitempty"` // of the text as a composer that expands TAB keeps it
	Size       int        `json:"size"`               // bytes
	Stage      string     `json:"stage"`
	Outcome    string     `json:"outcome,omitempty"`
	Reason     string     `json:"reason,omitempty"`
	Dispatched bool       `json:"dispatched"` // bytes may have gone out
	Entered    bool       `json:"entered"`    // Enter went out, proven
	Anchor     Anchor     `json:"anchor"`
	NativeTurn string     `json:"native_turn,omitempty"`
	NativeID   string     `json:"native_id,omitempty"`
	FinalText  string     `json:"final_text,omitempty"`
	CreatedAt  time.Time  `json:"created_at"`
	UpdatedAt  time.Time  `json:"updated_at"`
	AcceptedAt *time.Time `json:"accepted_at,omitempty"`
	EndedAt    *time.Time `json:"ended_at,omitempty"`
}

// The stages (R56).
const (
	StagePrepared = "prepared"
	StageInjected = "text_injected"
	StageEntered  = "enter_dispatched"
	StageAccepted = "agent_accepted"
)

// The outcomes of a Turn; "" while it is open.
const (
	OutcomeCompleted    = "completed"
	OutcomeFailed       = "failed"
	OutcomeAborted      = "aborted"
	OutcomeNotSubmitted = "not_submitted" // no byte went out
	OutcomeNotAccepted  = "not_accepted"  // text went out, Enter did not or was not taken
	OutcomeUncertain    = "uncertain"
	OutcomeLost         = "lost"   // accepted, then the agent was gone
	OutcomeClosed       = "closed" // its management was given up while it was open
)

// Receipt maps a request id to its Turn, so that a repeated call is answered
// from the record.
type Receipt struct {
	TurnID string `json:"turn_id"`
	Hash   string `json:"hash"`
	// Answer: the id is an answer's. It was typed if the Turn says so: of one
	// that was refused the record goes back to what it was.
	Answer bool `json:"answer,omitempty"`
}

// ServerRecord remembers a terminal server over a restart of the daemon.
type ServerRecord struct {
	Socket string    `json:"socket"`
	PID    int       `json:"pid"`
	Start  time.Time `json:"start"`
}

var (
	sessions = store.NewCollection[Session]("sessions")
	turns    = store.NewCollection[Turn]("turns", store.Ref[Turn]{Table: "sessions", ID: func(t Turn) []string { return []string{t.SessionID} }})
	receipts = store.NewCollection[Receipt]("receipts", store.Ref[Receipt]{Table: "turns", ID: func(r Receipt) []string { return []string{r.TurnID} }})
	servers  = store.NewCollection[ServerRecord]("servers")
	journal  = newJournal(journalKeep)
)

func newJournal(keep int) *store.Log[rpc.Event] {
	return store.NewLog("journal", keep, func(e *rpc.Event, seq uint64) { e.Seq = seq })
}

// Schema is what the daemon's store holds.
func Schema() store.Schema {
	return store.Schema{Version: schemaVersion, Tables: []store.Table{sessions, turns, receipts, servers, watches, holds, outbox.Table, journal}, Upgrades: upgrades}
}

// open tells whether the Turn still waits for its end.
func (t *Turn) open() bool { return t.Outcome == "" }

// newID makes session-<local time>-<8 hex> and turn-<...> (CONTRACT-outputs §1.1).
func newID(kind string, now time.Time) string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return fmt.Sprintf("%s-%s-%s", kind, now.Local().Format("20060102T150405"), hex.EncodeToString(b[:]))
}

// shortRef is "@" and the first 10 hex digits of the contract's hash.
func shortRef(id string) string {
	sum := sha256.Sum256([]byte("agent-knock-knock/session-ref/v1\x00" + id))
	return "@" + hex.EncodeToString(sum[:])[:10]
}

// terminalID is the route-shaped public name of a terminal. It is one word, as
// tools take it (R4): a tmux session's name may have blanks. The pid tells two
// of one name apart.
func terminalID(kind agents.Kind, i panes.Info, pid int) string {
	name := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return '_'
		}
		return r
	}, i.SessionName)
	return fmt.Sprintf("terminal:v2:tmux:%s:%s:%d.%d:%d", kind, name, i.WindowIndex, i.PaneIndex, pid)
}
