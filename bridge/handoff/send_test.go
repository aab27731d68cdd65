package handoff

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"akk/agents"
	"akk/bridge/rpc"
	"akk/panes"
)

func withID(id string) func(*rpc.SendParams) { return func(p *rpc.SendParams) { p.RequestID = id } }

func wait(ms int) func(*rpc.SendParams) { return func(p *rpc.SendParams) { p.AcceptWaitMillis = ms } }

// Scenarios 49 and 50: a request id is one dispatch, over a restart too.
func TestRequestIDReplays(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	first, err := b.send(row.ID, "once", withID("msg-1"))
	if err != nil || first.SubmissionOutcome != "agent_accepted" {
		t.Fatalf("%v %+v", err, first)
	}
	b.row(p, agents.Working)
	again, err := b.send(row.ID, "once", withID("msg-1"))
	if err != nil || !again.Replayed || again.TurnID != first.TurnID {
		t.Fatalf("%v %+v", err, again)
	}
	_, err = b.send(row.ID, "twice", withID("msg-1"))
	b.refused(err, "was used for another text")
	b.restart()
	again, err = b.send(row.ID, "once", withID("msg-1"))
	if err != nil || !again.Replayed || again.TurnID != first.TurnID || again.SubmissionOutcome != "agent_accepted" {
		t.Fatalf("after a restart: %v %+v", err, again)
	}
	if p.enters != 1 || p.bytes() != "once\r" {
		t.Fatalf("%d Enters, %q", p.enters, p.bytes())
	}
}

// The daemon ends while a turn runs; the next one tells its end (R186).
func TestRestartDuringTurn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	s, err := b.send(row.ID, "long work")
	if err != nil {
		t.Fatal(err)
	}
	b.close()
	p.complete("finished meanwhile")
	b.open()
	st, err := b.desk.Status(t.Context(), rpc.Caller{}, rpc.StatusParams{TurnID: s.TurnID, WaitMillis: 5000})
	b.until("the turn has ended", func() bool { return b.turn(s.TurnID).Outcome == OutcomeCompleted })
	if err != nil {
		t.Fatal(err)
	}
	_ = st
	if turn := b.turn(s.TurnID); turn.FinalText != "finished meanwhile" || p.enters != 1 {
		t.Fatalf("%+v", turn)
	}
	var accepted int
	for _, e := range b.events() {
		if e.TurnID == s.TurnID && e.Change == "accepted" {
			accepted++
		}
	}
	if accepted != 1 {
		t.Fatalf("accepted was told %d times", accepted)
	}
}

// Scenario 52: two sends at once, one wins, the other has typed nothing.
func TestTwoAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var won, lost int
	for _, text := range []string{"one", "two", "three"} {
		wg.Go(func() {
			s, err := b.send(row.ID, text)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil && s.SubmissionOutcome == "agent_accepted":
				won++
			case err != nil:
				lost++
			default:
				t.Errorf("%+v", s)
			}
		})
	}
	wg.Wait()
	if won != 1 || lost != 2 || p.enters != 1 {
		t.Fatalf("%d won, %d lost, %d Enters", won, lost, p.enters)
	}
}

// The same request id at once: one dispatch, both get it.
func TestSameIDAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	var wg sync.WaitGroup
	ids := make([]string, 4)
	for i := range ids {
		wg.Go(func() {
			s, err := b.send(row.ID, "same", withID("m"))
			if err != nil {
				t.Error(err)
			}
			ids[i] = s.TurnID
		})
	}
	wg.Wait()
	for _, id := range ids {
		if id != ids[0] {
			t.Fatal(ids)
		}
	}
	if p.enters != 1 {
		t.Fatalf("%d Enters", p.enters)
	}
}

// R55, R57: what comes between text and Enter: no Enter, the text is left, said
// so, and nothing is typed again.
func TestBetweenTextAndEnter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, outcome, reason string
		paste                 func(b *bench, p *player, text string) string
	}{
		{"approval", "submission_uncertain", "an approval appeared", func(_ *bench, p *player, text string) string {
			p.set(func(p *player) { p.activity, p.owner = agents.Blocked, agents.OwnerApproval })
			return text
		}},
		{"fused with a human's draft (B31)", "submission_not_accepted", "something else than the text", func(_ *bench, _ *player, text string) string { return "only after I say so " + text }},
		{"wiped (B25)", "submission_not_accepted", "never showed", func(*bench, *player, string) string { return "" }},
		{"cut (B13)", "submission_not_accepted", "something else", func(_ *bench, _ *player, text string) string { return text[:len(text)-1] }},
		{"agent replaced (scenario 43)", "submission_uncertain", "the agent has exited", func(b *bench, p *player, text string) string { b.w.leave(p); return text }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			p := b.w.play()
			p.onPaste = func(p *player, text string) string { return c.paste(b, p, text) }
			row := b.row(p, agents.Idle)
			s, err := b.send(row.ID, "do the thing")
			if err != nil || s.Status != c.outcome || !strings.Contains(s.Reason, c.reason) || !s.DoNotRetry || s.Cure == "" || !s.TerminalInputDispatched || s.Delivered {
				t.Fatalf("%v %+v", err, s)
			}
			if p.bytes() != "do the thing" {
				t.Fatalf("typed %q", p.bytes())
			}
		})
	}
}

// Scenario 44, R55: Enter is swallowed; no second one.
func TestEnterSwallowed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	p.onEnter = func(*player) {}
	row := b.row(p, agents.Idle)
	s, err := b.send(row.ID, "stay")
	if err != nil || s.Status != "submission_not_accepted" || !strings.Contains(s.Reason, "not taken") || p.enters != 1 {
		t.Fatalf("%v %+v", err, s)
	}
	if r := b.row(p, agents.Idle); r.Hold != nil || r.AvailableActions["send"].Tool != "" {
		t.Fatalf("our own draft: %+v", r.Hold)
	}
	p.accept() // the human presses Enter later: the log tells
	b.until("accepted after all", func() bool { return b.turn(s.TurnID).Stage == StageAccepted })
	p.complete("ok")
	b.until("completed", func() bool { return b.turn(s.TurnID).Outcome == OutcomeCompleted })
}

// Screen evidence alone never says accepted (R48): no log line, no acceptance.
func TestNoLogNoAcceptance(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	p.onEnter = func(p *player) { p.set(func(p *player) { p.text, p.activity = "", agents.Working }) }
	row := b.row(p, agents.Idle)
	named := func(p *rpc.SendParams) { p.RequestID = "once" }
	s, err := b.send(row.ID, "quietly", wait(100), named)
	if err != nil || s.Status != "submission_pending_acceptance" || s.AgentAcceptance != "unproven" || s.DeliveryReceipt != "" && !s.TerminalInputDispatched {
		t.Fatalf("%v %+v", err, s)
	}
	b.until("the receipt tells the key", func() bool {
		s, err := b.send(row.ID, "quietly", wait(1), named)
		return err == nil && s.TerminalInputDispatched && s.AgentAcceptance == "unproven"
	})
	b.until("Enter", func() bool { return b.turn(s.TurnID).Entered })
	b.until("uncertain", func() bool { return b.turn(s.TurnID).Outcome == OutcomeUncertain })
	p.set(func(p *player) { // the line comes late, after all
		p.tasks = append(p.tasks, "quietly")
		p.add(agents.LogEvent{Kind: agents.LogAccepted, Hash: agents.HashRequest("quietly"), TurnID: "t1"})
	})
	b.until("accepted", func() bool { return b.turn(s.TurnID).Stage == StageAccepted })
}

func TestRefusedByTheGate(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	b.w.mu.Lock()
	b.w.refuse[p.id] = &panes.Refused{Reason: "mode", Detail: "the pane went into copy mode"}
	b.w.mu.Unlock()
	s, err := b.send(row.ID, "x y")
	if err != nil || s.Status != "submission_aborted" || !s.SafeToRetry || s.TerminalInputDispatched || p.bytes() != "" {
		t.Fatalf("%v %+v", err, s)
	}
	b.w.mu.Lock()
	b.w.refuse[p.id] = panes.ErrUncertain
	b.w.mu.Unlock()
	s, err = b.send(row.ID, "x y")
	if err != nil || s.Status != "submission_uncertain" || p.bytes() != "x y" || p.enters != 0 {
		t.Fatalf("%v %+v %q", err, s, p.bytes())
	}
}

func TestAuditFails(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	b.w.mu.Lock()
	b.w.audit[p.id] = panes.ErrMoving
	b.w.mu.Unlock()
	s, err := b.send(row.ID, "x", withID("r"))
	if err != nil || s.Status != "submission_aborted" || !s.SafeToRetry || b.w.writes != 0 {
		t.Fatalf("%v %+v", err, s)
	}
	b.w.mu.Lock()
	delete(b.w.audit, p.id)
	b.w.mu.Unlock()
	if s, err = b.send(row.ID, "x", withID("r")); err != nil || s.SubmissionOutcome != "agent_accepted" {
		t.Fatalf("the same id after zero bytes: %v %+v", err, s)
	}
}

func TestFailedAndAborted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	for kind, outcome := range map[agents.LogKind]string{agents.LogFailed: OutcomeFailed, agents.LogAborted: OutcomeAborted} {
		s, err := b.send(row.ID, "task "+string(kind))
		if err != nil || s.SubmissionOutcome != "agent_accepted" {
			t.Fatalf("%v %+v", err, s)
		}
		b.row(p, agents.Working)
		p.set(func(p *player) { p.add(agents.LogEvent{Kind: kind, Err: "because"}); p.activity = agents.Idle })
		b.until(outcome, func() bool { return b.turn(s.TurnID).Outcome == outcome && b.turn(s.TurnID).Reason == "because" })
		b.row(p, agents.Idle)
	}
}

func TestAgentGoneDuringTurn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	s, _ := b.send(row.ID, "work")
	b.w.leave(p)
	b.until("lost", func() bool { return b.turn(s.TurnID).Outcome == OutcomeLost })
	if len(b.rows()) != 0 {
		t.Fatal("a row for a shell")
	}
	l, err := b.desk.List(t.Context(), rpc.Caller{}, rpc.ListParams{})
	if err != nil || len(l.UnavailableManagedTurns) != 1 || l.UnavailableManagedTurns[0].TurnID != s.TurnID {
		t.Fatalf("%v %+v", err, l.UnavailableManagedTurns)
	}
	_, err = b.send(p.id, "touch /tmp/pwned") // B50
	b.refused(err, "no agent runs in pane")
	again := b.w.playIn(p.id)
	row = b.row(again, agents.Idle)
	if row.Managed.SessionID != nil {
		t.Fatal("a new process took over the old session")
	}
	_, err = b.send(strings.TrimSuffix(row.ID, "3")+"999", "x") // another pid
	b.refused(err, "no agent's terminal")
}

// Targets (R36): the only ready one, ambiguity, the session; without an agent the
// cure (R16).
func TestTargets(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	_, err := b.send("", "x")
	b.refused(err, "no agent runs")
	p := b.w.play()
	row := b.row(p, agents.Idle)
	for _, id := range []string{"", row.ID, p.id, row.ShortRef, row.ShortRef[1:6], strings.ToUpper(row.ShortRef)} {
		s, err := b.send(id, "hello")
		if err != nil || s.TerminalID != row.ID {
			t.Fatalf("%q: %v", id, err)
		}
		b.row(p, agents.Working)
		p.complete("ok")
		b.row(p, agents.Idle)
	}
	sid := *b.row(p, agents.Idle).Managed.SessionID
	if _, err := b.send("", "by session", func(p *rpc.SendParams) { p.SessionID = sid }); err != nil {
		t.Fatal(err)
	}
	p.complete("ok")
	b.row(p, agents.Idle)
	_, err = b.send(row.ID, "x", func(p *rpc.SendParams) { p.SessionID = sid })
	b.refused(err, "both named")
	p2 := b.w.play()
	b.row(p2, agents.Idle)
	_, err = b.send("", "x")
	b.refused(err, "several terminals are ready")
	if !strings.Contains(err.Error(), row.ID) {
		t.Fatal(err)
	}
	_, err = b.send("@0000", "x")
	b.refused(err, "no agent's terminal")
	b.w.change(p.id, func(i *panes.Info) { i.WindowIndex, i.SessionName = 7, "renamed" }) // scenario 5
	b.until("the new name", func() bool { return b.row(p, agents.Idle).ID != row.ID })
	if s, err := b.send(row.ID, "by its old name"); err != nil || s.SubmissionOutcome != "agent_accepted" {
		t.Fatalf("%v %+v", err, s)
	}
}

// An agent may not send to itself.
func TestNotToItself(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	_, err := b.desk.Send(t.Context(), rpc.Caller{Kind: "agent", TerminalID: row.ID}, rpc.SendParams{ID: row.ID, Request: "x"})
	var e *rpc.Error
	if !errors.As(err, &e) || e.Code != rpc.CodeForbidden || p.bytes() != "" {
		t.Fatal(err)
	}
}

// A soft hold: begun by a text that is not ours, ended by 5 s of an empty
// composer, or by the turn that the human starts.
func TestSoftHold(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	p.set(func(p *player) { p.text = "I was thin" })
	b.until("hold", func() bool { h := b.rows()[0].Hold; return h != nil && h.Soft && h.By == "human" })
	p.set(func(p *player) { p.text = "" })
	_, err := b.send(row.ID, "x")
	b.refused(err, "typing")
	p.set(func(p *player) { p.text = "do it myself" })
	p.accept()
	b.until("the human's own turn ends the hold", func() bool { return b.rows()[0].Hold == nil })
	p.complete("ok")
	b.row(p, agents.Idle)
	p.set(func(p *player) { p.text = "hm" })
	b.until("hold", func() bool { return b.rows()[0].Hold != nil })
	p.set(func(p *player) { p.text = "" })
	start := time.Now()
	b.until("hold ends", func() bool { return b.rows()[0].Hold == nil })
	if took := time.Since(start); took < holdQuiet-100*time.Millisecond {
		t.Fatalf("the hold ended after %s", took)
	}
	if p.bytes() != "" {
		t.Fatal("typed")
	}
}

// The server dies: terminals go, the turn is lost, nothing hangs; the same
// socket can be attached again.
func TestServerGone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	s, _ := b.send(row.ID, "x")
	b.w.die()
	b.until("gone", func() bool { return len(b.rows()) == 0 })
	b.until("lost", func() bool { return b.turn(s.TurnID).Outcome == OutcomeLost })
	b.until("forgotten", func() bool { return !b.desk.Owed() && len(b.desk.Remembered()) == 0 })
	if _, err := b.desk.Attach(t.Context(), rpc.AttachParams{Socket: b.w.id.Socket}); err != nil {
		t.Fatal(err)
	}
	b.row(p, agents.Working)
}

// B40: after a restart of the server the same pane id is another terminal.
func TestReattachOnlyTheSame(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.row(b.w.play(), agents.Idle)
	b.until("remembered", func() bool { return len(b.desk.Remembered()) == 1 })
	rec := b.desk.Remembered()
	b.close()
	b.w.id.PID++
	b.start()
	if err := b.desk.Reattach(context.Background(), rec[0]); err == nil {
		t.Fatal("another server was taken for the old one")
	}
	b.until("forgotten", func() bool { return len(b.desk.Remembered()) == 0 })
	b.w.id.PID--
	if err := b.desk.Reattach(context.Background(), rec[0]); err != nil {
		t.Fatal(err)
	}
}
