package handoff

// This file draws a view as the contract's row, Turn and actions. It upholds
// R17 (three axes that never replace each other), R22 (one row a pane) and R29
// (an action is there exactly when sendable says so).

import (
	"strings"
	"sync"

	"akk/agents"
	"akk/bridge/rpc"
	"maps"
)

const contractVersion = 28 // R28

func (d *Desk) row(v *view, c rpc.Caller) rpc.Row {
	state, reason := screenState(v.Reading)
	actions := d.actions(v, c)
	d.offers.show(c, v.id, actions["send"].Scope == scopeExplicit, d.now())
	r := rpc.Row{
		ID: v.id, ShortRef: shortRef(v.id), Source: "terminal", Agent: string(v.kind), AgentVersion: v.vers, ProcessState: "active",
		PID: v.key.PID, ChildPIDs: append([]int{}, v.children...), Command: v.command(), Cwd: v.cwd(), Workspace: v.cwd(),
		Confidence: "high", Reason: "the agent's own process was recognised in the pane",
		NativeAgentSessionID: v.nativeID, TerminalControl: v.control(), ApprovalState: approval(v.Reading),
		ActivityState: state, ActivityReason: reason, ScreenState: state, ScreenReason: reason,
		NativeIdentityState: "resolved", DurableActivityState: "unknown", ManagementState: "unmanaged",
		Managed: d.managed(v, c), AvailableActions: actions,
		Reading: rpc.RowReading{Reading: *publicReading(v.Reading), Since: v.Since}, Hold: v.Hold, Demo: v.Info.Demo,
	}
	if r.Demo != "" {
		r.Confidence, r.Reason = "low", "a recording of "+r.Demo+" plays here, no agent runs"
	}
	r.NativeAgentIdentityObservation.Status = "resolved"
	if v.nativeID == "" {
		r.NativeIdentityState = "verified_absent"
		r.NativeAgentIdentityObservation = rpc.IdentityObservation{Status: "verified_absent", Reason: "the agent has written no log yet"}
		if v.logState == nil && v.kind == agents.Claude {
			r.NativeIdentityState = "unavailable"
			r.NativeAgentIdentityObservation = rpc.IdentityObservation{Status: "unavailable", Reason: "the agent's log was not found"}
		}
	}
	if v.logState != nil {
		r.DurableActivityState, r.DurableActivityReason = "idle", "the agent's log holds no open turn"
		if v.logState.TurnOpen {
			r.DurableActivityState, r.DurableActivityReason = "working", "the agent's log holds an open turn"
			if state == "idle" {
				r.ActivityState, r.ActivityReason = "unknown", "the screen looks idle, the log holds an open turn" // R19
			}
		}
	}
	if v.session != nil {
		r.ManagementState = "managed"
	}
	if r.ManagementConflict = v.conflict(); r.ManagementConflict != nil {
		r.ManagementState = "conflict"
		if r.ManagementConflict.Kind == conflictSwitch {
			r.HandoffState = "external_handoff_adoptable"
			if len(v.sendable) > 0 {
				r.HandoffState, r.HandoffBlockedReason = "external_handoff_blocked", v.sendable[0].What
			}
		} else {
			r.NativeIdentityState = "ambiguous"
		}
	}
	r.HandoffDecision, r.BlockingTurns = v.decision(), v.blocking()
	if v.vers == "" {
		r.CompatibilityWarnings = []string{"the agent's version is not known"}
	} else if v.Reading.Verification == "generic" {
		r.CompatibilityWarnings = []string{"version " + v.vers + " is not certified, a general profile is used"}
	}
	return r
}

// screenState is the contract's word for a reading (R18).
func screenState(r agents.Reading) (state, reason string) {
	reason = "nothing is proven"
	if len(r.Why) > 0 {
		reason = redact(r.Why[0].String()) // it may quote the screen
	}
	switch {
	case r.Activity == agents.Blocked || r.Owner == agents.OwnerApproval:
		return "awaiting_approval", reason
	case r.Activity == agents.Working:
		return "working", reason
	case r.Activity == agents.Idle:
		return "idle", reason
	}
	return "unknown", reason
}

func approval(r agents.Reading) rpc.ApprovalState {
	a := rpc.ApprovalState{Scanned: true, Blocked: r.Activity == agents.Blocked}
	if r.Dialog != nil {
		d := publicReading(r).Dialog
		a.PromptKind, a.Command, a.Label = d.Kind, d.Command, clip(d.Prompt, 300)
		if a.Blocked {
			a.Reason = "answer it in the pane"
		}
	}
	return a
}

func (v *view) command() string {
	if v.cmd != "" {
		return v.cmd
	}
	return redact(v.Info.Command)
}

// commandText is a command line as it may be told. It is made once a process:
// looking for secrets costs more than all the rest of a row.
func commandText(args []string) string { return clip(redact(strings.Join(args, " ")), 300) }

func (v *view) cwd() string {
	if v.proc.Cwd != "" {
		return redact(v.proc.Cwd)
	}
	return redact(v.Info.Cwd)
}

// control redacts what a program can set and nobody addresses a pane by; the
// session's name is part of the target and stays.
func (v *view) control() rpc.TerminalControl {
	i := v.Info
	return rpc.TerminalControl{Kind: "tmux", Target: target(v), SocketPath: i.Server.Socket, Session: i.SessionName, Window: i.WindowIndex, Pane: i.PaneIndex,
		PaneID: i.Pane, WindowName: redact(i.WindowName), PanePID: i.PanePID, CurrentCommand: redact(i.Command), CurrentPath: redact(i.Cwd),
		Capabilities: []string{"screen_status", "send_keys", "durable_completion"}}
}

func (d *Desk) managed(v *view, c rpc.Caller) rpc.Managed {
	m := rpc.Managed{NativeThreadID: v.nativeID}
	if v.session == nil {
		m.NativeThreadID = ""
		return m
	}
	id, ref := v.session.ID, shortRef(v.session.ID)
	m.SessionID, m.SessionShortRef, m.SessionCount, m.BindingStatus = &id, &ref, 1, "bound"
	if v.Shared {
		m.BindingStatus = SessionQuarantined
	}
	m.TurnCount = v.turns
	shown := v.current
	if shown == nil {
		shown = v.recent
	}
	if shown != nil {
		doc := turnDoc(shown, v)
		maps.Copy(doc.AvailableActions, d.turnActions(shown, v, c))
		if shown.open() {
			m.CurrentTurn = &doc
		} else {
			m.RecentTurn = &doc
		}
		m.HiddenTurnCount = max(0, v.turns-1)
	}
	return m
}

// turnDoc draws a Turn; v is its terminal's view, nil when that is gone.
func turnDoc(t *Turn, v *view) rpc.Turn {
	doc := rpc.Turn{SessionID: t.SessionID, TurnID: t.ID, ID: t.ID, ConversationID: t.ID, ShortRef: shortRef(t.ID), Source: "managed_turn", Agent: t.Agent,
		TerminalID: t.TerminalID, Status: turnStatus(t, v), Stage: t.Stage, RequestHash: t.Hash, Workspace: redact(t.Workspace), CreatedAt: t.CreatedAt,
		UpdatedAt: t.UpdatedAt, AcceptedAt: t.AcceptedAt, EndedAt: t.EndedAt, Outcome: t.Outcome, Reason: t.Reason, FinalText: t.FinalText,
		ClosedAt: t.ClosedAt, Steer: t.Steer, Rounds: t.Rounds, HumanControlled: t.HumanSince != nil, SentBy: t.Host,
		AvailableActions: map[string]rpc.Action{"status": {Tool: "agent_knock_knock_status", Arguments: map[string]any{"turn_id": t.ID}}}}
	t.limitsDoc(&doc)
	return doc
}

// turnStatus is the contract's word (CONTRACT-outputs §5).
func turnStatus(t *Turn, _ *view) string {
	if t.ClosedAt != nil {
		return "closed"
	}
	switch t.Outcome {
	case OutcomeCompleted:
		return "idle"
	case OutcomeFailed, OutcomeNotSubmitted:
		return "failed"
	case OutcomeAborted:
		return "cancelled"
	case OutcomeNotAccepted, OutcomeUncertain, OutcomeLost:
		return "stalled"
	}
	switch {
	case t.StalledAt != nil:
		return "stalled"
	case t.Asked != "": // it was told
		return "waiting_for_openclaw"
	}
	return "waiting_for_agent"
}

// contracts never change, and nobody changes them.
var contracts = sync.OnceValue(func() rpc.ActionContracts {
	return rpc.ActionContracts{
		Version: contractVersion,
		Instructions: []string{
			"Only an entry of available_actions may be called; an absent entry is not allowed now.",
			"Call the named tool with the prefilled arguments and add what missing_required lists.",
			"A result says separately what was sent, accepted and completed; never repeat an uncertain send.",
		},
		Actions: map[string]any{
			"send": map[string]any{"tool": "agent_knock_knock_send", "target_argument": "terminal_id", "required": []string{"request"}, "creates_turn": true,
				"creates_session": true, "sends_terminal_input": true, "mutates_store": true, "scopes": []string{scopeExact, scopeFollow, scopeExplicit},
				"terminal_user_explicit_composer_policy": "replace_current_composer_and_submit"},
			"retry_submission": map[string]any{"tool": toolSend, "target_argument": "turn_id", "required": []string{}, "creates_turn": false, "sends_terminal_input": true, "requires_user_intent": true},
			"respond":          map[string]any{"tool": toolRespond, "target_argument": "turn_id", "required": []string{"request"}, "creates_turn": false, "sends_terminal_input": true, "requires_user_intent": true},
			"cancel":           map[string]any{"tool": toolCancel, "target_argument": "turn_id", "required": []string{}, "creates_turn": false, "sends_terminal_input": true, "requires_user_intent": true},
			"close":            map[string]any{"tool": toolClose, "target_argument": "turn_id", "required": []string{}, "optional": []string{"reason"}, "sends_terminal_input": false, "mutates_store": true, "requires_explicit_user_confirmation": true},
			"reconcile_binding": map[string]any{"tool": toolReconcile, "target_argument": "terminal_id", "required": []string{"conflicting_session_id"}, "creates_turn": false, "creates_session": false, "sends_terminal_input": false,
				"mutates_store": true, "requires_user_intent": true},
			"watch":          map[string]any{"tool": toolWatch, "target_argument": "terminal_id", "required": []string{}, "optional": []string{"hardTimeoutMinutes"}, "creates_turn": false, "sends_terminal_input": false, "mutates_store": true, "requires_user_intent": true},
			"unwatch":        map[string]any{"tool": toolUnwatch, "target_argument": "watch_id", "required": []string{}, "sends_terminal_input": false, "mutates_store": true, "requires_user_intent": true},
			"renew":          map[string]any{"tool": toolRenew, "target_argument": "turn_id", "required": []string{}, "optional": []string{"minutes"}, "creates_turn": false, "sends_terminal_input": false, "mutates_store": true},
			"retry_callback": map[string]any{"tool": toolRetryCall, "target_argument": "turn_id", "required": []string{}, "creates_turn": false, "sends_terminal_input": false, "mutates_store": true},
			"status":         map[string]any{"tool": "agent_knock_knock_status", "required": []string{}, "side_effect_free": true, "sends_terminal_input": false},
		},
	}
})
