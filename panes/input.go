package panes

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"akk/controlmode"
)

// This file is the input gate: the only code that makes a byte go into a pane.
// Invariants: the server itself tests identity, mode and cursor in the same
// line that types, so nothing can come between; the pane's input is unlocked
// within holdSeconds whatever happens to us; a text waits in a buffer of ours
// only until it is pasted.

const (
	// maxText bounds one paste in bytes.
	maxText = 1 << 20
	// maxKeys bounds one send-keys: 16384 arguments overflow tmux's parser.
	maxKeys = 500
	// holdSeconds is the dead-man's switch of a Hold.
	holdSeconds = "2"
	holdTime    = 2 * time.Second
	// bornSlack is the difference of start times that a change of the clock
	// makes.
	bornSlack = 2 * time.Second
	// bufferPrefix marks our paste buffers, so that a start can remove what a
	// crash has left.
	bufferPrefix = "akk-paste-"
)

// Input implements Provider.
func (s *Server) Input(ctx context.Context, w Write) (Sent, error) {
	if err := w.check(); err != nil {
		return Sent{}, err
	}
	if err := s.own(); err != nil {
		return Sent{}, &Refused{"owner", err.Error()}
	}
	if born, ok := processStart(w.Identity.PanePID); !w.Identity.PaneBorn.IsZero() && (!ok || born.Sub(w.Identity.PaneBorn).Abs() > bornSlack) {
		return Sent{}, &Refused{"identity", "the pane's process has ended"}
	}
	var begun atomic.Bool // from here on it is not known what went out
	sent, err := call(ctx, s, func(done func(Sent, error)) {
		m := s.mirrors[w.Identity.Pane]
		switch {
		case ctx.Err() != nil:
			done(Sent{}, ctx.Err())
		case m == nil:
			done(Sent{}, &Refused{"identity", "the pane is gone"})
		case !w.Identity.Server.is(s.id):
			done(Sent{}, &Refused{"identity", "another tmux server runs there now"})
		case w.Identity.PanePID != m.info.PanePID:
			done(Sent{}, &Refused{"identity", "another process runs in the pane now"})
		case m.feeder == nil || m.feeder.lost:
			done(Sent{}, &Refused{"identity", "the pane's control connection is down"})
		default:
			begun.Store(true)
			s.gate(m, w, done)
		}
	})
	var no *Refused
	if err != nil && !errors.As(err, &no) && !begun.Load() {
		// It may still be waiting for the loop, which then finds ctx ended.
		if errors.Is(err, ErrServerGone) {
			return Sent{}, &Refused{"identity", "the tmux server is gone"}
		}
	}
	if err != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		return Sent{}, fmt.Errorf("%w: %v", ErrUncertain, err)
	}
	if errors.Is(err, ErrServerGone) {
		return Sent{}, fmt.Errorf("%w: %v", ErrUncertain, err)
	}
	return sent, err
}

// check refuses what may never be typed, with its place.
func (w Write) check() error {
	if (w.Paste == "") == (len(w.Keys) == 0) {
		return &Refused{"text", "exactly one of text and keys must be given"}
	}
	if len(w.Keys) > maxKeys {
		return &Refused{"text", fmt.Sprintf("%d keys are more than %d", len(w.Keys), maxKeys)}
	}
	if len(w.Paste) > maxText {
		return &Refused{"text", fmt.Sprintf("text of %d bytes is longer than %d", len(w.Paste), maxText)}
	}
	if !utf8.ValidString(w.Paste) {
		return &Refused{"text", "text is not valid UTF-8"}
	}
	for i := 0; i < len(w.Paste); i++ {
		c := w.Paste[i]
		if c == 0xc2 && w.Paste[i+1] < 0xa0 { // U+0080 to U+009F: CSI among them
			return &Refused{"text", fmt.Sprintf("control character U+%04X at byte %d", w.Paste[i+1], i)}
		}
		if c < 0x20 && c != '\t' && c != '\n' || c == 0x7f {
			return &Refused{"text", fmt.Sprintf("control character 0x%02x at byte %d", c, i)}
		}
	}
	return nil
}

// gate sends the one line that tests and types.
func (s *Server) gate(m *mirror, w Write, done func(Sent, error)) {
	s.serial++
	tag := fmt.Sprintf("%s-%d", s.o.Owner, s.serial)
	t := " -t " + m.id
	conds := []string{
		eq("pane_id", m.id),
		eq("pane_pid", strconv.Itoa(w.Identity.PanePID)),
		eq("pane_dead", "0"), eq("pane_in_mode", "0"), eq("pane_synchronized", "0"),
	}
	if m.locked == 0 {
		conds = append(conds, eq("pane_input_off", "0"))
	}
	if w.Cursor != nil {
		conds = append(conds, eq("cursor_x", strconv.Itoa(w.Cursor.X)), eq("cursor_y", strconv.Itoa(w.Cursor.Y)))
	}
	cond := conds[0]
	for _, c := range conds[1:] {
		cond = "#{&&:" + cond + "," + c + "}"
	}
	buffer, bytes := "", len(w.Keys)
	var yes []string
	if m.locked != 0 {
		yes = append(yes, "select-pane -e"+t)
	}
	if w.Paste != "" {
		bytes = len(w.Paste)
		buffer = bufferPrefix + tag
		paste := "paste-buffer -p -r -d"
		if atLeast(s.version, 3, 7) {
			paste = "paste-buffer -p -r -d -S"
		}
		yes = append(yes, paste+" -b "+buffer+t)
	} else {
		yes = append(yes, "send-keys"+t+" -H"+hexKeys(w.Keys))
	}
	if w.Hold {
		yes = append(yes, "select-pane -d"+t, "run-shell -b -d "+holdSeconds+" "+controlmode.Quote(s.unlock(m.id)))
	}
	yes = append(yes, "display-message -p akk-sent-"+tag)
	no := `display-message -p "akk-refused-` + tag + ` #{pane_pid} #{pane_dead} #{pane_in_mode} #{pane_synchronized} #{pane_input_off} #{cursor_x} #{cursor_y}"`
	if buffer != "" {
		no = "delete-buffer -b " + buffer + " ; " + no
	}
	line := "if-shell -F" + t + " " + controlmode.Quote(cond) + " " + controlmode.Quote(strings.Join(yes, " ; ")) + " " + controlmode.Quote(no)
	c := m.feeder
	typed := func() {
		c.do(controlmode.Command{Line: line, Until: func(r controlmode.Reply) bool {
			x := r.Text()
			return strings.HasPrefix(x, "akk-sent-"+tag) || strings.HasPrefix(x, "akk-refused-"+tag)
		}}, func(r []controlmode.Reply, err error) {
			if err != nil && buffer != "" {
				c.do(controlmode.Command{Line: "delete-buffer -b " + buffer, Blocks: 1}, nil)
			}
			s.typed(m, w, tag, bytes, r, err, done)
		})
	}
	if buffer == "" {
		typed()
		return
	}
	c.do(controlmode.Command{Line: "set-buffer -b " + buffer + " -- " + controlmode.Quote(w.Paste), Blocks: 1}, func(_ []controlmode.Reply, err error) {
		if err != nil {
			reason := "identity"
			if isCommand(err) {
				reason = "text"
			}
			done(Sent{}, &Refused{reason, "tmux did not take the text: " + err.Error()})
			return
		}
		typed()
	})
}

// typed reads the gate's answer.
func (s *Server) typed(m *mirror, w Write, tag string, bytes int, r []controlmode.Reply, err error, done func(Sent, error)) {
	last := ""
	if len(r) > 0 {
		last = r[len(r)-1].Text()
	}
	switch {
	case strings.HasPrefix(last, "akk-sent-"+tag):
		m.locked = 0
		if w.Hold {
			s.holds++
			hold := s.holds
			m.locked = hold
			s.after(holdTime, func() {
				if m.locked == hold {
					m.locked = 0
				}
			})
		}
		done(Sent{Bytes: bytes, Time: time.Now()}, nil)
	case strings.HasPrefix(last, "akk-refused-"+tag):
		s.changed() // what is known of the pane may be old
		done(Sent{}, w.reason(strings.Fields(last)))
	case errors.Is(err, controlmode.ErrNotSent):
		done(Sent{}, &Refused{"identity", "the pane's control connection ended before anything was typed"})
	case isCommand(err) && len(r) <= m.before(1):
		// if-shell itself, the unlocking, or the first typing command was refused.
		done(Sent{}, &Refused{"identity", err.Error()})
	default:
		done(Sent{}, fmt.Errorf("%w: %v", ErrUncertain, err))
	}
}

// before is how many blocks come before the first byte is typed: the one of
// if-shell, and of the unlocking of our own Hold; n more that follow.
func (m *mirror) before(n int) int {
	if m.locked != 0 {
		n++
	}
	return n + 1
}

// unlock is the dead-man's switch: a shell command for the server itself to
// run. run-shell -C would be run in the name of our client and is forgotten
// with it (measured on 3.3a: after kill -9 the pane stayed locked). It prints
// nothing and never fails, or tmux would show that to a human.
func (s *Server) unlock(pane string) string {
	word := func(w string) string { return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'" }
	cmd := word(s.tmux) + " -S " + word(s.id.Socket) + " select-pane -e -t " + pane + " >/dev/null 2>&1 || true"
	return strings.ReplaceAll(cmd, "#", "##") // formats are expanded in it
}

func isCommand(err error) bool {
	var ce *controlmode.CommandError
	return errors.As(err, &ce)
}

// reason reads "tag pid dead mode synchronized off x y".
func (w Write) reason(f []string) error {
	if len(f) < 8 {
		return &Refused{"identity", "the pane is gone"}
	}
	switch {
	case f[1] != strconv.Itoa(w.Identity.PanePID):
		return &Refused{"identity", "another process runs in the pane now"}
	case f[2] != "0":
		return &Refused{"dead", "the pane's process has ended"}
	case f[3] != "0":
		return &Refused{"mode", "copy mode or another tmux mode has the keys"}
	case f[4] != "0":
		return &Refused{"synchronized", "synchronize-panes would type into every pane of the window"}
	case w.Cursor != nil && (f[6] != strconv.Itoa(w.Cursor.X) || f[7] != strconv.Itoa(w.Cursor.Y)):
		return &Refused{"cursor", "the cursor moved since the screen was proven"}
	}
	return &Refused{"input_off", "the pane's input is switched off"}
}

func eq(variable, value string) string { return "#{==:#{" + variable + "}," + value + "}" }

func hexKeys(keys []byte) string {
	var b strings.Builder
	for _, k := range keys {
		fmt.Fprintf(&b, " %02x", k)
	}
	return b.String()
}

// Release ends a Hold at once.
func (s *Server) Release(ctx context.Context, id string) error {
	_, err := call(ctx, s, func(done func(struct{}, error)) {
		m := s.mirrors[id]
		if m == nil || m.feeder == nil || m.feeder.lost {
			done(struct{}{}, ErrNoPane)
			return
		}
		if m.locked == 0 {
			done(struct{}{}, nil)
			return
		}
		m.feeder.do(controlmode.Command{Line: "select-pane -e -t " + id, Blocks: 1}, func(_ []controlmode.Reply, err error) {
			m.locked = 0
			done(struct{}{}, err)
		})
	})
	return err
}

// sweep removes the buffers that a crashed daemon has left.
func (s *Server) sweep(c *session) {
	c.do(controlmode.Command{Line: "list-buffers -F '#{buffer_name}'", Blocks: 1}, func(r []controlmode.Reply, err error) {
		if err != nil {
			return
		}
		for _, l := range r[0].Lines {
			name := string(l)
			if strings.HasPrefix(name, bufferPrefix) && !strings.ContainsAny(name, " '\"\\;$#{}~") {
				c.do(controlmode.Command{Line: "delete-buffer -b " + name, Blocks: 1}, nil)
			}
		}
	})
}
