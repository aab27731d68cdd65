package panes

import (
	"strings"
	"testing"
	"time"

	"akk/vtparse"
)

// This file takes a pane's client away for good: what the mirror showed last
// is told as old, with the reason, and no longer when it follows again.

func TestMirrorThatFollowsNoMoreIsTold(t *testing.T) {
	ts := newTmux(t, "cat")
	ts.run("new-session", "-d", "-s", "two", "cat")
	s := openServer(t, ts)
	for _, id := range []string{"%0", "%1"} {
		waitScreen(t, s, id, func(*vtparse.Screen) bool { return true })
		if in, _ := s.Pane(id); !in.Unsynced.IsZero() || in.UnsyncedWhy != "" {
			t.Fatalf("%s: %+v", id, in)
		}
	}
	if s.pipe != nil {
		t.Skip("the pipe's own case is in pipe_test.go")
	}
	ts.say("%1", "before")
	waitScreen(t, s, "%1", shows("before"))
	began := time.Now()
	post(t, s, func() { // a client that never gets ready keeps all others waiting
		s.starting = &session{s: s, id: "none"}
		s.mirrors["%1"].feeder.client.Close()
	})
	goOn := func() { s.starting = nil; s.startNext() }
	defer s.post(goOn)
	in := until(t, s, "%1", "the pane to be told as not mirrored", func(in Info, _ bool) bool { return !in.Unsynced.IsZero() })
	if in.Unsynced.Before(began.Add(-time.Second)) || in.Unsynced.After(time.Now()) {
		t.Errorf("since %v, it began at %v", in.Unsynced, began)
	}
	why, cure, ok := strings.Cut(in.UnsyncedWhy, "; ")
	if !ok || !strings.Contains(why, "no client") || cure == "" {
		t.Errorf("why: %q", in.UnsyncedWhy)
	}
	if listed := s.Panes(); listed[1].Pane != "%1" || listed[1].Unsynced != in.Unsynced {
		t.Errorf("listed: %+v", listed)
	}
	if h, err := s.Health(within(t)); err != nil || len(h.Unreadable) != 1 || h.Unreadable["%1"] != in.UnsyncedWhy {
		t.Errorf("health: %+v %v", h, err)
	}
	ts.say("%1", " meanwhile")
	if scr, err := s.Screen("%1"); err != nil || shows("meanwhile")(scr) {
		t.Errorf("a mirror without a client shows %v, %v", scr, err)
	}
	refused(t, s, Write{Identity: in.Identity, Paste: "x"}, "identity")
	if in, _ := s.Pane("%0"); !in.Unsynced.IsZero() {
		t.Errorf("the other pane: %+v", in)
	}
	ts.run("rename-window", "-t", "%1", "renamed") // a list in between keeps it
	in = until(t, s, "%1", "the new name", func(in Info, _ bool) bool { return in.WindowName == "renamed" })
	if in.Unsynced.IsZero() {
		t.Error("a list made it true again")
	}
	post(t, s, goOn)
	until(t, s, "%1", "the pane to be mirrored again", func(in Info, _ bool) bool { return in.Unsynced.IsZero() && in.UnsyncedWhy == "" })
	waitScreen(t, s, "%1", shows("before meanwhile"))
	audited(t, s, "%1")
}

// A mirror that differs even after a new sync (a fault of ours) is not taken
// for true, and costs a look now and then, not all the time.
func TestMirrorThatDiffersForEverIsTold(t *testing.T) {
	ts := newTmux(t, "sh", "-c", "printf 'right'; exec cat")
	s := openServer(t, ts)
	waitScreen(t, s, "%0", shows("right"))
	audited(t, s, "%0")
	// The fault: every byte that is shown is followed by one that tmux never saw.
	spoil := true
	var fault func()
	fault = func() {
		if m := s.mirrors["%0"]; spoil && m != nil && m.state == live && !shows("WRONG")(m.term.Screen()) {
			m.write([]byte("\x1b[9;1HWRONG\x1b[1;6H"))
		}
		if spoil {
			s.after(time.Millisecond, fault)
		}
	}
	post(t, s, fault)
	in := until(t, s, "%0", "the mirror to be told as wrong", func(in Info, _ bool) bool { return !in.Unsynced.IsZero() })
	if !strings.Contains(in.UnsyncedWhy, "differs from tmux's own screen even after a new sync (row 8); ") || strings.Contains(in.UnsyncedWhy, "WRONG") {
		t.Errorf("why: %q", in.UnsyncedWhy)
	}
	before, err := s.Audits(within(t))
	if err != nil || before.Reseeds == 0 {
		t.Errorf("%+v %v", before, err)
	}
	time.Sleep(time.Second) // nothing is waited for: so much time for needless work
	after, err := s.Audits(within(t))
	if err != nil || after.Mismatches-before.Mismatches > 2*maxMismatch {
		t.Errorf("in a second %+v became %+v, %v", before, after, err)
	}
	post(t, s, func() { spoil = false; s.seed(s.mirrors["%0"]) })
	until(t, s, "%0", "the mirror to be right again", func(in Info, _ bool) bool { return in.Unsynced.IsZero() })
	audited(t, s, "%0")
}
