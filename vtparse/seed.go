package vtparse

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// This file starts a terminal in the middle of a pane's life, from what tmux
// can tell of it. Rule: what tmux can't tell is taken from the terminal that
// followed the pane before, or is the default and marked as not known.

// Seed is one pane as tmux describes it, read in one step while nothing can be
// written between (facts: pause, capture, continue). The comments name the
// tmux formats and commands.
type Seed struct {
	Cols, Rows         int // pane_width, pane_height
	CursorX, CursorY   int // cursor_x (see Cursor), cursor_y
	CursorVisible      bool
	Alternate          bool // alternate_on
	SavedX, SavedY     int  // alternate_saved_x, alternate_saved_y; out of range: none
	Insert             bool // insert_flag
	AppCursor          bool // keypad_cursor_flag
	AppKeypad          bool // keypad_flag
	Origin             bool // origin_flag
	Wrap               bool // wrap_flag
	Upper, Lower       int  // scroll_region_upper, scroll_region_lower
	Mouse              int  // 0, or 1000, 1002, 1003 for mouse_standard_, mouse_button_, mouse_all_flag
	BracketedPaste     bool // bracket_paste_flag, tmux >= 3.7
	BracketedPasteTold bool // false: the server is too old to tell
	Tabs               []int
	TabsTold           bool   // false: tab stops every eight columns
	Title              string // pane_title

	// Shown is what is on the screen, one string per row: capture-pane -p -e -N.
	Shown []string
	// Saved is the main screen while the alternate one is shown:
	// capture-pane -p -e -N -a -q.
	Saved []string
	// Joined, if not nil, is capture-pane -p -J: it tells which rows wrap.
	Joined []string
	// Pending are the bytes of an unfinished sequence: capture-pane -p -P -C,
	// decoded by DecodePending.
	Pending []byte
}

// NewSeeded returns a terminal in the state of s. prev is the terminal that
// followed the same pane without a gap, nil if there is none: pen, charsets,
// saved cursor and the modes that tmux can't tell come from it, and rows that
// look the same stay the same *Row. prev must not be used afterwards. The
// error wraps ErrSeed.
func NewSeeded(s Seed, o Options, prev *Terminal) (*Terminal, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	t := New(s.Cols, s.Rows, o)
	t.known = s.BracketedPasteTold
	if prev != nil {
		t.carryOver(prev)
	}
	if s.TabsTold {
		clear(t.tabs)
		for _, x := range s.Tabs {
			if x >= 0 && x < t.cols {
				t.tabs[x] = true
			}
		}
	}
	for y, l := range t.readCapture(s.Shown, s.Rows, t.cols, t.tabs) {
		t.view[y] = l // the first Screen looks at all
	}
	if s.Joined != nil {
		t.markWrapped(s.Joined)
	}
	if s.Alternate {
		rows := max(len(s.Saved), 1)
		t.alternate = &savedScreen{t.readCapture(s.Saved, rows, t.cols, t.tabs), t.cols, true}
		t.keeps = false
	}
	t.altX, t.altY = -1, -1
	if s.SavedX >= 0 && s.SavedX <= MaxSize && s.SavedY >= 0 && s.SavedY < MaxSize {
		t.altX, t.altY = s.SavedX, s.SavedY
	}
	t.cx, t.cy = s.CursorX, s.CursorY
	t.upper, t.lower = s.Upper, s.Lower
	m := &t.mode
	m.hidden, m.nowrap = !s.CursorVisible, !s.Wrap
	m.insert, m.origin = s.Insert, s.Origin
	m.appCursor, m.appKeypad, m.mouse = s.AppCursor, s.AppKeypad, s.Mouse
	if s.BracketedPasteTold {
		m.bracketed = s.BracketedPaste
	}
	t.titleSet = prev == nil || string(prev.title) != s.Title
	t.title = []byte(s.Title)
	t.pend(s.Pending, prev)
	return t, nil
}

// pend feeds the bytes of an unfinished sequence. tmux tells a string that its
// timer dropped as if it were still open, until the next sequence ends: prev
// knows. A string that was open before keeps its serial, so that the timer that
// already runs counts.
func (t *Terminal) pend(pending []byte, prev *Terminal) {
	ps := &t.parser
	if prev != nil {
		pending = pending[t.lapsed(pending, &prev.parser):]
	}
	t.Write(pending)
	if !ps.timed {
		return
	}
	ps.told = ps.since
	if prev != nil && prev.parser.timed && prev.parser.state == ps.state && ps.since >= prev.parser.since {
		ps.serial = prev.parser.serial
	}
}

// lapsed counts the bytes of pending that are the string that before dropped.
// What tmux adds to them can only begin with ESC.
func (t *Terminal) lapsed(pending []byte, before *parser) int {
	old := before.lapsed
	if old.kind == ground || len(pending) < old.min {
		return 0
	}
	n := bytes.IndexByte(pending[old.min:], 0x1b)
	if n += old.min; n < old.min {
		n = len(pending)
	}
	if n > old.max {
		return 0
	}
	probe := New(1, 1, Options{})
	probe.Write(pending[:n])
	if !probe.parser.timed || probe.parser.state != old.kind {
		return 0
	}
	old.min, old.max = n, n
	t.parser.since, t.parser.lapsed = n, old
	return n
}

func (s *Seed) check() error {
	bad := func(what string, n int) error {
		return fmt.Errorf("%s %d in a pane of %dx%d: %w", what, n, s.Cols, s.Rows, ErrSeed)
	}
	switch {
	case s.Cols < 1 || s.Cols > MaxSize:
		return bad("width", s.Cols)
	case s.Rows < 1 || s.Rows > MaxSize:
		return bad("height", s.Rows)
	case s.CursorX < 0 || s.CursorX > s.Cols && !s.Alternate || s.CursorX > MaxSize:
		return bad("cursor_x", s.CursorX)
	case s.CursorY < 0 || s.CursorY >= s.Rows:
		return bad("cursor_y", s.CursorY)
	case s.Upper < 0 || s.Upper >= s.Rows:
		return bad("scroll_region_upper", s.Upper)
	case s.Lower < s.Upper || s.Lower >= s.Rows:
		return bad("scroll_region_lower", s.Lower)
	case len(s.Shown) > s.Rows:
		return bad("captured rows", len(s.Shown))
	case len(s.Saved) > MaxSize:
		return bad("saved rows", len(s.Saved))
	}
	return nil
}

// carryOver takes what tmux can't tell from the terminal before.
func (t *Terminal) carryOver(prev *Terminal) {
	t.in = prev.in
	t.generation, t.screen, t.signals, t.status = prev.generation, prev.screen, prev.signals, prev.status
	t.setPen(prev.pen)
	t.saved, t.altPen = prev.saved, prev.altPen
	t.mode.g1, t.mode.acs0, t.mode.acs1 = prev.mode.g1, prev.mode.acs0, prev.mode.acs1
	t.mode.bracketed, t.mode.focus = prev.mode.bracketed, prev.mode.focus
	t.known = t.known || prev.known
	t.titles, t.titleBytes = prev.titles, prev.titleBytes
	t.shape, t.kitty, t.torn = prev.shape, prev.kitty, prev.torn
	t.parser.serial = prev.parser.serial
}

// readCapture turns rows of capture-pane -e into lines. The style goes on from
// one row to the next, as capture-pane writes it. Lines get width columns at
// most: where tmux cut wide characters, the text may need more than t.cols. A
// tab (tmux >= 3.6) reaches to the next of tabs; without tabs it is one cell.
func (t *Terminal) readCapture(captured []string, rows, width int, tabs []bool) []*line {
	// Every row is written by the same rules into a line that is wide enough
	// even for characters of which tmux lost the second half.
	scratch := New(min(2*t.cols+2, MaxSize), 1, Options{})
	scratch.profile = t.profile
	scratch.in, t.in = t.in, interner{}
	scratch.mode.acs1 = true // capture-pane shows line drawing between SO and SI
	scratch.capture = true
	scratch.tabs = tabs
	lines := make([]*line, rows)
	for y := range lines {
		l := new(line)
		if y < len(captured) {
			scratch.cx, scratch.cy = 0, 0
			scratch.Write([]byte(captured[y]))
			from := scratch.view[0]
			from.cut(width)
			used := min(from.used, width)
			l.expand(used, width, blankCell)
			copy(l.cells, from.cells[:used])
			l.used, l.wide = used, from.wide
			from.empty(scratch.cols, blankCell)
		}
		lines[y] = l
	}
	t.in = scratch.in
	return lines
}

// cut takes columns away until width are left, if the text needs more: then so
// many wide characters lost their second half, which a capture does not tell.
// An erased half leaves a blank, so one with a blank behind it is the likelier,
// and the last one.
func (l *line) cut(width int) {
	for l.used > width {
		at, blank := -1, false
		for x := l.used - 1; x > 0; x-- {
			if !l.cells[x].padding() {
				continue
			}
			is := x+1 < l.used && l.cells[x+1]&(cellRuneMask|cellCluster|cellWidths) == spaceCell
			if at < 0 || is && !blank {
				at, blank = x, is
			}
		}
		if at < 0 {
			return
		}
		copy(l.cells[at:l.used], l.cells[at+1:l.used])
		l.used--
		l.cells[l.used] = blankCell
	}
}

// markWrapped finds the rows that capture-pane -J joined.
func (t *Terminal) markWrapped(joined []string) {
	tab := t.in.freeze()
	y := 0
	for _, text := range joined {
		for y < len(t.view) {
			l := t.view[y]
			y++
			part := (&Row{cells: l.cells[:min(l.used, len(l.cells))], tab: tab}).full()
			if strings.IndexByte(text, '\t') >= 0 {
				rest, ok := pastBlanks(text, part)
				if !ok || rest == "" {
					break
				}
				text = rest
				l.wrapped = true
				continue
			}
			if len(part) >= len(text) || text[:len(part)] != part {
				break
			}
			text = text[len(part):]
			l.wrapped = true
		}
	}
}

// pastBlanks cuts what part shows from the beginning of text, of which tmux
// tells some blanks as tabs.
func pastBlanks(text, part string) (rest string, ok bool) {
	for part = strings.TrimLeft(part, " "); part != ""; part = strings.TrimLeft(part, " ") {
		word, _, _ := strings.Cut(part, " ")
		part = part[len(word):]
		if text, ok = strings.CutPrefix(strings.TrimLeft(text, " \t"), word); !ok {
			return text, false
		}
	}
	return text, true
}

// DecodePending undoes the escaping of capture-pane -C: \ooo and \\.
func DecodePending(s string) []byte {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			out = append(out, s[i])
			continue
		}
		if i+3 < len(s) && octal(s[i+1:i+4]) {
			out = append(out, (s[i+1]-'0')<<6|(s[i+2]-'0')<<3|(s[i+3]-'0'))
			i += 3
			continue
		}
		if i+1 < len(s) && s[i+1] == '\\' {
			i++
		}
		out = append(out, '\\')
	}
	return slices.Clip(out)
}

func octal(s string) bool {
	for _, c := range []byte(s) {
		if c < '0' || c > '7' {
			return false
		}
	}
	return s[0] <= '3'
}
