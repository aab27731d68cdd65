package handoff

import (
	"strings"
	"testing"
	"time"

	"akk/agents"
	"akk/bridge/rpc"
	"akk/panes"
)

// A pane that can't be read keeps no old reading (issue 4): its activity is
// unknown with the reason, nothing is sent to it, its old screen is not shown;
// when it can be read again, all is as its screen says.
func TestPaneThatCannotBeRead(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	const cure = "end that one (tmux pipe-pane -t %0)"
	b.w.change(p.id, func(i *panes.Info) {
		i.Unsynced, i.UnsyncedWhy = time.Now(), "its pipe is in use by another pipe-pane; "+cure
	})
	now := b.row(p, agents.ActivityUnknown)
	if now.ScreenState != "unknown" || now.ActivityState != "unknown" || !strings.Contains(now.ScreenReason, "can't be read since") || !strings.Contains(now.ScreenReason, "in use by another") {
		t.Errorf("row: %s, %s (%s)", now.ActivityState, now.ScreenState, now.ScreenReason)
	}
	if now.AvailableActions["send"].Tool != "" {
		t.Errorf("a send is offered: %+v", now.AvailableActions)
	}
	_, err := b.send(row.ID, "a task")
	b.refused(err, "can't be read since")
	if !strings.Contains(err.(*rpc.Error).Cure, cure) {
		t.Errorf("cure: %#v", err)
	}
	p.set(func(p *player) { p.activity = agents.Working }) // drawn, and seen by nobody
	_, err = b.desk.Screen(t.Context(), rpc.Caller{}, rpc.ScreenParams{TargetParams: rpc.TargetParams{ID: row.ID}})
	b.refused(err, "can't be read since")
	if r := b.row(p, agents.ActivityUnknown); r.Reading.Owner != agents.OwnerUnknown {
		t.Errorf("owner %s", r.Reading.Owner)
	}
	if p.bytes() != "" || b.w.writes != 0 {
		t.Fatalf("typed %q", p.bytes())
	}
	b.w.change(p.id, func(i *panes.Info) { i.Unsynced, i.UnsyncedWhy = time.Time{}, "" })
	b.row(p, agents.Working)
	p.set(func(p *player) { p.activity = agents.Idle })
	b.row(p, agents.Idle)
	s, err := b.send(row.ID, "a task")
	if err != nil || s.SubmissionOutcome != "agent_accepted" {
		t.Errorf("%v %+v", err, s)
	}
}

// A pane that the user pipes himself, over the pipe transport: what is told is
// the true reason and its cure, not "send it again", which would never work.
func TestSendToAPaneThatItsUserPipes(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.how = panes.Pipe
	socket := s.server()
	r := s.actor(socket, ways{})
	id := r.ready().ID
	s.tmux(socket, "pipe-pane", "-t", r.pane, "exec cat >/dev/null")
	row := r.row(agents.ActivityUnknown)
	if !strings.Contains(row.ScreenReason, "in use by another pipe-pane") || row.AvailableActions["send"].Tool != "" {
		t.Errorf("%s, %+v", row.ScreenReason, row.AvailableActions["send"])
	}
	for _, more := range [][]func(*rpc.SendParams){nil, {explicitly}} {
		_, err := s.send(id, "task", more...)
		s.refused(err, "in use by another pipe-pane")
		if cure := err.(*rpc.Error).Cure; !strings.Contains(cure, "tmux pipe-pane -t "+r.pane) || strings.Contains(cure, "again") {
			t.Errorf("cure: %q", cure)
		}
	}
	if got := r.bytes(); got != "" {
		t.Errorf("read %q", got)
	}
}

// What the gate refuses is told with its own cure if it does not pass by
// itself: a pipe that came between the proof and the text.
func TestGateRefusalThatLasts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	for reason, cure := range map[string]string{"unread": "do what the reason says", "mode": "do what the reason says", "cursor": "send it again", "late": "send it again", "identity": "send it again"} {
		b.w.mu.Lock()
		b.w.refuse[p.id] = &panes.Refused{Reason: reason, Detail: "what is there; how it ends"}
		b.w.mu.Unlock()
		s, err := b.send(row.ID, "x y")
		if reason == "cursor" { // the proof is made again
			if err != nil || s.SubmissionOutcome != "agent_accepted" {
				t.Errorf("%s: %v %+v", reason, err, s)
			}
			p.complete("ok")
			b.row(p, agents.Idle)
			continue
		}
		if err != nil || s.SubmissionOutcome != "aborted" || !strings.HasPrefix(s.Cure, cure) || !strings.Contains(s.Reason, "how it ends") {
			t.Errorf("%s: %v, %s: %q", reason, err, s.Reason, s.Cure)
		}
	}
}
