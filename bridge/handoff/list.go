package handoff

// This file makes the List document (CONTRACT-outputs §2). It upholds R21: it
// types nothing, writes nothing and waits for no agent; it shows the newest view
// of each terminal, where its pane is now.

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"akk/agents"
	"akk/bridge/rpc"
	"akk/store"
)

// followGap bounds how often a follower gets a list.
const followGap = 20 * time.Millisecond

const (
	// askAge is how old an answer of the server on where its panes are may be for
	// somebody who asks; followAge for one who follows.
	askAge    = time.Second
	followAge = 3 * time.Second
	// placeWait bounds how long a view may take to hear of its new place.
	placeWait = 200 * time.Millisecond
)

// looker is a terminal server that does not tell of every move of a pane.
type looker interface {
	// Look asks it when it was not asked within age, and tells whether what was
	// known is another now.
	Look(ctx context.Context, age time.Duration) bool
}

// look sees to it that the views of a server ("" = all) tell true places.
// It waits 400 ms at most, and only when the server is slow.
func (d *Desk) look(socket string, age time.Duration) {
	var asked sync.WaitGroup
	var moved atomic.Bool
	for _, s := range d.serverList() {
		if l, ok := s.prov.(looker); ok && (socket == "" || socket == s.id.Socket) {
			asked.Go(func() {
				if l.Look(d.ctx, age) {
					moved.Store(true)
				}
			})
		}
	}
	asked.Wait()
	if !moved.Load() {
		return
	}
	late := time.NewTimer(placeWait)
	defer late.Stop()
	for ch := d.changed.wait(); !d.placed(socket); ch = d.changed.wait() {
		select {
		case <-ch:
		case <-late.C:
			return
		}
	}
}

// placed tells whether all views have heard where their pane is.
func (d *Desk) placed(socket string) bool {
	for _, v := range d.unordered(socket) {
		for _, s := range d.serverList() {
			i, ok := s.prov.Pane(v.Info.Pane)
			if ok && s.id == v.Info.Server && (i.SessionName != v.Info.SessionName || i.WindowIndex != v.Info.WindowIndex || i.PaneIndex != v.Info.PaneIndex) {
				return false
			}
		}
	}
	return true
}

// views returns the newest view of every terminal of a server ("" = all), in
// the order of server, session, window, pane, each where its pane really is.
func (d *Desk) views(socket string) []*view {
	d.look(socket, askAge)
	return d.ordered(socket)
}

// ordered is views as they are known.
func (d *Desk) ordered(socket string) []*view {
	out := d.unordered(socket)
	order(out)
	return out
}

func order(views []*view) {
	slices.SortFunc(views, func(a, b *view) int {
		return cmp.Or(strings.Compare(a.Info.Server.Socket, b.Info.Server.Socket), strings.Compare(a.Info.SessionName, b.Info.SessionName),
			cmp.Compare(a.Info.WindowIndex, b.Info.WindowIndex), cmp.Compare(a.Info.PaneIndex, b.Info.PaneIndex), cmp.Compare(a.key.PID, b.key.PID))
	})
}

// unordered is views in no order.
func (d *Desk) unordered(socket string) []*view {
	d.mu.Lock()
	out := make([]*view, 0, len(d.terms))
	for t := range d.terms {
		if v := t.view.Load(); v != nil && !v.Exited && (socket == "" || t.srv.id.Socket == socket) {
			out = append(out, v)
		}
	}
	d.mu.Unlock()
	return out
}

// List is the document of the list tool.
func (d *Desk) List(ctx context.Context, c rpc.Caller, p rpc.ListParams) (rpc.List, error) {
	d.ready(ctx, p.Socket, false)
	d.look(p.Socket, askAge)
	return d.list(c, p)
}

func (d *Desk) list(c rpc.Caller, p rpc.ListParams) (rpc.List, error) {
	if p.Agent != "" && agents.Kind(p.Agent) != agents.Codex && agents.Kind(p.Agent) != agents.Claude {
		return rpc.List{}, usage("use codex or claude", "no agent is called %q", p.Agent)
	}
	out := rpc.List{
		StoreDir:        d.db.Dir(),
		Store:           rpc.StoreState{Status: "compatible", StoreDir: d.db.Dir(), Readable: true, Writable: true, FormatVersion: schemaVersion},
		Reconciliation:  rpc.Reconciliation{Status: "completed"},
		ActionContracts: contracts(),
		TerminalWatches: d.listWatches(c, p), UnavailableManagedTurns: []rpc.Turn{},
		TerminalScan: rpc.TerminalScan{Enabled: true, Agents: []string{}, ApprovalScan: "enabled"},
	}
	for _, a := range d.agents {
		out.TerminalScan.Agents = append(out.TerminalScan.Agents, string(a.Kind()))
	}
	seen := map[string]bool{}
	var older map[string][]Turn
	if p.All {
		var err error
		if older, err = d.bySession(); err != nil {
			return rpc.List{}, err
		}
	}
	views := d.ordered(p.Socket)
	for _, v := range views {
		if v.current != nil {
			seen[v.current.ID] = true
		}
	}
	if p.Agent != "" {
		views = slices.DeleteFunc(views, func(v *view) bool { return string(v.kind) != p.Agent })
	}
	if out.Terminals = d.rowsOf(views, c); p.All {
		out.Terminals = slices.Clone(out.Terminals)
		for i, v := range views {
			if v.session != nil {
				r := d.row(v, c)
				r.Managed.History = d.history(v, c, older[v.session.ID])
				out.Terminals[i] = r
			}
		}
	}
	slices.SortFunc(out.TerminalScan.Agents, strings.Compare)
	out.TerminalScan.TerminalCount = len(out.Terminals)
	out.TerminalScan.ActiveCount = len(out.Terminals)
	out.UnavailableManagedTurns = append(out.UnavailableManagedTurns, d.unavailable(c, p, seen)...)
	out.Servers, _ = d.Servers(context.Background())
	slices.SortFunc(out.Servers, func(a, b rpc.Server) int { return strings.Compare(a.Socket, b.Socket) })
	return out, nil
}

// historyMost bounds the Turns of one row's history.
const historyMost = 100

// bySession are all stored Turns by their Session, newest first.
func (d *Desk) bySession() (map[string][]Turn, error) {
	out := map[string][]Turn{}
	err := d.db.View(func(tx *store.Tx) error {
		return turns.Newest(tx, func(_ string, t Turn, _ store.Rev) (bool, error) {
			if s := out[t.SessionID]; len(s) <= historyMost {
				out[t.SessionID] = append(s, t)
			}
			return true, nil
		})
	})
	return out, err
}

// history draws the Turns that the row does not show already. They keep only
// the actions of a Turn that nothing runs in (CONTRACT-outputs §2.2).
func (d *Desk) history(v *view, c rpc.Caller, ts []Turn) []rpc.Turn {
	var out []rpc.Turn
	shown := v.current // as managed shows it
	if shown == nil {
		shown = v.recent
	}
	for _, t := range ts {
		if shown != nil && t.ID == shown.ID || len(out) == historyMost {
			continue
		}
		doc := turnDoc(&t, nil)
		for name, a := range d.turnActions(&t, nil, c) {
			if name == "close" || name == "retry_callback" {
				doc.AvailableActions[name] = a
			}
		}
		out = append(out, doc)
	}
	return out
}

// unavailable are Turns whose terminal is not there now: those that are still
// open, with All every one.
func (d *Desk) unavailable(c rpc.Caller, p rpc.ListParams, seen map[string]bool) []rpc.Turn {
	var out []rpc.Turn
	d.mu.Lock()
	liveSessions := map[string]bool{}
	for t := range d.terms {
		if v := t.view.Load(); v != nil && v.session != nil {
			liveSessions[v.session.ID] = true
		}
	}
	open := make([]Turn, 0, len(d.live))
	for _, l := range d.live {
		t, _ := l.get()
		open = append(open, t)
	}
	for session := range d.opens { // of before the daemon's start
		if !liveSessions[session] {
			open = append(open, d.tallies[session].open...)
		}
	}
	d.mu.Unlock()
	add := func(t Turn) {
		if seen[t.ID] || liveSessions[t.SessionID] || p.Agent != "" && t.Agent != p.Agent {
			return
		}
		doc := turnDoc(&t, nil)
		maps.Copy(doc.AvailableActions, d.turnActions(&t, nil, c))
		if p.Status != "" && doc.Status != p.Status {
			return
		}
		seen[t.ID] = true
		out = append(out, doc)
	}
	if p.All || p.Status != "" {
		_ = d.db.View(func(tx *store.Tx) error {
			return turns.Each(tx, func(string, error) {}, func(_ string, t Turn, _ store.Rev) error { add(t); return nil })
		})
		return out
	}
	for _, t := range open {
		switch t.Outcome {
		case "", OutcomeLost, OutcomeUncertain, OutcomeNotAccepted:
			add(t)
		}
	}
	return out
}

// Follow yields the list now and after every change; when the reader is slow
// it gets the latest.
func (d *Desk) Follow(ctx context.Context, c rpc.Caller, p rpc.ListParams, yield func(rpc.List) error) error {
	tick := time.NewTicker(followAge)
	defer tick.Stop()
	d.look(p.Socket, askAge)
	for {
		ch := d.changed.wait()
		l, err := d.list(c, p)
		if err != nil {
			return err
		}
		if err := yield(l); err != nil {
			return err
		}
		for changed := false; !changed; {
			select {
			case <-ch:
				changed = true
			case <-tick.C:
				d.look(p.Socket, followAge)
			case <-ctx.Done():
				return ctx.Err()
			case <-d.ctx.Done():
				return nil
			}
		}
		select { // gather what comes together
		case <-time.After(followGap):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
