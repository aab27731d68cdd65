package panes

import (
	"context"
	"strings"
	"time"

	"akk/controlmode"
)

// This file holds the lock on a pane's input (a Hold). Invariants: a lock ends
// within holdSeconds whatever happens to us, and only its own switch ends it:
// a variable in the server says whose lock it is, so the switch of an earlier
// Hold never opens a later one, and a human's own lock is never lifted.

const (
	// holdSeconds is the dead-man's switch of a Hold.
	holdSeconds = "2"
	holdTime    = 2 * time.Second
	// holdSlack is how much later than its switch a Hold is forgotten here: the
	// server's clock for it may start a little later than ours.
	holdSlack = time.Second
	// bufferPrefix and holdPrefix mark our paste buffers and holds, so that a
	// start can remove what a crash has left.
	bufferPrefix = "akk-paste-"
	holdPrefix   = "AKK_HOLD_"
)

// holdVariable is the hidden variable in the server's global environment that
// says whose the lock of a pane is: it is not handed to programs, costs no
// redraw (an option would), and formats can test it.
func holdVariable(pane string) string { return holdPrefix + strings.TrimPrefix(pane, "%") }

// locking are the commands that lock a pane's input as tag, with the switch.
func (s *Server) locking(pane, tag string) []string {
	return []string{
		"set-environment -gh " + holdVariable(pane) + " " + tag,
		"select-pane -d -t " + pane,
		"run-shell -b -d " + holdSeconds + " " + controlmode.Quote(s.deadMan(pane, tag)),
	}
}

// unlocking are the commands that end a lock of ours.
func unlocking(pane string) []string {
	return []string{"select-pane -e -t " + pane, "set-environment -gu " + holdVariable(pane)}
}

// deadMan is the switch: a shell command for the server itself to run.
// run-shell -C would be run in the name of our client and is forgotten with it
// (measured on 3.3a: after kill -9 the pane stayed locked). It prints nothing
// and never fails, or tmux would show that to a human.
func (s *Server) deadMan(pane, tag string) string {
	word := func(w string) string { return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'" }
	cmd := word(s.tmux) + " -S " + word(s.id.Socket) + " if-shell -F " + word(eq(holdVariable(pane), tag)) + " " +
		word("set-environment -gu "+holdVariable(pane)+" ; select-pane -e -t "+pane) + " >/dev/null 2>&1 || true"
	return strings.ReplaceAll(cmd, "#", "##") // formats are expanded in it
}

// held notes that the pane is locked as tag.
func (s *Server) held(m *mirror, tag string) {
	m.hold = tag
	s.after(holdTime+holdSlack, func() {
		if m.hold == tag {
			m.hold = ""
		}
	})
}

// unlock ends our Hold of m if it is still in force.
func (s *Server) unlock(m *mirror, done func(error)) {
	tag := m.hold
	if tag == "" || m.feeder == nil || m.feeder.lost {
		done(nil)
		return
	}
	m.feeder.do(controlmode.Command{Line: unlockLine(m.id, tag) + " ; display-message -p akk-released-" + tag, Plain: controlmode.AllPlain, Until: func(r controlmode.Reply) bool {
		return r.Text() == "akk-released-"+tag
	}}, func(_ []controlmode.Reply, err error) {
		if m.hold == tag {
			m.hold = ""
		}
		done(err)
	})
}

func unlockLine(pane, tag string) string {
	return "if-shell -F " + controlmode.Quote(eq(holdVariable(pane), tag)) + " " + controlmode.Quote(strings.Join(unlocking(pane), " ; "))
}

// Release ends a Hold at once.
func (s *Server) Release(ctx context.Context, id string) error {
	_, err := call(ctx, s, func(done func(struct{}, error)) {
		m := s.mirrors[id]
		if m == nil || m.feeder == nil || m.feeder.lost {
			done(struct{}{}, ErrNoPane)
			return
		}
		s.unlock(m, func(err error) { done(struct{}{}, err) })
	})
	return err
}

// sweep removes the buffers and ends the holds that a crashed daemon has left.
// It runs only where we own the server: nobody else's are touched.
func (s *Server) sweep(c *session) {
	each := func(line, prefix string, blocks int, remove func(rest, name string) string) {
		c.do(controlmode.Command{Line: line, Blocks: 1}, func(r []controlmode.Reply, err error) {
			if err != nil {
				return
			}
			for _, l := range r[0].Lines {
				name, _, _ := strings.Cut(string(l), "=")
				rest, ok := strings.CutPrefix(name, prefix)
				if !ok || strings.ContainsAny(name, " '\"\\;$#{}~") {
					continue
				}
				c.do(controlmode.Command{Line: remove(rest, name), Blocks: blocks}, nil)
			}
		})
	}
	each("list-buffers -F '#{buffer_name}'", bufferPrefix, 1, func(_, name string) string { return "delete-buffer -b " + name })
	each("show-environment -gh", holdPrefix, 2, func(pane, name string) string {
		return "set-environment -gu " + name + " ; select-pane -e -t %" + pane
	})
}
