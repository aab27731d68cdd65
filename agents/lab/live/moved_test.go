package live

// The process and the pane under a task: killed, started again in the same
// pane, moved about.

import (
	"regexp"
	"strings"
	"syscall"
	"testing"

	"akk/agents"
	"akk/agents/lab"
	"akk/agents/lab/product"
)

// An agent that is killed in the middle of a task: the Turn is lost, its Host
// told once, and the shell that has the pane now gets nothing (R13, R43).
func TestLiveKilled(t *testing.T) {
	each(t, lab.Options{Shell: true}, func(c *scene) {
		one := c.running(c.host, held)
		offered := c.row().ID
		kill(c.T, c.row().PID, syscall.SIGKILL)
		c.lost(one.TurnID)
		c.refused(c.s.Pane, regexp.MustCompile(`no agent runs in pane`))
		c.refused(offered, regexp.MustCompile(`no agent's terminal is called`))
		c.host.WaitTold(one.TurnID, toldLost)
		c.shell()
		c.asked(held, 1)
	})
}

// lost waits until the agent is gone and checks its Turn.
func (c *scene) lost(turn string) {
	c.T.Helper()
	c.WaitGone(c.s.Pane)
	t := c.WaitTurn(turn, "ended", product.Ended)
	if t.Outcome != "lost" || t.Status != "stalled" || len(t.Actions["cancel"].Tool) > 0 {
		c.T.Errorf("the turn of a killed agent: %+v", t)
	}
}

// shell waits for the shell's prompt, where nothing of ours may stand.
func (c *scene) shell() {
	c.T.Helper()
	scr, err := c.s.WaitScreen(c.T.Context(), "the shell's prompt", func(s lab.Screen) bool {
		return strings.Contains(s.Line(s.Y), "lab$")
	})
	if err != nil {
		c.T.Error(err)
	}
	if scr.Has(neverTyped) {
		c.T.Errorf("the shell was typed into:\n%s", scr.Text())
	}
}

// The agent ends in the middle of a task and the human starts it again in the
// same pane, anew and with its old conversation: another terminal, another
// Session, and the old Turn stays lost whatever the new process does (R1, R14,
// scenario 7).
func TestLiveRestarted(t *testing.T) {
	each(t, lab.Options{Shell: true}, func(c *scene) {
		h := c.Attach(c.s)
		one := c.running(c.host, held)
		was := c.row()
		kill(c.T, was.PID, syscall.SIGTERM)
		c.lost(one.TurnID)
		c.host.WaitTold(one.TurnID, toldLost)
		c.shell()

		bin := "'" + c.s.Binary.Native + "'"
		h.Type(bin)
		h.Press("\r")
		is := c.ready()
		if is.ID == was.ID || is.Session() != "" || is.PID == was.PID {
			c.T.Errorf("the new process is %s with session %q, the old one was %s", is.ID, is.Session(), was.ID)
		}
		c.refused(was.ID, regexp.MustCompile(`no agent's terminal is called`))
		two := c.host.Accepted(c.s.Pane, quick)
		if two.SessionID == one.SessionID {
			c.T.Errorf("the new process has the old session %s", two.SessionID)
		}
		c.completed(two.TurnID, quickAnswer)
		c.host.WaitTold(two.TurnID, toldDone(quickAnswer))

		// Once more, with the conversation of the lost task.
		now := c.row()
		kill(c.T, now.PID, syscall.SIGTERM)
		c.WaitGone(c.s.Pane)
		c.shell()
		again := bin + " --resume "
		if c.s.Binary.Agent == agents.Codex {
			again = bin + " resume "
		}
		h.Type(again + was.NativeSession)
		h.Press("\r")
		c.WaitRow(c.s.Pane, "ready", product.Ready)
		h.Type(hands)
		h.Press("\r")
		c.WaitRow(c.s.Pane, "at work for the human", product.Working)
		c.s.Model.Open()
		r := c.ready()
		if r.NativeSession != was.NativeSession {
			c.T.Errorf("it shows the conversation %s, not %s", r.NativeSession, was.NativeSession)
		}
		three := c.host.Accepted(c.s.Pane, other)
		c.completed(three.TurnID, otherAnswer)
		c.host.WaitTold(three.TurnID, toldDone(otherAnswer))
		c.host.WaitTold(two.TurnID, toldDone(quickAnswer))
		c.host.WaitTold(one.TurnID, toldLost)
		if t := c.Turn(one.TurnID); t.Outcome != "lost" {
			c.T.Errorf("the lost turn became %+v", t)
		}
		c.asked(held, 1)
		c.asked(quick, 1)
		c.asked(other, 1)
	})
}

// The pane goes to other windows and sessions while its task runs: the same
// terminal, the same Turn, and the name that a Host was given before still
// leads to it (scenario 5, R14).
func TestLiveMoved(t *testing.T) {
	each(t, lab.Options{}, func(c *scene) {
		tmux := func(args ...string) string {
			c.T.Helper()
			out, err := c.Srv.Tmux(c.T.Context(), args...)
			if err != nil {
				c.T.Fatal(err)
			}
			return out
		}
		// A second window keeps the agent's session alive without it: tmux 3.3a
		// may crash when a session ends under a control client.
		tmux("new-window", "-d", "-t", c.s.Name+":", "exec sleep 1000000")
		wide := tmux("new-session", "-d", "-P", "-F", "#{pane_id}", "-s", "wide", "-x", "240", "-y", "40", "exec sleep 1000000")
		tmux("split-window", "-d", "-h", "-t", wide, "exec sleep 1000000")
		pane, before := c.s.Pane, c.row()
		offered := before.AvailableActions["send"]
		one := c.running(c.host, held)
		at := func(what string) {
			c.T.Helper()
			want := tmux("display-message", "-p", "-t", pane, "#{session_name}:#{window_index}.#{pane_index}")
			r := c.WaitRow(pane, what, func(r product.Row) bool {
				return r.TerminalControl.Target == want && r.Managed.CurrentTurn != nil && r.Managed.CurrentTurn.TurnID == one.TurnID
			})
			if t := c.Turn(one.TurnID); t.Outcome != "" {
				c.T.Errorf("%s: the turn is %+v", what, t)
			}
			if _, errs, code := c.Run("status", before.ID, "--json"); code != 0 {
				c.T.Errorf("%s: the old name leads nowhere: %s", what, errs)
			}
			c.T.Logf("%s: %s", what, r.ID)
		}
		tmux("swap-pane", "-d", "-s", pane, "-t", wide)
		at("swapped")
		tmux("break-pane", "-d", "-s", pane, "-n", "alone")
		at("broken out")
		tmux("move-pane", "-d", "-h", "-s", pane, "-t", wide)
		at("moved to another session")
		tmux("rename-session", "-t", "="+c.s.Name, "renamed")
		at("its session renamed")
		c.WaitRow(pane, "at work", product.Working)
		c.s.Model.Open()
		c.completed(one.TurnID, heldAnswer)
		c.ready()
		two := c.host.Send(offered, quick)
		if two.TurnID == "" {
			c.T.Fatalf("a send by the old name: %s", two.Doc)
		}
		if two.SessionID != one.SessionID {
			c.T.Errorf("the session was %s and is %s", one.SessionID, two.SessionID)
		}
		c.completed(two.TurnID, quickAnswer)
		c.host.WaitTold(one.TurnID, toldDone(heldAnswer))
		c.host.WaitTold(two.TurnID, toldDone(quickAnswer))
		c.asked(held, 1)
		c.asked(quick, 1)
	})
}
