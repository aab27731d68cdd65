package claude

import (
	"slices"
	"time"

	"akk/agents"
)

// This file makes events of records. Rule: lines of one batch may be out of
// order, so they are put in the order of their parents first; what belongs to
// no turn that is known belongs to the open one.

// turns is the state of one transcript.
type turns struct {
	session string
	known   map[string]bool // uuids that were seen
	held    []record        // answers and ends whose message has not come yet
	open    bool
	id      string
	also    []string  // ids under which queued messages that went into this turn were accepted
	latest  time.Time // of the open turn's last record
	answer  string    // the model's last text in the open turn
	final   bool      // ... and it ended the model's turn
	output  bool      // the open turn has any answer or call
	pending []agents.LogEvent
	ids     []string // of pending
	queue   []queuedMessage
	last    *agents.LogEvent
}

type queuedMessage struct{ hash, id string }

// maxKnown bounds the memory for uuids; order matters only within a batch.
const maxKnown = 4096

// order sorts a batch so that a record comes behind its parent, and leaves it
// as it is otherwise.
func (t *turns) order(batch []record) []record {
	if t.known == nil || len(t.known) > maxKnown {
		t.known = make(map[string]bool)
	}
	inBatch := make(map[string]bool, len(batch))
	for _, r := range batch {
		if r.uuid != "" {
			inBatch[r.uuid] = true
		}
	}
	waiting := make(map[string][]record)
	out := make([]record, 0, len(batch))
	var put func(r record)
	put = func(r record) {
		out = append(out, r)
		if r.uuid == "" {
			return
		}
		t.known[r.uuid] = true
		ready := waiting[r.uuid]
		delete(waiting, r.uuid)
		for _, c := range ready {
			put(c)
		}
	}
	for _, r := range batch {
		if r.uuid != "" && r.parent != "" && !t.known[r.parent] && inBatch[r.parent] && r.parent != r.uuid {
			waiting[r.parent] = append(waiting[r.parent], r)
			continue
		}
		put(r)
	}
	// Parents in a circle: hostile or broken, taken as they stand.
	for len(waiting) > 0 {
		for _, r := range batch {
			if w, ok := waiting[r.parent]; ok && slices.ContainsFunc(w, func(c record) bool { return c.uuid == r.uuid }) {
				delete(waiting, r.parent)
				for _, c := range w {
					put(c)
				}
			}
		}
	}
	return out
}

// maxHeld bounds what waits for its message: a flush has a few lines.
const maxHeld = 64

// early tells a record that belongs to a turn whose message has not come: one
// flush of the agent may reach us in several polls.
func (t *turns) early(r record) bool {
	switch r.kind {
	case recAnswer, recCalls, recResults, recEnd, recError, recLink:
		return !t.open && r.parent != "" && r.parent != r.uuid && !t.known[r.parent]
	}
	return false
}

// take makes events of a batch.
func (t *turns) take(batch []record) []agents.LogEvent {
	if len(t.held) > 0 && len(batch) > 0 {
		batch = append(t.held, batch...)
		t.held = nil
	}
	var out []agents.LogEvent
	for _, r := range t.order(batch) {
		if t.early(r) {
			delete(t.known, r.uuid)
			if len(t.held) < maxHeld {
				t.held = append(t.held, r)
			}
			continue
		}
		n := len(out)
		out = t.record(r, out)
		for i := n; i < len(out); i++ {
			if out[i].Time.IsZero() {
				out[i].Time = r.time
			}
			if out[i].SessionID == "" {
				out[i].SessionID = t.session
			}
			out[i].Offset = r.offset
		}
		if len(out) > n {
			e := out[len(out)-1]
			t.last = &e
		}
	}
	return out
}

func (t *turns) record(r record, out []agents.LogEvent) []agents.LogEvent {
	if t.open && r.kind > recLink && r.time.After(t.latest) {
		t.latest = r.time
	}
	switch r.kind {
	case recPrompt:
		if t.open && r.turn == t.id {
			// said beside an approval: it goes into the same turn
			return append(out, agents.LogEvent{Kind: agents.LogAccepted, TurnID: t.id, Hash: r.hash})
		}
		out = t.close(out, agents.LogEvent{Kind: agents.LogAborted, Err: "another message was taken before it ended"}, !t.output)
		id := r.turn
		if i := t.queuedAt(r.hash); i >= 0 {
			id = t.queue[i].id
			t.queue = slices.Delete(t.queue, i, i+1)
		} else {
			out = append(out, agents.LogEvent{Kind: agents.LogAccepted, TurnID: id, Hash: r.hash})
		}
		out = t.begin(r, id, out)
	case recSystem:
		out = t.close(out, agents.LogEvent{Kind: agents.LogAborted, Err: "another message was taken before it ended"}, !t.output)
		out = t.begin(r, r.turn, out)
	case recAnswer:
		t.answer, t.final, t.output = r.text, r.final, true
	case recCalls:
		t.output = true
		for _, c := range r.calls {
			e := agents.LogEvent{Kind: agents.LogToolPending, TurnID: t.id, Tool: c.tool, Detail: c.detail, Time: r.time, SessionID: t.session, Offset: r.offset}
			t.pending, t.ids = append(t.pending, e), append(t.ids, c.id)
			out = append(out, e)
		}
	case recResults:
		for _, id := range r.results {
			if i := slices.Index(t.ids, id); i >= 0 {
				out = append(out, agents.LogEvent{Kind: agents.LogToolDone, TurnID: t.id, Tool: t.pending[i].Tool})
				t.pending, t.ids = slices.Delete(t.pending, i, i+1), slices.Delete(t.ids, i, i+1)
			}
		}
	case recEnd:
		if t.open {
			out = t.close(out, agents.LogEvent{Kind: agents.LogCompleted, Text: t.answer}, true)
		}
	case recError:
		out = t.close(out, agents.LogEvent{Kind: agents.LogFailed, Err: r.err}, true)
	case recInterrupt:
		out = t.close(out, agents.LogEvent{Kind: agents.LogAborted, Err: r.err}, true)
	case recEnqueue:
		id := "queued-" + r.time.UTC().Format(time.RFC3339Nano)
		t.queue = append(t.queue, queuedMessage{r.hash, id})
		out = append(out, agents.LogEvent{Kind: agents.LogAccepted, TurnID: id, Hash: r.hash})
	case recQueuedUse:
		if i := t.queuedAt(r.hash); i >= 0 && t.open {
			t.also = append(t.also, t.queue[i].id)
			t.queue = slices.Delete(t.queue, i, i+1)
		}
	case recTakeBack:
		for _, q := range t.queue {
			out = append(out, agents.LogEvent{Kind: agents.LogAborted, TurnID: q.id, Hash: q.hash, Err: "taken back from the queue"})
		}
		t.queue = nil
	}
	return out
}

func (t *turns) queuedAt(hash string) int {
	return slices.IndexFunc(t.queue, func(q queuedMessage) bool { return q.hash == hash })
}

func (t *turns) begin(r record, id string, out []agents.LogEvent) []agents.LogEvent {
	t.open, t.id, t.also, t.latest = true, id, nil, r.time
	t.answer, t.final, t.output = "", false, false
	return append(out, agents.LogEvent{Kind: agents.LogTurnStarted, TurnID: id})
}

// close ends the open turn with e, under all ids it was accepted by. Without
// sure, a turn that shows output is taken as completed: its end mark is not
// written in all versions.
func (t *turns) close(out []agents.LogEvent, e agents.LogEvent, sure bool) []agents.LogEvent {
	if !t.open {
		return out
	}
	if !sure && t.final {
		e = agents.LogEvent{Kind: agents.LogCompleted, Text: t.answer}
	}
	for _, id := range append([]string{t.id}, t.also...) {
		e.TurnID = id
		out = append(out, e)
	}
	t.open, t.also, t.pending, t.ids = false, nil, nil, nil
	return out
}

// settle is how long the status file must have said idle before it ends a turn
// that has no end mark: the mark follows 53 ms later in the median.
const settle = 2 * time.Second

// rest ends a turn for which no end mark is written (an interrupt before any
// output; a version that writes none), by the status file.
func (t *turns) rest(st *agents.AppStatus, now time.Time) []agents.LogEvent {
	if !t.open || st == nil || st.Status != statusIdle || st.SessionID != t.session {
		return nil
	}
	if !st.ModTime.After(t.latest) || now.Sub(st.ModTime) < settle {
		return nil
	}
	e := agents.LogEvent{Kind: agents.LogAborted, Err: "the agent is idle and has written no answer"}
	if t.output {
		e.Err = "the agent is idle and has written no end"
	}
	if t.final {
		e = agents.LogEvent{Kind: agents.LogCompleted, Text: t.answer}
	}
	e.Time, e.SessionID = st.ModTime, t.session
	out := t.close(nil, e, true)
	last := out[len(out)-1]
	t.last = &last
	return out
}
