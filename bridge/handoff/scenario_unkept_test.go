package handoff

// Scenarios 56 and 59: an explicit send while the store can't keep its Turn. On
// a real tmux; the store is broken by a record that can't be read.

import (
	"encoding/json"
	"strings"
	"testing"

	"akk/agents"
	"akk/bridge/rpc"
	"akk/store"
)

// spoil puts a record into the store that can't be read.
func (s *stage) spoil(table, id string) {
	s.t.Helper()
	err := s.db.Update(func(tx *store.Tx) error {
		c := store.NewCollection[json.RawMessage](table)
		_, rev, _ := c.Get(tx, id)
		_, err := c.Put(tx, id, json.RawMessage(`"?"`), rev)
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// spoiled is a stage whose actor has a Session that the store can't read any
// more, and a Host with a callback.
func spoiled(t *testing.T) (s *stage, r *role, host rpc.Caller, session string) {
	s = newStage(t)
	r = s.actor(s.server(), ways{})
	host = hostCaller("s-56")
	sent := r.accepted("before")
	r.row(agents.Working)
	r.tell("complete", "ok")
	s.until("its end", func() bool { return s.turn(sent.TurnID).Outcome == OutcomeCompleted })
	r.ready()
	s.spoil("sessions", sent.SessionID)
	return s, r, host, sent.SessionID
}

func (s *stage) explicit(c rpc.Caller, r *role, text, id string) rpc.Send {
	s.t.Helper()
	sent, err := s.desk.Send(s.t.Context(), c, rpc.SendParams{ID: r.ready().ID, Request: text, RequestID: id, Explicit: true, AcceptWaitMillis: 50_000})
	if err != nil {
		s.t.Fatal(err)
	}
	return sent
}

// Scenario 56, R41, R50: the Turn can't be stored: one physical send, said to
// be unmanaged, watched by a Watch of its own that tells the end once; the same
// request again is no second dispatch and no second Watch.
func TestScenario56StoreBroken(t *testing.T) {
	t.Parallel()
	s, r, host, session := spoiled(t)
	in := s.bridge(host, rpc.OutcomeAccepted)
	sent := s.explicit(host, r, "by hand", "msg-56")
	if sent.AgentAcceptance != "proven" || sent.ManagementMode != "unmanaged" || sent.ObservationMode != "terminal_watch" || !strings.HasPrefix(sent.WatchID, "terminal-watch-") || !sent.Capabilities.Callback ||
		!strings.Contains(sent.Reason, "terminal-watch-user-send-") {
		t.Fatalf("%s %s %s: %s; %+v", sent.AgentAcceptance, sent.ManagementMode, sent.ObservationMode, sent.Reason, sent.Capabilities)
	}
	r.row(agents.Working)
	l, err := s.desk.List(t.Context(), host, rpc.ListParams{})
	if err != nil || len(l.TerminalWatches) != 1 || l.TerminalWatches[0].WatchMode != "exact_task" || l.TerminalWatches[0].Source != sourceFallback {
		t.Fatalf("%v %+v", err, l.TerminalWatches)
	}
	again, err := s.desk.Send(t.Context(), host, rpc.SendParams{ID: r.row(agents.Working).ID, Request: "by hand", RequestID: "msg-56", Explicit: true, AcceptWaitMillis: 5000})
	if err != nil || !again.Replayed {
		t.Fatalf("%v %+v", err, again)
	}
	r.tell("complete", "done by hand")
	if e := in.next("completed"); e.Event.Metadata["completion_text"] != "done by hand" {
		t.Errorf("%+v", e.Event)
	}
	in.quiet()
	if got := r.bytes(); got != pasted("before")+pasted("by hand") {
		t.Fatalf("read %q", got)
	}
	in.stop()
	s.forget(session)
}

// forget ends the stage's desk and takes out the spoiled Session with what
// belongs to it.
func (s *stage) forget(session string) {
	s.t.Helper()
	s.desk.Close()
	err := s.db.Update(func(tx *store.Tx) error {
		all := store.NewCollection[json.RawMessage]("sessions")
		_, rev, _ := all.Get(tx, session)
		return all.Delete(tx, session, rev)
	})
	if err != nil {
		s.t.Error(err)
	}
	_ = s.db.Close()
	s.desk = nil
}

// Scenario 59, R53: the Watch can't be stored either: the send is a success all
// the same, and says that nobody tells its end.
func TestScenario59WatchFails(t *testing.T) {
	t.Parallel()
	s, r, host, session := spoiled(t)
	v, bad := s.desk.resolve(r.pane, r.socket)
	if bad != nil {
		t.Fatal(bad)
	}
	s.spoil("watches", fallbackID("msg-59", agents.HashRequest("by hand"), v.key))
	in := s.bridge(host, rpc.OutcomeAccepted)
	sent := s.explicit(host, r, "by hand", "msg-59")
	if sent.AgentAcceptance != "proven" || !sent.Delivered || sent.ManagementMode != "unmanaged" || sent.ObservationMode != "none" || sent.Capabilities != (rpc.Capabilities{}) ||
		!strings.Contains(sent.Reason, "nobody tells its end") || !sent.DoNotRetry {
		t.Fatalf("%s %s %s: %s; %+v", sent.AgentAcceptance, sent.ManagementMode, sent.ObservationMode, sent.Reason, sent.Capabilities)
	}
	if l, err := s.desk.List(t.Context(), host, rpc.ListParams{}); err != nil || len(l.TerminalWatches) != 0 {
		t.Fatalf("%v %+v", err, l.TerminalWatches)
	}
	r.tell("complete", "done")
	r.row(agents.Idle)
	in.quiet()
	if got := r.bytes(); got != pasted("before")+pasted("by hand") {
		t.Fatalf("read %q", got)
	}
	in.stop()
	s.forget(session)
}
