package handoff

// Moves of windows that tmux announces to nobody, seen by who asks and
// by who only follows.

import (
	"context"
	"testing"
	"time"

	"akk/bridge/rpc"
	"akk/panes"
)

// The list, status and a follower tell the place that tmux tells; the name of
// before still means the terminal.
func TestPlacesOfRows(t *testing.T) {
	for _, how := range []panes.Transport{panes.Control, panes.Pipe} {
		t.Run(string(how), func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.how = how
			socket := s.server()
			r := s.actor(socket, ways{})
			before := r.ready()
			s.tmux(socket, "set-option", "-g", "automatic-rename", "off")
			s.tmux(socket, "new-session", "-d", "-s", "other", "sleep 600")

			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			told := make(chan string, 1000)
			following, leave := context.WithCancel(ctx)
			ended := make(chan error, 1)
			go func() {
				ended <- s.desk.Follow(following, rpc.Caller{}, rpc.ListParams{}, func(l rpc.List) error {
					for _, row := range l.Terminals {
						told <- row.TerminalControl.Target
					}
					return nil
				})
			}()
			defer func() { leave(); <-ended }()
			for _, m := range [][]string{
				{"move-window", "-d", "-s", r.pane, "-t", "s:7"},
				{"move-window", "-r", "-t", "s"},
				{"swap-window", "-d", "-s", "s:0", "-t", "other:0"},
				{"swap-window", "-d", "-s", "s:0", "-t", "other:0"},
			} {
				s.tmux(socket, m...)
				want := s.tmux(socket, "display-message", "-p", "-t", r.pane, "#{session_name}:#{window_index}.#{pane_index}")
				if m[0] == "swap-window" { // nobody asks
					for got := ""; got != want; {
						select {
						case got = <-told:
						case <-ctx.Done():
							t.Fatalf("after %v: a follower heard of %q, not of %s", m, got, want)
						}
					}
				}
				for {
					st, err := s.desk.Status(ctx, rpc.Caller{}, rpc.StatusParams{ID: before.ID})
					if err != nil {
						t.Fatal(err)
					}
					rows := s.rows()
					if st.TerminalStatus.Target == want && len(rows) == 1 && rows[0].TerminalControl.Target == want {
						break
					}
					if ctx.Err() != nil {
						t.Fatalf("after %v: tmux says %s, status %s, list %+v", m, want, st.TerminalStatus.Target, rows)
					}
					time.Sleep(10 * time.Millisecond)
				}
			}
		})
	}
}
