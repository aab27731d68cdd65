package handoff

// This file holds the record of a Watch and its document (CONTRACT-outputs
// §3.2). It upholds R131 and R132: what is needed to go on after a restart is
// in the record, of a task only its hash and its place in the log.

import (
	"time"

	"akk/bridge/outbox"
	"akk/bridge/rpc"
	"akk/store"
)

// The Watch's words (CONTRACT-outputs §6).
const (
	WatchActive    = "active"
	WatchCompleted = "completed"
	WatchFailed    = "failed"
	WatchTimedOut  = "timed_out"
	WatchInvalid   = "invalidated"
	WatchCancelled = "cancelled"

	modeExact    = "exact_task"
	modeActivity = "terminal_activity"

	sourceUser     = "user_selected_terminal_watch"
	sourceFallback = "terminal_user_explicit_fallback_watch"
	sourceActivity = "terminal_activity_watch"

	reasonCompleted  = "anchored_task_completed"
	reasonFailed     = "anchored_task_failed"
	reasonDeadline   = "deadline_elapsed"
	reasonCancel     = "manual_cancel"
	reasonAnchor     = "task_anchor_invalidated"
	reasonProcess    = "terminal_process_unavailable"
	reasonStableIdle = "terminal_activity_became_stably_idle"
	reasonApproval   = "terminal_waiting_for_approval"
)

// watchDefault is a Watch's life (CONTRACT-outputs §4.2: 720 min).
const watchDefault = 720 * time.Minute

// TaskAnchor is the one task of the agent that an exact Watch follows (R132).
type TaskAnchor struct {
	Path    string    `json:"path,omitempty"`
	Offset  int64     `json:"offset,omitempty"` // acceptance counts behind it
	Hash    string    `json:"hash,omitempty"`
	AltHash string    `json:"alt_hash,omitempty"`
	Turn    string    `json:"turn,omitempty"` // the agent's own id of the turn
	Since   time.Time `json:"since,omitzero"`
	// Pending is set while the agent has not accepted the task (R51).
	Pending bool `json:"pending,omitempty"`
}

// Watch is one observation of one terminal. It is a value.
type Watch struct {
	ID             string          `json:"id"`
	Source         string          `json:"source"`
	Mode           string          `json:"mode"`
	Confidence     string          `json:"confidence"` // exact | best_effort
	Key            Key             `json:"key"`
	TerminalID     string          `json:"terminal_id"`
	Agent          string          `json:"agent"`
	Workspace      string          `json:"workspace"`
	NativeID       string          `json:"native_id,omitempty"`
	Host           string          `json:"host,omitempty"`  // kind of caller
	Owner          string          `json:"owner,omitempty"` // the Host's session
	Route          *rpc.Route      `json:"route,omitempty"` // frozen (R212)
	Status         string          `json:"status"`
	Anchor         TaskAnchor      `json:"anchor,omitzero"`
	CreatedAt      time.Time       `json:"created_at"`
	DeadlineAt     time.Time       `json:"deadline_at"`
	UpdatedAt      time.Time       `json:"updated_at"`
	LastActivityAt time.Time       `json:"last_activity_at"`
	SawWork        bool            `json:"saw_work,omitempty"` // R134: activity was seen in this epoch
	IdleSince      time.Time       `json:"-"`                  // stable idle is measured by one process
	Asked          string          `json:"asked,omitempty"`    // key of the question that stands
	Seen           []string        `json:"seen,omitempty"`     // prints that were told (R136)
	Notices        []string        `json:"notices,omitempty"`  // deliveries of questions
	Warnings       []string        `json:"warnings,omitempty"`
	Compatibility  string          `json:"compatibility,omitempty"`
	Settlement     *rpc.Settlement `json:"settlement,omitempty"`
}

var watches = store.NewCollection[Watch]("watches")

// doc draws the Watch; sum counts its deliveries.
func (w Watch) doc(sum rpc.WatchCallback) rpc.Watch {
	arguments := map[string]any{"watch_id": w.ID}
	out := rpc.Watch{WatchID: w.ID, Source: w.Source, WatchMode: w.Mode, Confidence: w.Confidence, InteractionPolicy: "notify_only",
		Capabilities: rpc.WatchCapabilities{InteractionNotify: w.Route != nil}, Agent: w.Agent, TerminalID: w.TerminalID, NativeThreadID: w.NativeID,
		Workspace: w.Workspace, Status: w.Status, ActivityState: "watching", CreatedAt: w.CreatedAt, DeadlineAt: w.DeadlineAt, UpdatedAt: w.UpdatedAt,
		LastActivityAt: w.LastActivityAt, Callback: sum, Settlement: w.Settlement, Warnings: w.Warnings, CompatibilityWarning: w.Compatibility,
		AvailableActions: map[string]rpc.Action{"status": {Tool: "agent_knock_knock_status", Arguments: arguments}}}
	if w.Status != WatchActive {
		out.ActivityState = "settled"
	} else {
		out.AvailableActions["unwatch"] = rpc.Action{Tool: toolUnwatch, Arguments: arguments, RequiresUserIntent: true}
	}
	if w.Mode == modeActivity {
		out.NativeThreadID = ""
	}
	return out
}

// fallbackID names the automatic Watch of one send: the same send is the same
// Watch (CONTRACT-outputs §1.1).
func fallbackID(messageID, hash string, k Key) string {
	return "terminal-watch-user-send-" + outbox.Digest(map[string]any{"schema": "agent-knock-knock/terminal-user-explicit-fallback-watch-id", "version": 1,
		"message_id": messageID, "physical_token": outbox.Digest(k), "request_hash": hash})
}
