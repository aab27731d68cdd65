package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"akk/agents"
	"akk/bridge/rpc"
)

// agent_knock_knock_status (CONTRACT-outputs §3), with our bounded wait: it
// holds the answer until the Turn has ended, or something needs a human first.

var statusTool = &tool{
	name:  "status",
	title: "Status of a turn or terminal",
	description: "Tell how a turn (the turn_id of a send) or a terminal (its id as conversation_id) stands: activity, dialog, redacted screen excerpt, recent events, and a finished turn's final_text. " +
		"With wait_seconds the answer is held until the turn has ended or a dialog needs an answer; timed_out true means: call again.",
	input: `{"type":"object","additionalProperties":false,"properties":{
		"turn_id":{"type":"string","minLength":1,"description":"a turn; exactly one of turn_id, watch_id, conversation_id"},
		"watch_id":{"type":"string","pattern":"^terminal-watch-[A-Za-z0-9._:-]+$","description":"a watch"},
		"conversation_id":{"type":"string","minLength":1,"description":"a terminal_id from the list"},
		"trace":{"type":"boolean","description":"also the traced events"},
		"wait_seconds":{"type":"number","minimum":0,"maximum":45,"description":"how long the answer may be held, 0 to 45; default 0"},
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
		"timed_out":{"type":"boolean"},
		"error":{"type":"object"}}}`,
	readOnly: true, idempotent: true,
	run: func(ctx context.Context, c *call) (*answer, error) {
		if bad := c.exactlyOne("turn_id", "watch_id", "conversation_id"); bad != nil {
			return nil, bad
		}
		if c.has("watch_id") {
			return nil, &rpc.Error{Code: rpc.CodeNotFound, Message: fmt.Sprintf("no watch is called %q", c.str("watch_id")), Cure: "run `akk list` to see what is there"}
		}
		p := rpc.StatusParams{ID: c.str("conversation_id"), TurnID: c.str("turn_id"), Trace: c.bool("trace")}
		if strings.HasPrefix(p.ID, "turn-") { // a Turn's conversation_id is its turn_id
			p.ID, p.TurnID = "", p.ID
		}
		st, err := c.wait(ctx, p, time.Duration(c.num("wait_seconds")*float64(time.Second)))
		if err != nil {
			return nil, err
		}
		return &answer{doc: st, text: statusText(&st)}, nil
	},
}

// wait holds the answer for at most d. It listens to the journal from before
// the first look, so that neither an end nor a dialog falls between.
func (c *call) wait(ctx context.Context, p rpc.StatusParams, d time.Duration) (rpc.Status, error) {
	if d <= 0 {
		return c.Desk.Status(ctx, p)
	}
	tell := c.progress(ctx)
	defer tell.end()
	outer := ctx
	ctx, cancel := c.drain(ctx)
	var wg sync.WaitGroup
	defer wg.Wait() // before tell.end
	defer cancel()

	var mu sync.Mutex
	terminal, blocked := "", false
	started := make(chan struct{})
	wg.Go(func() {
		var once sync.Once
		open := func() { once.Do(func() { close(started) }) }
		defer open()
		err := c.Desk.Events(ctx, rpc.EventsParams{Follow: true}, func(rpc.EventsResult) error { open(); return nil }, func(e rpc.Event) error {
			mu.Lock()
			defer mu.Unlock()
			switch {
			case e.TurnID != "" && e.TurnID == p.TurnID && e.Change != "":
				tell.say(e.Change)
			case e.Type == "reading" && e.Reading != nil && e.TerminalID != "" && e.TerminalID == terminal:
				tell.say(string(e.Reading.Activity))
				if e.Reading.Activity == agents.Blocked {
					blocked = true
					cancel()
				}
			}
			return nil
		})
		if err != nil && ctx.Err() == nil {
			c.Logger.Debug("events while waiting", "err", err)
		}
	})
	select {
	case <-started:
	case <-ctx.Done():
	}
	st, err := c.Desk.Status(outer, p)
	if err != nil || over(&st) || ctx.Err() != nil {
		return st, err
	}
	mu.Lock()
	if st.Terminal != nil {
		terminal = st.Terminal.ID
	} else {
		terminal = p.ID
	}
	mu.Unlock()
	q := p
	q.WaitMillis = int(d.Milliseconds())
	st, err = c.Desk.Status(ctx, q)
	if err != nil && ctx.Err() != nil && outer.Err() == nil && errors.Is(err, context.Canceled) {
		st, err = c.Desk.Status(outer, p)
		mu.Lock()
		st.TimedOut = !blocked && !over(&st)
		mu.Unlock()
	}
	if err == nil && st.Conversation != nil && st.Conversation.Outcome != "" {
		tell.say(st.Conversation.Outcome)
	}
	return st, err
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
			fmt.Fprintf(&b, "The turn is open: %s, %s.", t.Status, t.Stage)
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
