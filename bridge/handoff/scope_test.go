package handoff

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"akk/agents"
	"akk/bridge/rpc"
)

func explicitly(p *rpc.SendParams) { p.Explicit = true }

// sendAs sends as a caller and waits for the agent's proof.
func (b *bench) callAs(c rpc.Caller, id, text string, more ...func(*rpc.SendParams)) (rpc.Send, error) {
	p := rpc.SendParams{ID: id, Request: text, AcceptWaitMillis: 10_000}
	for _, f := range more {
		f(&p)
	}
	return b.desk.Send(b.t.Context(), c, p)
}

// old makes what a human typed old enough for an explicit send.
func (b *bench) old(p *player) {
	b.t.Helper()
	b.until("a human has not typed for long", func() bool { // the terminal's own clock, moved by hand
		v, err := b.desk.resolve(p.id, "")
		if err != nil {
			b.t.Fatal(err)
		}
		term := b.desk.terminalOf(v)
		_ = term.ask(b.t.Context(), func(t *terminal, reply func()) {
			if !t.facts.TypedAt.IsZero() {
				t.facts.TypedAt = t.facts.TypedAt.Add(-typingQuiet)
			}
			t.publish()
			reply()
		})
		return len(explicit(term.view.Load().Facts, time.Now())) == 0
	})
}

// R41, R45: an explicit send replaces an old draft: cleared step by step,
// proven empty, text, one Enter; the draft is kept and put back (akk restore).
func TestExplicitReplacesADraft(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	p.set(func(p *player) { p.text = "merge it\nonly after\nI say so" })
	b.until("seen typing", func() bool { return b.rows()[0].Hold != nil })
	_, err := b.callAs(human, row.ID, "do it now", explicitly)
	b.refused(err, "a human typed in the pane") // within 5 s
	_, err = b.callAs(human, row.ID, "do it now")
	b.refused(err, "is typing") // B32: follow_current never clears a draft, however old
	b.old(p)
	if a := b.rowsAs(human)[0].AvailableActions["send"]; a.Scope != scopeExplicit || !a.RequiresUserIntent || !strings.Contains(a.Use, "draft") {
		t.Fatalf("%+v", a)
	}
	if a, ok := b.rowsAs(rpc.Caller{Kind: "unknown"})[0].AvailableActions["send"]; ok {
		t.Fatalf("offered to nobody in particular: %+v", a)
	}
	for _, c := range []rpc.Caller{{Kind: "agent", TerminalID: "terminal:x"}, {Kind: "unknown"}, {Kind: "host", TerminalID: "terminal:x"}} {
		_, err = b.callAs(c, row.ID, "do it now", explicitly)
		forbidden(t, err)
	}
	s, err := b.callAs(human, row.ID, "do it now", explicitly)
	if err != nil || s.SubmissionOutcome != "agent_accepted" || s.Scope != scopeExplicit {
		t.Fatalf("%v %+v", err, s)
	}
	if got := p.bytes(); got != "\x05\x15\x7f\x15\x7f\x15do it now\r" {
		t.Fatalf("typed %q", got)
	}
	p.complete("ok")
	b.row(p, agents.Idle)
	_, err = b.desk.RestoreDraft(t.Context(), rpc.Caller{Kind: "agent"}, rpc.TargetParams{ID: row.ID})
	forbidden(t, err)
	r, err := b.desk.RestoreDraft(t.Context(), human, rpc.TargetParams{ID: row.ID})
	if err != nil || !r.Restored {
		t.Fatalf("%v %+v", err, r)
	}
	b.until("the draft is back", func() bool { p.mu.Lock(); defer p.mu.Unlock(); return p.text == "merge it\nonly after\nI say so" })
	if p.enters != 1 {
		t.Fatal("an Enter with the draft")
	}
	_, err = b.desk.RestoreDraft(t.Context(), human, rpc.TargetParams{ID: row.ID})
	b.refused(err, "no draft")
}

// The clearing goes wrong: nothing is pasted, nothing submitted, the draft is kept.
func TestExplicitClearFails(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, reason string
		keys         func(*player, string)
	}{
		{"nothing happens", "could not be cleared", func(*player, string) {}},
		{"somebody types", "somebody typed", func(p *player, _ string) { p.set(func(p *player) { p.text = "half" }) }},
		{"a dialog", "an approval appeared", func(p *player, _ string) {
			p.set(func(p *player) { p.activity, p.owner = agents.Blocked, agents.OwnerApproval })
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			p := b.w.play()
			p.onKeys = c.keys
			row := b.row(p, agents.Idle)
			p.set(func(p *player) { p.text = "a draft" })
			b.until("seen typing", func() bool { return b.rows()[0].Hold != nil })
			b.old(p)
			s, err := b.callAs(human, row.ID, "task", explicitly)
			if err != nil || s.Status != "submission_not_accepted" || !strings.Contains(s.Reason, c.reason) || !strings.Contains(s.Reason, "akk restore") || !s.DoNotRetry {
				t.Fatalf("%v %+v", err, s)
			}
			if got := p.bytes(); strings.Contains(got, "task") || strings.Contains(got, "\r") {
				t.Fatalf("typed %q", got)
			}
		})
	}
}

// Scenario 58, R43: what has the keyboard refuses an explicit send with zero
// input; R42: work that goes on does not.
func TestExplicitBoundaries(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	plan := agents.SubmitPlan{Clear: agents.ClearPlan{First: "a", Again: "b"}}
	for _, c := range []struct {
		name string
		want string // "" = goes
		set  func(*Facts)
	}{
		{"idle", "", func(*Facts) {}},
		{"working", "", func(f *Facts) { f.Reading.Activity = agents.Working }},
		{"unknown activity", "", func(f *Facts) { f.Reading.Activity = agents.ActivityUnknown }},
		{"queued", "", func(f *Facts) { f.Reading.ComposerFlags = []string{"queued"} }},
		{"the task before is not accepted", "", func(f *Facts) { f.Turn = &Turn{ID: "t", Stage: StageEntered} }},
		{"a context switch waits for a decision", "", func(f *Facts) { f.Handoff = &Turn{ID: "t"} }},
		{"an old draft", "", func(f *Facts) {
			f.Reading.Composer, f.Reading.Draft, f.Reading.DraftEnd = agents.ComposerDraft, "x", true
		}},
		{"a typing human of long ago", "", func(f *Facts) { f.Hold, f.TypedAt = &rpc.Hold{By: "human", Soft: true}, now.Add(-typingQuiet) }},
		{"approval", "owner", func(f *Facts) { f.Reading.Owner = agents.OwnerApproval }},
		{"questionnaire", "owner", func(f *Facts) { f.Reading.Owner = agents.OwnerQuestionnaire }},
		{"editor", "owner", func(f *Facts) { f.Reading.Owner = agents.OwnerEditor }},
		{"viewer", "owner", func(f *Facts) { f.Reading.Owner = agents.OwnerViewer }},
		{"menu", "owner", func(f *Facts) { f.Reading.Owner = agents.OwnerMenu }},
		{"startup", "owner", func(f *Facts) { f.Reading.Owner = agents.OwnerStartup }},
		{"shell", "owner", func(f *Facts) { f.Reading.Owner = agents.OwnerShell }},
		{"nobody knows who", "owner", func(f *Facts) { f.Reading.Owner = agents.OwnerUnknown }},
		{"a dialog that typing keeps away", "activity", func(f *Facts) { f.Reading.Activity = agents.Blocked }},
		{"starting", "activity", func(f *Facts) { f.Reading.Activity = agents.Starting }},
		{"a human's hold", "hold", func(f *Facts) { f.Hold = &rpc.Hold{By: "human"} }},
		{"a human typed 4.9 s ago", "typing", func(f *Facts) { f.TypedAt = now.Add(-typingQuiet + 100*time.Millisecond) }},
		{"another send", "busy", func(f *Facts) { f.Busy = "turn-x" }},
		{"a popup", "composer", func(f *Facts) { f.Reading.ComposerFlags = []string{"popup"} }},
		{"shell mode", "composer", func(f *Facts) { f.Reading.ComposerFlags = []string{"shell_mode"} }},
		{"a collapsed paste can't be put back", "composer", func(f *Facts) {
			f.Reading.Composer, f.Reading.ComposerFlags = agents.ComposerDraft, []string{"collapsed"}
		}},
		{"the cursor inside of the draft", "composer", func(f *Facts) { f.Reading.Composer, f.Reading.Draft = agents.ComposerDraft, "x" }},
		{"a draft without a certified plan (R47)", "composer", func(f *Facts) {
			f.Plan, f.Reading.Composer, f.Reading.DraftEnd = agents.SubmitPlan{}, agents.ComposerDraft, true
		}},
		{"a long draft", "composer", func(f *Facts) {
			f.Reading.Composer, f.Reading.Draft, f.Reading.DraftEnd = agents.ComposerDraft, strings.Repeat("x\n", 9)+"x", true
		}},
		{"an unreadable composer", "composer", func(f *Facts) { f.Reading.Composer = agents.ComposerUnknown }},
		{"copy mode", "mode", func(f *Facts) { f.Info.InMode = true }},
		{"background", "background", func(f *Facts) { f.Background = true }},
		{"a recording", "demo", func(f *Facts) { f.Info.Demo = "codex 1" }},
		{"a half frame", "frame", func(f *Facts) { f.Frame = false }},
	} {
		f := idleFacts()
		f.Plan = plan
		c.set(&f)
		got := ""
		if m := explicit(f, now); len(m) > 0 {
			got = m[0].Code
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// A steer: over another Host's running Turn it goes through, that Turn stays
// watched, both are told; it is queued until the agent takes it (B130, B131).
func TestSteer(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	first, err := b.callAs(host("a"), row.ID, "long work")
	if err != nil || first.SubmissionOutcome != "agent_accepted" {
		t.Fatalf("%v %+v", err, first)
	}
	b.row(p, agents.Working)
	_, err = b.callAs(host("b"), row.ID, "me too") // it was shown nothing: follow_current
	b.refused(err, "working")
	if !strings.Contains(err.Error(), first.TurnID) || !strings.Contains(err.Error(), "a Host") {
		t.Fatalf("the owner is not named: %v", err)
	}
	a := b.rowsAs(host("b"))[0].AvailableActions["send"]
	if a.Scope != scopeExplicit || !strings.Contains(a.Use, first.TurnID) {
		t.Fatalf("%+v", a)
	}
	p.mu.Lock()
	p.onEnter = func(p *player) { p.set(func(p *player) { p.tasks, p.text = append(p.tasks, p.text), "" }) } // queued
	p.mu.Unlock()
	second, err := b.desk.Send(t.Context(), host("b"), rpc.SendParams{ID: row.ID, Request: "this way", AcceptWaitMillis: 100}) // as it was shown
	if err != nil || second.Scope != scopeExplicit {
		t.Fatalf("%v %+v", err, second)
	}
	b.until("Enter", func() bool { return b.turn(second.TurnID).Entered })
	time.Sleep(1200 * time.Millisecond) // longer than acceptance may take: it is queued, not uncertain
	if turn := b.turn(second.TurnID); !turn.open() || !turn.Steer {
		t.Fatalf("%+v", turn)
	}
	if _, ok := b.rowsAs(host("b"))[0].AvailableActions["send"]; !ok {
		t.Fatal("the offer is made again by the next list")
	}
	p.set(func(p *player) { // the step ends: the agent takes it into its turn
		p.add(agents.LogEvent{Kind: agents.LogAccepted, Hash: agents.HashRequest("this way"), TurnID: "t1"})
	})
	b.until("accepted", func() bool { return b.turn(second.TurnID).Stage == StageAccepted })
	if turn := b.turn(first.TurnID); !turn.open() {
		t.Fatalf("the first ended: %+v", turn)
	}
	p.set(func(p *player) {
		p.add(agents.LogEvent{Kind: agents.LogCompleted, TurnID: "t1", Text: "both done"})
		p.activity = agents.Idle
	})
	for _, id := range []string{first.TurnID, second.TurnID} {
		b.until("both completed", func() bool { return b.turn(id).Outcome == OutcomeCompleted && b.turn(id).FinalText == "both done" })
	}
	told := 0
	for _, e := range b.events() {
		if e.Change == "steered" && e.TurnID == first.TurnID && strings.Contains(e.Reason, "a Host") {
			told++
		}
	}
	if told != 1 {
		t.Fatalf("told %d times", told)
	}
	b.restart()
	b.row(p, agents.Idle)
	if n := b.rows()[0].Managed.TurnCount; n != 2 {
		t.Fatalf("%d turns", n)
	}
}

// R4: an offer is for one call of the Host that saw it, for 10 minutes.
func TestOffers(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	var o offers
	a, b := host("a"), host("b")
	o.show(a, "t1", true, now)
	o.show(b, "t2", true, now)
	for _, c := range []struct {
		who  rpc.Caller
		term string
		at   time.Duration
		want bool
	}{{b, "t1", 0, false}, {human, "t1", 0, false}, {a, "t1", time.Minute, true}, {a, "t1", time.Minute, false}, {b, "t2", offerTTL + 1, false}} {
		if got := o.take(c.who, c.term, now.Add(c.at)); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	o.show(a, "t1", true, now)
	o.show(a, "t1", false, now) // a later list takes it back
	if o.take(a, "t1", now) {
		t.Error("a withdrawn offer")
	}
	for i := range 3 * offersMax {
		o.show(a, "t"+strings.Repeat("x", i%700), true, now)
	}
	if len(o.m) > offersMax {
		t.Errorf("%d offers kept", len(o.m))
	}
}

// R3, R37: session_exact is strict; R38: follow_current adopts the human's switch.
func TestSessionExact(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.w.agent.kind = agents.Claude
	p := b.w.play()
	row := b.row(p, agents.Idle)
	if a := row.AvailableActions["send"]; a.Scope != scopeFollow {
		t.Fatalf("no session yet: %+v", a)
	}
	s, err := b.callAs(human, row.ID, "one")
	if err != nil {
		t.Fatal(err)
	}
	p.complete("ok")
	row = b.row(p, agents.Idle)
	a := row.AvailableActions["send"]
	if a.Scope != scopeExact || a.Arguments["session_id"] != s.SessionID {
		t.Fatalf("%+v", a)
	}
	exactly := func(p *rpc.SendParams) { p.ID, p.SessionID = "", s.SessionID }
	two, err := b.callAs(human, "", "two", exactly)
	if err != nil || two.Scope != scopeExact || two.SessionID != s.SessionID {
		t.Fatalf("%v %+v", err, two)
	}
	p.complete("ok")
	b.row(p, agents.Idle)
	p.set(func(p *player) { p.native = "another"; p.add(agents.LogEvent{Kind: agents.LogSession}) }) // the human's /clear
	b.until("seen", func() bool { return b.rows()[0].NativeAgentSessionID == "another" })
	_, err = b.callAs(human, "", "three", exactly)
	b.refused(err, "no longer what the agent shows") // never downgraded
	r := b.rows()[0]
	if r.ManagementState != "conflict" || r.HandoffState != "external_handoff_adoptable" || r.AvailableActions["send"].Scope != scopeFollow {
		t.Fatalf("%+v", r.AvailableActions)
	}
	three, err := b.callAs(human, row.ID, "three")
	if err != nil || three.SessionID == s.SessionID || three.SubmissionOutcome != "agent_accepted" {
		t.Fatalf("%v %+v", err, three)
	}
	v, _ := b.desk.resolve(row.ID, "")
	if v.session.Lineage != "human_observed" || v.session.Generation != 2 { // R7
		t.Fatalf("%+v", v.session)
	}
	_, err = b.callAs(human, "", "x", func(p *rpc.SendParams) { p.ID, p.SessionID, p.Explicit = "", s.SessionID, true })
	b.refused(err, "explicit")
}

// Two live terminals that show one conversation: neither is a managed target.
func TestSharedConversation(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	if _, err := b.callAs(human, row.ID, "one"); err != nil {
		t.Fatal(err)
	}
	p.complete("ok")
	b.row(p, agents.Idle)
	q := b.w.play()
	b.row(q, agents.Idle)
	q.set(func(q *player) { q.native = p.native; q.add(agents.LogEvent{Kind: agents.LogSession}) })
	b.until("both are told", func() bool {
		n := 0
		for _, r := range b.rows() {
			if r.ManagementState == "conflict" && r.ManagementConflict.Kind == conflictShared && r.AvailableActions["send"].Tool == "" && r.NativeIdentityState == "ambiguous" {
				n++
			}
		}
		return n == 2
	})
	_, err := b.callAs(rpc.Caller{Kind: "unknown"}, row.ID, "x")
	b.refused(err, "another terminal shows the same conversation")
	b.w.leave(q)
	b.until("the other one is free again", func() bool { rows := b.rows(); return len(rows) == 1 && rows[0].AvailableActions["send"].Tool != "" })
}

// Scenario 56, R41, R50, R53: the store is broken; an explicit send still goes
// once, and says that nobody keeps it.
func TestExplicitWithoutAStore(t *testing.T) {
	d := Dispatch{Turn: Turn{ID: "turn-1", Scope: scopeExplicit, Hash: agents.HashRequest("the task")}, Text: "the task",
		Plan: agents.SubmitPlan{SettleMillis: 100, DrawMillis: 400, AcceptMillis: 500, Clear: agents.ClearPlan{First: "a", Again: "b"}}}
	now := time.Unix(1_800_000_000, 0)
	broken := errors.New("disk full")
	pastes, enters := 0, 0
	f := idleFacts()
	step := func(e Event) {
		now = now.Add(50 * time.Millisecond)
		e.Now, e.Facts = now, f
		var effs []Effect
		d, effs = d.Step(e)
		for _, eff := range effs {
			switch eff.Kind {
			case EffPaste:
				pastes++
			case EffEnter:
				enters++
			}
		}
	}
	step(Event{Kind: EvStart})
	step(Event{Kind: EvAudited})
	step(Event{Kind: EvCommitted, Commit: d.Await, Err: broken})
	f = draftFacts("the task")
	step(Event{Kind: EvInput})
	step(Event{Kind: EvFacts})
	step(Event{Kind: EvCommitted, Commit: d.Await, Err: broken})
	for range 6 {
		step(Event{Kind: EvTick})
	}
	step(Event{Kind: EvInput})
	if pastes != 1 || enters != 1 || d.Phase != PhaseAccept || !d.Turn.Unmanaged {
		t.Fatalf("%d pastes, %d Enters, %+v", pastes, enters, d)
	}
	if s := sendDoc(d.Turn, false); s.ManagementMode != "unmanaged" || s.ObservationMode != "none" || s.Capabilities.Callback {
		t.Fatalf("%+v", s)
	}
	// A managed send stops there.
	d = Dispatch{Turn: Turn{ID: "turn-2", Scope: scopeFollow}, Text: "x"}
	f = idleFacts()
	step(Event{Kind: EvStart})
	step(Event{Kind: EvAudited})
	step(Event{Kind: EvCommitted, Commit: d.Await, Err: broken})
	if pastes != 1 || d.Turn.Outcome != OutcomeNotSubmitted {
		t.Fatalf("%d pastes, %+v", pastes, d.Turn)
	}
}

// B5: a text of several lines goes nowhere without bracketed paste.
func TestLinesNeedBracketedPaste(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	b.w.feed(p.id, "\x1b[?2004l")
	s, err := b.callAs(human, row.ID, "one\ntwo\nthree")
	if err != nil || s.Status != "submission_aborted" || !strings.Contains(s.Reason, "bracketed") || p.bytes() != "" {
		t.Fatalf("%v %+v %q", err, s, p.bytes())
	}
	if s, err = b.callAs(human, row.ID, "one line"); err != nil || s.SubmissionOutcome != "agent_accepted" { // B4: the draft is seen before Enter
		t.Fatalf("%v %+v", err, s)
	}
}

// Whatever draft is cleared comes back as it was, as far as its rows tell.
func TestRestorable(t *testing.T) {
	for _, c := range []struct {
		draft, want string
		cols        int
	}{
		{"one", "one", 80},
		{"one\ntwo", "one\ntwo", 80},
		{"a line that was broken by the\ncomposer itself", "a line that was broken by the composer itself", 34},
		{"short\n\nand a gap", "short\n\nand a gap", 80},
	} {
		if got := restorable(c.draft, c.cols); got != c.want {
			t.Errorf("%q: %q", c.draft, got)
		}
	}
}

// R29, R31: an action that is offered does not fail for a reason that was
// already visible. Random screens, holds, Turns and callers; each offer is
// taken up at once.
func TestOfferedActionsWork(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	offered := map[string]int{}
	rt := t
	schedules(t, 40, func(r *rand.Rand) {
		p := b.w.play()
		defer b.w.leave(p)
		b.row(p, agents.Idle)
		caller := pick(r, human, human, host("a"), host("a"), host("b"), rpc.Caller{Kind: "agent", TerminalID: "terminal:x"}, rpc.Caller{Kind: "unknown"})
		if r.IntN(2) == 0 {
			sender := pick(r, []rpc.Caller{human, host("a")}...)
			if r.IntN(4) == 0 {
				p.onPaste = func(*player, string) string { return "" }
			}
			_, err := b.desk.Send(b.t.Context(), sender, rpc.SendParams{ID: p.id, Request: "before", AcceptWaitMillis: 2000})
			if err != nil {
				rt.Fatal(err)
			}
			p.onPaste = nil
		}
		p.set(func(p *player) {
			p.activity = pick(r, agents.Idle, agents.Idle, agents.Working, agents.Working, agents.Blocked)
			p.owner = pick(r, agents.OwnerComposer, agents.OwnerComposer, agents.OwnerComposer, agents.OwnerComposer, agents.OwnerApproval, agents.OwnerViewer)
			p.text = pick(r, "", "", "", "draft")
			if r.IntN(5) == 0 && len(p.log) > 0 {
				p.native += "x"
				p.add(agents.LogEvent{Kind: agents.LogSession})
			}
		})
		b.until("the terminal has seen it", func() bool {
			v, bad := b.desk.resolve(p.id, "")
			p.mu.Lock()
			defer p.mu.Unlock()
			return bad == nil && v.Frame && v.Reading.Activity == p.activity && v.Reading.Owner == p.owner && (p.owner != agents.OwnerComposer || v.Reading.Draft == p.text) &&
				(len(p.log) == 0 || v.nativeID == p.native)
		})
		if r.IntN(5) == 0 {
			_, _ = b.desk.Takeover(context.Background(), human, rpc.HoldParams{ID: p.id})
		}
		v, bad := b.desk.resolve(p.id, "")
		if bad != nil {
			rt.Fatal(bad)
		}
		term := b.desk.terminalOf(v)
		if r.IntN(2) == 0 {
			_ = term.ask(b.t.Context(), func(t *terminal, reply func()) {
				if !t.facts.TypedAt.IsZero() {
					t.facts.TypedAt = t.facts.TypedAt.Add(-time.Minute)
				}
				reply()
			})
		}
		// What is visible now is what the terminal has worked through.
		_ = term.ask(b.t.Context(), func(t *terminal, reply func()) { t.publish(); reply() })
		row := b.desk.row(term.view.Load(), caller)
		names := []string{}
		for name := range row.AvailableActions {
			if name != "status" || len(row.AvailableActions) == 1 {
				names = append(names, name)
			}
		}
		name := pick(r, slices.Sorted(slices.Values(names))...)
		a := row.AvailableActions[name]
		offered[name+" "+a.Scope]++
		arg := func(k string) string { s, _ := a.Arguments[k].(string); return s }
		var err error
		ctx, cancel := context.WithTimeout(b.t.Context(), 20*time.Second)
		defer cancel()
		reason := ""
		switch name {
		case "send":
			var s rpc.Send
			s, err = b.desk.Send(ctx, caller, rpc.SendParams{ID: arg("terminal_id"), SessionID: arg("session_id"), Explicit: a.Scope == scopeExplicit, Request: "now", AcceptWaitMillis: 50})
			if s.SubmissionOutcome == "aborted" {
				reason = s.Reason
			}
		case "cancel":
			var c rpc.Cancel
			c, err = b.desk.Cancel(ctx, caller, rpc.CancelParams{TurnID: arg("turn_id"), ID: arg("conversation_id")})
			if err == nil && !c.CancelRequested {
				reason = c.Reason
			}
		case "retry_submission":
			_, err = b.desk.RetrySubmission(ctx, caller, rpc.TurnParams{TurnID: arg("turn_id")})
		case "reconcile_binding":
			_, err = b.desk.Reconcile(ctx, caller, rpc.ReconcileParams{ID: arg("terminal_id"), ConflictingSessionID: arg("conflicting_session_id")})
		case "status":
			_, err = b.desk.Status(ctx, caller, rpc.StatusParams{ID: arg("conversation_id"), TurnID: arg("turn_id")})
		case "watch":
			_, err = b.desk.Watch(ctx, caller, rpc.WatchParams{ID: arg("terminal_id")})
		}
		if err != nil || reason != "" {
			rt.Fatalf("%s %s was offered and failed: %v %s", name, a.Scope, err, reason)
		}
	})
	t.Log(offered)
}

// schedules runs f with random numbers, n times, or as often as AKK_SCHEDULES
// says (make rapid).
func schedules(t *testing.T, n int, f func(*rand.Rand)) {
	t.Helper()
	if more, err := strconv.Atoi(os.Getenv("AKK_SCHEDULES")); err == nil {
		n = more
	}
	seed := rand.Uint64()
	for i := range n {
		func() {
			defer func() {
				if t.Failed() {
					t.Logf("schedule %d of seed %d", i, seed)
				}
			}()
			f(rand.New(rand.NewPCG(seed, uint64(i))))
		}()
		if t.Failed() {
			return
		}
	}
}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }
