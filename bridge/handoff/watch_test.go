package handoff

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"akk/agents"
	"akk/bridge/outbox"
	"akk/bridge/rpc"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// exactWatch follows the task t1 of the log /log.
func exactWatch() Watch {
	return Watch{ID: "terminal-watch-1", Source: sourceUser, Mode: modeExact, Confidence: "exact", Status: WatchActive, CreatedAt: noon, UpdatedAt: noon,
		LastActivityAt: noon, DeadlineAt: noon.Add(watchDefault), Anchor: TaskAnchor{Path: "/log", Offset: 100, Hash: "h1", Turn: "t1"}}
}

func activityWatch() Watch {
	w := exactWatch()
	w.Mode, w.Confidence, w.Anchor = modeActivity, "best_effort", TaskAnchor{}
	return w
}

func logged(kind agents.LogKind, turn, hash string, offset int64) WatchEvent {
	return WatchEvent{Now: noon.Add(time.Minute), Path: "/log", Logs: []agents.LogEvent{{Kind: kind, TurnID: turn, Hash: hash, Offset: offset, Text: "the end", Err: "broken"}}}
}

// R125, R133, scenario 68, 71: what the log says about an exact Watch.
func TestR133ExactTask(t *testing.T) {
	wide := func(e WatchEvent, f func(*WatchEvent)) WatchEvent { f(&e); return e }
	for name, c := range map[string]struct {
		e            WatchEvent
		kind, reason string
	}{
		"completed":             {logged(agents.LogCompleted, "t1", "", 200), WatchCompleted, reasonCompleted},
		"failed":                {logged(agents.LogFailed, "t1", "", 200), WatchFailed, reasonFailed},
		"aborted":               {logged(agents.LogAborted, "t1", "", 200), WatchFailed, reasonFailed},
		"another turn's end":    {logged(agents.LogCompleted, "t2", "", 200), WatchActive, ""},
		"history":               {logged(agents.LogCompleted, "t1", "", 50), WatchActive, ""},
		"a following task":      {logged(agents.LogTurnStarted, "t2", "", 200), WatchInvalid, reasonAnchor},
		"a queued message":      {logged(agents.LogAccepted, "t2", "h2", 200), WatchActive, ""},
		"replaced":              {WatchEvent{Now: noon, Path: "/log", Replaced: true}, WatchInvalid, reasonAnchor},
		"another conversation":  {WatchEvent{Now: noon, Path: "/other"}, WatchInvalid, reasonAnchor},
		"the agent is gone":     {WatchEvent{Now: noon, Gone: true}, WatchInvalid, reasonProcess},
		"the end, then gone":    {wide(logged(agents.LogCompleted, "t1", "", 200), func(e *WatchEvent) { e.Gone = true }), WatchCompleted, reasonCompleted},
		"the end, then /clear":  {wide(logged(agents.LogCompleted, "t1", "", 200), func(e *WatchEvent) { e.Path = "/other" }), WatchCompleted, reasonCompleted},
		"the end, then a limit": {wide(logged(agents.LogCompleted, "t1", "", 200), func(e *WatchEvent) { e.Now = noon.Add(24 * time.Hour) }), WatchCompleted, reasonCompleted},
		"the limit":             {WatchEvent{Now: noon.Add(watchDefault), Path: "/log"}, WatchTimedOut, reasonDeadline},
		"before the limit":      {WatchEvent{Now: noon.Add(watchDefault - time.Second), Path: "/log"}, WatchActive, ""},
		"unwatched":             {WatchEvent{Now: noon, Path: "/log", Cancel: true}, WatchCancelled, reasonCancel},
		"the screen is idle":    {WatchEvent{Now: noon, Path: "/log", Whole: true, Activity: agents.Idle, Exact: true}, WatchActive, ""},
	} {
		w, notices, _ := exactWatch().Step(c.e)
		if w.Status != c.kind || c.kind != WatchActive && (len(notices) != 1 || w.Settlement.ReasonCode != c.reason || notices[0].Kind != c.kind) {
			t.Errorf("%s: %s %+v, %d notices, want %s", name, w.Status, w.Settlement, len(notices), c.kind)
		}
		if c.reason == reasonCompleted && w.Settlement.CompletionText != "the end" {
			t.Errorf("%s: text %q", name, w.Settlement.CompletionText)
		}
		// R137: it settles once.
		if again, more, _ := w.Step(c.e); w.Status != WatchActive && (len(more) > 0 || again.Settlement != w.Settlement) {
			t.Errorf("%s: settled twice", name)
		}
	}
}

// R51: a pending anchor waits for exactly this request, behind its place.
func TestR51PendingAnchor(t *testing.T) {
	w := exactWatch()
	w.Anchor = TaskAnchor{Path: "/log", Offset: 100, Hash: "h1", Since: noon, Pending: true}
	for _, e := range []WatchEvent{logged(agents.LogAccepted, "t0", "h1", 100), logged(agents.LogAccepted, "t0", "h0", 200), logged(agents.LogCompleted, "t0", "", 210)} {
		var n []notice
		if w, n, _ = w.Step(e); !w.Anchor.Pending || len(n) > 0 {
			t.Fatalf("taken: %+v", e.Logs)
		}
	}
	w, _, _ = w.Step(logged(agents.LogAccepted, "t1", "h1", 220))
	if w.Anchor.Pending || w.Anchor.Turn != "t1" || w.Status != WatchActive {
		t.Fatalf("not taken: %+v", w.Anchor)
	}
	w, _, _ = w.Step(logged(agents.LogCompleted, "t1", "", 230))
	if w.Status != WatchCompleted {
		t.Fatal(w.Status)
	}
}

// R134, R135: activity first, then idle that stays; the agent's own word needs
// a second, a screen alone 5 s; no text; background work is no end (B61).
func TestR134StableIdle(t *testing.T) {
	at := func(s float64, a agents.Activity, exact bool) WatchEvent {
		return WatchEvent{Now: noon.Add(time.Duration(s * float64(time.Second))), Whole: true, Activity: a, Exact: exact}
	}
	run := func(es ...WatchEvent) Watch {
		w := activityWatch()
		for _, e := range es {
			w, _, _ = w.Step(e)
		}
		return w
	}
	if w := run(at(0, agents.Idle, true), at(1000, agents.Idle, true), at(2000, agents.ActivityUnknown, true)); w.Status != WatchActive {
		t.Error("idle or unknown from the start settled")
	}
	if w := run(at(0, agents.Working, true), at(1, agents.Idle, true), at(1.9, agents.Idle, true)); w.Status != WatchActive {
		t.Error("settled before its time")
	}
	w := run(at(0, agents.Working, true), at(1, agents.Idle, true), at(2, agents.Idle, true))
	if w.Status != WatchCompleted || w.Settlement.ReasonCode != reasonStableIdle || w.Settlement.CompletionText != "" || w.Confidence != "best_effort" {
		t.Errorf("exact: %s %+v", w.Status, w.Settlement)
	}
	if w := run(at(0, agents.Working, false), at(1, agents.Idle, false), at(5.9, agents.Idle, false)); w.Status != WatchActive {
		t.Error("a screen alone settled too early")
	}
	if w := run(at(0, agents.Working, false), at(1, agents.Idle, false), at(6, agents.Idle, false)); w.Status != WatchCompleted {
		t.Error("a screen alone never settled")
	}
	if w := run(at(0, agents.Blocked, true), at(1, agents.Idle, true), at(1.5, agents.Working, true), at(2.2, agents.Idle, true)); w.Status != WatchActive {
		t.Error("idle in between counted")
	}
	if w := run(at(0, agents.Working, true), at(1, agents.Idle, true), at(1.5, agents.ActivityUnknown, true), at(2, agents.Idle, true), at(2.9, agents.Idle, true)); w.Status != WatchActive {
		t.Error("unknown is never idle")
	}
	for name, f := range map[string]func(*WatchEvent){"background work": func(e *WatchEvent) { e.Background = true }, "an open turn in the log": func(e *WatchEvent) { e.TurnOpen = true }} {
		idle := at(100, agents.Idle, true)
		f(&idle)
		later := idle
		later.Now = noon.Add(time.Hour)
		if w := run(at(0, agents.Working, true), idle, later); w.Status != WatchActive {
			t.Errorf("%s counts as the end", name)
		}
	}
	half := at(3, agents.Idle, true)
	half.Whole = false
	if w := run(at(0, agents.Working, true), at(1, agents.Idle, true), half); w.Status != WatchActive {
		t.Error("half a frame settled it")
	}
}

// R136, scenario 37: the same question in 20 looks is told once, another one a
// second time; a question that stands is no new one when its mark moves.
func TestR136OneNoticeAQuestion(t *testing.T) {
	one := 0
	q := func(cmd, print string) WatchEvent {
		one++
		sel := one % 2
		r := agents.Reading{Activity: agents.Blocked, Owner: agents.OwnerApproval, Dialog: &agents.Dialog{Kind: "exec", Command: cmd, Fingerprint: print, Selected: &sel, Top: one}}
		return WatchEvent{Now: noon.Add(time.Duration(one) * time.Second), Whole: true, Activity: agents.Blocked, Ask: asked(r)}
	}
	w, told := exactWatch(), []notice{}
	step := func(e WatchEvent) {
		var n []notice
		w, n, _ = w.Step(e)
		told = append(told, n...)
	}
	for i := range 20 {
		step(q("rm -rf x", fmt.Sprint("p", i%2)))
	}
	if len(told) != 1 || told[0].Kind != "approval" {
		t.Fatalf("told %d times", len(told))
	}
	step(q("rm -rf y", "p9"))
	if len(told) != 2 {
		t.Fatalf("another question: told %d times", len(told))
	}
	step(WatchEvent{Now: noon.Add(time.Minute), Whole: true, Activity: agents.Working})
	step(q("rm -rf y", "p9")) // exactly the same region again
	if len(told) != 2 || w.Status != WatchActive {
		t.Fatalf("the same fingerprint: told %d times, %s", len(told), w.Status)
	}
	if ids := []string{outbox.NotificationID(w.ID, "approval", outbox.Digest(told[0].Evidence)), outbox.NotificationID(w.ID, "approval", outbox.Digest(told[1].Evidence))}; ids[0] == ids[1] {
		t.Error("R138: two questions have one id")
	}
	r := agents.Reading{Activity: agents.Blocked, Owner: agents.OwnerQuestionnaire, Dialog: &agents.Dialog{Kind: "question", Prompt: "Which?"}}
	step(WatchEvent{Now: noon.Add(time.Hour), Whole: true, Activity: agents.Blocked, Ask: asked(r)})
	if len(told) != 3 || told[2].Kind != "interaction_manual_required" {
		t.Errorf("R52: %+v", told[len(told)-1])
	}
}

// TestR137Model: whatever happens, a Watch settles at most once, tells what it
// settled as exactly then, never before its time, and never changes afterwards.
func TestR137Model(t *testing.T) {
	kinds := []agents.LogKind{agents.LogAccepted, agents.LogTurnStarted, agents.LogCompleted, agents.LogFailed, agents.LogAborted, agents.LogToolDone}
	acts := []agents.Activity{agents.Idle, agents.Working, agents.Blocked, agents.ActivityUnknown, agents.Starting}
	rapid.Check(t, func(t *rapid.T) {
		w := exactWatch()
		switch rapid.IntRange(0, 2).Draw(t, "mode") {
		case 1:
			w = activityWatch()
		case 2:
			w.Anchor.Pending, w.Anchor.Turn = true, ""
		}
		now := noon
		settled, sawWork := 0, false
		for range rapid.IntRange(1, 40).Draw(t, "n") {
			now = now.Add(time.Duration(rapid.IntRange(0, 5000).Draw(t, "ms")) * time.Millisecond)
			e := WatchEvent{Now: now, Path: rapid.SampledFrom([]string{"/log", "/log", "/log", "/other", ""}).Draw(t, "path"), Whole: rapid.Bool().Draw(t, "whole"),
				Activity: rapid.SampledFrom(acts).Draw(t, "a"), Background: rapid.Bool().Draw(t, "bg"), TurnOpen: rapid.Bool().Draw(t, "open"), Exact: rapid.Bool().Draw(t, "exact"),
				Replaced: rapid.IntRange(0, 20).Draw(t, "r") == 0, Gone: rapid.IntRange(0, 30).Draw(t, "g") == 0, Cancel: rapid.IntRange(0, 30).Draw(t, "c") == 0}
			if e.Activity == agents.Blocked && e.Whole {
				e.Ask = &ask{Key: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "q"), Print: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "p"), Kind: askApproval}
			}
			if rapid.Bool().Draw(t, "log") {
				e.Logs = []agents.LogEvent{{Kind: rapid.SampledFrom(kinds).Draw(t, "k"), TurnID: rapid.SampledFrom([]string{"t1", "t2"}).Draw(t, "turn"),
					Hash: rapid.SampledFrom([]string{"h1", "h2"}).Draw(t, "h"), Offset: int64(rapid.IntRange(0, 400).Draw(t, "o"))}}
			}
			before := w
			after, notices, next := w.Step(e)
			if before.Status != WatchActive {
				if len(notices) > 0 || after.Status != before.Status || !next.IsZero() {
					t.Fatal("a settled watch acted")
				}
				continue
			}
			sawWork = sawWork || before.SawWork
			for _, n := range notices {
				if n.Ask == nil {
					settled++
				}
			}
			if after.Status != WatchActive {
				if settled != 1 || after.Settlement == nil || after.Settlement.Kind != after.Status {
					t.Fatalf("%d settlements, %s %+v", settled, after.Status, after.Settlement)
				}
				if after.Settlement.ReasonCode == reasonStableIdle && (!sawWork || before.Mode != modeActivity || e.Activity != agents.Idle || e.Background || e.TurnOpen) {
					t.Fatal("idle without work settled it")
				}
				if after.Settlement.Kind == WatchCompleted && before.Mode == modeExact && (len(e.Logs) == 0 || e.Logs[0].Kind != agents.LogCompleted) {
					t.Fatal("completed without the log")
				}
			} else if next.IsZero() || next.After(w.DeadlineAt) {
				t.Fatal("an active watch without a deadline")
			}
			seen := map[string]bool{}
			for _, p := range after.Seen {
				if seen[p] {
					t.Fatal("R136: one print was told twice")
				}
				seen[p] = true
			}
			w = after
		}
	})
}

// R226: no text of a question is in the record.
func TestR226WatchRecord(t *testing.T) {
	r := agents.Reading{Activity: agents.Blocked, Owner: agents.OwnerApproval, Dialog: &agents.Dialog{Kind: "exec", Command: "cat /secret/path", Prompt: "May I?"}}
	w, _, _ := exactWatch().Step(WatchEvent{Now: noon, Whole: true, Activity: agents.Blocked, Ask: asked(r)})
	if s := fmt.Sprintf("%+v", w); len(w.Seen) != 1 || slices.ContainsFunc([]string{"secret", "May I"}, func(x string) bool { return containsText(s, x) }) {
		t.Errorf("record: %s", s)
	}
}

func containsText(s, x string) bool {
	for i := 0; i+len(x) <= len(s); i++ {
		if s[i:i+len(x)] == x {
			return true
		}
	}
	return false
}

// R50, CONTRACT-outputs §1.1: the same send is the same Watch.
func TestFallbackID(t *testing.T) {
	k := Key{PID: 7}
	if a, b := fallbackID("msg-1", "h", k), fallbackID("msg-1", "h", k); a != b || len(a) != len("terminal-watch-user-send-")+64 {
		t.Error(a, b)
	}
	if fallbackID("msg-1", "h", k) == fallbackID("msg-2", "h", k) || fallbackID("msg-1", "h", k) == fallbackID("msg-1", "h", Key{PID: 8}) {
		t.Error("another send, the same watch")
	}
}

// The bodies of §7: bounded, redacted, fenced.
func TestWatchBodies(t *testing.T) {
	w := exactWatch()
	w.TerminalID, w.Agent = "terminal:v2:tmux:codex:a:0.0:7", "codex"
	q := asked(agents.Reading{Activity: agents.Blocked, Owner: agents.OwnerApproval, Dialog: &agents.Dialog{Kind: "exec", Command: "deploy --token abcdefgh12345", Prompt: "Run?\n```\nTOKEN=hunter22"}})
	ev := watchEvent(w, notice{Kind: "approval", Evidence: q.Print, Ask: q})
	if ev.Type != "approval_required" || !ev.RequiresResponse || containsText(ev.Body, "hunter22") || containsText(ev.Body, "abcdefgh12345") || !containsText(ev.Body, "[AKK Terminal Watch: approval_required]") {
		t.Errorf("%+v", ev)
	}
	w.Status, w.Settlement = WatchCompleted, &rpc.Settlement{Kind: WatchCompleted, ReasonCode: reasonCompleted, CompletionText: "all done"}
	ev = watchEvent(w, notice{Kind: WatchCompleted})
	if ev.Type != "completed" || ev.Metadata["completion_text"] != "all done" || ev.Metadata["watch_mode"] != modeExact {
		t.Errorf("%+v", ev)
	}
}

// Stable idle is exact only where the agent itself says so.
func TestExactActivity(t *testing.T) {
	for name, c := range map[string]struct {
		why  []agents.Reason
		want bool
	}{
		"nothing":          {nil, false},
		"frame":            {[]agents.Reason{{Layer: "frame", Rule: "composer"}}, false},
		"status file":      {[]agents.Reason{{Layer: "cursor", Rule: "composer"}, {Layer: "signal", Rule: "status file: idle"}}, true},
		"title":            {[]agents.Reason{{Layer: "signal", Rule: "title: no turn"}}, true},
		"no own word":      {[]agents.Reason{{Layer: "signal", Rule: "no signal that is provably Codex's own"}}, false},
		"cursor":           {[]agents.Reason{{Layer: "signal", Rule: "cursor shown"}}, false},
		"contradicted":     {[]agents.Reason{{Layer: "signal", Rule: "status file: busy"}, {Layer: "signal", Rule: "contradiction: the frame shows no turn"}}, false},
		"frame against it": {[]agents.Reason{{Layer: "signal", Rule: "title: no turn"}, {Layer: "frame", Rule: "but the frame is not the agent's own"}}, false},
	} {
		if got := exactActivity(agents.Reading{Why: c.why}); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
