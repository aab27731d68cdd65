package handoff

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"

	"akk/agents"
	"akk/bridge/rpc"
)

// A kept row is what would be drawn now, for each kind of caller, before and
// after a task; and it goes with its view.
// alone makes a list of it, where a test calls something else view.
func alone(v *view) []*view { return []*view{v} }

func TestKeptRows(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	callers := []rpc.Caller{human, host("a"), host("b"), {Kind: "agent", TerminalID: row.ID}, {Kind: "unknown"}, {},
		{Kind: "host", Session: "a", InPane: true}, {Kind: "agent", AgentPID: row.PID}}
	view := func() *view {
		v, bad := b.desk.resolve(p.id, "")
		if bad != nil {
			t.Fatal(bad)
		}
		return v
	}
	check := func(when string) {
		t.Helper()
		v := view()
		b.until("a row is kept "+when, func() bool {
			v = view()
			b.desk.rowOf(v, human)
			v.rows.mu.Lock()
			defer v.rows.mu.Unlock()
			return len(v.rows.rows) > 0
		})
		for range 2 { // drawn, then kept
			for _, c := range callers {
				kept, err := json.Marshal(b.desk.rowOf(v, c))
				if err != nil {
					t.Fatal(err)
				}
				drawn, _ := json.Marshal(b.desk.row(v, c))
				if all, err := json.Marshal(b.desk.rowsOf(alone(v), c)); err != nil || string(all) != "["+string(drawn)+"]" {
					t.Fatalf("%s, a list for %+v (%v):\n%s\n%s", when, c, err, all, drawn)
				}
				if string(kept) != string(drawn) {
					t.Fatalf("%s, for %+v:\n%s\n%s", when, c, kept, drawn)
				}
			}
		}
	}
	check("at rest")
	resting := alone(view())
	if first, again := b.desk.rowsOf(resting, human), b.desk.rowsOf(resting, human); &first[0] != &again[0] {
		t.Fatal("a list at rest is made twice")
	}
	if _, err := b.callAs(host("a"), row.ID, "one"); err != nil {
		t.Fatal(err)
	}
	check("with a task")
	v := view()
	p.ask("may I")
	b.row(p, agents.Blocked)
	if now := view(); now == v || now.rows.rows != nil {
		t.Fatal("a new view has rows of the old one")
	}
	check("with a dialog")
}

// A Turn that stalled can be renewed until its hard limit and no longer: the
// kept row says so in the same moment, and a view is published for those who
// wait for one.
func TestKeptRowAtTheHardLimit(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	b.row(p, agents.Idle)
	s := b.sendAs(human, p, "do it", func(p *rpc.SendParams) { p.AgentTimeoutMinutes, p.AgentHardTimeoutMinutes = 0.005, 0.06 })
	p.set(func(p *player) { p.activity = agents.Idle })
	hard := *b.turn(s.TurnID).HardAt
	view := func() *view {
		v, bad := b.desk.resolve(p.id, "")
		if bad != nil {
			t.Fatal(bad)
		}
		return v
	}
	kept := func() bool {
		v := view()
		offered := b.desk.rowOf(v, human).AvailableActions["renew"].Tool != ""
		v.rows.mu.Lock()
		defer v.rows.mu.Unlock()
		return offered && len(v.rows.rows) > 0
	}
	b.until("a kept row offers renew, or it is too late to see that", func() bool { return kept() || !time.Now().Before(hard) })
	v := view()
	b.until("the hard limit", func() bool { return !time.Now().Before(hard) })
	if b.desk.rowOf(v, human).AvailableActions["renew"].Tool != "" {
		t.Error("the kept row offers renew over the hard limit")
	}
	b.until("a view of after the hard limit", func() bool { return !view().at.Before(hard) })
	if _, err := b.desk.Renew(t.Context(), human, rpc.RenewParams{TurnID: s.TurnID}); err == nil {
		t.Error("renewed over its hard limit")
	}
}

// At rest, no predicate of a row changes with the clock alone but
// at the time that the row itself tells.
func TestRowsAtRestKeepStill(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		at := noon
		ago := func(name string) time.Time {
			return at.Add(-rapid.SampledFrom([]time.Duration{0, workingQuiet / 2, workingQuiet, typingQuiet - 1, typingQuiet, time.Hour}).Draw(t, name))
		}
		turn := runningTurn()
		turn.Limits = newLimits(nil, 0, rapid.SampledFrom([]float64{-1, 0.01, 0.1, 5, 0}).Draw(t, "hard"), at)
		if rapid.Bool().Draw(t, "stalled") {
			stalled := ago("stalled at")
			turn.StalledAt = &stalled
		}
		if rapid.Bool().Draw(t, "asked") {
			turn.Asked = "q"
		}
		if rapid.Bool().Draw(t, "entered only") {
			turn.Stage, turn.AcceptedAt = StageEntered, nil
		}
		f := idleFacts()
		f.Turn, f.Since, f.TypedAt = &turn, ago("since"), ago("typed")
		f.Plan.Clear, f.Plan.Interrupt.Key = agents.ClearPlan{First: "a", Again: "b"}, "Escape"
		f.Reading.Activity = rapid.SampledFrom([]agents.Activity{agents.Idle, agents.Working, agents.Blocked, agents.Starting, agents.ActivityUnknown}).Draw(t, "activity")
		f.Reading.Composer = rapid.SampledFrom([]agents.Composer{agents.ComposerEmpty, agents.ComposerDraft, agents.ComposerUnknown}).Draw(t, "composer")
		f.TurnOpen = f.Reading.Activity == agents.Working
		f.Runs = []string{turn.ID}
		if rapid.Bool().Draw(t, "held") {
			f.Hold = &rpc.Hold{By: "human", Soft: rapid.Bool().Draw(t, "soft"), Since: ago("hold")}
		}
		v := &view{Facts: f, kind: agents.Codex, current: &turn, at: at, sendable: sendable(f, at)}
		offers := func(now time.Time) [5]bool {
			_, bad := turn.renew(0, now)
			return [5]bool{bad == nil, v.sendScope(human, now) != "", len(interruptible(f, now)) == 0, len(cancellable(f, turn.ID, now)) == 0,
				len(respondable(f, &Dispatch{Turn: turn, Phase: PhaseRunning}, v, now)) == 0}
		}
		rests := at.Add(rowRests)
		if typed := f.TypedAt.Add(typingQuiet); typed.After(rests) {
			rests = typed
		}
		until := v.restsUntil(rests)
		for _, later := range []time.Duration{0, 1, time.Second, typingQuiet, time.Minute, 6 * time.Minute, 13 * time.Hour, 1000 * time.Hour} {
			now := rests.Add(later)
			if !until.IsZero() && !now.Before(until) {
				until = v.restsUntil(now)
				rests = now // drawn anew
			}
			if then, now := offers(rests), offers(now); then != now {
				t.Fatalf("%s later the row would offer %v, not %v", later, now, then)
			}
		}
	})
}
