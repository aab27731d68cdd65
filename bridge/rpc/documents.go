package rpc

import (
	"time"

	"akk/agents"
)

// This file holds the documents that a Host reads (spec/CONTRACT-outputs §2-4):
// field names are the contract's, our additions are marked.

// List is the document of the list tool and of `akk list --json`.
type List struct {
	StoreDir                string          `json:"store_dir"`
	Store                   StoreState      `json:"store"`
	Reconciliation          Reconciliation  `json:"reconciliation"`
	ActionContracts         ActionContracts `json:"action_contracts"`
	Terminals               []Row           `json:"terminals"`
	TerminalWatches         []Watch         `json:"terminal_watches"`
	UnavailableManagedTurns []Turn          `json:"unavailable_managed_turns"`
	TerminalScan            TerminalScan    `json:"terminal_scan"`
	Servers                 []Server        `json:"servers"` // ours

	known int64 // ListParams.Known of who asked
}

// StoreState tells whether the store can be used.
type StoreState struct {
	Status        string `json:"status"` // uninitialized | compatible | incompatible
	StoreDir      string `json:"store_dir"`
	Readable      bool   `json:"readable"`
	Writable      bool   `json:"writable"`
	FormatVersion int    `json:"format_version,omitempty"`
	Reason        string `json:"reason,omitempty"`
}

// Reconciliation is kept for readers of the contract; ours is event-driven, so
// it is always completed.
type Reconciliation struct {
	Status  string `json:"status"`
	Checked int    `json:"checked"`
	Changed int    `json:"changed"`
	Errors  int    `json:"errors"`
}

// ActionContracts explains available_actions (R28: contract v28).
type ActionContracts struct {
	Version      int            `json:"version"`
	Instructions []string       `json:"instructions"`
	Actions      map[string]any `json:"actions"`
}

// TerminalScan counts.
type TerminalScan struct {
	Enabled       bool     `json:"enabled"`
	Agents        []string `json:"agents"`
	ActiveCount   int      `json:"active_count"`
	TerminalCount int      `json:"terminal_count"`
	ApprovalScan  string   `json:"approval_scan"`
	Error         string   `json:"error,omitempty"`
}

// Row is one live agent pane, the primary resource (R22).
type Row struct {
	ID                             string              `json:"id"` // terminal:v2:tmux:<agent>:<session>:<window>.<pane>:<pid>
	ShortRef                       string              `json:"short_ref"`
	Source                         string              `json:"source"` // terminal
	Agent                          string              `json:"agent"`
	AgentVersion                   string              `json:"agent_version,omitempty"`
	ProcessState                   string              `json:"process_state"` // active
	PID                            int                 `json:"pid"`
	ChildPIDs                      []int               `json:"child_pids"`
	Command                        string              `json:"command"`
	Cwd                            string              `json:"cwd"`
	Workspace                      string              `json:"workspace"`
	Confidence                     string              `json:"confidence"`
	Reason                         string              `json:"reason"`
	NativeAgentSessionID           string              `json:"native_agent_session_id,omitempty"`
	NativeAgentIdentityObservation IdentityObservation `json:"native_agent_identity_observation"`
	TerminalControl                TerminalControl     `json:"terminal_control"`
	ApprovalState                  ApprovalState       `json:"approval_state"`
	ActivityState                  string              `json:"activity_state"` // awaiting_approval | working | idle | unknown
	ActivityReason                 string              `json:"activity_reason"`
	ScreenState                    string              `json:"screen_state"`
	ScreenReason                   string              `json:"screen_reason"`
	NativeIdentityState            string              `json:"native_identity_state"`  // resolved | ambiguous | verified_absent | unavailable
	DurableActivityState           string              `json:"durable_activity_state"` // idle | working | unknown
	DurableActivityReason          string              `json:"durable_activity_reason"`
	ManagementState                string              `json:"management_state"` // managed | unmanaged | conflict
	ManagementConflict             *Conflict           `json:"management_conflict,omitempty"`
	HandoffState                   string              `json:"handoff_state,omitempty"` // external_handoff_adoptable | external_handoff_blocked
	HandoffBlockedReason           string              `json:"handoff_blocked_reason,omitempty"`
	HandoffDecision                *HandoffDecision    `json:"handoff_decision,omitempty"` // R171
	BlockingTurns                  []BlockingTurn      `json:"blocking_turns,omitempty"`
	Managed                        Managed             `json:"managed"`
	AvailableActions               map[string]Action   `json:"available_actions"`
	CompatibilityWarnings          []string            `json:"compatibility_warnings,omitempty"`
	// Ours:
	Reading RowReading `json:"reading"`
	Hold    *Hold      `json:"hold"`
	Demo    string     `json:"demo,omitempty"` // a recording plays here; never a send target

	written []byte // by WriteDown, and its sum
	sum     uint64
}

// Conflict says why the terminal's Session can't be used (CONTRACT-outputs §2.2).
type Conflict struct {
	Kind       string   `json:"kind"` // live_external_thread_change | ambiguous_bound_claims
	Reason     string   `json:"reason"`
	Recovery   string   `json:"recovery"`
	SessionIDs []string `json:"session_ids,omitempty"`
}

// HandoffDecision is asked for when a human changed the conversation of an
// agent that had an open Turn: nothing is redirected by itself (R171, R172).
type HandoffDecision struct {
	Kind            string         `json:"kind"` // active_turn_requires_decision
	SourceSessionID string         `json:"source_session_id"`
	SourceTurnID    string         `json:"source_turn_id"`
	Choices         HandoffChoices `json:"choices"`
}

// HandoffChoices are the two ways on.
type HandoffChoices struct {
	TakeOverCurrent struct {
		Action Action `json:"action"`
		After  string `json:"after"`
	} `json:"take_over_current"`
	KeepSource struct {
		Effect string `json:"effect"`
		After  string `json:"after"`
	} `json:"keep_source"`
}

// BlockingTurn is a Turn that stands in the way of a managed send.
type BlockingTurn struct {
	SessionID      string `json:"session_id"`
	TurnID         string `json:"turn_id"`
	Status         string `json:"status"`
	RecoveryAction Action `json:"recovery_action"`
}

// RowReading is the agents.Reading with its age.
type RowReading struct {
	agents.Reading
	Since time.Time `json:"since"` // when activity or owner last changed
}

// IdentityObservation tells whether the agent's own session is known.
type IdentityObservation struct {
	Status string `json:"status"` // resolved | verified_absent | unavailable
	Reason string `json:"reason,omitempty"`
}

// TerminalControl is where the pane is.
type TerminalControl struct {
	Kind           string   `json:"kind"` // tmux
	Target         string   `json:"target"`
	SocketPath     string   `json:"socketPath,omitempty"`
	Session        string   `json:"session"`
	Window         int      `json:"window"`
	Pane           int      `json:"pane"`
	PaneID         string   `json:"paneId"` // ours: "%3"
	WindowName     string   `json:"windowName,omitempty"`
	PanePID        int      `json:"panePid"`
	CurrentCommand string   `json:"currentCommand,omitempty"`
	CurrentPath    string   `json:"currentPath,omitempty"`
	Capabilities   []string `json:"capabilities"`
}

// ApprovalState is the dialog as the contract names it.
type ApprovalState struct {
	Scanned    bool   `json:"scanned"`
	Blocked    bool   `json:"blocked"`
	Approvable bool   `json:"approvable"`
	PromptKind string `json:"prompt_kind,omitempty"`
	Command    string `json:"command,omitempty"`
	Label      string `json:"label,omitempty"`
	Reason     string `json:"reason,omitempty"`
}

// Managed is the Session and Turn of a row.
type Managed struct {
	SessionID       *string `json:"session_id"`
	SessionShortRef *string `json:"session_short_ref"`
	CurrentTurn     *Turn   `json:"current_turn"`
	RecentTurn      *Turn   `json:"recent_turn"`
	TurnCount       int     `json:"turn_count"`
	HiddenTurnCount int     `json:"hidden_turn_count"`
	SessionCount    int     `json:"session_count"`
	BindingStatus   string  `json:"binding_status,omitempty"`
	NativeThreadID  string  `json:"native_thread_id,omitempty"`
	// History are the Session's other Turns, newest first; only of a list of all.
	History []Turn `json:"history,omitempty"`
}

// Action is one entry of available_actions: absent means not allowed now.
type Action struct {
	Tool               string         `json:"tool"`
	Arguments          map[string]any `json:"arguments"`
	MissingRequired    []string       `json:"missing_required,omitempty"`
	RequiresUserIntent bool           `json:"requires_user_intent,omitempty"`
	RequiresExplicit   bool           `json:"requires_explicit_user_confirmation,omitempty"`
	Scope              string         `json:"scope,omitempty"`
	Use                string         `json:"use,omitempty"`
}

// Hold says who has a terminal.
type Hold struct {
	By    string    `json:"by"` // human | host
	Soft  bool      `json:"soft,omitempty"`
	Since time.Time `json:"since"`
	Note  string    `json:"note,omitempty"`
}

// Turn is one accepted or attempted dispatch (R5).
type Turn struct {
	SessionID        string            `json:"session_id"`
	TurnID           string            `json:"turn_id"`
	ID               string            `json:"id"`
	ConversationID   string            `json:"conversation_id"`
	ShortRef         string            `json:"short_ref"`
	Source           string            `json:"source"` // managed_turn
	Agent            string            `json:"agent"`
	TerminalID       string            `json:"terminal_id"`
	Status           string            `json:"status"` // waiting_for_agent | waiting_for_openclaw | idle | stalled | failed | cancelled | closed
	Stage            string            `json:"stage"`  // prepared | text_injected | enter_dispatched | agent_accepted (R56)
	RequestHash      string            `json:"-"`
	Workspace        string            `json:"workspace"`
	CreatedAt        time.Time         `json:"created_at"`
	UpdatedAt        time.Time         `json:"updated_at"`
	AcceptedAt       *time.Time        `json:"accepted_at,omitempty"`
	EndedAt          *time.Time        `json:"ended_at,omitempty"`
	Outcome          string            `json:"outcome,omitempty"` // completed | failed | aborted | not_submitted | uncertain | lost
	Reason           string            `json:"reason,omitempty"`
	FinalText        string            `json:"final_text,omitempty"`
	ClosedAt         *time.Time        `json:"closed_at,omitempty"`
	Steer            bool              `json:"steer,omitempty"`            // ours: sent into a running turn
	Rounds           int               `json:"rounds,omitempty"`           // ours: answers that were sent in it
	HumanControlled  bool              `json:"human_controlled,omitempty"` // ours: a human took the terminal while it ran
	SentBy           string            `json:"sent_by,omitempty"`          // ours: kind of caller
	StalledAt        *time.Time        `json:"stalled_at,omitempty"`       // ours, as the next three
	StallReason      string            `json:"stall_reason,omitempty"`     // inactivity | hard_lifetime
	HardDeadlineAt   *time.Time        `json:"hard_deadline_at,omitempty"`
	Questions        int               `json:"questions,omitempty"` // how often the agent asked
	CallbackDelivery *CallbackDelivery `json:"callback_delivery,omitempty"`
	AvailableActions map[string]Action `json:"available_actions,omitempty"`
}

// CallbackDelivery is the newest callback of a Turn (CONTRACT-outputs §2.2);
// only the status document has it.
type CallbackDelivery struct {
	Status        string     `json:"status"`        // pending | failed | delivered
	AttemptState  string     `json:"attempt_state"` // retryable | in_flight | accepted | exhausted | unavailable
	Attempts      int        `json:"attempts"`
	DeliveryID    string     `json:"delivery_id"`
	NextAttemptAt *time.Time `json:"next_attempt_at,omitempty"`
	LastErrorCode string     `json:"last_error_code,omitempty"`
}

// Status is the document of the status tool (CONTRACT-outputs §3.1): of a Turn
// or of a terminal.
type Status struct {
	ConversationID string         `json:"conversation_id"`
	SessionID      string         `json:"session_id,omitempty"`
	TurnID         string         `json:"turn_id,omitempty"`
	Source         string         `json:"source,omitempty"` // terminal_control
	Agent          string         `json:"agent"`
	Conversation   *Turn          `json:"conversation,omitempty"`
	Confidence     string         `json:"confidence"`
	About          string         `json:"about"`
	Limitations    []string       `json:"limitations"`
	Terminal       *Row           `json:"terminal,omitempty"` // ours: the whole row
	TerminalStatus TerminalStatus `json:"terminal_status"`
	RecentEvents   []Event        `json:"recent_events"`
	TimedOut       bool           `json:"timed_out,omitempty"` // ours: wait ended without a change

	recent []byte // RecentEvents by Tell
}

// TerminalStatus is the bounded live view (R23); Screen is redacted.
type TerminalStatus struct {
	Provider       string        `json:"provider"`
	Target         string        `json:"target"`
	Agent          string        `json:"agent"`
	Reachable      bool          `json:"reachable"`
	ActivityState  string        `json:"activity_state"`
	ActivityReason string        `json:"activity_reason"`
	ApprovalState  ApprovalState `json:"approval_state"`
	Screen         struct {
		Excerpt string `json:"excerpt"`
	} `json:"screen"`
}

// Send is the result of a send (CONTRACT-outputs §4.1): separate facts (R54).
type Send struct {
	SessionID               string       `json:"session_id,omitempty"`
	TurnID                  string       `json:"turn_id,omitempty"`
	ConversationID          string       `json:"conversation_id"`
	TerminalID              string       `json:"terminal_id"`
	MessageID               string       `json:"message_id"`
	WatchID                 string       `json:"watch_id,omitempty"` // of a send without a Turn (R50)
	Scope                   string       `json:"scope"`
	Status                  string       `json:"status"`             // async_pending | submission_pending_acceptance | submission_not_accepted | submission_uncertain | submission_aborted
	SubmissionOutcome       string       `json:"submission_outcome"` // agent_accepted | pending_acceptance | not_accepted | uncertain | aborted
	DeliveryReceipt         string       `json:"delivery_receipt,omitempty"`
	Delivered               bool         `json:"delivered"`
	TerminalInputDispatched bool         `json:"terminal_input_dispatched"`
	AgentAcceptance         string       `json:"agent_acceptance"` // proven | unproven
	ManagementMode          string       `json:"management_mode"`
	ObservationMode         string       `json:"observation_mode"`
	Capabilities            Capabilities `json:"capabilities"`
	SafeToRetry             bool         `json:"safe_to_retry"`
	DoNotRetry              bool         `json:"do_not_retry"`
	Replayed                bool         `json:"replayed,omitempty"`
	Reason                  string       `json:"reason,omitempty"`
	Cure                    string       `json:"cure,omitempty"`
	Conversation            *Turn        `json:"conversation,omitempty"`
	NextAction              *NextAction  `json:"openclaw_next_action,omitempty"`
}

// Capabilities tells what a Host may expect of a Turn.
type Capabilities struct {
	Callback           bool `json:"callback"`
	InteractionNotify  bool `json:"interaction_notify"`
	InteractionRespond bool `json:"interaction_respond"`
}

// NextAction is the contract's hint to the Host.
type NextAction struct {
	Action         string `json:"action"` // yield | wait_for_acceptance | inspect | retry
	ConversationID string `json:"conversation_id,omitempty"`
	SessionID      string `json:"session_id,omitempty"`
	TurnID         string `json:"turn_id,omitempty"`
	Reason         string `json:"reason,omitempty"`
	DoNotRetry     bool   `json:"do_not_retry,omitempty"`
}
