package handoff

// This file holds who has a terminal. It upholds: a human's hold is above every
// Host and outlives the daemon; only the human moves it; it is in force before
// it is answered, also between a text and its Enter, and what was on its way into
// the pane has arrived by then; a human who types has a
// soft hold without asking.

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"akk/agents"
	"akk/bridge/rpc"
	"akk/store"
)

const (
	// holdQuiet is how long the composer must have been empty for a soft hold to
	// end.
	holdQuiet = 5 * time.Second
	noteMax   = 300 // characters of a human's note
	// resizeQuiet is how long after a resize nothing is said about who types: on
	// a loaded machine Claude Code drew anew after more than 1 s.
	resizeQuiet = 2 * time.Second
)

// The changes of a hold in the journal.
const (
	holdTakeover = "takeover"
	holdHandback = "handback"
	holdBegun    = "begun" // soft: a human is seen typing
	holdEnded    = "ended"
)

// HoldRecord is a human's hold as it is kept.
type HoldRecord struct {
	Key  Key      `json:"key"`
	Hold rpc.Hold `json:"hold"`
}

var holds = store.NewCollection[HoldRecord]("holds")

// holdID names a terminal in the table of holds; the start times are in the
// record.
func holdID(k Key) string {
	return fmt.Sprintf("%s %d %s %d %d", k.Pane.Server.Socket, k.Pane.Server.PID, k.Pane.Pane, k.Pane.PanePID, k.PID)
}

// nextHold is the pure move: what a human's order makes of a hold, and whether
// it changes anything. take false is a handback.
func nextHold(h *rpc.Hold, take bool, note string, now time.Time) (next *rpc.Hold, changed bool) {
	switch {
	case !take:
		return nil, h != nil
	case h != nil && !h.Soft && h.By == "human" && (note == "" || note == h.Note):
		return h, false
	case h != nil && !h.Soft && h.By == "human": // the same hold, another note
		same := *h
		same.Note = note
		return &same, true
	}
	return &rpc.Hold{By: "human", Since: now, Note: note}, true
}

// Takeover gives the terminal to the human.
func (d *Desk) Takeover(ctx context.Context, c rpc.Caller, p rpc.HoldParams) (rpc.HoldResult, error) {
	return d.moveHold(ctx, c, p, true)
}

// Handback gives it back.
func (d *Desk) Handback(ctx context.Context, c rpc.Caller, p rpc.HoldParams) (rpc.HoldResult, error) {
	return d.moveHold(ctx, c, p, false)
}

func (d *Desk) moveHold(ctx context.Context, c rpc.Caller, p rpc.HoldParams, take bool) (rpc.HoldResult, error) {
	what := "hand a terminal back"
	if take {
		what = "take a terminal over"
	}
	if bad := mayDecide(c, what); bad != nil {
		return rpc.HoldResult{}, bad
	}
	v, bad := d.resolve(p.ID, p.Socket)
	if bad != nil {
		return rpc.HoldResult{}, bad
	}
	t := d.terminalOf(v)
	if t == nil {
		return rpc.HoldResult{}, notFound("the terminal %s is gone", v.id)
	}
	note := clip(redact(clean(p.Note)), noteMax)
	var res rpc.HoldResult
	var failed error
	err := t.ask(ctx, func(t *terminal, reply func()) {
		res = t.moveHold(take, note, func(err error) { failed = err; reply() })
	})
	if err == nil && failed != nil {
		err = &rpc.Error{Code: rpc.CodeInternal, Message: "it is done now, but the store could not be written, so that a restart of the daemon forgets it: " + failed.Error(), Cure: "run `akk doctor`"}
	}
	return res, err
}

// moveHold runs on the terminal's goroutine.
func (t *terminal) moveHold(take bool, note string, then func(error)) rpc.HoldResult {
	next, changed := nextHold(t.facts.Hold, take, note, t.desk.now())
	res := rpc.HoldResult{TerminalID: t.publicID(), Hold: next, Changed: changed, Restorable: !take && t.kept != ""}
	if open := t.openTurn(); open != nil {
		res.TurnID = open.ID
	}
	if take && t.onTheWay > 0 {
		t.arrived, then = bothThen(t.arrived, then)
	}
	if !changed { // it may not be durable yet
		rec, id := t.holdRecord(), holdID(t.key)
		t.desk.writer.Do(func(tx *store.Tx) error { return putHold(tx, id, rec) }, then)
		return res
	}
	soft := t.facts.Hold != nil && t.facts.Hold.Soft
	t.facts.Hold = next
	change := holdTakeover
	if !take {
		change, note = holdHandback, ""
		t.handed = squeeze(t.facts.Reading.Draft) // what stands there now begins no new soft hold
		if t.facts.Reading.Composer != agents.ComposerDraft {
			t.handed = ""
		}
		if soft {
			note = "a human was typing"
		}
	}
	t.holdChanged(change, note, then)
	t.step(Event{Kind: EvFacts}) // a send between text and Enter stops here
	return res
}

// bothThen calls then when what it adds to the list and what it returns were
// called, each once.
func bothThen(list []func(), then func(error)) ([]func(), func(error)) {
	var left atomic.Int32
	left.Store(2)
	var failed error // of the second alone
	one := func() {
		if left.Add(-1) == 0 {
			then(failed)
		}
	}
	return append(list, one), func(err error) { failed = err; one() }
}

// holdRecord is what is kept of the hold, nil: nothing.
func (t *terminal) holdRecord() *HoldRecord {
	if h := t.facts.Hold; h != nil && !h.Soft {
		return &HoldRecord{Key: t.key, Hold: *h}
	}
	return nil
}

func putHold(tx *store.Tx, id string, rec *HoldRecord) error {
	_, rev, err := holds.Get(tx, id)
	switch {
	case err != nil && !errors.Is(err, store.ErrNotFound):
		return err
	case rec != nil:
		_, err = holds.Put(tx, id, *rec, rev)
		return err
	case rev != 0:
		return holds.Delete(tx, id, rev)
	}
	return nil
}

// holdChanged makes a hold durable and tells it, once for each Turn that it
// concerns; the Turns are marked.
func (t *terminal) holdChanged(change, reason string, then func(error)) {
	d, now := t.desk, t.desk.now()
	rec, id := t.holdRecord(), holdID(t.key)
	var events []rpc.Event
	base := rpc.Event{Time: now, Type: "hold", Change: change, TerminalID: t.publicID(), Pane: t.facts.Info.Pane, Socket: t.srv.id.Socket, Agent: string(t.agent.Kind()), Demo: t.facts.Info.Demo, Reason: reason}
	type marked struct {
		c    *carried
		turn Turn
	}
	var marks []marked
	for _, c := range t.following() {
		turn := &c.disp.Turn
		if !turn.open() {
			continue
		}
		e := base
		e.TurnID, e.SessionID = turn.ID, turn.SessionID
		events = append(events, e)
		switch {
		case t.facts.Hold != nil && turn.HumanSince == nil:
			turn.HumanSince = &now
		case t.facts.Hold == nil:
			turn.HumanSince = nil
		}
		if turn.Stage != "" { // what is not durable yet keeps the mark until it is
			marks = append(marks, marked{c, *turn})
		}
	}
	if len(events) == 0 {
		events = append(events, base)
	}
	d.writer.Do(func(tx *store.Tx) error {
		if err := putHold(tx, id, rec); err != nil {
			return err
		}
		for _, m := range marks {
			have, rev, err := turns.Get(tx, m.turn.ID)
			if err != nil { // not prepared yet
				continue
			}
			have.HumanSince = m.turn.HumanSince
			if _, err := turns.Put(tx, have.ID, have, rev); err != nil {
				return err
			}
		}
		for _, e := range events {
			if _, _, err := journal.Append(tx, e); err != nil {
				return err
			}
		}
		return nil
	}, func(err error) {
		if err != nil {
			d.log.Error("a hold could not be stored", "terminal", id, "error", err)
		} else {
			store.FailAt("handoff.hold." + change)
			for _, m := range marks {
				if now, _ := m.c.live.get(); now.open() {
					now.HumanSince = m.turn.HumanSince
					m.c.live.set(now)
				}
			}
			d.journalled.fire()
		}
		then(err)
	})
	t.holdMoved()
}

// hold sees a human typing: a text that is not ours begins a soft hold, an
// empty composer for 5 s or the turn that takes the text ends it.
func (t *terminal) hold(now time.Time) {
	r := t.facts.Reading
	if !t.facts.Frame || t.facts.Info.Demo != "" {
		return
	}
	resizing := t.resizing(now)
	if t.facts.Busy != "" {
		if t.cur != nil && t.cur.disp.untouched() { // what changes now is a human's
			t.typed(r, now)
		}
		return
	}
	if resizing {
		return
	}
	t.typed(r, now)
	foreign := r.Owner == agents.OwnerComposer && r.Composer == agents.ComposerDraft && !t.ours(r) && (t.handed == "" || t.handed != squeeze(r.Draft))
	h := t.facts.Hold
	switch {
	case foreign && h == nil:
		t.setHold(&rpc.Hold{By: "human", Soft: true, Since: now}, holdBegun)
		t.emptySince = time.Time{}
	case h == nil || !h.Soft:
	case foreign:
		t.emptySince = time.Time{}
	case r.Activity == agents.Working || r.Activity == agents.Blocked:
		// A turn runs: the text was taken. Blocked may be the first that is
		// seen of it; a draft that a dialog only hides begins a hold again.
		t.setHold(nil, holdEnded)
	case r.Owner == agents.OwnerComposer && r.Composer == agents.ComposerEmpty:
		if t.emptySince.IsZero() {
			t.emptySince = now
			t.wake(now.Add(holdQuiet))
		} else if now.Sub(t.emptySince) >= holdQuiet {
			t.setHold(nil, holdEnded)
		}
	default:
		t.emptySince = time.Time{}
	}
	if r.Composer == agents.ComposerEmpty && r.Owner == agents.OwnerComposer {
		t.leftText, t.handed = "", ""
	}
}

// resizing tells whether the pane had another size a moment ago. Until the
// agent draws anew, the server's reflow has broken its rows, and the pieces of a
// line look like a human's text.
func (t *terminal) resizing(now time.Time) bool {
	size := [2]int{t.facts.Screen.Cols, t.facts.Screen.Rows}
	if size != t.size {
		if t.size != [2]int{} {
			t.resized = now.Add(resizeQuiet)
			t.wake(t.resized)
		}
		t.size = size
	}
	return now.Before(t.resized)
}

// typed notices that the composer changed without akk: the text grew, shrank or
// appeared. What stands there at first sight counts as typed just now.
func (t *terminal) typed(r agents.Reading, now time.Time) {
	if r.Owner != agents.OwnerComposer || r.Composer != agents.ComposerDraft && r.Composer != agents.ComposerEmpty {
		return
	}
	draft := ""
	if r.Composer == agents.ComposerDraft {
		draft = squeeze(r.Draft)
	}
	if draft == t.draft {
		return
	}
	taken := draft == "" && (r.Activity != agents.Idle || t.draftOurs && t.entered()) // Enter, not erasing
	ours := draft != "" && t.ours(r)
	if !taken && !ours {
		t.facts.TypedAt = now
		t.wake(now.Add(typingQuiet)) // what this stands in the way of is offered again
	}
	t.draft, t.draftOurs = draft, ours
}

// entered tells whether the newest task's text left the composer by its own
// Enter: a short turn may be over before its work was on the screen.
func (t *terminal) entered() bool {
	return t.cur != nil && (t.cur.disp.Turn.Entered || t.cur.disp.Turn.AcceptedAt != nil)
}

// ours tells whether the composer shows a text that akk typed: before the agent
// took it, or left behind.
func (t *terminal) ours(r agents.Reading) bool {
	if t.leftText != "" && stands(r, t.leftText) {
		return true
	}
	for _, c := range t.following() {
		if c.disp.Drawn(r) {
			return true
		}
	}
	return false
}

func (t *terminal) setHold(h *rpc.Hold, change string) {
	t.facts.Hold = h
	t.holdChanged(change, "a text that akk did not type stands in the composer", func(error) {})
}

// resumeHold takes up the hold of before the daemon's start.
func (t *terminal) resumeHold() {
	_ = t.desk.db.View(func(tx *store.Tx) error {
		if rec, _, err := holds.Get(tx, holdID(t.key)); err == nil && rec.Key.Same(t.key) {
			h := rec.Hold
			t.facts.Hold = &h
		}
		return nil
	})
}

// dropHold forgets the hold of an agent that has ended.
func (t *terminal) dropHold() {
	if t.facts.Hold == nil || t.facts.Hold.Soft {
		return
	}
	id := holdID(t.key)
	t.desk.write(func(tx *store.Tx) error {
		_, rev, err := holds.Get(tx, id)
		if err != nil {
			return nil
		}
		return holds.Delete(tx, id, rev)
	})
}
