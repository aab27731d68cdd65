package rpc

import "time"

// This file holds the methods of the desk beyond looking and sending: holds,
// Watches, the life of a Turn, callbacks. Shapes: CONTRACT-outputs §3.2 to
// §4.6 and §7; additions of ours are marked.

// The methods. Params and results are the types below.
const (
	MethodRespond         = "respond"          // RespondParams -> Send
	MethodRetrySubmission = "retry_submission" // TurnParams -> Send
	MethodCancel          = "cancel"           // CancelParams -> Cancel
	MethodRenew           = "renew"            // RenewParams -> Renew
	MethodClose           = "close"            // CloseParams -> Close
	MethodReconcile       = "reconcile"        // ReconcileParams -> Reconciled
	MethodTakeover        = "takeover"         // HoldParams -> HoldResult
	MethodHandback        = "handback"         // HoldParams -> HoldResult
	MethodRestore         = "restore_draft"    // TargetParams -> Restored
	MethodWatch           = "watch"            // WatchParams -> WatchResult
	MethodUnwatch         = "unwatch"          // WatchIDParams -> WatchResult
	MethodWatchStatus     = "watch_status"     // WatchIDParams -> WatchResult
	MethodTurns           = "turns"            // TurnsParams -> []Turn, newest first
	MethodCallbacks       = "callbacks"        // CallbacksParams -> []Delivery, newest first
	MethodRetryCallback   = "retry_callback"   // RetryCallbackParams -> RetryCallback
	MethodDeliveries      = "deliveries"       // nil -> nil, then NotifyDelivery until the connection ends
	MethodOutcome         = "outcome"          // OutcomeParams -> Delivery

	NotifyDelivery = "delivery" // Lease
)

// TurnParams names one Turn.
type TurnParams struct {
	TurnID string `json:"turn_id"`
}

// RespondParams answers a Turn that waits for its Host (R69 to R71).
type RespondParams struct {
	TurnID           string `json:"turn_id"`
	Request          string `json:"request"`
	RequestID        string `json:"request_id,omitempty"` // as SendParams.RequestID
	AcceptWaitMillis int    `json:"accept_wait_ms,omitempty"`
}

// CancelParams interrupts what runs (R169): of a Turn, or of a raw terminal.
// Exactly one of TurnID and ID.
type CancelParams struct {
	TurnID string `json:"turn_id,omitempty"`
	ID     string `json:"id,omitempty"`
	Socket string `json:"socket,omitempty"`
}

// Cancel is the result of cancel (CONTRACT-outputs §4.5).
type Cancel struct {
	ConversationID  string   `json:"conversation_id"`
	SessionID       string   `json:"session_id,omitempty"`
	TurnID          string   `json:"turn_id,omitempty"`
	TerminalID      string   `json:"terminal_id"`
	Source          string   `json:"source,omitempty"` // terminal_control for a raw terminal
	CancelRequested bool     `json:"cancel_requested"`
	Interrupted     string   `json:"interrupted,omitempty"` // ours: seen (the agent stopped) | unproven
	Reason          string   `json:"reason,omitempty"`
	Key             string   `json:"key,omitempty"` // C-c | Escape
	Keys            []string `json:"keys,omitempty"`
	DoNotRetry      bool     `json:"do_not_retry,omitempty"`
	Conversation    *Turn    `json:"conversation,omitempty"`
}

// RenewParams takes a stalled Turn up again (R170). Minutes 0 = as before.
type RenewParams struct {
	TurnID  string  `json:"turn_id"`
	Minutes float64 `json:"minutes,omitempty"`
}

// Renew is the result of renew.
type Renew struct {
	ConversationID          string  `json:"conversation_id"`
	SessionID               string  `json:"session_id"`
	TurnID                  string  `json:"turn_id"`
	Renewed                 bool    `json:"renewed"`
	AgentTimeoutMinutes     float64 `json:"agent_timeout_minutes"`
	AgentHardTimeoutMinutes float64 `json:"agent_hard_timeout_minutes"`
	Conversation            *Turn   `json:"conversation"`
}

// CloseParams gives the management of a Turn up, never the agent (R172). ID
// instead of TurnID names a raw terminal with an orphaned dispatch, with
// exactly one of the expected ids.
type CloseParams struct {
	TurnID               string `json:"turn_id,omitempty"`
	ID                   string `json:"id,omitempty"`
	Socket               string `json:"socket,omitempty"`
	Reason               string `json:"reason,omitempty"`
	ExpectedMessageID    string `json:"expected_message_id,omitempty"`
	ExpectedTransitionID string `json:"expected_transition_id,omitempty"`
}

// Close is the result of close; no input is ever sent.
type Close struct {
	ConversationID           string   `json:"conversation_id"`
	SessionID                string   `json:"session_id,omitempty"`
	TurnID                   string   `json:"turn_id,omitempty"`
	Closed                   bool     `json:"closed"`
	TerminalDispatchResolved bool     `json:"terminal_dispatch_resolved"`
	CodingAgentStopped       bool     `json:"coding_agent_stopped"`
	TerminalInputDispatched  bool     `json:"terminal_input_dispatched"`
	HandoffDisposition       string   `json:"handoff_disposition,omitempty"`
	Reason                   string   `json:"reason"`
	Warnings                 []string `json:"warnings,omitempty"`
	NextAction               string   `json:"next_action,omitempty"`
	DoNotRetry               bool     `json:"do_not_retry,omitempty"`
	Conversation             *Turn    `json:"conversation,omitempty"`
}

// ReconcileParams detaches a proven stale binding (R173).
type ReconcileParams struct {
	ID                   string `json:"id"`
	Socket               string `json:"socket,omitempty"`
	ConflictingSessionID string `json:"conflicting_session_id"`
}

// Reconciled is the result of reconcile_binding (CONTRACT-outputs §4.6).
type Reconciled struct {
	Status            string `json:"status"`  // reconciled
	Outcome           string `json:"outcome"` // detached_conflicting_binding
	ConflictKind      string `json:"conflict_kind"`
	TerminalID        string `json:"terminal_id"`
	SessionID         string `json:"session_id"`
	TerminalInputSent bool   `json:"terminal_input_sent"`
	TurnCreated       bool   `json:"turn_created"`
	RefreshRequired   bool   `json:"refresh_required"`
}

// HoldParams takes a terminal over, or hands it back.
type HoldParams struct {
	ID     string `json:"id"`
	Socket string `json:"socket,omitempty"`
	Note   string `json:"note,omitempty"` // <= 300 characters, told to Hosts
}

// HoldResult says who has the terminal now. Ours.
type HoldResult struct {
	TerminalID string `json:"terminal_id"`
	Hold       *Hold  `json:"hold"`    // nil = nobody
	Changed    bool   `json:"changed"` // false: it was so already
	// TurnID is the running Turn that the move concerns, "" without one.
	TurnID string `json:"turn_id,omitempty"`
	// Restored tells after a handback that a cleared draft was kept and can
	// be put back.
	Restorable bool `json:"restorable,omitempty"`
}

// Restored tells what became of a draft that an explicit send had cleared. Ours.
type Restored struct {
	TerminalID string `json:"terminal_id"`
	Restored   bool   `json:"restored"` // it stands in the composer again, not submitted
	Rows       int    `json:"rows"`
}

// WatchParams begins a Watch (R124 to R139).
type WatchParams struct {
	ID                 string  `json:"id"`
	Socket             string  `json:"socket,omitempty"`
	HardTimeoutMinutes float64 `json:"hard_timeout_minutes,omitempty"` // 0 = 720
}

// WatchIDParams names one Watch.
type WatchIDParams struct {
	WatchID string `json:"watch_id"`
}

// WatchResult is the answer of watch, unwatch and of status with a watch_id.
type WatchResult struct {
	Watch Watch `json:"watch"`
}

// Watch is one observation aggregate (CONTRACT-outputs §3.2).
type Watch struct {
	WatchID              string            `json:"watch_id"`
	Source               string            `json:"source"`     // user_selected_terminal_watch | terminal_user_explicit_fallback_watch | terminal_activity_watch
	WatchMode            string            `json:"watch_mode"` // exact_task | terminal_activity
	Confidence           string            `json:"confidence"` // exact | best_effort
	InteractionPolicy    string            `json:"interaction_policy"`
	Capabilities         WatchCapabilities `json:"capabilities"`
	Agent                string            `json:"agent"`
	TerminalID           string            `json:"terminal_id"`
	NativeThreadID       string            `json:"native_thread_id,omitempty"`
	Workspace            string            `json:"workspace"`
	Status               string            `json:"status"`         // active | completed | failed | timed_out | invalidated | cancelled
	ActivityState        string            `json:"activity_state"` // watching | settled
	CreatedAt            time.Time         `json:"created_at"`
	DeadlineAt           time.Time         `json:"deadline_at"`
	UpdatedAt            time.Time         `json:"updated_at"`
	LastActivityAt       time.Time         `json:"last_activity_at"`
	Callback             WatchCallback     `json:"callback"`
	Settlement           *Settlement       `json:"settlement,omitempty"`
	Warnings             []string          `json:"warnings,omitempty"` // "code: explanation"
	CompatibilityWarning string            `json:"compatibility_warning,omitempty"`
	AvailableActions     map[string]Action `json:"available_actions"`
}

// WatchCapabilities tells what a Host may expect of a Watch.
type WatchCapabilities struct {
	InteractionNotify  bool `json:"interaction_notify"`
	InteractionRespond bool `json:"interaction_respond"`
}

// WatchCallback counts a Watch's notifications.
type WatchCallback struct {
	Pending       int    `json:"pending"`
	Delivered     int    `json:"delivered"`
	Failed        int    `json:"failed"`
	Superseded    int    `json:"superseded"`
	LastErrorCode string `json:"last_error_code,omitempty"`
}

// Settlement is how a Watch ended.
type Settlement struct {
	Kind           string    `json:"kind"`
	ObservedAt     time.Time `json:"observed_at"`
	ReasonCode     string    `json:"reason_code,omitempty"`
	CompletionText string    `json:"completion_text,omitempty"` // <= 4000 characters
	CompletionID   string    `json:"completion_id,omitempty"`
}

// TurnsParams filters the list of Turns.
type TurnsParams struct {
	All        bool   `json:"all,omitempty"` // also ended ones
	TerminalID string `json:"terminal_id,omitempty"`
	Limit      int    `json:"limit,omitempty"` // 0 = 50, at most 1,000
}

// CallbacksParams filters the list of deliveries.
type CallbacksParams struct {
	All   bool `json:"all,omitempty"`   // also accepted ones
	Limit int  `json:"limit,omitempty"` // 0 = 50, at most 1,000
}

// Route is where a callback goes (R182). It names no command and holds no
// secret; it is frozen into each delivery.
type Route struct {
	Schema              string            `json:"schema"`    // agent-knock-knock/callback-route
	Version             int               `json:"version"`   // 1
	Transport           string            `json:"transport"` // command_json_v1
	ProfileID           string            `json:"profile_id"`
	ProfileRevision     string            `json:"profile_revision"`
	ControllerSessionID string            `json:"controller_session_id"`
	Capabilities        RouteCapabilities `json:"capabilities"`
}

// RouteCapabilities tells what the Host can do with a callback.
type RouteCapabilities struct {
	Wake    bool `json:"wake"`
	Respond bool `json:"respond"`
}

// Envelope is one callback (R183, CONTRACT-outputs §7).
type Envelope struct {
	Schema         string         `json:"schema"` // agent-knock-knock/callback-envelope
	Version        int            `json:"version"`
	DeliveryID     string         `json:"delivery_id"`
	IdempotencyKey string         `json:"idempotency_key"`
	Route          Route          `json:"route"`
	Source         EnvelopeSource `json:"source"`
	Event          EnvelopeEvent  `json:"event"`
}

// EnvelopeSource is what the callback is about.
type EnvelopeSource struct {
	Kind           string `json:"kind"` // managed_turn | terminal_watch
	SessionID      string `json:"session_id,omitempty"`
	TurnID         string `json:"turn_id,omitempty"`
	ConversationID string `json:"conversation_id,omitempty"`
	WatchID        string `json:"watch_id,omitempty"`
	TerminalID     string `json:"terminal_id,omitempty"`
}

// EnvelopeEvent is the message itself.
type EnvelopeEvent struct {
	ID               string         `json:"id"`
	Type             string         `json:"type"` // question | answer | progress | blocked | done | error | control | the Watch's kinds
	Body             string         `json:"body"` // <= 8,000 characters, redacted
	RequiresResponse bool           `json:"requires_response"`
	Metadata         map[string]any `json:"metadata,omitempty"`
}

// Lease gives one delivery to the bridge of its Host until Expires; without an
// outcome by then it is uncertain, never delivered by itself again.
type Lease struct {
	LeaseID  string    `json:"lease_id"`
	Expires  time.Time `json:"expires"`
	Attempt  int       `json:"attempt"`
	Envelope Envelope  `json:"envelope"`
}

// The outcomes of a delivery (R179).
const (
	OutcomeAccepted  = "accepted"
	OutcomeRetryable = "retryable_failure"
	OutcomePermanent = "permanent_failure"
	OutcomeUncertain = "uncertain"
)

// OutcomeParams is what became of a Lease.
type OutcomeParams struct {
	DeliveryID   string `json:"delivery_id"`
	LeaseID      string `json:"lease_id"`
	Outcome      string `json:"outcome"`
	AcceptanceID string `json:"acceptance_id,omitempty"`
	ErrorCode    string `json:"error_code,omitempty"`
	Detail       string `json:"detail,omitempty"` // <= 300 characters, without secrets
}

// Delivery is one row of the outbox. Ours.
type Delivery struct {
	DeliveryID    string     `json:"delivery_id"`
	EventID       string     `json:"event_id"`
	Type          string     `json:"type"`
	TurnID        string     `json:"turn_id,omitempty"`
	WatchID       string     `json:"watch_id,omitempty"`
	TerminalID    string     `json:"terminal_id,omitempty"`
	ProfileID     string     `json:"profile_id"`
	Status        string     `json:"status"` // pending | in_flight | accepted | retryable | dead | uncertain | superseded
	Attempts      int        `json:"attempts"`
	CreatedAt     time.Time  `json:"created_at"`
	NextAttemptAt *time.Time `json:"next_attempt_at,omitempty"`
	AcceptedAt    *time.Time `json:"accepted_at,omitempty"`
	AcceptanceID  string     `json:"acceptance_id,omitempty"`
	LastErrorCode string     `json:"last_error_code,omitempty"`
	LastError     string     `json:"last_error,omitempty"`
}

// RetryCallbackParams names a delivery, or a Turn's newest one. Exactly one.
type RetryCallbackParams struct {
	TurnID     string `json:"turn_id,omitempty"`
	DeliveryID string `json:"delivery_id,omitempty"`
}

// RetryCallback is the result of retry_callback.
type RetryCallback struct {
	TurnID    string   `json:"turn_id,omitempty"`
	Delivered bool     `json:"delivered"`
	Duplicate bool     `json:"duplicate"`
	Delivery  Delivery `json:"delivery"`
}
