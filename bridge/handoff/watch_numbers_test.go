package handoff

import (
	"encoding/json"
	"strings"
	"testing"

	"akk/agents"
	"akk/bridge/rpc"
	"akk/store"
)

// This file holds tests of what a Watch's record holds and who may ask for it
// (R24, R25, R127, R131, R132).

// stored is a Watch's record and its revision.
func (b *bench) stored(id string) (w Watch, rev store.Rev) {
	b.t.Helper()
	if err := b.desk.writer.Sync(func(*store.Tx) error { return nil }); err != nil {
		b.t.Fatal(err)
	}
	if err := b.db.View(func(tx *store.Tx) (err error) { w, rev, err = watches.Get(tx, id); return err }); err != nil {
		b.t.Fatal(err)
	}
	return w, rev
}

// works makes the player's human begin a task.
func (p *player) works(text, turn string) {
	p.set(func(p *player) {
		p.add(agents.LogEvent{Kind: agents.LogTurnStarted, TurnID: turn})
		p.add(agents.LogEvent{Kind: agents.LogAccepted, Hash: agents.HashRequest(text), TurnID: turn})
		p.activity = agents.Working
	})
}

// R131: what a Watch needs to go on is in its record: terminal and process,
// workspace, warnings, route, times, status, settlement; its revision grows, its
// notifications stay in the outbox one by one.
func TestR131Record(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	h := hostCaller("s-1")
	r, err := b.desk.Watch(t.Context(), h, rpc.WatchParams{ID: row.ID, HardTimeoutMinutes: 30})
	if err != nil {
		t.Fatal(err)
	}
	id := r.Watch.WatchID
	w, first := b.stored(id)
	for what, ok := range map[string]bool{
		"endpoint and process": w.Key.Pane.Pane == p.id && w.Key.Pane.Server.Socket == b.w.id.Socket && w.Key.Pane.PanePID == row.TerminalControl.PanePID && w.Key.PID == p.pid && !w.Key.Start.IsZero(),
		"workspace":            w.Workspace == "/tmp", "warnings": len(w.Warnings) == 2, "route": w.Route != nil && *w.Route == *h.Route, "owner": w.Owner == "s-1" && w.Host == "host",
		"times": !w.CreatedAt.IsZero() && w.DeadlineAt.Sub(w.CreatedAt).Minutes() > 29 && !w.UpdatedAt.IsZero() && !w.LastActivityAt.IsZero(), "status": w.Status == WatchActive && w.Settlement == nil, "revision": first > 0,
	} {
		if !ok {
			t.Errorf("%s: %+v", what, w)
		}
	}
	p.ask("rm -rf x")
	b.until("the approval is noticed", func() bool { w, _ := b.stored(id); return len(w.Seen) == 1 })
	_, second := b.stored(id)
	p.work()
	b.row(p, agents.Working)
	if _, err := b.desk.Unwatch(t.Context(), h, rpc.WatchIDParams{WatchID: id}); err != nil {
		t.Fatal(err)
	}
	w, third := b.stored(id)
	if w.Status != WatchCancelled || w.Settlement == nil || w.Settlement.ObservedAt.IsZero() || first >= second || second >= third {
		t.Errorf("revisions %d %d %d, %+v", first, second, third, w)
	}
	list, err := b.desk.Callbacks(t.Context(), h, rpc.CallbacksParams{All: true})
	if err != nil || len(list) != 2 || list[1].Type != "approval_required" || list[1].Status != "superseded" || list[0].Type != "cancelled" || list[0].Status != "pending" {
		t.Errorf("outbox: %+v %v", list, err)
	}
}

// R132: of the task that an exact Watch follows the record holds the log, the
// place in it, the hash and the agent's own id of the turn; no word of it. The
// log is Codex's rollout or Claude's transcript, the hash that of the request.
func TestR132PrivateAnchor(t *testing.T) {
	t.Parallel()
	for _, kind := range []agents.Kind{agents.Codex, agents.Claude} {
		b := newBench(t)
		b.w.agent.kind = kind
		p := b.w.play()
		b.row(p, agents.Idle)
		p.works("build the very private thing", "t1")
		b.row(p, agents.Working)
		var w Watch
		b.until("exact", func() bool {
			r, err := b.desk.Watch(t.Context(), human, rpc.WatchParams{ID: p.id})
			if err != nil {
				t.Fatal(err)
			}
			w, _ = b.stored(r.Watch.WatchID)
			return w.Mode == modeExact
		})
		a := w.Anchor
		if a.Path == "" || a.Offset != 200 || a.Hash != agents.HashRequest("build the very private thing") || a.Turn != "t1" || a.Pending || w.NativeID != p.native {
			t.Errorf("%s: %+v", kind, w)
		}
		text, err := json.Marshal(w)
		if err != nil || strings.Contains(string(text), "private") {
			t.Errorf("%s: %s %v", kind, text, err)
		}
	}
}

// R24, R130: a Watch answers to the id that was returned and to nothing like it.
func TestR24OnlyTheID(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	r, err := b.desk.Watch(t.Context(), human, rpc.WatchParams{ID: p.id})
	if err != nil {
		t.Fatal(err)
	}
	id := r.Watch.WatchID
	for _, other := range []string{"", id[:len(id)-1], id + "0", strings.ToUpper(id), " " + id, strings.TrimPrefix(id, "terminal-watch-"), row.ID, row.ShortRef, p.id, "latest", "only"} {
		if got, err := b.desk.WatchStatus(t.Context(), human, rpc.WatchIDParams{WatchID: other}); err == nil {
			t.Errorf("status of %q: %+v", other, got)
		}
		if got, err := b.desk.Unwatch(t.Context(), human, rpc.WatchIDParams{WatchID: other}); err == nil {
			t.Errorf("unwatch of %q: %+v", other, got)
		}
	}
	if got, err := b.desk.WatchStatus(t.Context(), human, rpc.WatchIDParams{WatchID: id}); err != nil || got.Watch.Status != WatchActive {
		t.Errorf("%v %+v", err, got)
	}
}

// R25: what may be done about a Turn or a Watch is shown to the conversation
// that owns it; another Host's status gives it nothing to act with, and no
// status gives anybody the answers and approvals of a later version.
func TestR25OwnersOnly(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	own, other := hostCaller("s-1"), hostCaller("s-2")
	s := b.sendAs(own, p, "work")
	w, err := b.desk.Watch(t.Context(), own, rpc.WatchParams{ID: p.id})
	if err != nil {
		t.Fatal(err)
	}
	p.set(func(p *player) { p.asks = true })
	names := func(c rpc.Caller) string {
		st, err := b.desk.Status(t.Context(), c, rpc.StatusParams{TurnID: s.TurnID})
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, name := range []string{"respond", "cancel", "close", "approve", "respond_interaction"} {
			if _, ok := st.Conversation.AvailableActions[name]; ok {
				out = append(out, name)
			}
		}
		return strings.Join(out, " ")
	}
	b.until("its own may answer", func() bool { return strings.HasPrefix(names(own), "respond ") })
	if got := names(other); got != "" || strings.Contains(names(own), "approve") || strings.Contains(names(own), "respond_interaction") {
		t.Errorf("own %q, other %q", names(own), got)
	}
	if st, err := b.desk.WatchStatus(t.Context(), own, rpc.WatchIDParams{WatchID: w.Watch.WatchID}); err != nil || st.Watch.Capabilities.InteractionRespond {
		t.Errorf("%v %+v", err, st.Watch.Capabilities)
	}
	_, err = b.desk.WatchStatus(t.Context(), other, rpc.WatchIDParams{WatchID: w.Watch.WatchID})
	forbidden(t, err)
	_, err = b.desk.Unwatch(t.Context(), other, rpc.WatchIDParams{WatchID: w.Watch.WatchID})
	forbidden(t, err)
}

// R127: a store that can't be written is a reason to refuse a Watch; none is
// left behind that only memory knows.
func TestR127StoreCannotBeWritten(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	b.row(p, agents.Idle)
	if err := b.db.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := b.desk.Watch(t.Context(), human, rpc.WatchParams{ID: p.id})
	b.refused(err, "could not be stored")
	b.until("forgotten", func() bool { return len(b.listOf(human).TerminalWatches) == 0 })
	b.desk.Close() // the store is closed already
	b.desk = nil
}
