package handoff

// This file ends Turns and Watches whose agent ended while no daemon looked.
// It upholds: nothing waits for ever for an agent that is proven gone; as long
// as its process may live, nothing is ended.

import (
	"time"

	"akk/bridge/outbox"
	"akk/bridge/rpc"
	"akk/panes"
	"akk/store"
)

// orphanWait is behind the last look of a server's first search for agents.
const orphanWait = 6 * time.Second

// searched settles what belongs to a server whose first search is over: an
// agent that was not found and whose process is not there is gone.
func (s *server) searched() {
	timer := time.NewTimer(orphanWait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.desk.ctx.Done():
		return
	case <-s.done:
		return // the server is gone: serverGone settles
	}
	s.desk.settleOrphans(s.id, s.left)
}

// left tells whether no agent of that key can be in its pane any more: its
// process is not there, or became another program while no daemon looked. A
// script host's title says nothing of what it runs.
func (s *server) left(k Key) bool {
	procs := s.prov.Processes(k.Pane.Pane)
	if !s.lives(k.Pane.Pane, k, procs) {
		return true
	}
	for i := range procs {
		if p := procs[i : i+1]; alive(p, k) {
			return p[0].Exe != "" && len(p[0].Args) > 0 && !scriptHost(program(p[0].Exe)) && s.desk.match(p) == nil
		}
	}
	return false
}

// settleOrphans ends what belongs to agents of a server that no terminal
// follows and that gone says are gone.
func (d *Desk) settleOrphans(id panes.ServerID, gone func(Key) bool) {
	mine := func(k Key) bool {
		return k.Pane.Server.Socket == id.Socket && k.Pane.Server.PID == id.PID && near(k.Pane.Server.Start, id.Start)
	}
	var lost []Turn
	var over []Watch
	d.mu.Lock()
	followed := func(k Key) bool {
		for t := range d.terms {
			if t.key.Same(k) {
				return true
			}
		}
		return false
	}
	for session := range d.opens {
		for _, t := range d.tallies[session].open {
			if mine(t.Key) && !followed(t.Key) {
				lost = append(lost, t)
			}
		}
	}
	for _, w := range d.watches {
		if mine(w.Key) && !followed(w.Key) {
			over = append(over, w)
		}
	}
	d.mu.Unlock()
	now := d.now()
	for _, t := range lost {
		if gone(t.Key) {
			d.lose(t, now)
		}
	}
	for _, w := range over {
		if gone(w.Key) {
			after, notices, _ := w.Step(WatchEvent{Now: now, Gone: true})
			d.commitWatch(after, notices, w.TerminalID)
		}
	}
}

// lose ends a Turn whose agent is gone.
func (d *Desk) lose(t Turn, now time.Time) {
	t.Outcome, t.Reason = OutcomeUncertain, "the agent ended while no daemon looked, and its log was not read"
	if t.AcceptedAt != nil {
		t.Outcome, t.Reason = OutcomeLost, "the agent ended while no daemon looked, before the end of the task was seen"
	}
	t.UpdatedAt, t.EndedAt = now, &now
	c := turnCalls(&t, t.Outcome, nil, nil)
	ev := rpc.Event{Time: now, Type: "turn", Change: t.Outcome, TerminalID: t.TerminalID, TurnID: t.ID, SessionID: t.SessionID, Agent: t.Agent, Reason: t.Reason}
	var sent outbox.Change
	d.writer.Do(func(tx *store.Tx) error {
		sent = nil
		have, rev, err := turns.Get(tx, t.ID)
		if err != nil || !have.open() { // its end is written already
			return err
		}
		if _, err := turns.Put(tx, t.ID, t, rev); err != nil {
			return err
		}
		if _, _, err := journal.Append(tx, ev); err != nil {
			return err
		}
		return c.apply(tx, d.outbox, &sent)
	}, func(err error) {
		if err != nil {
			d.log.Error("a turn whose agent is gone could not be stored", "turn", t.ID, "error", err)
			return
		}
		d.outbox.Committed(sent)
		_ = d.db.View(func(tx *store.Tx) error {
			if have, _, err := turns.Get(tx, t.ID); err == nil {
				t = have
			}
			return nil
		})
		d.mu.Lock()
		d.count(t)
		if l := d.live[t.ID]; l != nil {
			l.set(t)
		}
		d.mu.Unlock()
		d.journalled.fire()
		d.changed.fire()
	})
}
