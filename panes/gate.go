package panes

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"akk/controlmode"
)

// This file holds the line that tests and types. Invariant: the server itself
// tests identity, mode, cursor and text in the same command line that types,
// so nothing can come between. Everything runs on the loop.

// try is one Write on its way through the gate.
type try struct {
	m      *mirror
	w      Write
	tag    string // of this write, in its buffer's name and its answer
	hold   string // of the Hold that was in force when the line was made
	begun  int    // replies of the line before the first byte is typed
	buffer string
	mine   bool // the Hold was taken for this write: a refusal ends it
	size   int
	done   func(Sent, error)
}

// gate types w, or locks the input first: a key that a human has just pressed
// is on its way and not on the screen yet, and a paste would fuse with it. So
// a text that rests on a proof is typed only after the lock and, if anybody at a
// client of this server did anything in the last seconds, a quiet frame; the
// proof is tested behind them.
func (s *Server) gate(ctx context.Context, m *mirror, w Write, done func(Sent, error)) {
	s.serial++
	t := &try{m: m, w: w, tag: s.nonce + "-" + strconv.Itoa(s.serial), size: len(w.Keys) + len(w.Paste), done: done}
	if w.Paste != "" && w.Hold && m.hold == "" && (w.Cursor != nil || len(w.Shows) > 0) {
		t.mine = true
		s.lock(t, func(typed bool) {
			if typed {
				s.settleInput(ctx, t)
			} else {
				s.load(t)
			}
		})
		return
	}
	s.load(t)
}

// lock takes the Hold ahead of the text. typed: a key may be on its way.
func (s *Server) lock(t *try, then func(typed bool)) {
	m := t.m
	yes := s.locking(m.id, t.tag)
	if s.pipe == nil {
		yes = append(yes, "list-clients -F "+controlmode.Quote(clientMark+"#{client_pid} #{client_activity}"))
	}
	yes = append(yes, "display-message -p akk-sent-"+t.tag)
	line := s.gateLine(t, yes, nil)
	s.doGate(t, line, func(r []controlmode.Reply, err error) {
		if s.answered(t, r, err) {
			s.held(m, t.tag)
			then(s.pipe != nil || s.typedLately(r, time.Now()))
		}
	})
}

const clientMark = "akk-client "

// typedLately reads the clients in the lock's answer: has one that is not ours
// done anything lately? What can't be read is a yes.
func (s *Server) typedLately(replies []controlmode.Reply, now time.Time) bool {
	ours := map[string]bool{}
	for _, c := range s.sessions {
		if cl, ok := c.client.(*controlmode.Client); ok {
			ours[strconv.Itoa(cl.PID())] = true
		}
	}
	listed := false
	for _, r := range replies {
		for _, l := range r.Lines {
			rest, ok := strings.CutPrefix(string(l), clientMark)
			if !ok {
				continue
			}
			listed = true
			pid, at, _ := strings.Cut(rest, " ")
			sec, err := strconv.ParseInt(at, 10, 64)
			if !ours[pid] && (err != nil || now.Sub(time.Unix(sec, 0)) <= s.settle.keys) {
				return true
			}
		}
	}
	return !listed // we are one ourselves
}

// settling says when a pane has drawn what was typed before the lock.
type settling struct {
	quiet  time.Duration // without output: an echo takes one turn of the program
	latest time.Duration // a pane that never stops writing has echoed all by then
	keys   time.Duration // since a client's last key, in tmux's whole seconds: its effect is not on its way any more
}

// settle: a frame of an agent comes 16 to 33 ms after its key.
var settle = settling{quiet: 60 * time.Millisecond, latest: 400 * time.Millisecond, keys: 2 * time.Second}

// settleInput waits for what the human's last keys draw.
func (s *Server) settleInput(ctx context.Context, t *try) {
	start := time.Now()
	var look func()
	look = func() {
		m, now := t.m, time.Now()
		quiet := m.last
		if quiet.Before(start) {
			quiet = start
		}
		switch {
		case s.mirrors[m.id] != m || m.feeder == nil || m.feeder.lost:
			t.done(Sent{}, &Refused{"identity", "the pane went while its input was being locked"})
		case ctx.Err() != nil:
			s.unlock(m, func(error) {
				t.done(Sent{}, &Refused{"late", "the time for this write was over before anything was typed"})
			})
		case now.Sub(quiet) >= s.settle.quiet || now.Sub(start) >= s.settle.latest:
			s.load(t)
		default:
			s.after(min(s.settle.quiet-now.Sub(quiet), s.settle.latest-now.Sub(start)), look)
		}
	}
	look()
}

// load puts a text into a buffer of ours, so that the gate's line stays short,
// and types.
func (s *Server) load(t *try) {
	if t.w.Paste == "" {
		s.typeIn(t)
		return
	}
	t.buffer = bufferPrefix + t.tag
	t.m.feeder.do(controlmode.Command{Line: "set-buffer -b " + t.buffer + " -- " + controlmode.Quote(t.w.Paste), Blocks: 1, Plain: 1}, func(_ []controlmode.Reply, err error) {
		if err == nil && t.m.feeder != nil && !t.m.feeder.lost {
			s.typeIn(t)
			return
		}
		reason, detail := "identity", "the pane's control connection ended before anything was typed"
		if isCommand(err) {
			reason, detail = "text", "tmux did not take the text: "+err.Error()
		}
		refuse := func(error) { t.done(Sent{}, &Refused{reason, detail}) }
		if t.mine {
			s.unlock(t.m, refuse)
			return
		}
		refuse(nil)
	})
}

// typeIn sends the line that types.
func (s *Server) typeIn(t *try) {
	if t.w.Still != nil {
		if err := t.w.Still(); err != nil {
			s.retract(t, &Refused{"identity", err.Error()})
			return
		}
	}
	m, target := t.m, " -t "+t.m.id
	t.hold = m.hold
	var yes, no []string
	if t.hold != "" {
		yes = append(yes, unlocking(m.id)...)
	}
	t.begun = len(yes) + 1 // if-shell answers too
	if t.buffer != "" {
		yes = append(yes, quirk(s.version).paste+" -b "+t.buffer+target)
		no = append(no, "delete-buffer -b "+t.buffer)
	} else {
		yes = append(yes, "send-keys"+target+" -H"+hexKeys(t.w.Keys))
	}
	if t.w.Hold {
		yes = append(yes, s.locking(m.id, t.tag)...)
	}
	yes = append(yes, "display-message -p akk-sent-"+t.tag)
	if t.mine && t.hold != "" {
		no = append(no, "if-shell -F "+controlmode.Quote(eq(holdVariable(m.id), t.hold))+" "+controlmode.Quote(strings.Join(unlocking(m.id), " ; ")))
	}
	s.doGate(t, s.gateLine(t, yes, no), func(r []controlmode.Reply, err error) {
		if err != nil && t.buffer != "" && m.feeder != nil {
			m.feeder.do(controlmode.Command{Line: "delete-buffer -b " + t.buffer, Blocks: 1}, nil)
		}
		if !s.answered(t, r, err) {
			if t.mine && m.hold == t.hold {
				m.hold = ""
			}
			return
		}
		m.hold = ""
		if t.w.Hold {
			s.held(m, t.tag)
		}
		t.done(Sent{Bytes: t.size, Time: time.Now()}, nil)
	})
}

// retract ends a write before its line was sent: the buffer goes, and the Hold if
// it was taken for this write.
func (s *Server) retract(t *try, why error) {
	if t.buffer != "" && t.m.feeder != nil && !t.m.feeder.lost {
		t.m.feeder.do(controlmode.Command{Line: "delete-buffer -b " + t.buffer, Blocks: 1}, nil)
	}
	refuse := func(error) { t.done(Sent{}, why) }
	if t.mine {
		s.unlock(t.m, refuse)
		return
	}
	refuse(nil)
}

// gateLine is the one line: conditions, what to do, what to do if not.
func (s *Server) gateLine(t *try, yes, no []string) string {
	no = append(no, `display-message -p "akk-refused-`+t.tag+` #{pane_pid} #{pane_dead} #{pane_in_mode} #{pane_synchronized} #{pane_input_off} #{cursor_x} #{cursor_y}`+
		` #{`+holdVariable(t.m.id)+`}"`)
	return "if-shell -F -t " + t.m.id + " " + controlmode.Quote(t.condition()) + " " +
		controlmode.Quote(strings.Join(yes, " ; ")) + " " + controlmode.Quote(strings.Join(no, " ; "))
}

func (s *Server) doGate(t *try, line string, done func([]controlmode.Reply, error)) {
	t.m.feeder.do(controlmode.Command{Line: line, Plain: controlmode.AllPlain, Until: func(r controlmode.Reply) bool {
		x := r.Text()
		return strings.HasPrefix(x, "akk-sent-"+t.tag) || strings.HasPrefix(x, "akk-refused-"+t.tag)
	}}, done)
}

// condition is what the server tests.
func (t *try) condition() string {
	input := eq("pane_input_off", "0")
	if t.m.hold != "" { // ours, or it has ended; a human's lock is neither
		input = "#{||:" + input + "," + eq(holdVariable(t.m.id), t.m.hold) + "}"
	}
	conds := []string{
		eq("pane_id", t.m.id), eq("pane_pid", strconv.Itoa(t.w.Identity.PanePID)),
		eq("pane_dead", "0"), eq("pane_in_mode", "0"), eq("pane_synchronized", "0"), input,
	}
	if c := t.w.Cursor; c != nil {
		conds = append(conds, eq("cursor_x", strconv.Itoa(c.X)), eq("cursor_y", strconv.Itoa(c.Y)))
	}
	for _, text := range t.w.Shows {
		conds = append(conds, "#{!=:#{C:"+searched(text)+"},0}")
	}
	all := conds[0]
	for _, c := range conds[1:] {
		all = "#{&&:" + all + "," + c + "}"
	}
	return all
}

// searched writes a text for #{C:}: what formats and fnmatch would read as
// their own is escaped.
var searched = strings.NewReplacer("#", "##", ",", "#,", "}", "#}", `\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace

// answered reads the gate's answer; if the line did not do what it should, it
// hands out the error and returns false.
func (s *Server) answered(t *try, r []controlmode.Reply, err error) bool {
	last := ""
	if len(r) > 0 {
		last = r[len(r)-1].Text()
	}
	switch {
	case strings.HasPrefix(last, "akk-sent-"+t.tag):
		return true
	case strings.HasPrefix(last, "akk-refused-"+t.tag):
		s.changed() // what is known of the pane may be old
		err = t.reason(strings.Fields(last))
	case errors.Is(err, controlmode.ErrNotSent):
		err = &Refused{"identity", "the pane's control connection ended before anything was typed"}
	case isCommand(err) && len(r) <= t.begun+1:
		// if-shell itself, the unlocking, or the first typing command was refused.
		err = &Refused{"identity", err.Error()}
	default:
		err = fmt.Errorf("%w: %v", ErrUncertain, err)
	}
	t.done(Sent{}, err)
	return false
}

// reason reads "tag pid dead mode synchronized off x y hold", and names the
// cure.
func (t *try) reason(f []string) error {
	if len(f) < 8 {
		return &Refused{"identity", "the pane is gone"}
	}
	w, id := t.w, t.m.id
	ours := len(f) > 8 && f[8] == t.m.hold
	switch {
	case f[1] != strconv.Itoa(w.Identity.PanePID):
		return &Refused{"identity", "another process runs in the pane now"}
	case f[2] != "0":
		return &Refused{"dead", "the pane's process has ended"}
	case f[3] != "0":
		return &Refused{"mode", "copy mode or another tmux mode has the keys: leave it in the pane (q), or tmux copy-mode -q -t " + id}
	case f[4] != "0":
		return &Refused{"synchronized", "synchronize-panes would type into every pane of the window: tmux set-option -wu -t " + id +
			" synchronize-panes, and tmux set-option -pu -t " + id + " synchronize-panes"}
	case f[5] != "0" && !ours:
		return &Refused{"input_off", "the pane's input is switched off: tmux select-pane -e -t " + id}
	case w.Cursor != nil && (f[6] != strconv.Itoa(w.Cursor.X) || f[7] != strconv.Itoa(w.Cursor.Y)):
		return &Refused{"cursor", "the cursor moved since the screen was proven"}
	case len(w.Shows) > 0:
		return &Refused{"screen", "a text that the proof saw is no longer on the screen"}
	}
	return &Refused{"input_off", "the pane's input was switched off for a moment: try again"}
}

func eq(variable, value string) string { return "#{==:#{" + variable + "}," + value + "}" }

func hexKeys(keys []byte) string {
	var b strings.Builder
	for _, k := range keys {
		fmt.Fprintf(&b, " %02x", k)
	}
	return b.String()
}

func isCommand(err error) bool {
	var ce *controlmode.CommandError
	return errors.As(err, &ce)
}
