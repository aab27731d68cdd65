package difftest

import (
	"fmt"
	"strings"
	"time"

	"akk/vtparse"
)

// This file plays a stream in both and compares. Rule: everything that tmux
// tells is compared.

const format = "#{cursor_x},#{cursor_y},#{cursor_flag},#{alternate_on},#{insert_flag},#{keypad_cursor_flag},#{keypad_flag},#{origin_flag},#{wrap_flag},#{scroll_region_upper},#{scroll_region_lower},#{mouse_any_flag},#{pane_tabs},#{pane_title}"

// describe writes a state in the words of format.
func describe(s vtparse.Seed) string {
	b := func(on bool) int {
		if on {
			return 1
		}
		return 0
	}
	tabs := make([]string, len(s.Tabs))
	for i, x := range s.Tabs {
		tabs[i] = fmt.Sprint(x)
	}
	return fmt.Sprintf("%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%s,%s", s.CursorX, s.CursorY, b(s.CursorVisible), b(s.Alternate),
		b(s.Insert), b(s.AppCursor), b(s.AppKeypad), b(s.Origin), b(s.Wrap), s.Upper, s.Lower, b(s.Mouse != 0), strings.Join(tabs, ","), s.Title)
}

// Run plays the stream and returns the first difference, "" if there is none.
func (srv *Server) Run(st Stream, version string) (string, error) {
	if err := srv.Open(st.Cols, st.Rows); err != nil {
		return "", err
	}
	title, err := srv.Do("display-message -p -t " + srv.pane + " '#{pane_title}'")
	if err != nil {
		return "", err
	}
	term := vtparse.New(st.Cols, st.Rows, vtparse.Options{TmuxVersion: version, History: 2000})
	term.Write([]byte("\x1b]2;" + strings.Join(title, "") + "\x07"))
	srv.onData = func(p []byte) { term.Write(p) }
	for _, c := range st.Chunks() {
		if err := srv.Write(c); err != nil {
			return "", err
		}
	}
	if d, err := srv.compare(term); d != "" || err != nil {
		return d, err
	}
	// What the main screen kept, and what is behind an open sequence.
	if err := srv.Write([]byte("\x18\x1b[?1049l")); err != nil {
		return "", err
	}
	if d, err := srv.compare(term); d != "" || err != nil {
		return "after leaving the alternate screen: " + d, err
	}
	return "", nil
}

// RunTimer plays head, which leaves a string open, waits until tmux has given
// it up, then plays tail.
func (srv *Server) RunTimer(cols, rows int, head, tail, version string) (string, error) {
	if err := srv.Open(cols, rows); err != nil {
		return "", err
	}
	term := vtparse.New(cols, rows, vtparse.Options{TmuxVersion: version, History: 2000})
	term.Write([]byte("\x1b]2;title\x07"))
	if err := srv.Write([]byte("\x1b]2;title\x07")); err != nil {
		return "", err
	}
	srv.onData = func(p []byte) { term.Write(p) }
	if err := srv.Write([]byte(head)); err != nil {
		return "", err
	}
	serial, open := term.Waiting()
	if !open {
		return "no timer runs in the mirror", nil
	}
	// Nothing tells when the timer fires, but from then on text is shown.
	var probe []byte
	srv.onData = func(p []byte) { probe = append(probe[:0], p...) }
	for end := time.Now().Add(patience); ; time.Sleep(timerPoll) {
		before := describe(term.State())
		if err := srv.Write([]byte("z")); err != nil {
			return "", err
		}
		now, err := srv.Do("display-message -p -t " + srv.pane + " '" + format + "'")
		if err != nil {
			return "", err
		}
		if len(now) > 0 && now[0] != before {
			break
		}
		term.Write(probe)
		if time.Now().After(end) {
			return "", fmt.Errorf("tmux kept the string for %v", patience)
		}
	}
	term.Expire(serial)
	term.Write(probe)
	srv.onData = func(p []byte) { term.Write(p) }
	if err := srv.Write([]byte(tail)); err != nil {
		return "", err
	}
	return srv.compare(term)
}

// timerPoll is how often tmux is asked whether its timer has fired.
const timerPoll = 100 * time.Millisecond

func (srv *Server) compare(term *vtparse.Terminal) (string, error) {
	told, err := srv.Do("display-message -p -t " + srv.pane + " '" + format + "'")
	if err != nil {
		return "", err
	}
	if ours := describe(term.State()); len(told) == 0 || told[0] != ours {
		return fmt.Sprintf("state: tmux %q, mirror %q", told, ours), nil
	}
	rows, err := srv.Do("capture-pane -p -e -N -t " + srv.pane)
	if err != nil {
		return "", err
	}
	s := term.Screen()
	if diff, ok := s.Mismatch(rows, s.Cursor.X, s.Cursor.Y); !ok {
		return diff, nil
	}
	joined, err := srv.Do("capture-pane -p -J -t " + srv.pane)
	if err != nil {
		return "", err
	}
	if s.Rows > 1 && strings.Join(trim(joined), "\n") != strings.Join(trim(joinRows(s)), "\n") {
		return fmt.Sprintf("wrap marks: tmux %q, mirror %q", joined, joinRows(s)), nil
	}
	return srv.compareHistory(term)
}

func (srv *Server) compareHistory(term *vtparse.Terminal) (string, error) {
	n := term.History()
	told, err := srv.Do("display-message -p -t " + srv.pane + " '#{history_size}'")
	if err != nil || told[0] != fmt.Sprint(n) {
		return fmt.Sprintf("history: tmux %q lines, mirror %d", told, n), err
	}
	if n == 0 {
		return "", nil
	}
	rows, err := srv.Do("capture-pane -p -S - -E -1 -t " + srv.pane)
	if err != nil {
		return "", err
	}
	for i := range n {
		if ours := term.HistoryRow(i).Plain(); i < len(rows) && strings.TrimRight(rows[i], " ") != ours {
			return fmt.Sprintf("history line %d: tmux %q, mirror %q", i, rows[i], ours), nil
		}
	}
	return "", nil
}

// joinRows joins wrapped rows as capture-pane -J does.
func joinRows(s *vtparse.Screen) []string {
	var out []string
	cur := ""
	for y := range s.Rows {
		cur += s.Row(y).PlainWritten()
		if !s.Row(y).Wrapped() {
			out = append(out, cur)
			cur = ""
		}
	}
	if cur != "" {
		out = append(out, cur)
	}
	return out
}

func trim(rows []string) []string {
	for len(rows) > 0 && rows[len(rows)-1] == "" {
		rows = rows[:len(rows)-1]
	}
	return rows
}

// Shrink removes tokens from a stream that differs, as long as it still does.
func (srv *Server) Shrink(st Stream, version string) Stream {
	for size := len(st.Tokens) / 2; size > 0; {
		smaller := false
		for from := 0; from+size <= len(st.Tokens); {
			try := st.without(from, from+size)
			if d, err := srv.Run(try, version); err == nil && d != "" {
				st, smaller = try, true
			} else {
				from += size
			}
		}
		if !smaller || size > len(st.Tokens) {
			size /= 2
		}
	}
	return st
}
