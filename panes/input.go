package panes

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
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
	// bufferPrefix marks our paste buffers, so that a start can remove what a
	// crash has left.
	bufferPrefix = "akk-paste-"
)

// Input implements Provider.
func (s *Server) Input(ctx context.Context, w Write) (Sent, error) {
	if err := w.check(); err != nil {
		return Sent{}, err
	}
	sent, err := call(ctx, s, func(done func(Sent, error)) {
		m := s.mirrors[w.Identity.Pane]
		switch {
		case m == nil:
			done(Sent{}, &Refused{"identity", "the pane is gone"})
		case w.Identity.Server != s.id:
			done(Sent{}, &Refused{"identity", "another tmux server runs there now"})
		case w.Identity.PanePID != m.info.PanePID:
			done(Sent{}, &Refused{"identity", "another process runs in the pane now"})
		case m.feeder == nil || m.feeder.lost:
			done(Sent{}, &Refused{"identity", "the pane's control connection is down"})
		default:
			s.gate(m, w, done)
		}
	})
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
		if c := w.Paste[i]; c < 0x20 && c != '\t' && c != '\n' || c == 0x7f {
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
	if !m.locked {
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
	yes := []string{"select-pane -e" + t}
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
		yes = append(yes, "select-pane -d"+t, `run-shell -b -d `+holdSeconds+` -C "select-pane -e`+t+`"`)
	}
	yes = append(yes, "display-message -p akk-sent-"+tag)
	no := `display-message -p "akk-refused-` + tag + ` #{pane_pid} #{pane_dead} #{pane_in_mode} #{pane_synchronized} #{pane_input_off} #{cursor_x} #{cursor_y}"`
	if buffer != "" {
		no = "delete-buffer -b " + buffer + " ; " + no
	}
	line := "if-shell -F" + t + " '" + cond + "' '" + strings.Join(yes, " ; ") + "' '" + no + "'"
	c := m.feeder
	typed := func() {
		c.do(controlmode.Command{Line: line, Until: func(r controlmode.Reply) bool {
			x := r.Text()
			return strings.HasPrefix(x, "akk-sent-"+tag) || strings.HasPrefix(x, "akk-refused-"+tag)
		}}, func(r []controlmode.Reply, err error) {
			s.typed(m, w, tag, bytes, r, err, done)
		})
	}
	if buffer == "" {
		typed()
		return
	}
	c.do(controlmode.Command{Line: "set-buffer -b " + buffer + " -- " + controlmode.Quote(w.Paste), Blocks: 1}, func(_ []controlmode.Reply, err error) {
		if err != nil {
			done(Sent{}, &Refused{"text", "tmux did not take the text: " + err.Error()})
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
		m.locked = w.Hold
		if w.Hold {
			s.after(2*time.Second, func() { m.locked = false })
		}
		done(Sent{Bytes: bytes, Time: time.Now()}, nil)
	case strings.HasPrefix(last, "akk-refused-"+tag):
		done(Sent{}, w.reason(strings.Fields(last)))
	case err != nil && len(r) <= 2 && isCommand(err):
		// if-shell itself, or the unlocking before the text, was refused.
		done(Sent{}, &Refused{"identity", err.Error()})
	default:
		done(Sent{}, fmt.Errorf("%w: %v", ErrUncertain, err))
	}
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
		if !m.locked {
			done(struct{}{}, nil)
			return
		}
		m.feeder.do(controlmode.Command{Line: "select-pane -e -t " + id, Blocks: 1}, func(_ []controlmode.Reply, err error) {
			m.locked = false
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
