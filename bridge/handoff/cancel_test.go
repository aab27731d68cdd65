package handoff

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"akk/agents"
	"akk/bridge/rpc"
	"akk/panes"
)

// R169, scenario 38: one key at a working agent, the turn is told cancelled when
// it stopped; of a Turn, and of a raw terminal.
func TestCancel(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	s, err := b.desk.Send(t.Context(), host("a"), rpc.SendParams{ID: row.ID, Request: "work", AcceptWaitMillis: 5000})
	if err != nil || s.SubmissionOutcome != "agent_accepted" {
		t.Fatalf("%v %+v", err, s)
	}
	b.until("cancel is offered to its Host", func() bool { return b.rowsAs(host("a"))[0].AvailableActions["cancel"].Arguments["turn_id"] == s.TurnID })
	if _, ok := b.rowsAs(host("b"))[0].AvailableActions["cancel"]; ok {
		t.Fatal("another Host is offered the cancel")
	}
	_, err = b.desk.Cancel(t.Context(), host("b"), rpc.CancelParams{TurnID: s.TurnID})
	forbidden(t, err)
	_, err = b.desk.Cancel(t.Context(), host("b"), rpc.CancelParams{ID: row.ID}) // not through the pane either
	forbidden(t, err)
	c, err := b.desk.Cancel(t.Context(), host("a"), rpc.CancelParams{TurnID: s.TurnID})
	if err != nil || !c.CancelRequested || c.Interrupted != "seen" || c.Key != "C-c" || c.TurnID != s.TurnID || !c.DoNotRetry {
		t.Fatalf("%v %+v", err, c)
	}
	b.until("cancelled", func() bool {
		turn := b.turn(s.TurnID)
		return turn.Outcome == OutcomeAborted && turnStatus(&turn, nil) == "cancelled"
	})
	if got := p.bytes(); got != "work\r\x03" {
		t.Fatalf("typed %q", got)
	}
	b.row(p, agents.Idle)
	for _, params := range []rpc.CancelParams{{TurnID: s.TurnID}, {ID: row.ID}} { // an idle Codex would end
		_, err = b.desk.Cancel(t.Context(), human, params)
		b.refused(err, "nothing")
	}
	p.set(func(p *player) {
		p.activity = agents.Working
		p.add(agents.LogEvent{Kind: agents.LogAccepted, Hash: "x", TurnID: "h1"})
	}) // the human's own task
	b.row(p, agents.Working)
	b.until("cancel of the raw terminal is offered", func() bool {
		return b.rowsAs(human)[0].AvailableActions["cancel"].Arguments["conversation_id"] == row.ID
	})
	_, err = b.desk.Cancel(t.Context(), rpc.Caller{Kind: "agent", TerminalID: "terminal:v2:tmux:codex:x:0.0:1"}, rpc.CancelParams{ID: row.ID})
	forbidden(t, err)
	c, err = b.desk.Cancel(t.Context(), human, rpc.CancelParams{ID: row.ID})
	if err != nil || c.Interrupted != "seen" || c.Source != "terminal_control" || c.ConversationID != row.ID {
		t.Fatalf("%v %+v", err, c)
	}
	if len(b.rows()) != 1 || strings.Count(p.bytes(), "\x03") != 2 {
		t.Fatalf("typed %q", p.bytes())
	}
}

// The agent stops between the proof and the key: the server itself no longer
// sees the text of a running turn, and no key reaches an idle Codex.
func TestCancelStoppedMeanwhile(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.w.agent.plan.Interrupt.Shows = string(agents.Working)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	p.set(func(p *player) {
		p.activity = agents.Working
		p.add(agents.LogEvent{Kind: agents.LogAccepted, Hash: "x", TurnID: "h1"})
	})
	b.row(p, agents.Working)
	b.w.mu.Lock()
	b.w.onInput = func() { p.complete("done") }
	b.w.mu.Unlock()
	c, err := b.desk.Cancel(t.Context(), human, rpc.CancelParams{ID: row.ID})
	if err != nil || c.CancelRequested || !strings.Contains(c.Reason, "no longer on the screen") || p.bytes() != "" {
		t.Fatalf("%v %+v %q", err, c, p.bytes())
	}
}

// Whatever is not a proven working agent with an empty composer gets no key.
func TestCancelRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, part string
		set        func(*bench, *player)
	}{
		{"an approval (scenario 38, R120)", "an approval has the keys", func(_ *bench, p *player) {
			p.set(func(p *player) { p.activity, p.owner = agents.Blocked, agents.OwnerApproval })
		}},
		{"a draft: the key would clear it", "is typing", func(_ *bench, p *player) { p.set(func(p *player) { p.activity, p.text = agents.Working, "hm" }) }},
		{"unknown", "not proven", func(_ *bench, p *player) { p.set(func(p *player) { p.activity = agents.ActivityUnknown }) }},
		{"copy mode", "copy mode", func(b *bench, p *player) {
			p.set(func(p *player) { p.activity = agents.Working })
			b.w.change(p.id, func(i *panes.Info) { i.InMode = true })
		}},
		{"the log shows no open turn", "log shows no open turn", func(_ *bench, p *player) {
			p.set(func(p *player) { p.add(agents.LogEvent{Kind: agents.LogCompleted}); p.activity = agents.Working })
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			p := b.w.play()
			row := b.row(p, agents.Idle)
			c.set(b, p)
			b.until("seen", func() bool {
				v, err := b.desk.resolve(row.ID, "")
				if err != nil {
					return false
				}
				m := interruptible(v.Facts, time.Now())
				return len(m) > 0 && strings.Contains(m[0].What, c.part)
			})
			r, err := b.desk.Cancel(t.Context(), human, rpc.CancelParams{ID: row.ID})
			if err == nil && !r.CancelRequested && strings.Contains(r.Reason, c.part) && b.w.writes == 0 {
				return // it waited for the next frame, in vain
			}
			b.refused(err, c.part)
			if b.w.writes != 0 {
				t.Fatalf("typed %q", p.bytes())
			}
		})
	}
}

// The agent does not stop: told unproven, no second key; Claude's prompt without
// an answer has no end in the log: the idle screen ends the Turn.
func TestCancelUnproven(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	p.onKeys = func(*player, string) {}
	row := b.row(p, agents.Idle)
	s, err := b.send(row.ID, "work")
	if err != nil {
		t.Fatal(err)
	}
	b.row(p, agents.Working)
	time.Sleep(workingQuiet) // nothing is decided by this: an earlier cancel waits itself
	c, err := b.desk.Cancel(t.Context(), human, rpc.CancelParams{TurnID: s.TurnID})
	if err != nil || !c.CancelRequested || c.Interrupted != "unproven" || !strings.Contains(c.Reason, "not seen to stop") {
		t.Fatalf("%v %+v", err, c)
	}
	if turn := b.turn(s.TurnID); !turn.open() || strings.Count(p.bytes(), "\x03") != 1 {
		t.Fatalf("%+v %q", turn, p.bytes())
	}
	p.set(func(p *player) { p.activity = agents.Idle }) // late, and without a line in the log
	b.until("the idle screen ends it", func() bool { return b.turn(s.TurnID).Outcome == OutcomeAborted })
}

// The machine of an interrupt under random schedules: never a key without
// proof and a durable order, never two.
func TestInterruptInvariants(t *testing.T) {
	pressed := 0
	rapid.Check(t, func(rt *rapid.T) {
		now := time.Unix(1_800_000_000, 0)
		plan := agents.SubmitPlan{Interrupt: agents.InterruptPlan{Key: "\x03", Name: "C-c", EffectMillis: 700}}
		facts := func() Facts {
			f := idleFacts()
			f.Plan, f.Since, f.LogPath, f.TurnOpen = plan, now.Add(-time.Second), "/l", true
			f.Reading.Activity = rapid.SampledFrom([]agents.Activity{agents.Working, agents.Working, agents.Working, agents.Idle, agents.Blocked, agents.ActivityUnknown}).Draw(rt, "activity")
			f.Frame = rapid.IntRange(0, 4).Draw(rt, "frame") > 0
			if rapid.IntRange(0, 9).Draw(rt, "draft") == 0 {
				f.Reading.Composer = agents.ComposerDraft
			}
			return f
		}
		i := Interrupt{Plan: plan.Interrupt}
		keys, durable := 0, false
		step := func(e Event) {
			e.Now = now
			var effs []Effect
			was := i.Phase
			i, effs = i.Step(e)
			if was == IntDone && len(effs) > 0 {
				rt.Fatalf("acted after its end")
			}
			for _, eff := range effs {
				switch eff.Kind {
				case EffEnter:
					g := e.Facts
					g.Busy = ""
					if m := interruptible(g, now); len(m) > 0 || !durable || !i.Audited {
						rt.Fatalf("a key without proof: %v durable %v", m, durable)
					}
					if keys++; keys > 1 {
						rt.Fatalf("two keys")
					}
					pressed++
				}
			}
		}
		step(Event{Kind: EvStart, Facts: facts()})
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			switch rapid.SampledFrom([]string{"facts", "audited", "moving", "commit", "input", "tick", "log"}).Draw(rt, "event") {
			case "facts":
				step(Event{Kind: EvFacts, Facts: facts()})
			case "audited":
				step(Event{Kind: EvAudited, Facts: facts()})
			case "moving":
				step(Event{Kind: EvAudited, Err: panes.ErrMoving, Facts: facts()})
			case "commit":
				if i.Phase == IntReserve {
					durable = true
					step(Event{Kind: EvCommitted, Facts: facts()})
				}
			case "input":
				if i.Phase == IntKey {
					step(Event{Kind: EvInput, Facts: facts()})
				}
			case "tick":
				now = now.Add(time.Duration(rapid.IntRange(1, 900).Draw(rt, "ms")) * time.Millisecond)
				step(Event{Kind: EvTick, Facts: facts()})
			case "log":
				step(Event{Kind: EvLog, Facts: facts(), Logs: []agents.LogEvent{{Kind: agents.LogAborted}}})
			}
		}
		if i.Seen && !i.Pressed {
			rt.Fatalf("seen to stop without a key")
		}
	})
	if pressed == 0 && !fewChecks() {
		t.Fatal("no schedule came to the key")
	}
}
