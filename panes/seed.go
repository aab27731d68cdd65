package panes

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"akk/controlmode"
	"akk/vtparse"
)

// This file starts a mirror in the middle of a pane's stream without a lost or
// doubled byte (facts: pause, capture, continue): pause drops what tmux has
// not sent yet, the captures are read in one pass of the server between two
// reads of the pane, continue starts the output again. What comes between the
// answer to pause and the last capture can only be from after continue. All of
// it runs on the loop.

// seedFields are read by one display-message; only numbers, the title last.
const seedFields = "#{pane_width} #{pane_height} #{cursor_x} #{cursor_y} #{?cursor_flag,1,0} #{?alternate_on,1,0} #{?insert_flag,1,0} " +
	"#{?keypad_cursor_flag,1,0} #{?keypad_flag,1,0} #{?origin_flag,1,0} #{?wrap_flag,1,0} #{scroll_region_upper} #{scroll_region_lower} " +
	"#{?mouse_standard_flag,1,0} #{?mouse_button_flag,1,0} #{?mouse_all_flag,1,0} #{pane_pid} x#{alternate_saved_x} x#{alternate_saved_y} x#{bracket_paste_flag} " +
	"t#{pane_tabs} #{=1000:pane_title}"

const seedCount = 22

// seed begins a first sync or a new one.
func (s *Server) seed(m *mirror) {
	if s.pipe != nil {
		s.pipe.seed(m)
		return
	}
	if m.feeder == nil || m.feeder.lost || s.gone {
		m.stale()
		return
	}
	if m.state == pausing || m.state == reading {
		m.again = true
		return
	}
	m.state, m.held, m.again = pausing, nil, false
	m.doubt()
	c := m.feeder
	c.do(controlmode.Command{Line: "refresh-client -A '" + m.id + ":pause'", Blocks: 1, Plain: 1}, func(_ []controlmode.Reply, err error) {
		if m.feeder != c || s.mirrors[m.id] != m {
			return
		}
		if err != nil {
			m.stale()
			return
		}
		m.state, m.held = reading, nil
	})
	t := " -t " + m.id
	line := "display-message -p" + t + " '" + seedFields + "' ; capture-pane -p -e -N" + t + " ; capture-pane -p -J -N" + t +
		" ; capture-pane -p -e -N -a -q" + t + " ; capture-pane -p -P -C" + t + " ; refresh-client -A '" + m.id + ":continue'"
	c.do(controlmode.Command{Line: line, Blocks: 6, Count: seedLines, Plain: 1}, func(r []controlmode.Reply, err error) {
		if m.feeder != c || s.mirrors[m.id] != m {
			return
		}
		if err != nil {
			m.cause = err
			m.stale()
			s.changed() // most likely the pane is gone
			m.seedLater()
			return
		}
		held := m.held
		m.held = nil
		if m.again {
			m.state, m.again = unsynced, false
			s.seed(m)
			return
		}
		if err := m.plant(r, held); err != nil {
			s.log.Warn("pane could not be read", "pane", m.id, "err", err)
			m.cause = err
			m.stale()
			m.seedLater()
		}
	})
}

// seedRetry is the next try after a pane could not be read.
const seedRetry = 250 * time.Millisecond

func (m *mirror) seedLater() {
	m.s.after(seedRetry, func() {
		if m.s.mirrors[m.id] == m && m.state == unsynced {
			m.s.seed(m)
		}
	})
}

// seedLines knows how many rows each capture has, so that no screen can end a
// block by showing "%end".
func seedLines(i int, before []controlmode.Reply) int {
	switch i {
	case 0, 5:
		return -1
	case 1:
		if f := strings.Fields(before[0].Text()); len(f) > 1 {
			if n, err := strconv.Atoi(f[1]); err == nil {
				return n
			}
		}
	}
	return -1
}

// plant makes the terminal from the answers.
func (m *mirror) plant(r []controlmode.Reply, held []byte) error {
	f := strings.SplitN(r[0].Text(), " ", seedCount)
	if len(f) != seedCount {
		return fmt.Errorf("%d fields instead of %d", len(f), seedCount)
	}
	var n [17]int
	for i := range n {
		v, err := strconv.Atoi(f[i])
		if err != nil {
			return fmt.Errorf("field %d is %q", i, f[i])
		}
		n[i] = v
	}
	saved := func(s string) int {
		v, err := strconv.Atoi(strings.TrimPrefix(s, "x"))
		if err != nil {
			return -1
		}
		return v
	}
	seed := vtparse.Seed{Cols: n[0], Rows: n[1], CursorX: n[2], CursorY: n[3], CursorVisible: n[4] == 1, Alternate: n[5] == 1, Insert: n[6] == 1,
		AppCursor: n[7] == 1, AppKeypad: n[8] == 1, Origin: n[9] == 1, Wrap: n[10] == 1, Upper: n[11], Lower: n[12],
		SavedX: saved(f[17]), SavedY: saved(f[18]), Title: f[21],
		BracketedPasteTold: f[19] != "x", BracketedPaste: f[19] == "x1",
		Shown: lines(r[1]), Joined: lines(r[2])}
	switch {
	case n[15] == 1:
		seed.Mouse = 1003
	case n[14] == 1:
		seed.Mouse = 1002
	case n[13] == 1:
		seed.Mouse = 1000
	}
	if tabs := strings.TrimPrefix(f[20], "t"); tabs != "" {
		seed.TabsTold = true
		for _, t := range strings.Split(tabs, ",") {
			if v, err := strconv.Atoi(t); err == nil {
				seed.Tabs = append(seed.Tabs, v)
			}
		}
	}
	if seed.Alternate {
		seed.Saved = lines(r[3])
	}
	seed.Pending = vtparse.DecodePending(r[4].Text())
	t, err := vtparse.NewSeeded(seed, vtparse.Options{TmuxVersion: m.s.version, History: m.s.o.History}, m.term)
	if err != nil {
		m.term = nil
		return err
	}
	m.term, m.state, m.fresh = t, live, true
	m.synced()
	m.resized(seed.Cols, seed.Rows)
	if m.last.IsZero() {
		m.last = time.Now()
	}
	m.frame = true
	for _, tp := range m.taps {
		tp.gap()
	}
	if len(held) > 0 && held[0]&0xC0 == 0x80 && t.Ground() {
		m.s.seed(m)
		return nil
	}
	if len(held) > 0 {
		m.fresh = false
		m.write(held)
		return nil
	}
	m.arm()
	m.show(false)
	return nil
}

func lines(r controlmode.Reply) []string {
	out := make([]string, len(r.Lines))
	for i, l := range r.Lines {
		out[i] = string(l)
	}
	return out
}
