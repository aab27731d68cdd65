package panes

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// This file moves windows and panes about in every way that tmux has, on a real
// server over both transports, and compares what akk says of their places with
// tmux's own list (some ways are announced to nobody).

// moves change where a pane is, one after the other on the same server. It
// begins with the sessions one (windows 0 to 3, the first of two panes) and two
// (0 to 2). silent: tmux 3.3a announces nothing (measured).
var moves = []struct {
	name, line string
	silent     bool
}{
	{name: "window to another index", line: "move-window -d -s two:2 -t two:8"},
	{name: "renumber", line: "move-window -r -t two", silent: true},
	{name: "both", line: "move-window -d -s two:2 -t two:8 ; move-window -r -t two"},
	{name: "swap between sessions", line: "swap-window -d -s one:1 -t two:2"},
	{name: "swap back", line: "swap-window -d -s one:1 -t two:2", silent: true},
	{name: "swap in a session", line: "swap-window -d -s one:1 -t one:2"},
	{name: "swap in a session, selecting", line: "swap-window -s one:1 -t one:2", silent: true},
	{name: "move after", line: "move-window -d -a -s two:0 -t two:1"},
	{name: "move before", line: "move-window -d -b -s two:2 -t two:1"},
	{name: "move over another", line: "move-window -d -k -s two:4 -t two:1"},
	{name: "move to another session", line: "move-window -d -s two:1 -t one:7"},
	{name: "and back", line: "move-window -d -s one:7 -t two:5"},
	{name: "new before", line: "new-window -d -b -t one:1 -n before cat"},
	{name: "new after", line: "new-window -d -a -t one:0 -n after cat"},
	{name: "link", line: "link-window -d -s one:2 -t two:9"},
	{name: "unlink", line: "unlink-window -t two:9"},
	{name: "link in front", line: "link-window -d -s two:5 -t one:9"},
	{name: "link twice", line: "link-window -d -s two:5 -t two:11"},
	{name: "renumber with links", line: "move-window -r -t one ; move-window -r -t two", silent: true},
	{name: "unlink the first", line: "unlink-window -t one:6"},
	{name: "rename a window", line: "rename-window -t one:0 named"},
	{name: "rename a session", line: "rename-session -t two zwei"},
	{name: "and before the other", line: "rename-session -t zwei a"},
	{name: "swap panes", line: "swap-pane -d -s one:0.0 -t one:0.1"},
	{name: "swap panes of two sessions", line: "swap-pane -d -s one:0.0 -t a:0.0"},
	{name: "rotate", line: "rotate-window -t one:0"},
	{name: "rotate back", line: "rotate-window -D -t one:0"},
	{name: "split", line: "split-window -d -b -t one:0.0 cat"},
	{name: "zoom", line: "resize-pane -Z -t one:0.1"},
	{name: "unzoom", line: "resize-pane -Z -t one:0.1"},
	{name: "resize", line: "resize-window -t one:0 -x 100 -y 30"},
	{name: "layout", line: "select-layout -t one:0 even-horizontal"},
	{name: "break to another session", line: "break-pane -d -s one:0.1 -t a:20"},
	{name: "break before", line: "break-pane -d -b -s one:0.1 -t one:1"},
	{name: "join across sessions", line: "join-pane -d -b -s a:20 -t one:0.0"},
	{name: "move a pane", line: "move-pane -d -s one:0.0 -t one:2.0"},
	{name: "respawn a pane", line: "respawn-pane -k -t one:2.0 cat"},
	{name: "respawn a window", line: "respawn-window -k -t one:1 cat"},
	{name: "select a pane", line: "select-pane -t one:2.1"},
	{name: "select a window", line: "select-window -t one:3"},
	{name: "a group", line: "new-session -d -t one -s group"},
	{name: "move in a group", line: "move-window -d -s group:3 -t group:15"},
	{name: "renumber a group", line: "move-window -r -t group", silent: true},
	{name: "swap with a group", line: "swap-window -d -s group:2 -t a:0"},
	{name: "rename in front of the group", line: "rename-session -t one z"},
	{name: "base index", line: "set-option -g base-index 1 ; move-window -r -t a", silent: true},
	{name: "pane base index", line: "set-option -g pane-base-index 1", silent: true},
	{name: "kill a pane", line: "kill-pane -t z:2.1"},
	{name: "kill a window, renumbering", line: "set-option -g renumber-windows on ; kill-window -t z:1"},
}

// placed is what both say of all places: a pane that several windows show is
// where tmux lists it first.
func (ts *tmuxServer) placed() string {
	var out []string
	seen := map[string]bool{}
	for l := range strings.SplitSeq(ts.run("list-panes", "-a", "-F", "#{pane_id} #{session_name}:#{window_index}.#{pane_index} #{window_name} #{pane_width}x#{pane_height}"), "\n") {
		id, _, _ := strings.Cut(l, " ")
		if !seen[id] {
			out = append(out, l)
		}
		seen[id] = true
	}
	return strings.Join(out, "\n")
}

func placedHere(s *Server) string {
	var out []string
	for _, i := range s.Panes() {
		out = append(out, fmt.Sprintf("%s %s:%d.%d %s %dx%d", i.Pane, i.SessionName, i.WindowIndex, i.PaneIndex, i.WindowName, i.Cols, i.Rows))
	}
	return strings.Join(out, "\n")
}

// Whoever asks hears the true place, whatever moved it.
func TestPlacesAreTrue(t *testing.T) {
	for _, tr := range []Transport{Control, Pipe} {
		t.Run(string(tr), func(t *testing.T) {
			t.Parallel()
			ts := newTmux(t, "cat")
			for _, l := range []string{"set-option -g automatic-rename off", "split-window -d -t one:0 cat", "new-window -d -t one:1 -n b cat", "new-window -d -t one:2 -n c cat", "new-window -d -t one:3 -n d cat",
				"new-session -d -s two -x 80 -y 24 -n e cat", "new-window -d -t two:1 -n f cat", "new-window -d -t two:2 -n g cat"} {
				ts.run(strings.Fields(l)...)
			}
			s := openPlaces(t, ts, tr)
			for _, m := range moves {
				agree(t, ts, s, "before "+m.name)
				for l := range strings.SplitSeq(m.line, " ; ") {
					ts.run(strings.Fields(l)...)
				}
				agree(t, ts, s, m.name)
			}
		})
	}
}

// agree asks until both say the same.
func agree(t *testing.T, ts *tmuxServer, s *Server, after string) {
	t.Helper()
	var want, got string
	for ctx := within(t); ctx.Err() == nil; {
		s.Look(ctx, 0)
		if want, got = ts.placed(), placedHere(s); want == got {
			return
		}
	}
	t.Fatalf("after %s: akk says\n%s\ntmux says\n%s", after, got, want)
}

func openPlaces(t *testing.T, ts *tmuxServer, tr Transport) *Server {
	t.Helper()
	s, err := Open(within(t), Options{Socket: ts.socket, Logger: testLog(t), Transport: tr})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// A pane that was swapped to another session unseen is followed there: what
// it writes next is shown, asked or not.
func TestSilentSwapIsFollowed(t *testing.T) {
	ts := newTmux(t, "cat")
	ts.run("set-option", "-g", "automatic-rename", "off") // it is announced
	ts.run("new-window", "-t", "one:1", "cat")
	ts.run("new-session", "-d", "-s", "two", "-x", "80", "-y", "24", "cat")
	s := openPlaces(t, ts, Control)
	for _, p := range []string{"%1", "%2"} {
		waitScreen(t, s, p, shows(""))
	}
	eventually(t, "the lists after the start", func() bool {
		quiet := make(chan bool, 1)
		s.post(func() { quiet <- !s.listing && time.Since(s.lastList) > relisting[len(relisting)-1] })
		return <-quiet
	})
	ts.run("swap-window", "-d", "-s", "one:1", "-t", "two:0")
	ts.say("%1", "from afar")
	waitScreen(t, s, "%1", shows("from afar"))
	if want, got := ts.placed(), placedHere(s); want != got {
		t.Errorf("akk says\n%s\ntmux says\n%s", got, want)
	}
	audited(t, s, "%1")
}

// A look that finds nothing new reads no list.
func TestLookIsCheap(t *testing.T) {
	ts := newTmux(t, "cat")
	ts.run("split-window", "-d", "-t", "one", "cat")
	ts.run("new-window", "-d", "-t", "one:7", "cat")
	ts.run("link-window", "-d", "-s", "one:7", "-t", "one:3")
	ts.run("set-option", "-p", "-t", "one:0.0", "@akk_sidebar", "1") // left out of the list
	s := openPlaces(t, ts, transport)
	eventually(t, "a look that finds all as it is", func() bool { return !s.Look(t.Context(), 0) && s.looked.Load() != nil })
	for range 3 {
		if s.Look(t.Context(), 0) {
			t.Error("a list was read though nothing had changed")
		}
	}
}
