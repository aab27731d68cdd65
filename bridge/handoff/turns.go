package handoff

// This file lists Turns, renews them, and closes those that ended long ago. It
// upholds R170 and CONTRACT-outputs §5: renewing types nothing; the idle
// retention is one deadline, not a sweep.

import (
	"cmp"
	"container/heap"
	"context"
	"slices"
	"time"

	"akk/bridge/rpc"
	"akk/store"
)

const (
	turnsNormal = 50
	turnsMost   = 1000
)

// Turns lists Turns, newest first: those that have not ended, with All every
// one. It reads no more of the store than it needs.
func (d *Desk) Turns(_ context.Context, _ rpc.Caller, p rpc.TurnsParams) ([]rpc.Turn, error) {
	limit := p.Limit
	if limit <= 0 {
		limit = turnsNormal
	}
	limit = min(limit, turnsMost)
	views := map[string]*view{}
	for _, v := range d.views("") {
		if v.session != nil {
			views[v.session.ID] = v
		}
	}
	out := []rpc.Turn{}
	seen := map[string]bool{}
	add := func(t Turn) {
		if seen[t.ID] || p.TerminalID != "" && t.TerminalID != p.TerminalID {
			return
		}
		seen[t.ID] = true
		out = append(out, turnDoc(&t, views[t.SessionID]))
	}
	d.mu.Lock()
	var live []Turn
	for _, l := range d.live {
		t, _ := l.get()
		live = append(live, t)
	}
	for session := range d.opens { // open ones whose terminal is not there
		live = append(live, d.tallies[session].open...)
	}
	d.mu.Unlock()
	for _, t := range live {
		if p.All || t.open() && t.ClosedAt == nil {
			add(t)
		}
	}
	if p.All {
		err := d.db.View(func(tx *store.Tx) error {
			return turns.Newest(tx, func(_ string, t Turn, _ store.Rev) (bool, error) {
				add(t)
				return len(out) < limit+len(live), nil
			})
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(out, func(a, b rpc.Turn) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.TurnID, a.TurnID))
	})
	return out[:min(len(out), limit)], nil
}

// Renew takes a stalled Turn up again (R170): only while the same agent runs
// in the same pane. It types nothing.
func (d *Desk) Renew(ctx context.Context, c rpc.Caller, p rpc.RenewParams) (rpc.Renew, error) {
	if p.Minutes < 0 || p.Minutes > minutesMax {
		return rpc.Renew{}, usage("name minutes above 0", "a turn can't be watched for %v minutes", p.Minutes)
	}
	turn, _, err := d.turn(p.TurnID)
	if err != nil {
		return rpc.Renew{}, err
	}
	if (c.Kind == "host" || c.Kind == "agent") && !owns(c, turn.Host, turn.Owner, owner(c)) {
		return rpc.Renew{}, &rpc.Error{Code: rpc.CodeForbidden, Message: "this turn belongs to somebody else", Cure: "only who sent it, or the human, renews it"}
	}
	var t *terminal
	d.mu.Lock()
	for have := range d.terms {
		if have.key.Same(turn.Key) {
			t = have
		}
	}
	d.mu.Unlock()
	gone := refused("send a new task: akk list", "the agent of the turn %s is not there any more", turn.ID)
	if t == nil {
		if _, bad := turn.renew(p.Minutes, d.now()); bad != nil {
			return rpc.Renew{}, bad
		}
		return rpc.Renew{}, gone
	}
	type result struct {
		turn Turn
		err  *rpc.Error
	}
	ch := make(chan result, 1)
	if !t.box.post(message{do: func(t *terminal) {
		carry := t.carries(turn.ID)
		if carry == nil {
			_, bad := turn.renew(p.Minutes, t.desk.now())
			if bad == nil {
				bad = gone
			}
			ch <- result{err: bad}
			return
		}
		after, bad := carry.disp.Turn.renew(p.Minutes, t.desk.now())
		if bad == nil {
			t.mon.life = t.desk.now()
			t.moved(carry, after, []string{changeRenewed}, nil)
			t.observe()
		}
		ch <- result{carry.disp.Turn, bad}
	}}) {
		return rpc.Renew{}, gone
	}
	select {
	case r := <-ch:
		if r.err != nil {
			return rpc.Renew{}, r.err
		}
		if err := d.writer.Sync(func(*store.Tx) error { return nil }); err != nil {
			return rpc.Renew{}, err
		}
		doc := turnDoc(&r.turn, nil)
		out := rpc.Renew{ConversationID: turn.ID, SessionID: turn.SessionID, TurnID: turn.ID, Renewed: true, AgentTimeoutMinutes: r.turn.Inactivity.Minutes(), Conversation: &doc}
		if r.turn.HardAt != nil {
			out.AgentHardTimeoutMinutes = r.turn.HardAt.Sub(r.turn.CreatedAt).Round(time.Second).Minutes()
		}
		return out, nil
	case <-t.done:
		return rpc.Renew{}, gone
	case <-ctx.Done():
		return rpc.Renew{}, ctx.Err()
	}
}

// retention is the ended Turns in the order in which they are to be closed.
type retention []retained

type retained struct {
	id string
	at time.Time
}

func (r retention) Len() int           { return len(r) }
func (r retention) Less(i, j int) bool { return r[i].at.Before(r[j].at) }
func (r retention) Swap(i, j int)      { r[i], r[j] = r[j], r[i] }

// Push and Pop are for container/heap.
func (r *retention) Push(x any) { *r = append(*r, x.(retained)) }
func (r *retention) Pop() any {
	n := len(*r) - 1
	x := (*r)[n]
	*r = (*r)[:n]
	return x
}

// add takes a Turn that is idle: completed and not closed.
func (r *retention) add(t Turn) {
	if t.Outcome == OutcomeCompleted && t.ClosedAt == nil && t.EndedAt != nil {
		heap.Push(r, retained{t.ID, t.EndedAt.Add(idleRetention)})
	}
}

// closeIdle closes Turns whose retention is over, by one timer; a Turn that
// ends later wakes it.
func (d *Desk) closeIdle() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-d.ctx.Done():
			return
		case <-d.ended:
		case <-timer.C:
		}
		now := d.now()
		var due []string
		d.mu.Lock()
		for len(d.retained) > 0 && !d.retained[0].at.After(now) {
			due = append(due, heap.Pop(&d.retained).(retained).id)
		}
		if len(d.retained) > 0 {
			timer.Reset(d.retained[0].at.Sub(now))
		}
		d.mu.Unlock()
		for batch := range slices.Chunk(due, closeBatch) {
			d.closeTurns(batch, now)
		}
	}
}

// closeBatch bounds one transaction.
const closeBatch = 100

func (d *Desk) closeTurns(ids []string, now time.Time) {
	var closed []Turn
	d.writer.Do(func(tx *store.Tx) error {
		closed = nil
		for _, id := range ids {
			t, rev, err := turns.Get(tx, id)
			if err != nil || t.ClosedAt != nil {
				continue
			}
			t.ClosedAt, t.Closed, t.UpdatedAt = &now, "idle_timeout", now
			if _, err := turns.Put(tx, id, t, rev); err != nil {
				return err
			}
			if _, _, err := journal.Append(tx, rpc.Event{Time: now, Type: "turn", Change: changeClosed, TerminalID: t.TerminalID, TurnID: t.ID, SessionID: t.SessionID, Agent: t.Agent, Reason: t.Closed}); err != nil {
				return err
			}
			closed = append(closed, t)
		}
		return nil
	}, func(err error) {
		if err != nil {
			d.log.Error("ended turns could not be closed", "error", err)
			return
		}
		d.mu.Lock()
		for _, t := range closed {
			d.count(t)
			if l := d.live[t.ID]; l != nil {
				l.set(t)
			}
		}
		d.mu.Unlock()
		d.journalled.fire()
	})
}
