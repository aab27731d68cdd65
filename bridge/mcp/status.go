package mcp

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/segmentio/encoding/json"

	"akk/agents"
	"akk/bridge/rpc"
)

// agent_knock_knock_status (CONTRACT-outputs §3), with our bounded wait: it
// holds the answer until the Turn has ended, or something needs a human first.

var statusTool = &tool{
	name:  "status",
	title: "Status of a turn or terminal",
	description: "Tell how a turn (the turn_id of a send) or a terminal (its id as conversation_id) stands: activity, dialog, redacted screen excerpt, recent events, and a finished turn's final_text; or how a watch stands. " +
		"With wait_seconds the answer is held until the turn has ended or a dialog needs an answer; timed_out true means: call again, with its cursor if every change matters.",
	input: `{"type":"object","additionalProperties":false,"properties":{
		"turn_id":{"type":"string","pattern":"` + idPattern + `","description":"a turn; exactly one of turn_id, watch_id, conversation_id"},
		"watch_id":{"type":"string","pattern":"^terminal-watch-[A-Za-z0-9._:-]+$","description":"a watch"},
		"conversation_id":{"type":"string","minLength":1,"description":"a terminal_id from the list"},
		"trace":{"type":"boolean","description":"also the traced events"},
		"wait_seconds":{"type":"number","minimum":0,"maximum":45,"description":"how long the answer may be held, 0 to 45; default 0"},
		"cursor":{"type":"integer","minimum":0,"description":"with wait_seconds: the cursor of the last answer; the answer then comes at the first change after it"},
		"idleTimeoutMinutes":{"type":"number","exclusiveMinimum":0,"description":"accepted; turns do not expire by being read"}}}`,
	output: `{"type":"object","properties":{
		"conversation_id":{"type":"string"},
		"turn_id":{"type":"string"},
		"session_id":{"type":"string"},
		"agent":{"type":"string"},
		"about":{"type":"string"},
		"conversation":{"type":"object","description":"the turn: status, stage, outcome, final_text"},
		"terminal":{"type":"object","description":"the terminal's row as in the list"},
		"terminal_status":{"type":"object"},
		"recent_events":{"type":"array","items":{"type":"object"}},
		"watch":{"type":"object","description":"for a watch_id"},
		"timed_out":{"type":"boolean"},
		"stale_reason":{"type":"string","description":"the daemon does not answer: this is what it said before"},
		"cursor":{"type":"integer"},
		"error":{"type":"object"}}}`,
	readOnly: true, idempotent: true,
	run: func(ctx context.Context, c *call) (*answer, error) {
		if bad := c.exactlyOne("turn_id", "watch_id", "conversation_id"); bad != nil {
			return nil, bad
		}
		if c.has("cursor") && !c.has("wait_seconds") {
			return nil, badArguments(c.tool, "cursor goes with wait_seconds")
		}
		d := time.Duration(c.num("wait_seconds") * float64(time.Second))
		if c.has("watch_id") {
			return c.watchStatus(ctx, d)
		}
		turn, terminalNamed, bad := c.conversation()
		if bad != nil {
			return nil, bad
		}
		p := rpc.StatusParams{ID: terminalNamed, TurnID: turn + c.str("turn_id"), Trace: c.bool("trace")}
		if d <= 0 {
			raw, err := c.Desk.StatusJSON(ctx, p)
			if err != nil {
				return nil, err
			}
			return c.statuses.answer(p, raw)
		}
		var terminal atomic.Value // string: its name now, which may change
		terminal.Store(p.ID)
		var st rpc.Status
		w, err := c.wait(ctx, d, func(e rpc.Event) bool {
			if p.TurnID != "" && e.TurnID == p.TurnID {
				return true
			}
			return e.TerminalID != "" && e.TerminalID == terminal.Load() && (e.Type == "reading" || e.Type == "terminal" || e.Type == "hold")
		}, func(ctx context.Context, young bool) (done bool, err error) {
			now, err := c.Desk.Status(ctx, p)
			if err != nil {
				if st.Terminal != nil && p.TurnID == "" && code(err) == rpc.CodeNotFound {
					err = &rpc.Error{Code: rpc.CodeNotFound, Message: "the agent of " + st.Terminal.ID + " is not there any more; it was when the wait began", Cure: "call agent_knock_knock_list to see what is there"}
				}
				return false, err // st stays what was known
			}
			st = now
			if st.Terminal != nil {
				terminal.Store(st.Terminal.ID)
			}
			unread := young && st.Terminal != nil && st.Terminal.Reading.Activity == agents.ActivityUnknown
			return over(&st) && !unread, nil
		})
		if err != nil {
			return nil, err
		}
		st.TimedOut = w.timedOut
		doc := statusDoc{Status: st, Cursor: w.cursor, StaleReason: w.staleReason()}
		return &answer{doc: doc, text: w.staleText(statusText(&st))}, nil
	},
}

// statuses remembers the newest answers about some turns and terminals: a Host
// that looks again mostly gets the same one, see lists.
type statuses struct {
	mu   sync.Mutex
	made map[rpc.StatusParams]madeStatus
}

type madeStatus struct {
	raw    json.RawMessage // as the daemon wrote it
	answer answer
}

// statusesMax bounds them.
const statusesMax = 32

func (s *statuses) answer(p rpc.StatusParams, raw json.RawMessage) (*answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m, ok := s.made[p]; ok && bytes.Equal(m.raw, raw) {
		return &m.answer, nil
	}
	var st rpc.Status
	if err := json.Unmarshal(raw, &st); err != nil {
		return nil, fmt.Errorf("the daemon's status can't be read: %w", err)
	}
	clean, err := sanitise(statusDoc{Status: st})
	if err != nil {
		return nil, fmt.Errorf("the answer can't be written: %w", err)
	}
	m := madeStatus{raw, answer{ready: document{json: clean, text: appendText(nil, clean)}, text: statusText(&st)}}
	m.answer.ready.brief = sentence(m.answer.text)
	if s.made == nil || len(s.made) >= statusesMax {
		s.made = map[rpc.StatusParams]madeStatus{}
	}
	s.made[p] = m
	return &m.answer, nil
}

// statusDoc is the contract's document and where a next wait goes on. Ours.
type statusDoc struct {
	rpc.Status
	Cursor uint64 `json:"cursor,omitempty"`
	// StaleReason says why this may not be so any more.
	StaleReason string `json:"stale_reason,omitempty"`
}

type watchDoc struct {
	rpc.WatchResult
	TimedOut    bool   `json:"timed_out,omitempty"`
	Cursor      uint64 `json:"cursor,omitempty"`
	StaleReason string `json:"stale_reason,omitempty"`
}

func (c *call) watchStatus(ctx context.Context, d time.Duration) (*answer, error) {
	p := rpc.WatchIDParams{WatchID: c.str("watch_id")}
	var r rpc.WatchResult
	w, err := c.wait(ctx, d, func(e rpc.Event) bool { return e.WatchID == p.WatchID }, func(ctx context.Context, _ bool) (done bool, err error) {
		now, err := c.Desk.WatchStatus(ctx, p)
		if err == nil {
			r = now
		}
		return err == nil && r.Watch.Status != "active", err
	})
	if err != nil {
		return nil, err
	}
	return &answer{doc: watchDoc{WatchResult: r, TimedOut: w.timedOut, Cursor: w.cursor, StaleReason: w.staleReason()}, text: w.staleText(watchText(&r.Watch))}, nil
}

// over tells whether there is nothing more to wait for.
func over(st *rpc.Status) bool {
	if t := st.Conversation; t != nil && (t.EndedAt != nil || t.Outcome != "") {
		return true
	}
	if st.Terminal == nil {
		return false
	}
	switch st.Terminal.Reading.Activity {
	case agents.Blocked, agents.Exited:
		return true
	case agents.Working, agents.Starting:
		return false
	}
	return st.Conversation == nil
}

func statusText(st *rpc.Status) string {
	var b strings.Builder
	if t := st.Conversation; t != nil {
		switch {
		case t.Outcome == "completed":
			fmt.Fprintf(&b, "The turn has ended: %s has finished.", t.Agent)
			if t.FinalText != "" {
				b.WriteString(" Its last message:\n" + t.FinalText)
			}
		case t.Outcome != "":
			fmt.Fprintf(&b, "The turn has ended: %s.", t.Outcome)
			if t.Reason != "" {
				b.WriteString(" " + scrub(t.Reason))
			}
		default:
			fmt.Fprintf(&b, "The turn is open: %s, %s.", t.Status, cmp.Or(t.Stage, "no stage yet"))
			if t.AcceptedAt == nil {
				b.WriteString(" It is not proven that the agent has taken the task.")
			}
		}
	}
	if r := st.Terminal; r != nil {
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s %s: %s.", r.Agent, r.ID, rowText(r))
	}
	if st.TimedOut {
		b.WriteString("\nNext: call it again with wait_seconds; nothing has ended yet.")
	}
	if b.Len() == 0 {
		b.WriteString(st.About)
	}
	return b.String()
}
