package controlmode

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// start attaches with a test for a dead pane before it.
func startSkipping(t *testing.T, s *server, session string, terminal bool) (*Client, *listener) {
	t.Helper()
	l := newListener()
	c, err := Start(Config{Tmux: s.tmux, Socket: s.socket, Session: session, Env: s.env(), Handler: l, Terminal: terminal, SkipDead: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); gone(t, c) })
	select {
	case <-c.Ready():
	case <-c.Done():
	}
	return c, l
}

// tmux 3776: the server tests for a dead pane and attaches in one go, by an id
// or a name that needs quoting; what is refused is told as before.
func TestSkipDead(t *testing.T) {
	for _, terminal := range []bool{false, true} {
		s := newServer(t)
		const odd = `b'$HOME"\`
		s.run("new-session", "-d", "-s", odd, "cat")
		odds := s.run("display-message", "-p", "-t", "%1", "#{session_name}")
		for _, session := range []string{"$0", "a", odds} {
			c, _ := startSkipping(t, s, session, terminal)
			if a := get(t, ask(c, Command{Line: "display-message -p '#{session_name}'", Blocks: 1})); a.err != nil || session != "$0" && a.r[0].Text() != session {
				t.Errorf("%q: %+v", session, a)
			}
			if flags := s.run("list-clients", "-F", "#{client_flags}"); !strings.Contains(flags, "ignore-size") || !strings.Contains(flags, "pause-after=5") {
				t.Errorf("%q: client flags %q", session, flags)
			}
			c.Close()
			gone(t, c)
		}
		if a, l := startSkipping(t, s, "$7", terminal); true {
			gone(t, a)
			var refused *CommandError
			if !errors.As(l.err, &refused) || l.exits != 1 {
				t.Errorf("a session that is not there: %v", l.err)
			}
		}
		s.run("set-option", "-g", "remain-on-exit", "on")
		s.run("new-window", "-t", "a:", `printf '\033[?1004h'`)
		for s.run("display-message", "-p", "-t", "a:", "#{pane_dead}") != "1" {
		}
		c, l := startSkipping(t, s, "$0", terminal)
		gone(t, c)
		var dead *DeadPaneError
		if !errors.As(l.err, &dead) || dead.Pane != "%2" || l.exits != 1 {
			t.Errorf("a dead pane: %v", l.err)
		}
		if left := s.run("list-clients"); left != "" {
			t.Errorf("attached all the same: %s", left)
		}
		if a := get(t, ask(c, Command{Line: "list-panes", Blocks: 1})); !errors.Is(a.err, ErrNotSent) {
			t.Errorf("a command: %v", a.err)
		}
		c, _ = startSkipping(t, s, odds, terminal) // the other session
		if a := get(t, ask(c, Command{Line: "display-message -p x", Blocks: 1})); a.err != nil {
			t.Error(a.err)
		}
	}
}

// A client that was thrown out tells the same end whether or not its going is
// kept from the server (tmux 3776), and the server has forgotten it.
func TestThrownOut(t *testing.T) {
	for _, terminal := range []bool{false, true} {
		var ends [2]string
		for i, skip := range []bool{false, true} {
			s := newServer(t)
			l := newListener()
			c, err := Start(Config{Tmux: s.tmux, Socket: s.socket, Session: "a", Env: s.env(), Handler: l, Terminal: terminal, SkipDead: skip})
			if err != nil {
				t.Fatal(err)
			}
			<-c.Ready()
			get(t, ask(c, Command{Line: "display-message -p x", Blocks: 1}))
			s.run("detach-client", "-s", "a")
			gone(t, c)
			ends[i] = fmt.Sprintf("reason %q, %v, %d times, clients %q", l.reason, l.err, l.exits, s.run("list-clients"))
		}
		if ends[0] != ends[1] {
			t.Errorf("terminal %v: %s; %s", terminal, ends[0], ends[1])
		}
		t.Log(ends[1])
	}
}

func TestOnlyGoingIsKeptBack(t *testing.T) {
	going := said(exiting, false, "")
	for _, c := range []struct {
		name string
		p    piece
		want bool
	}{
		{"going", piece{data: going}, true},
		{"going, with a descriptor", piece{data: said(exiting, false, ""), fds: []int{-3}}, false},
		{"with a text", piece{data: said(exiting, false, "x")}, false},
		{"two at once", piece{data: append(said(exiting, false, ""), said(exiting, false, "")...)}, false},
		{"something else", piece{data: said(208, false, "")}, false},
		{"nothing", piece{}, false},
		{"half", piece{data: said(exiting, false, "")[:8]}, false},
	} {
		if got := c.p.leaves(); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	if want := said(exited, false, ""); !bytes.Equal(going, want) {
		t.Errorf("the answer is %q, want %q", going, want)
	}
}
