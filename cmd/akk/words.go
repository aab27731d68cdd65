package main

import (
	"maps"
	"slices"
	"strings"

	"akk/bridge/rpc"
)

// This file says the contract's words as a human says them. --json keeps the
// contract's own.

// turnStatuses are the statuses of a task.
var turnStatuses = map[string]string{
	"waiting_for_agent":    "the agent works on it",
	"waiting_for_openclaw": "waits for its Host",
	"idle":                 "done",
	"failed":               "failed",
	"cancelled":            "interrupted",
	"stalled":              "stalled",
	"closed":               "closed",
}

// watchStatuses are those of a watch.
var watchStatuses = map[string]string{
	"active":      "watching",
	"completed":   "done",
	"failed":      "failed",
	"timed_out":   "given up: its time is over",
	"invalidated": "given up: what it followed is gone",
	"cancelled":   "cancelled",
}

// stages are how far a task's submission is proven. Each is told from when it is
// durable: the text may be out at the first, Enter at the second.
var stages = map[string]string{
	"prepared":         "being typed",
	"text_injected":    "typed, Enter not proven",
	"enter_dispatched": "Enter pressed",
	"agent_accepted":   "the agent took it",
}

// turnWord says how a task stands, and no more than is proven: before the
// agent's own proof nobody knows that it works on it.
func turnWord(t *rpc.Turn) string {
	if t.Status == "waiting_for_agent" && t.Outcome == "" && t.AcceptedAt == nil && t.Stage != "agent_accepted" {
		return "it is not proven that the agent took it"
	}
	return plain(turnStatuses, t.Status)
}

// stageWord says how far a task's submission came, "" if that says nothing.
func stageWord(t *rpc.Turn) string {
	if t.Outcome == "not_submitted" {
		return "nothing was typed"
	}
	return plain(stages, t.Stage)
}

// pendingWord says how far a send came that has no outcome yet.
func pendingWord(s *rpc.Send) string {
	switch {
	case s.Delivered:
		return plain(submissions, "pending_acceptance")
	case !s.TerminalInputDispatched:
		return "nothing is typed yet"
	case s.DeliveryReceipt == "text_injected":
		return "the text is typed, it is not proven that Enter was pressed"
	}
	return "the text may be typed, it is not proven that Enter was pressed"
}

// submissions are the outcomes of a send that the agent did not take.
var submissions = map[string]string{
	"aborted":            "nothing was typed",
	"not_accepted":       "not taken",
	"uncertain":          "not known whether the agent took it",
	"pending_acceptance": "Enter was pressed, not taken yet",
}

// outcomes are how a task ended.
var outcomes = map[string]string{
	"completed":     "completed",
	"failed":        "the agent failed at it",
	"aborted":       "interrupted",
	"not_submitted": "nothing was typed",
	"not_accepted":  "typed, not taken by the agent",
	"uncertain":     "not known whether the agent took it",
	"lost":          "the agent ended before it was done",
	"closed":        "given up",
}

// settlements are why a watch ended.
var settlements = map[string]string{
	"anchored_task_completed":              "the task was completed",
	"anchored_task_failed":                 "the task failed",
	"deadline_elapsed":                     "its time is over",
	"manual_cancel":                        "somebody ended it",
	"task_anchor_invalidated":              "the task can't be found in the agent's log any more",
	"terminal_process_unavailable":         "the agent has ended",
	"terminal_activity_became_stably_idle": "the agent worked, then stayed idle",
	"terminal_waiting_for_approval":        "the agent waits for a decision",
	"terminal_identity_changed":            "another agent is in the terminal now",
	"provider_observation_unavailable":     "the agent's log can't be read",
	"terminal_observation_unavailable":     "the terminal can't be read",
}

// deliveries are the states of a callback.
var deliveries = map[string]string{
	"pending":    "waits",
	"in_flight":  "on its way",
	"accepted":   "delivered",
	"retryable":  "failed, is tried again",
	"dead":       "failed for good",
	"uncertain":  "may have arrived",
	"superseded": "not needed any more",
}

// plain is the human word for one of the contract's; one that is not known
// loses its underscores.
func plain(words map[string]string, s string) string {
	if w, ok := words[s]; ok {
		return w
	}
	return strings.ReplaceAll(s, "_", " ")
}

// warning is a warning without its code ("code: explanation").
func warning(s string) string {
	if code, text, ok := strings.Cut(s, ": "); ok && strings.Contains(code, "_") && !strings.Contains(code, " ") {
		return text
	}
	return s
}

// typedStatuses are a human's words for statuses whose own ones say nothing to
// him; the contract's own are taken, too.
var typedStatuses = map[string]string{"waiting_for_host": "waiting_for_openclaw"}

// statuses are what a list can be narrowed to, as a human is told them.
func statuses() []string {
	all := slices.Concat(slices.Collect(maps.Keys(turnStatuses)), slices.Collect(maps.Keys(watchStatuses)))
	for typed, own := range typedStatuses {
		all[slices.Index(all, own)] = typed
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// statusNamed is the contract's word for one that a human typed; false = none.
func statusNamed(s string) (string, bool) {
	if own, ok := typedStatuses[s]; ok {
		return own, true
	}
	_, turn := turnStatuses[s]
	_, watch := watchStatuses[s]
	return s, turn || watch
}
