package handoff

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"akk/agents"
	"akk/bridge/outbox"
	"akk/bridge/rpc"
	"akk/store"
)

// R176: a callback's type is one of the contract's.
func TestR176Types(t *testing.T) {
	types := []string{"task", "question", "answer", "progress", "blocked", "done", "error", "control"}
	q := &ask{Key: "k", Print: "p", Kind: askApproval}
	for _, change := range []string{changeQuestion, changeStalled, OutcomeCompleted, OutcomeFailed, OutcomeLost, OutcomeAborted, "control"} {
		turn := runningTurn()
		turn.StalledAt, turn.Outcome = &noon, change
		got := turnCalls(&turn, change, q, &control{reason: "human_takeover", id: "1"})
		if len(got.add) != 1 || !slices.Contains(types, got.add[0].Envelope.Event.Type) {
			t.Errorf("%s: %+v", change, got.add)
		}
		if n := len([]rune(got.add[0].Envelope.Event.Body)); n == 0 && change != "control" || n > outbox.BodyMax {
			t.Errorf("%s: a body of %d characters", change, n)
		}
	}
}

// R185: one broken record takes no other with it: Watches, Turns and callbacks
// of others go on, the fault is told by the check.
func TestR185OneBroken(t *testing.T) {
	b := newBench(t)
	p := b.w.play()
	host := hostCaller("s-1")
	s := b.sendAs(host, p, "do it")
	w, err := b.desk.Watch(t.Context(), host, rpc.WatchParams{ID: p.id})
	if err != nil {
		t.Fatal(err)
	}
	b.close()
	db, err := store.Open(b.dir, store.Options{Schema: Schema()})
	if err != nil {
		t.Fatal(err)
	}
	raw := []*store.Collection[json.RawMessage]{store.NewCollection[json.RawMessage]("watches"), store.NewCollection[json.RawMessage]("turns"), store.NewCollection[json.RawMessage]("deliveries")}
	if err := db.Update(func(tx *store.Tx) error {
		for _, c := range raw {
			if _, err := c.Put(tx, "broken", json.RawMessage(`[1]`), 0); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if r, err := CheckStore(db); err != nil || len(r.Faults) != 3 {
		t.Errorf("the check tells %q %v", r.Faults, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	b.open()
	in := b.bridge(host, rpc.OutcomeAccepted)
	p.complete("done")
	kinds := []string{(<-in.got).Event.Type, (<-in.got).Event.Type}
	slices.Sort(kinds)
	if !slices.Equal(kinds, []string{"completed", "done"}) {
		t.Errorf("told %v", kinds)
	}
	if st := b.turnStatus(s.TurnID); st.Status != "idle" {
		t.Error(st.Status)
	}
	if _, err := b.desk.WatchStatus(t.Context(), host, rpc.WatchIDParams{WatchID: w.Watch.WatchID}); err != nil {
		t.Error(err)
	}
	if _, err := b.desk.Turns(t.Context(), host, rpc.TurnsParams{All: true}); err != nil {
		t.Error(err)
	}
	in.stop()
	b.desk.Close() // the check of the end would find the three
	_ = b.db.Close()
	b.desk = nil
}

// R187, scenario 62: only the end of exactly the accepted native turn ends a
// Turn, whatever other turns, logs and screens say.
func TestR187ExactTurn(t *testing.T) {
	b := newBench(t)
	p := b.w.play()
	s := b.sendAs(rpc.Caller{Kind: "human"}, p, "do it")
	p.set(func(p *player) {
		p.add(agents.LogEvent{Kind: agents.LogCompleted, TurnID: "another", Text: "not ours"})
		p.activity = agents.Idle
	})
	b.row(p, agents.Idle)
	if st := b.turnStatus(s.TurnID); st.Status != "waiting_for_agent" || st.FinalText != "" {
		t.Errorf("another turn's end: %+v", st)
	}
	p.work()
	p.complete("ours")
	b.until("its own end", func() bool { return b.turnStatus(s.TurnID).FinalText == "ours" })
}

// R221: a store of the first schema is brought up to date; created_at stays.
func TestR221UpgradeLimits(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	old := store.Schema{Version: 1, Tables: []store.Table{sessions, turns, receipts, servers, journal}}
	db, err := store.Open(dir, store.Options{Schema: old})
	if err != nil {
		t.Fatal(err)
	}
	open, done := Turn{ID: "turn-1", SessionID: "session-1", CreatedAt: noon, Stage: StageAccepted}, Turn{ID: "turn-2", SessionID: "session-1", CreatedAt: noon, Outcome: OutcomeCompleted}
	if err := db.Update(func(tx *store.Tx) error {
		if _, err := sessions.Put(tx, "session-1", Session{ID: "session-1"}, 0); err != nil {
			return err
		}
		for _, x := range []Turn{open, done} {
			if _, err := turns.Put(tx, x.ID, x, 0); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if db, err = store.Open(dir, store.Options{Schema: Schema()}); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_ = db.View(func(tx *store.Tx) error {
		a, _, err := turns.Get(tx, "turn-1")
		c, _, err2 := turns.Get(tx, "turn-2")
		if err != nil || err2 != nil || a.HardAt == nil || !a.HardAt.Equal(noon.Add(hardDefault)) || !a.CreatedAt.Equal(noon) || c.HardAt != nil {
			t.Errorf("%+v %+v %v %v", a.Limits, c.Limits, err, err2)
		}
		return nil
	})
	for _, err := range db.Check() {
		t.Error(err)
	}
}

// R222: the folder is 0700, the file 0600, the first reader makes them so.
func TestR222Modes(t *testing.T) {
	b := newBench(t)
	for path, want := range map[string]os.FileMode{b.dir: 0o700, filepath.Join(b.dir, store.FileName): 0o600} {
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != want {
			t.Errorf("%s: %v %v", path, st.Mode().Perm(), err)
		}
	}
}

// R223: nothing of the store is held while a callback is on its way.
func TestR223NothingHeld(t *testing.T) {
	b := newBench(t)
	p := b.w.play()
	host := hostCaller("s-1")
	s := b.sendAs(host, p, "do it")
	p.complete("done")
	hold, held := make(chan struct{}), make(chan struct{})
	go func() {
		_ = b.desk.Deliveries(t.Context(), host, func(rpc.Lease) error { close(held); <-hold; return nil })
	}()
	<-held
	done := make(chan error, 1)
	go func() {
		_, err := b.db.Compact()
		if err == nil {
			err = b.desk.writer.Sync(func(*store.Tx) error { return nil })
		}
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(60 * time.Second):
		t.Error("the store waits for a callback")
	}
	if st := b.turnStatus(s.TurnID); st.CallbackDelivery == nil || st.CallbackDelivery.AttemptState != "in_flight" {
		t.Errorf("%+v", st.CallbackDelivery)
	}
	close(hold)
}

// R226, R213: what leaves the store holds no request, no answer of a dialog, no
// draft, no command of a callback and no secret.
func TestR226Export(t *testing.T) {
	b := newBench(t)
	p := b.w.play()
	host := hostCaller("s-1")
	b.sendAs(host, p, "the most private request")
	p.ask("x")
	b.row(p, agents.Blocked)
	p.work()
	p.set(func(p *player) { p.text = "a private draft" })
	b.row(p, agents.Working)
	p.set(func(p *player) { p.text = "" })
	p.complete("done with sk-abcdefghijkl")
	b.until("told", func() bool {
		l, _ := b.desk.Callbacks(t.Context(), host, rpc.CallbacksParams{})
		return len(l) > 0 && l[0].Type == "done"
	})
	var all strings.Builder
	tables := map[string]bool{}
	if err := b.desk.StoreExport(t.Context(), rpc.Caller{Kind: "human"}, func(r rpc.StoreRow) error {
		tables[r.Table] = true
		all.Write(r.Value)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, x := range []string{"private request", "private draft", "hunter2", "sk-abcdefghijkl"} {
		if strings.Contains(all.String(), x) {
			t.Errorf("the store tells %q", x)
		}
	}
	if !tables["turns"] || !tables["deliveries"] || !tables["journal"] {
		t.Errorf("tables: %v", tables)
	}
	if err := b.desk.StoreExport(t.Context(), host, func(rpc.StoreRow) error { return nil }); err == nil {
		t.Error("a Host exported the store")
	}
}

// R227: the end waits for what is being written, and may come twice.
func TestR227End(t *testing.T) {
	b := newBench(t)
	p := b.w.play()
	host := hostCaller("s-1")
	s := b.sendAs(host, p, "do it")
	p.complete("done")
	b.close()
	b.close()
	b.open()
	b.until("nothing was lost", func() bool { return b.turnStatus(s.TurnID).Status == "idle" })
	l, err := b.desk.Callbacks(t.Context(), host, rpc.CallbacksParams{})
	if err != nil || len(l) != 1 || l[0].Type != "done" {
		t.Errorf("%+v %v", l, err)
	}
}
