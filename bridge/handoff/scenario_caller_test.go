package handoff

// Bug reports about who is calling, with real processes: a process below an
// actor is that actor, whatever pane is the active one.

import (
	"strconv"
	"testing"

	"akk/agents"
	"akk/bridge/rpc"
)

// B46: who a process is comes from its own ancestry and terminal, never from
// the pane that is active now or from what its environment says.
func TestB46CallerIsItself(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	socket := s.server()
	a, b := s.actor(socket, ways{}), s.actor(socket, ways{})
	ids := map[*role]string{a: a.ready().ID, b: b.ready().ID}
	for who, active := range map[*role]*role{a: b, b: a} {
		s.tmux(socket, "select-window", "-t", active.pane)
		pid, err := strconv.Atoi(who.tell("run", ""))
		if err != nil {
			t.Fatal(err)
		}
		if c := s.desk.Identify(t.Context(), pid); c.Kind != "agent" || c.TerminalID != ids[who] {
			t.Errorf("a process of %s is %s %s while %s is active", ids[who], c.Kind, c.TerminalID, active.pane)
		}
	}
	shell, err := strconv.Atoi(s.tmux(socket, "display-message", "-p", "-t", "s:0.0", "#{pane_pid}"))
	if err != nil {
		t.Fatal(err)
	}
	if c := s.desk.Identify(t.Context(), shell); c.Kind != "human" || c.TerminalID != "" {
		t.Errorf("the shell beside is %s %s", c.Kind, c.TerminalID)
	}
}

// B80: what runs inside of an agent's pane decides nothing for that agent: no
// answer, no Enter, no interrupt, no hold, by whatever door it comes; the agent
// reads not one byte of it.
func TestB80NotForItself(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.actor(s.server(), ways{})
	sent := r.accepted("work") // sent by the human: no Host owns it
	id := r.row(agents.Working).ID
	pid, err := strconv.Atoi(r.tell("run", ""))
	if err != nil {
		t.Fatal(err)
	}
	self := s.desk.Identify(t.Context(), pid)
	if self.Kind != "agent" || self.TerminalID != id {
		t.Fatalf("%+v", self)
	}
	bridge := rpc.Caller{Kind: "host", Session: "inside", TerminalID: id, PID: pid} // its Host bridge
	ctx := t.Context()
	before := r.bytes()
	for _, owner := range []string{"composer", "approval"} {
		r.tell("owner", owner)
		if owner == "approval" {
			r.tell("state", "blocked")
			r.row(agents.Blocked)
		}
		for _, c := range []rpc.Caller{self, bridge} {
			for name, call := range map[string]func() error{
				"send": func() error {
					_, err := s.desk.Send(ctx, c, rpc.SendParams{ID: id, Request: "y", AcceptWaitMillis: 100})
					return err
				},
				"send explicit": func() error {
					_, err := s.desk.Send(ctx, c, rpc.SendParams{ID: id, Request: "y", Explicit: true, AcceptWaitMillis: 100})
					return err
				},
				"respond": func() error {
					_, err := s.desk.Respond(ctx, c, rpc.RespondParams{TurnID: sent.TurnID, Request: "y", AcceptWaitMillis: 100})
					return err
				},
				"retry_submission": func() error {
					_, err := s.desk.RetrySubmission(ctx, c, rpc.TurnParams{TurnID: sent.TurnID})
					return err
				},
				"cancel a turn": func() error { _, err := s.desk.Cancel(ctx, c, rpc.CancelParams{TurnID: sent.TurnID}); return err },
				"cancel":        func() error { _, err := s.desk.Cancel(ctx, c, rpc.CancelParams{ID: id}); return err },
				"close":         func() error { _, err := s.desk.CloseTurn(ctx, c, rpc.CloseParams{TurnID: sent.TurnID}); return err },
				"takeover":      func() error { _, err := s.desk.Takeover(ctx, c, rpc.HoldParams{ID: id}); return err },
				"handback":      func() error { _, err := s.desk.Handback(ctx, c, rpc.HoldParams{ID: id}); return err },
				"restore":       func() error { _, err := s.desk.RestoreDraft(ctx, c, rpc.TargetParams{ID: id}); return err },
			} {
				if err := call(); err == nil {
					t.Errorf("%s by %s while the keys go to %s: allowed", name, c.Kind, owner)
				} else {
					forbidden(t, err)
				}
			}
			row := s.rowsAs(c)[0]
			for name, a := range row.AvailableActions {
				if name != "status" && name != "watch" {
					t.Errorf("%s is offered %s: %+v", c.Kind, name, a)
				}
			}
			if m := row.Managed.CurrentTurn; m != nil {
				for name := range m.AvailableActions {
					if name != "status" {
						t.Errorf("%s is offered %s for the turn", c.Kind, name)
					}
				}
			}
		}
	}
	if got := r.bytes(); got != before {
		t.Fatalf("read %q", got)
	}
	// What a human began in the pane is not theirs either.
	busy := s.actor(r.socket, ways{})
	inside := rpc.Caller{Kind: "host", Session: "inside", TerminalID: busy.ready().ID}
	busy.tell("state", "working")
	busy.row(agents.Working)
	_, err = s.desk.Cancel(ctx, inside, rpc.CancelParams{ID: inside.TerminalID})
	forbidden(t, err)
	if got := busy.bytes(); got != "" {
		t.Fatalf("read %q", got)
	}
	if turn := s.turn(sent.TurnID); !turn.open() || turn.InterruptedAt != nil {
		t.Fatalf("%+v", turn)
	}
}
