package mcp

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/segmentio/encoding/json"

	"akk/bridge/rpc"
)

// agent_knock_knock_list (CONTRACT-outputs §2). It reads what the mirrors know
// already, so noApprovalScan, terminalDebug and idleTimeoutMinutes, which spare
// or tune a scan elsewhere, change nothing.

var listTool = &tool{
	name:  "list",
	title: "List agent terminals",
	description: "List the coding agents (Codex, Claude Code) in the user's visible terminals: what each is doing now, who has its keyboard, and available_actions " +
		"(what may be called now, with prefilled arguments; an action that is absent is not allowed now). Call it before any other tool.",
	input: `{"type":"object","additionalProperties":false,"properties":{
		"agent":{"type":"string","enum":["codex","claude"],"description":"only terminals of this agent"},
		"status":{"type":"string","enum":["waiting_for_agent","waiting_for_openclaw","idle","stalled","failed","cancelled","closed"],"description":"only turns with this status; terminals are listed all the same"},
		"all":{"type":"boolean","description":"also turns that are closed, failed or cancelled"},
		"noApprovalScan":{"type":"boolean","description":"accepted; the live screens cost no scan"},
		"terminalDebug":{"type":"boolean","description":"accepted; see akk explain"},
		"idleTimeoutMinutes":{"type":"number","exclusiveMinimum":0,"description":"accepted; turns do not expire by listing"}}}`,
	output: `{"type":"object","properties":{
		"terminals":{"type":"array","items":{"type":"object"},"description":"one row per live agent terminal; id is its terminal_id"},
		"unavailable_managed_turns":{"type":"array","items":{"type":"object"}},
		"terminal_watches":{"type":"array"},
		"action_contracts":{"type":"object"},
		"terminal_scan":{"type":"object"},
		"store":{"type":"object"},
		"error":{"type":"object"}}}`,
	readOnly: true, idempotent: true,
	run: func(ctx context.Context, c *call) (*answer, error) {
		raw, err := c.Desk.ListJSON(ctx, rpc.ListParams{Agent: c.str("agent"), Status: c.str("status"), All: c.bool("all")})
		if err != nil {
			return nil, err
		}
		return c.lists.answer(raw)
	},
}

// lists remembers the newest list: a Host that looks again mostly gets the same
// one, and reading and cleaning it takes longer than all the rest of the call.
type lists struct {
	mu   sync.Mutex
	raw  json.RawMessage // as the daemon wrote it
	made answer
}

// answer is the answer that a list makes.
func (l *lists) answer(raw json.RawMessage) (*answer, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.raw != nil && bytes.Equal(raw, l.raw) {
		made := l.made
		return &made, nil
	}
	var brief listBrief
	if err := json.Unmarshal(raw, &brief); err != nil {
		return nil, fmt.Errorf("the daemon's list can't be read: %w", err)
	}
	clean, err := sanitise(raw)
	if err != nil {
		return nil, fmt.Errorf("the answer can't be written: %w", err)
	}
	made := answer{ready: document{json: clean, text: appendText(make([]byte, 0, 5*len(clean)/4), clean)}, text: listText(&brief)}
	made.ready.brief = sentence(made.text)
	l.raw, l.made = raw, made
	return &made, nil
}

// listBrief is what the sentence for people needs of the list.
type listBrief struct {
	Servers   []struct{}  `json:"servers"`
	Terminals []listEntry `json:"terminals"`
}

type listEntry struct {
	ID               string    `json:"id"`
	ShortRef         string    `json:"short_ref"`
	Agent            string    `json:"agent"`
	Cwd              string    `json:"cwd"`
	ActivityState    string    `json:"activity_state"`
	Demo             string    `json:"demo"`
	Hold             *rpc.Hold `json:"hold"`
	AvailableActions struct {
		Send *listSend `json:"send"`
	} `json:"available_actions"`
}

// listSend is what a terminal offers: one that works, or holds something else,
// takes a task only if its user wants that.
type listSend struct {
	UserIntent bool `json:"requires_user_intent"`
}

func listText(l *listBrief) string {
	var b strings.Builder
	recordings := 0
	for i := range l.Terminals {
		if l.Terminals[i].Demo != "" {
			recordings++
		}
	}
	switch n := len(l.Terminals) - recordings; n {
	case 0:
		b.WriteString("No agent terminal is live")
		if len(l.Servers) == 0 {
			b.WriteString(": no tmux server is attached. Start an agent in tmux (codex or claude), then list again")
		}
		b.WriteString(".")
	case 1:
		b.WriteString("1 agent terminal.")
	default:
		fmt.Fprintf(&b, "%d agent terminals.", n)
	}
	switch recordings {
	case 0:
	case 1:
		b.WriteString(" 1 recording, no agent runs in it.")
	default:
		fmt.Fprintf(&b, " %d recordings, no agent runs in them.", recordings)
	}
	for i := range l.Terminals {
		r := &l.Terminals[i]
		fmt.Fprintf(&b, "\n- %s %s: %s (%s) in %s", r.ID, r.ShortRef, r.text(), r.Agent, r.Cwd)
	}
	return b.String()
}

// rowText says in a few words what a terminal is doing.
func rowText(r *rpc.Row) string {
	e := listEntry{Agent: r.Agent, ActivityState: r.ActivityState, Demo: r.Demo, Hold: r.Hold}
	if send := r.AvailableActions["send"]; send.Tool != "" {
		e.AvailableActions.Send = &listSend{send.RequiresUserIntent}
	}
	return e.text()
}

func (e *listEntry) text() string {
	s := e.ActivityState
	switch {
	case e.Demo != "":
		return "a recording of " + e.Agent + ", not a live agent; it takes no task"
	case e.ActivityState == "awaiting_approval":
		s = "waits for an answer to its dialog"
	case e.AvailableActions.Send != nil && e.AvailableActions.Send.UserIntent:
		s += ", takes a task only if its user wants that now"
	case e.AvailableActions.Send != nil:
		s += ", takes a task"
	}
	if e.Hold != nil {
		s += ", held by the " + e.Hold.By
	}
	return s
}
