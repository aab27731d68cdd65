package handoff

// This file computes available_actions (R28 to R32) from the predicates that
// execution asks again, for the caller who asks: what is not there is not
// allowed now, and what is there does not fail for a reason that was visible.

import (
	"time"

	"akk/agents"
	"akk/bridge/rpc"
)

const (
	toolSend      = "agent_knock_knock_send"
	toolStatus    = "agent_knock_knock_status"
	toolCancel    = "agent_knock_knock_cancel"
	toolClose     = "agent_knock_knock_close"
	toolRespond   = "agent_knock_knock_respond"
	toolReconcile = "agent_knock_knock_reconcile_binding"
	toolWatch     = "agent_knock_knock_watch"
	toolUnwatch   = "agent_knock_knock_unwatch"
	toolRenew     = "agent_knock_knock_renew"
	toolRetryCall = "agent_knock_knock_retry_callback"
)

// sendScope is the scope in which c may send to the terminal now, "" for none.
func (v *view) sendScope(c rpc.Caller, now time.Time) string {
	switch {
	case v.runs(c):
		return "" // not to itself
	case len(v.sendable) == 0:
		// Codex: its rollout is held by the process, the terminal is the target (R37).
		if v.kind == agents.Claude && len(exact(v.Facts)) == 0 {
			return scopeExact
		}
		return scopeFollow
	case mayExplicit(c) == nil && len(explicit(v.Facts, now)) == 0:
		return scopeExplicit
	}
	return ""
}

// actions are a row's.
func (d *Desk) actions(v *view, c rpc.Caller) map[string]rpc.Action {
	now := d.now()
	out := map[string]rpc.Action{}
	out["status"] = rpc.Action{Tool: toolStatus, Arguments: map[string]any{"conversation_id": v.id}}
	send := rpc.Action{Tool: toolSend, Arguments: map[string]any{"terminal_id": v.id}, MissingRequired: []string{"request"}, Scope: v.sendScope(c, now), RequiresUserIntent: true}
	switch send.Scope {
	case scopeExact:
		send.Arguments = map[string]any{"session_id": v.session.ID}
	case scopeExplicit:
		send.Use = "only if the user wants this very task typed now: " + v.over()
	}
	if send.Scope != "" {
		out["send"] = send
	}
	if t := v.current; t != nil {
		for name, a := range d.turnActions(t, v, c) {
			if name != "close" && (name != "status" || t.open()) {
				out[name] = a
			}
		}
	}
	if _, ok := out["cancel"]; !ok && v.Running == nil && mayInterrupt(c, v) == nil && len(interruptible(v.Facts, now)) == 0 {
		out["cancel"] = rpc.Action{Tool: toolCancel, Arguments: map[string]any{"conversation_id": v.id}, RequiresUserIntent: true}
	}
	if v.Info.Demo == "" && !v.Exited {
		out["watch"] = rpc.Action{Tool: toolWatch, Arguments: map[string]any{"terminal_id": v.id}, RequiresUserIntent: true} // R30: any observable pane
	}
	if c.Kind != "agent" {
		if stale := d.reconcilable(v); len(stale) == 1 {
			for id := range stale {
				out["reconcile_binding"] = rpc.Action{Tool: toolReconcile, Arguments: map[string]any{"terminal_id": v.id, "conflicting_session_id": id}, RequiresUserIntent: true}
			}
		}
	}
	return out
}

// over says what an explicit send goes over.
func (v *view) over() string {
	switch {
	case v.Running != nil:
		return "it goes into the turn " + v.Running.ID + ", sent by " + sender(v.Running)
	case v.Reading.Activity != agents.Idle:
		return "it goes into what the agent works on"
	case v.Reading.Composer == agents.ComposerDraft:
		return "a draft stands in the composer and is replaced; the human can put it back"
	}
	return "it goes over what akk keeps about earlier tasks"
}

// turnActions are a Turn's; v is its terminal's view, nil when that is gone.
func (d *Desk) turnActions(t *Turn, v *view, c rpc.Caller) map[string]rpc.Action {
	now := d.now()
	args := func() map[string]any { return map[string]any{"turn_id": t.ID} }
	out := map[string]rpc.Action{"status": {Tool: toolStatus, Arguments: args()}}
	if mayManage(c, t) != nil {
		return out
	}
	typing := v != nil && v.Busy == t.ID
	if t.ClosedAt == nil && !typing && (v == nil || v.Handoff == nil || v.Handoff.ID != t.ID) { // there the decision stands for it
		out["close"] = rpc.Action{Tool: toolClose, Arguments: args(), RequiresExplicit: true}
	}
	if v == nil {
		return out
	}
	if _, bad := t.renew(0, now); bad == nil {
		out["renew"] = rpc.Action{Tool: toolRenew, Arguments: args()}
	}
	if t.open() && len(cancellable(v.Facts, t.ID, now)) == 0 {
		out["cancel"] = rpc.Action{Tool: toolCancel, Arguments: args(), RequiresUserIntent: true}
	}
	if v.current == nil || v.current.ID != t.ID {
		return out
	}
	if v.retry {
		out["retry_submission"] = rpc.Action{Tool: toolSend, Arguments: args(), RequiresUserIntent: true}
	}
	if t.open() && contains(v.Runs, t.ID) && len(respondable(v.Facts, &Dispatch{Turn: *t, Phase: PhaseRunning}, v, now)) == 0 {
		out["respond"] = rpc.Action{Tool: toolRespond, Arguments: args(), MissingRequired: []string{"request"}, RequiresUserIntent: true}
	}
	return out
}

// decision is the row's handoff_decision (R171), nil without one.
func (v *view) decision() *rpc.HandoffDecision {
	t := v.Handoff
	if t == nil {
		return nil
	}
	h := &rpc.HandoffDecision{Kind: "active_turn_requires_decision", SourceSessionID: t.SessionID, SourceTurnID: t.ID}
	h.Choices.TakeOverCurrent.Action = rpc.Action{Tool: toolClose, Arguments: map[string]any{"turn_id": t.ID, "reason": reasonSuperseded}, RequiresExplicit: true}
	h.Choices.TakeOverCurrent.After = "list again, then send to the terminal itself: it shows the human's conversation"
	h.Choices.KeepSource.Effect = "nothing is changed; the turn stays open until the human brings its conversation back"
	h.Choices.KeepSource.After = "list again when the human has done so"
	return h
}

// blocking are the Turns in the way of a managed send.
func (v *view) blocking() []rpc.BlockingTurn {
	var out []rpc.BlockingTurn
	t := v.Turn
	if t == nil || !t.open() || t.Stage != StageEntered && t.Stage != StageInjected || v.Busy == t.ID {
		return nil
	}
	return append(out, rpc.BlockingTurn{SessionID: t.SessionID, TurnID: t.ID, Status: turnStatus(t, v),
		RecoveryAction: rpc.Action{Tool: toolClose, Arguments: map[string]any{"turn_id": t.ID}, RequiresExplicit: true}})
}
