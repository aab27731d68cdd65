package handoff

// This file is the part of a terminal's goroutine that watches: it feeds the
// Turns' limits and the Watches with what happened, and makes durable what
// comes of it. It upholds R185: one thing that fails takes no other with it,
// and that everything here is a deadline or an event, never a poll.

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"akk/agents"
	"akk/bridge/outbox"
	"akk/bridge/rpc"
	"akk/store"
)

// monitor belongs to the terminal's goroutine.
type monitor struct {
	life     time.Time // last sign of life
	screen   uint64    // its generation
	question *ask      // of the change that is being committed
	control  *control
	next     time.Time // the wake that is pending
	task     task
	watches  []Watch
	soft     bool // the hold that stands is a typing human's
}

// task is what the agent's log says runs now.
type task struct {
	path   string
	hash   string
	turn   string
	offset int64 // of its acceptance
	open   bool
	many   bool // a second message was taken into it: which task it is can't be told
}

// observe looks at everything that a reading or the time may have moved.
func (t *terminal) observe() {
	now := t.desk.now()
	f := t.facts
	if f.Exited {
		return
	}
	m := &t.mon
	if m.life.IsZero() || f.Screen != nil && f.Screen.Generation != m.screen || f.Reading.Activity == agents.Working {
		m.life = now
		if f.Screen != nil {
			m.screen = f.Screen.Generation
		}
	}
	l := look{Now: now, Life: m.life, Activity: f.Reading.Activity, Whole: f.Frame && f.Screen != nil && !f.Reading.Provisional}
	if l.Whole {
		l.Ask = asked(f.Reading)
	}
	var next time.Time
	soonest := func(at time.Time) {
		if !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	for _, c := range t.following() {
		turn, changes, at := c.disp.Turn.look(l)
		soonest(at)
		if len(changes) > 0 {
			t.moved(c, turn, changes, l.Ask)
		}
	}
	soonest(t.stepWatches(WatchEvent{Now: now, Whole: l.Whole, Activity: l.Activity, Background: f.Reading.Background, TurnOpen: f.TurnOpen,
		Exact: exactActivity(f.Reading), Ask: l.Ask, Path: f.LogPath}))
	if !next.IsZero() && (m.next.IsZero() || !m.next.After(now) || next.Before(m.next)) {
		m.next = next
		t.wake(next)
	}
}

// ownWords begin the rules that are the agent's own word about a turn.
var ownWords = []string{"title", "status file", "program status", "progress"}

// exactActivity tells whether the reading's activity is the agent's own word,
// and nothing speaks against it.
func exactActivity(r agents.Reading) bool {
	exact := false
	for _, w := range r.Why {
		if strings.HasPrefix(w.Rule, "but ") || strings.HasPrefix(w.Rule, "contradiction") {
			return false
		}
		exact = exact || w.Layer == "signal" && slices.ContainsFunc(ownWords, func(s string) bool { return strings.HasPrefix(w.Rule, s) })
	}
	return exact
}

// moved makes a Turn's changes durable, each with its event.
func (t *terminal) moved(c *carried, turn Turn, changes []string, q *ask) {
	turn.UpdatedAt = t.desk.now()
	c.disp.Turn = turn
	for _, change := range changes {
		t.mon.question = q
		t.commit(c, c.disp.commit(change))
		t.mon.question = nil
	}
	if c == t.cur {
		now := c.disp.Turn
		t.facts.Turn = &now
	}
}

// tell sends a control callback to the Hosts of the running Turns for which
// wanted says so.
func (t *terminal) tell(c control, wanted func(*Turn) bool) {
	for _, carry := range t.following() {
		turn := &carry.disp.Turn
		if turn.AcceptedAt == nil || !turn.open() || turn.Route == nil || !wanted(turn) {
			continue
		}
		turn.Told++
		note := c
		note.id += " " + strconv.Itoa(turn.Told)
		note.body += "\nTurn: " + turn.ID + "\nTerminal: " + turn.TerminalID
		t.mon.control = &note
		t.moved(carry, *turn, []string{"control"}, nil)
		t.mon.control = nil
	}
}

// holdMoved tells the Hosts of running Turns that a human took the terminal,
// or gave it back. A human who only types is told once a Turn, with its end.
func (t *terminal) holdMoved() {
	h := t.facts.Hold
	if h != nil {
		t.mon.soft = h.Soft
		if h.By != "human" {
			return
		}
		body := "A human has taken the terminal over. The task goes on being watched, sends are refused until it is handed back."
		if h.Note != "" {
			body += "\nNote: " + clip(redact(h.Note), 300)
		}
		if h.Soft {
			body = "A human is typing in the terminal. The task goes on being watched, sends are refused meanwhile."
		}
		t.tell(control{reason: "human_takeover", body: body, id: "takeover"}, func(turn *Turn) bool {
			if h.Soft && turn.HoldTold {
				return false
			}
			turn.HoldTold = turn.HoldTold || h.Soft
			return true
		})
		return
	}
	if t.mon.soft {
		return // it ends by itself, and soon
	}
	t.tell(control{reason: "human_handback", body: "The human has handed the terminal back.", id: "handback"}, func(*Turn) bool { return true })
}

// observeLog takes what the agent's log says.
func (t *terminal) observeLog(u *logUpdate) {
	now := t.desk.now()
	if len(u.events) > 0 {
		t.mon.life = now
	}
	if u.replaced || u.path != t.mon.task.path {
		t.mon.task = task{path: u.path}
	}
	for _, l := range u.events {
		t.mon.task.add(l)
		if l.Kind == agents.LogAccepted && !u.replaced {
			t.steered(l)
		}
	}
	f := t.facts
	t.stepWatches(WatchEvent{Now: now, Activity: f.Reading.Activity, Logs: u.events, Path: u.path, Replaced: u.replaced})
	t.observe()
}

// add keeps the task that runs, as far as the log tells.
func (k *task) add(l agents.LogEvent) {
	switch l.Kind {
	case agents.LogTurnStarted:
		if l.TurnID != "" && l.TurnID != k.turn {
			*k = task{path: k.path, turn: l.TurnID, open: true, offset: l.Offset}
		}
		k.open = true
	case agents.LogAccepted:
		switch {
		case k.open && k.hash == "" && (k.turn == "" || l.TurnID == "" || l.TurnID == k.turn):
			k.hash, k.offset = l.Hash, l.Offset
			if k.turn == "" {
				k.turn = l.TurnID
			}
		case k.open && (l.TurnID == "" || l.TurnID == k.turn):
			k.many = true
		case !k.open:
			*k = task{path: k.path, hash: l.Hash, turn: l.TurnID, offset: l.Offset, open: true}
		}
	case agents.LogCompleted, agents.LogFailed, agents.LogAborted:
		if k.turn == "" || l.TurnID == "" || l.TurnID == k.turn {
			*k = task{path: k.path}
		}
	}
}

// steered tells the Hosts of running Turns that a message of somebody else went
// into the agent's turn.
func (t *terminal) steered(l agents.LogEvent) {
	by := "a human in the pane"
	var sender *Turn
	for _, c := range t.following() {
		turn := &c.disp.Turn
		if turn.Hash == l.Hash || turn.AltHash != "" && turn.AltHash == l.Hash {
			sender = turn
			by = "another sender (" + turn.Host + ")"
			break
		}
	}
	t.tell(control{reason: "steered", body: "A message from " + by + " went into the running task.", id: "steer " + strconv.FormatInt(l.Offset, 10)}, func(turn *Turn) bool {
		if sender != nil && (sender.ID == turn.ID || sender.Owner == turn.Owner) {
			return false
		}
		if turn.NativeTurn != "" && l.TurnID != "" && l.TurnID != turn.NativeTurn || l.Offset <= turn.SteeredAt || !l.Time.After(*turn.AcceptedAt) {
			return false
		}
		turn.SteeredAt = l.Offset
		return true
	})
}

// stepWatches moves every Watch of this terminal and returns when to look again.
func (t *terminal) stepWatches(e WatchEvent) (next time.Time) {
	kept := t.mon.watches[:0:0]
	for _, w := range t.mon.watches {
		after, notices, at := w.Step(e)
		if after.Status == WatchActive {
			kept = append(kept, after)
			if !at.IsZero() && (next.IsZero() || at.Before(next)) {
				next = at
			}
		}
		if len(notices) > 0 || after.UpdatedAt != w.UpdatedAt || after.SawWork != w.SawWork || after.Asked != w.Asked {
			after = t.desk.commitWatch(after, notices, t.publicID())
			if n := len(kept) - 1; n >= 0 && kept[n].ID == after.ID {
				kept[n] = after
			}
		} else if after.LastActivityAt.Sub(w.LastActivityAt) >= time.Second {
			t.desk.showWatch(after)
		}
	}
	t.mon.watches = kept
	return next
}

// observeGone ends what watched this agent.
func (t *terminal) observeGone(err error) {
	t.desk.log.Debug("watches of a terminal that is gone", "error", err)
	t.stepWatches(WatchEvent{Now: t.desk.now(), Gone: true})
}

// commitWatch makes a Watch and what it has to tell durable in one
// transaction. It returns the Watch with its notices.
func (d *Desk) commitWatch(w Watch, notices []notice, terminalID string) Watch {
	c := calls{at: d.now()}
	if w.Status != WatchActive {
		c.drop, w.Notices = w.Notices, nil // a question of a Watch that is over is told no more
	}
	evs := []rpc.Event{}
	for _, n := range notices {
		ev := rpc.Event{Time: c.at, Type: "watch", Change: n.Kind, WatchID: w.ID, TerminalID: terminalID, Pane: w.Key.Pane.Pane, Socket: w.Key.Pane.Server.Socket, Agent: w.Agent}
		if w.Settlement != nil && n.Ask == nil {
			ev.Reason, ev.Text = w.Settlement.ReasonCode, w.Settlement.CompletionText
		}
		evs = append(evs, ev)
		if w.Route == nil {
			continue
		}
		e := outbox.New(outbox.ForWatch(*w.Route, w.ID, w.TerminalID, watchEvent(w, n)), c.at)
		c.add = append(c.add, e)
		if n.Ask != nil {
			w.Notices = append(w.Notices, e.Envelope.DeliveryID)
		}
	}
	d.showWatch(w)
	var sent outbox.Change
	d.writer.Do(func(tx *store.Tx) error {
		sent = nil
		have, rev, _ := watches.Get(tx, w.ID)
		if have.Status != "" && have.Status != WatchActive {
			return nil // it settles once
		}
		if _, err := watches.Put(tx, w.ID, w, rev); err != nil {
			return err
		}
		for _, ev := range evs {
			if _, _, err := journal.Append(tx, ev); err != nil {
				return err
			}
		}
		return c.apply(tx, d.outbox, &sent)
	}, func(err error) {
		if err != nil {
			d.log.Error("a watch could not be stored", "watch", w.ID, "error", err)
			return
		}
		store.FailAt("handoff.watch." + w.Status)
		d.outbox.Committed(sent)
		d.journalled.fire()
		d.changed.fire()
	})
	return w
}

// showWatch keeps the newest state of an active Watch for readers.
func (d *Desk) showWatch(w Watch) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if w.Status == WatchActive {
		d.watches[w.ID] = w
	} else {
		delete(d.watches, w.ID)
	}
}

// resumeWatches takes up the Watches of this terminal. It runs before the
// goroutine does.
func (t *terminal) resumeWatches() {
	t.desk.mu.Lock()
	defer t.desk.mu.Unlock()
	for _, w := range t.desk.watches {
		if w.Key.Same(t.key) {
			t.mon.watches = append(t.mon.watches, w)
		}
	}
}

// lastLookTime bounds the look into the log of an agent that has ended.
const lastLookTime = 2 * time.Second

// lastLook reads what the agent wrote before it ended: a completion counts
// although its process is gone (R133, CONTRACT-outputs §8).
func (t *terminal) lastLook() {
	ctx, cancel := context.WithTimeout(t.ctx, lastLookTime)
	defer cancel()
	t.feed.sync(ctx)
}
