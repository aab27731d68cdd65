package handoff

// This file answers watch, unwatch and the status of a Watch. It upholds R124
// to R130: a Watch types nothing and owns nothing; only a terminal that can't
// be watched at all is a reason to refuse, everything else is a warning.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"akk/agents"
	"akk/bridge/outbox"
	"akk/bridge/rpc"
	"akk/store"
)

// Watch begins to watch a terminal, or returns the same Watch that is active
// already (R129).
func (d *Desk) Watch(ctx context.Context, c rpc.Caller, p rpc.WatchParams) (rpc.WatchResult, error) {
	v, bad := d.watchTarget(p)
	if bad != nil {
		return rpc.WatchResult{}, bad
	}
	if p.HardTimeoutMinutes < 0 || p.HardTimeoutMinutes > minutesMax {
		return rpc.WatchResult{}, usage(fmt.Sprintf("name minutes up to %d", minutesMax), "a watch can't last %v minutes", p.HardTimeoutMinutes)
	}
	t := d.terminalOf(v)
	if t == nil {
		return rpc.WatchResult{}, notFound("the terminal %s is gone", v.id)
	}
	w := Watch{ID: "terminal-watch-" + uuid.NewString(), Source: sourceUser, Host: c.Kind, Owner: owner(c), Route: route(c)}
	if p.HardTimeoutMinutes > 0 {
		w.DeadlineAt = d.now().Add(minutes(p.HardTimeoutMinutes, watchDefault))
	}
	w, err := d.attachWatch(ctx, t, w)
	if err != nil {
		return rpc.WatchResult{}, err
	}
	return rpc.WatchResult{Watch: w.doc(rpc.WatchCallback{})}, nil
}

func (d *Desk) watchTarget(p rpc.WatchParams) (*view, *rpc.Error) {
	v, bad := d.resolve(p.ID, p.Socket)
	if bad != nil && strings.HasPrefix(p.ID, "%") {
		if pn, err := d.resolvePane(p.ID, p.Socket); err == nil && pn.view == nil {
			return nil, refused("start codex or claude in it, or name another pane", "no agent runs in pane %s (%s)", p.ID, pn.info.Command)
		}
	}
	if bad == nil && v.Info.Demo != "" {
		return nil, refused("watch a pane where an agent runs", "a recording plays in this pane")
	}
	return v, bad
}

// owner is who a record belongs to: the Host's session, or the terminal of the
// agent that asks; "" for a human.
func owner(c rpc.Caller) string {
	if c.Session != "" {
		return c.Session
	}
	return agentOf(c)
}

// route is where the caller is called back, nil if it can't be (R182: a route
// that is not whole is none).
func route(c rpc.Caller) *rpc.Route {
	if c.Route == nil || outbox.CheckRoute(*c.Route) != nil {
		return nil
	}
	r := *c.Route
	return &r
}

// attachWatch fills the Watch in on the terminal's goroutine and makes it
// durable.
func (d *Desk) attachWatch(ctx context.Context, t *terminal, w Watch) (Watch, error) {
	var got Watch
	var same bool
	done := make(chan struct{})
	if !t.box.post(message{do: func(t *terminal) {
		got, same = t.beginWatch(w)
		close(done)
	}}) {
		return Watch{}, notFound("the agent has exited")
	}
	select {
	case <-done:
	case <-t.done:
		return Watch{}, notFound("the agent has exited")
	case <-ctx.Done():
		return Watch{}, ctx.Err()
	}
	if same {
		return got, nil
	}
	// The Watch is there when it is durable (R127: a store that can't be
	// written is a reason to refuse).
	if err := d.writer.Sync(func(tx *store.Tx) error { _, _, err := watches.Get(tx, got.ID); return err }); err != nil {
		t.box.post(message{do: func(t *terminal) { t.dropWatch(got.ID) }})
		return Watch{}, unavailable("run `akk doctor`", "the watch could not be stored: %v", err)
	}
	return got, nil
}

// beginWatch runs on the terminal's goroutine. same: it was there already.
func (t *terminal) beginWatch(w Watch) (out Watch, same bool) {
	now := t.desk.now()
	w.Key, w.TerminalID, w.Agent, w.Workspace, w.Status = t.key, t.publicID(), string(t.agent.Kind()), t.facts.Info.Cwd, WatchActive
	w.CreatedAt, w.UpdatedAt, w.LastActivityAt = now, now, now
	if w.DeadlineAt.IsZero() {
		w.DeadlineAt = now.Add(watchDefault)
	}
	t.anchor(&w)
	for _, have := range t.mon.watches {
		if have.ID == w.ID || have.identical(w) {
			return have, true
		}
	}
	if t.facts.Reading.Verification == "generic" && t.vers != "" {
		w.Compatibility = "version " + t.vers + " is not certified, a general profile is used"
	}
	first := rpc.Event{Time: now, Type: "watch", Change: "begun", WatchID: w.ID, TerminalID: w.TerminalID, Pane: t.facts.Info.Pane, Socket: t.srv.id.Socket, Agent: w.Agent, Reason: w.Mode}
	w = t.desk.commitWatch(w, nil, w.TerminalID)
	t.desk.journal(first)
	t.mon.watches = append(t.mon.watches, w)
	t.observe()
	for _, have := range t.mon.watches { // it may have seen something already
		if have.ID == w.ID {
			w = have
		}
	}
	return w, false
}

// anchor finds what the Watch follows: the one task that the log says runs, or
// the terminal's activity (R125, R126).
func (t *terminal) anchor(w *Watch) {
	k := t.mon.task
	if w.Anchor.Pending {
		w.Mode, w.Confidence = modeExact, "exact"
		if t.log == nil && t.agent.Kind() != agents.Claude {
			w.Anchor.Path, w.Anchor.Offset = "", 0
		}
		return
	}
	if k.open && !k.many && k.hash != "" && k.path != "" {
		w.Mode, w.Confidence, w.NativeID = modeExact, "exact", t.nativeID()
		w.Anchor = TaskAnchor{Path: k.path, Offset: k.offset, Hash: k.hash, Turn: k.turn}
		return
	}
	w.Mode, w.Confidence = modeActivity, "best_effort"
	if w.Source == sourceFallback {
		w.Source = sourceActivity
	}
	why := "the agent's log is not known"
	switch {
	case k.open && k.many:
		why = "several messages were taken into the task that runs"
	case t.log != nil && !k.open:
		why = "no task runs now"
	}
	w.Warnings = append(w.Warnings, "exact_task_anchor_unavailable: "+why)
	if r := t.facts.Reading.Activity; r == agents.Working || r == agents.Blocked {
		w.Warnings = append(w.Warnings, "terminal_activity_fallback: the terminal's activity is watched, its end is a best effort")
	} else {
		w.Warnings = append(w.Warnings, "terminal_activity_armed_for_next_activity: it settles after the next activity has ended")
	}
}

// identical tells whether both watch the same thing for the same caller.
func (w Watch) identical(o Watch) bool {
	return w.Owner == o.Owner && w.Host == o.Host && w.Source == o.Source && w.Mode == o.Mode && w.Anchor == o.Anchor && sameRoute(w.Route, o.Route)
}

func sameRoute(a, b *rpc.Route) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

func (t *terminal) dropWatch(id string) {
	t.mon.watches = slices.DeleteFunc(t.mon.watches, func(w Watch) bool { return w.ID == id })
	t.desk.mu.Lock()
	delete(t.desk.watches, id)
	t.desk.mu.Unlock()
}

// fallbackWatch attaches the automatic Watch of a send that no Turn could be
// made for (R50 to R53). It runs on the terminal's goroutine; the anchor is
// where an acceptance of hash counts from. A failure is the caller's to tell
// and changes nothing about the send.
func (t *terminal) fallbackWatch(c rpc.Caller, messageID, hash, alt string, a Anchor) (watchID string) {
	w := Watch{ID: fallbackID(messageID, hash, t.key), Source: sourceFallback, Host: c.Kind, Owner: owner(c), Route: route(c),
		Anchor: TaskAnchor{Path: a.Path, Offset: a.Offset, Hash: hash, AltHash: alt, Since: a.Time, Pending: true}}
	w, _ = t.beginWatch(w)
	return w.ID
}

// may tells whether the caller may read and end the Watch: a human and the
// command line may, a Host and an agent only their own (R25, R130).
func (w Watch) may(c rpc.Caller) bool {
	switch c.Kind {
	case "host", "agent":
		return owns(c, w.Host, w.Owner, owner(c))
	}
	return true
}

// watch returns a Watch by its full id, newest state.
func (d *Desk) watch(c rpc.Caller, id string) (Watch, error) {
	d.mu.Lock()
	w, ok := d.watches[id]
	d.mu.Unlock()
	if !ok {
		err := d.db.View(func(tx *store.Tx) (err error) { w, _, err = watches.Get(tx, id); return err })
		if errors.Is(err, store.ErrNotFound) {
			return w, &rpc.Error{Code: rpc.CodeNotFound, Message: fmt.Sprintf("no watch is called %q", id), Cure: "name the id that `akk watch` returned"}
		}
		if err != nil {
			return w, err
		}
	}
	if !w.may(c) {
		return w, &rpc.Error{Code: rpc.CodeForbidden, Message: "this watch belongs to somebody else", Cure: "begin one of your own"}
	}
	return w, nil
}

// WatchStatus returns a Watch (R24).
func (d *Desk) WatchStatus(_ context.Context, c rpc.Caller, p rpc.WatchIDParams) (rpc.WatchResult, error) {
	w, err := d.watch(c, p.WatchID)
	if err != nil {
		return rpc.WatchResult{}, err
	}
	return rpc.WatchResult{Watch: w.doc(d.outbox.SumWatch(w.ID))}, nil
}

// Unwatch ends a Watch; one that has ended is returned as it is (scenario 73).
func (d *Desk) Unwatch(ctx context.Context, c rpc.Caller, p rpc.WatchIDParams) (rpc.WatchResult, error) {
	w, err := d.watch(c, p.WatchID)
	if err != nil {
		return rpc.WatchResult{}, err
	}
	if w.Status == WatchActive {
		if err := d.cancelWatch(ctx, w); err != nil {
			return rpc.WatchResult{}, err
		}
		if w, err = d.watch(c, p.WatchID); err != nil {
			return rpc.WatchResult{}, err
		}
	}
	return rpc.WatchResult{Watch: w.doc(d.outbox.SumWatch(w.ID))}, nil
}

// cancelWatch settles a Watch on its terminal's goroutine, or here when its
// terminal is not there.
func (d *Desk) cancelWatch(ctx context.Context, w Watch) error {
	d.mu.Lock()
	var t *terminal
	for have := range d.terms {
		if have.key.Same(w.Key) {
			t = have
		}
	}
	d.mu.Unlock()
	e := WatchEvent{Now: d.now(), Cancel: true}
	done := make(chan struct{})
	if t != nil && t.box.post(message{do: func(t *terminal) {
		defer close(done)
		for i, have := range t.mon.watches {
			if have.ID == w.ID {
				after, notices, _ := have.Step(e)
				t.mon.watches = slices.Delete(slices.Clone(t.mon.watches), i, i+1)
				t.desk.commitWatch(after, notices, t.publicID())
				return
			}
		}
	}}) {
		select {
		case <-done:
		case <-t.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	} else {
		after, notices, _ := w.Step(e)
		d.commitWatch(after, notices, w.TerminalID)
	}
	return d.writer.Sync(func(*store.Tx) error { return nil })
}

// listWatches are the Watches of the list: active ones, with all every one that
// is kept; a Host sees its own.
func (d *Desk) listWatches(c rpc.Caller, p rpc.ListParams) []rpc.Watch {
	var found []Watch
	if p.All {
		_ = d.db.View(func(tx *store.Tx) error {
			return watches.Each(tx, func(string, error) {}, func(_ string, w Watch, _ store.Rev) error { found = append(found, w); return nil })
		})
	} else {
		d.mu.Lock()
		for _, w := range d.watches {
			found = append(found, w)
		}
		d.mu.Unlock()
	}
	slices.SortFunc(found, func(a, b Watch) int {
		if n := b.CreatedAt.Compare(a.CreatedAt); n != 0 {
			return n
		}
		return strings.Compare(a.ID, b.ID)
	})
	out := []rpc.Watch{}
	for _, w := range found {
		if !w.may(c) || p.Agent != "" && w.Agent != p.Agent || p.Status != "" && w.Status != p.Status || p.Socket != "" && w.Key.Pane.Server.Socket != p.Socket {
			continue
		}
		out = append(out, w.doc(d.outbox.SumWatch(w.ID)))
	}
	return out
}
