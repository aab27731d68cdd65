package live

// Tasks of Hosts: sent, refused while another runs, sent into one that runs,
// sent by two at once.

import (
	"encoding/json"
	"fmt"
	"regexp"
	"sync"
	"testing"
	"time"

	"akk/agents"
	"akk/agents/lab"
	"akk/agents/lab/product"
)

// A task is accepted once and its Host called back once; a repeated request id
// is answered from the record (scenario 49); the next task makes a new Turn of
// the same Session (R39, R48, R54, R60, R175).
func TestLiveSend(t *testing.T) {
	each(t, lab.Options{}, func(c *scene) {
		one := c.host.Accepted(c.s.Pane, quick)
		if !one.Delivered || !one.TerminalInputDispatched {
			c.T.Errorf("the send tells %s", one.Doc)
		}
		c.completed(one.TurnID, quickAnswer)
		c.ready()
		var receipts [2]product.Sent
		for i := range receipts {
			out, errs, code := c.Run("send", c.s.Pane, other, "--request-id", "req-1", "--json")
			if json.Unmarshal([]byte(out), &receipts[i]) != nil || code != 0 && receipts[i].SubmissionOutcome != "pending_acceptance" {
				c.T.Fatalf("akk send: exit %d, %s%s", code, out, errs)
			}
		}
		if a, b := receipts[0], receipts[1]; a.TurnID != b.TurnID || a.Replayed || !b.Replayed || a.SessionID != one.SessionID || a.TurnID == one.TurnID {
			c.T.Errorf("first %+v\nagain %+v", a, b)
		}
		c.completed(receipts[0].TurnID, otherAnswer)
		c.host.WaitTold(one.TurnID, toldDone(quickAnswer))
		c.host.WaitTold(receipts[0].TurnID) // a program without a profile is called back nowhere
		c.asked(quick, 1)
		c.asked(other, 1)
	})
}

// While a task runs a second one is refused with who sent the first, also to a
// Host that was offered the terminal when it was still idle (R4, R31, R40).
func TestLiveSteerRefused(t *testing.T) {
	each(t, lab.Options{}, func(c *scene) {
		late := c.Host("host-b")
		r, _ := late.List().Pane(c.s.Pane)
		one := c.running(c.host, held)
		c.refused(c.s.Pane, regexp.MustCompile(`the agent is working.* on `+one.TurnID+`, sent by a Host`))
		c.refusedTo(late.Send(r.AvailableActions["send"], neverTyped), regexp.MustCompile(`the agent is working.*`+one.TurnID))
		c.s.Model.Open()
		c.completed(one.TurnID, heldAnswer)
		c.host.WaitTold(one.TurnID, toldDone(heldAnswer))
		c.asked(held, 1)
	})
}

// A task that a Host sends into another's running one, as it was offered
// (terminal_user_explicit), is taken by the agent once; both end, and where it
// goes into the first one's turn its Host is told (B130, R41, R42).
func TestLiveQueue(t *testing.T) {
	each(t, lab.Options{}, func(c *scene) {
		one := c.running(c.host, held)
		second := c.Host("host-b")
		var a product.Action
		for end := time.Now().Add(time.Minute); a.Scope != "terminal_user_explicit"; time.Sleep(50 * time.Millisecond) { // not between two frames
			r, _ := second.List().Pane(c.s.Pane)
			if a = r.AvailableActions["send"]; time.Now().After(end) {
				c.T.Fatalf("a busy terminal offers %+v", a)
			}
		}
		var two product.Sent
		var wg sync.WaitGroup
		wg.Go(func() { two = second.Send(a, other) })
		// It stands in the agent's queue before the first answer goes on.
		queued := map[agents.Kind]string{agents.Codex: "Messages to be submitted", agents.Claude: "Press up to edit queued messages"}
		c.see(queued[c.s.Binary.Agent], other)
		c.s.Model.Open()
		wg.Wait()
		if two.TurnID == "" || two.Scope != "terminal_user_explicit" {
			c.T.Fatalf("the second task: %s", two.Doc)
		}
		c.completed(two.TurnID, otherAnswer)
		if t := c.Turn(two.TurnID); !t.Steer {
			c.T.Errorf("the second task was not sent into the first: %+v", t)
		}
		t := c.WaitTurn(one.TurnID, "ended", product.Ended)
		if c.s.Binary.Agent == agents.Codex {
			// It goes into the agent's own turn, whose last words are both tasks' answer.
			if t.Outcome != "completed" || t.FinalText != otherAnswer {
				c.T.Errorf("the first task: %+v", t)
			}
			c.host.WaitTold(one.TurnID, toldSteered, toldDone(otherAnswer))
		} else {
			// It waits in the agent's queue and becomes a turn of its own.
			c.completed(one.TurnID, heldAnswer)
			c.host.WaitTold(one.TurnID, toldDone(heldAnswer))
		}
		second.WaitTold(two.TurnID, toldDone(otherAnswer))
		c.asked(held, 1)
		if texts, _ := c.s.Model.Asked(other); texts != 1 {
			c.T.Errorf("the model was given the second task %d times", texts)
		}
	})
}

// Two Hosts that send at once: exactly one wins, of the other not a byte is
// typed (scenario 52).
func TestLiveRace(t *testing.T) {
	const rounds = 3
	each(t, lab.Options{}, func(c *scene) {
		hosts := []*product.Host{c.host, c.Host("host-b")}
		for round := range rounds {
			c.ready()
			actions := make([]product.Action, len(hosts))
			for i, h := range hosts {
				r, _ := h.List().Pane(c.s.Pane)
				actions[i] = r.AvailableActions["send"]
			}
			sent := make([]product.Sent, len(hosts))
			task := func(i int) string { return fmt.Sprintf("%s Round %d of host %d.", quick, round, i) }
			begin := make(chan struct{})
			var wg sync.WaitGroup
			for i, h := range hosts {
				wg.Go(func() { <-begin; sent[i] = h.Send(actions[i], task(i)) })
			}
			close(begin)
			wg.Wait()
			won := -1
			for i, s := range sent {
				if s.TurnID != "" {
					if won >= 0 {
						c.T.Errorf("round %d: both were let in", round)
					}
					won = i
				}
			}
			if won < 0 {
				c.T.Fatalf("round %d: nobody won: %s\n%s", round, sent[0].Doc, sent[1].Doc)
			}
			c.refusedTo(sent[1-won], regexp.MustCompile(`another task is being typed|the agent is working`))
			c.completed(sent[won].TurnID, quickAnswer)
			hosts[won].WaitTold(sent[won].TurnID, toldDone(quickAnswer))
			c.asked(task(won), 1)
			c.asked(task(1-won), 0)
		}
	})
}
