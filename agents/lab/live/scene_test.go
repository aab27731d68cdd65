package live

// One agent, a Host before it and a human behind it: what the scenarios of
// issue 6 share. It upholds: what reached the agent is counted at its model,
// what a Host was told at its command, and the times are the journal's.

import (
	"context"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	"akk/agents/lab"
	"akk/agents/lab/model"
	"akk/agents/lab/product"
)

// scene is a running agent with its akk.
type scene struct {
	*rig
	s    *lab.Session
	host *product.Host
}

// The tasks of the scenarios. An answer that holds streams until it is let go on.
const (
	quick, quickAnswer   = "Please answer the quick task.", "The quick task is answered."
	other, otherAnswer   = "Please answer the other task.", "The other task is answered."
	held, heldAnswer     = "Please answer the held task.", "The held task begins. The held task is answered."
	silent, silentAnswer = "Please think about the silent task.", "The silent task is answered."
	hands, handsAnswer   = "this is the human's own task", "The human is answered."
)

// tasks are the rules for them.
func tasks() []model.Rule {
	return []model.Rule{
		{Match: quick, Replies: []model.Reply{{model.Text(quickAnswer)}}},
		{Match: other, Replies: []model.Reply{{model.Text(otherAnswer)}}},
		{Match: held, Replies: []model.Reply{{model.Text("The held task begins." + model.Hold + " The held task is answered.")}}},
		{Match: silent, Replies: []model.Reply{{model.Gate(), model.Text(silentAnswer)}}},
		{Match: hands, Replies: []model.Reply{{model.Text("The human" + model.Hold + " is answered.")}}},
	}
}

// each plays f with both agents; the journal's times are logged at the end.
func each(t *testing.T, o lab.Options, f func(*scene)) {
	t.Helper()
	for _, k := range kinds {
		t.Run(string(k), func(t *testing.T) {
			srv, p := newLab(t)
			o := o
			o.Binary, o.Rules = binary(t, k), append(slices.Clone(o.Rules), tasks()...)
			s, err := srv.Start(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			c := &scene{rig: p, s: s}
			c.ready()
			c.host = p.Host("host-a")
			defer func() {
				t.Logf("times from the event log:\n%s", product.Table(p.Events(), 1))
				if t.Failed() {
					if scr, err := srv.Look(t.Context(), s.Pane); err == nil {
						t.Logf("the screen at the end:\n%s", scr.Text())
					}
				}
			}()
			f(c)
			c.asked(neverTyped, 0)
		})
	}
}

// ready waits until a send is offered.
func (c *scene) ready() product.Row {
	c.T.Helper()
	return c.WaitRow(c.s.Pane, "ready", product.Ready)
}

// row is the pane's row now.
func (c *scene) row() product.Row {
	c.T.Helper()
	r, ok := c.List().Pane(c.s.Pane)
	if !ok {
		c.T.Fatalf("pane %s is not listed", c.s.Pane)
	}
	return r
}

// asked checks how often the model was given text as a user's.
func (c *scene) asked(text string, want int) {
	c.T.Helper()
	if texts, turns := c.s.Model.Asked(text); texts != want || turns != want {
		c.T.Errorf("the model was given %q %d times in %d turns, not %d", text, texts, turns, want)
	}
}

// running sends a task and waits until its model is asked and the agent is seen
// to work on it.
func (c *scene) running(h *product.Host, task string) product.Sent {
	c.T.Helper()
	s := h.Accepted(c.s.Pane, task)
	ctx, cancel := context.WithTimeout(c.T.Context(), time.Minute)
	defer cancel()
	if err := c.s.Model.Wait(ctx, func([]model.Request) bool { texts, _ := c.s.Model.Asked(task); return texts > 0 }); err != nil {
		c.T.Fatalf("the model was never asked %q: %v", task, err)
	}
	c.WaitRow(c.s.Pane, "at work", product.Working)
	return s
}

// completed waits for the end of a Turn and checks its answer.
func (c *scene) completed(turn, answer string) {
	c.T.Helper()
	t := c.WaitTurn(turn, "ended", product.Ended)
	if t.Outcome != "completed" || t.Status != "idle" || t.FinalText != answer {
		c.T.Errorf("the turn is %s (%s, %s) with %q, wanted completed with %q", t.Outcome, t.Status, t.Reason, t.FinalText, answer)
	}
}

// refusedTo checks a refusal that a Host was given: nothing was typed, and why.
func (c *scene) refusedTo(s product.Sent, reason *regexp.Regexp) {
	c.T.Helper()
	if !s.IsError || s.Error == nil || s.TurnID != "" || s.Error.Next == "" || !reason.MatchString(s.Error.Message) {
		c.T.Errorf("the Host was not refused for %v: %s", reason, s.Doc)
		return
	}
	c.T.Logf("the Host: %s / %s", s.Error.Message, s.Error.Next)
}

// What a Host is told.
var (
	toldTaken   = product.Told{Type: "control", Has: "A human has taken the terminal over"}
	toldBack    = product.Told{Type: "control", Has: "handed the terminal back"}
	toldTyping  = product.Told{Type: "control", Has: "A human is typing"}
	toldSteered = product.Told{Type: "control", Has: "went into the running task"}
	toldLost    = product.Told{Type: "error", Has: "The agent is gone"}
	toldAborted = product.Told{Type: "error", Has: "interrupted"}
)

func toldDone(answer string) product.Told { return product.Told{Type: "done", Has: answer} }

// kill ends a process of this scene's own.
func kill(t *testing.T, pid int, sig os.Signal) {
	t.Helper()
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Signal(sig)
	}
	if err != nil {
		t.Fatalf("end process %d: %v", pid, err)
	}
}
