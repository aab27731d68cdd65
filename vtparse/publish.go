package vtparse

// This file makes the Screen that everybody else sees. Rules: it costs one
// copy per line that changed and one pointer per line that did not; lines that
// nobody touched are not looked at; if nothing changed the old value is returned.

// Screen returns what the terminal shows now.
func (t *Terminal) Screen() *Screen {
	rows := t.rows
	old := t.screen
	s := Screen{
		Cols: t.cols, Rows: rows,
		Cursor:    Cursor{X: t.cx, Y: t.cy, Visible: !t.mode.hidden, Shape: t.shape},
		Alternate: t.alternate != nil,
		Title:     t.titleText(),
		Modes:     t.publishedModes(),
		Signals:   t.signals,
		Torn:      t.torn,
		profile:   t.profile,
	}
	same := old != nil && !t.titleSet && len(old.rows) == rows
	same = same && old.equal(&s)
	var made *Screen
	var list []*Row // made at the first row that differs
	begin := func() {
		made, list = newScreen(rows)
		if old != nil {
			copy(list, old.rows)
		}
	}
	if !same {
		begin()
	}
	low, high := t.low, min(t.high, rows)
	if old == nil || len(old.rows) != rows {
		low, high = 0, rows
	}
	t.low, t.high = rows, 0
	for y := low; y < high; y++ {
		l := t.view[y]
		var before *Row
		if old != nil && y < len(old.rows) {
			before = old.rows[y]
		}
		if l.pub == nil {
			l.pub = t.publish(l, before)
		}
		if l.pub == before {
			continue
		}
		if list == nil {
			begin()
		}
		list[y] = l.pub
	}
	if checkTouched != nil {
		shown := list
		if shown == nil {
			shown = old.rows
		}
		checkTouched(t, shown)
	}
	if list == nil {
		return old
	}
	t.generation++
	s.rows, s.Generation = list, t.generation
	if t.titleSet {
		s.Signals.PaneTitleSet = t.generation
		t.signals.PaneTitleSet = t.generation
		t.titleSet = false
	}
	*made = s
	t.screen = made
	return made
}

// roomRows is how many rows have their place beside the screen.
const roomRows = 48

// newScreen makes a screen and the list of its rows, mostly in one piece of
// memory.
func newScreen(rows int) (*Screen, []*Row) {
	if rows > roomRows {
		return new(Screen), make([]*Row, rows)
	}
	r := new(struct {
		Screen
		room [roomRows]*Row
	})
	return &r.Screen, r.room[:rows:rows]
}

// checkTouched, set by tests, looks at the lines that nobody touched.
var checkTouched func(t *Terminal, rows []*Row)

// titleText makes a new string only of a new title.
func (t *Terminal) titleText() string {
	if t.screen != nil && (!t.titleSet || t.screen.Title == string(t.title)) {
		return t.screen.Title
	}
	return string(t.title)
}

// equal compares everything but rows and generation.
func (s *Screen) equal(o *Screen) bool {
	return s.Cols == o.Cols && s.Rows == o.Rows && s.Cursor == o.Cursor && s.Alternate == o.Alternate &&
		s.Title == o.Title && s.Modes == o.Modes && s.Signals == o.Signals && s.Torn == o.Torn
}

func (t *Terminal) publishedModes() Modes {
	m := Modes{
		BracketedPaste: t.mode.bracketed, FocusEvents: t.mode.focus, AppCursor: t.mode.appCursor,
		AppKeypad: t.mode.appKeypad, Mouse: t.mode.mouse != 0, Known: t.known,
	}
	if s := *t.kittyStack(); len(s) > 0 {
		m.KittyFlags = s[len(s)-1]
	}
	return m
}

// publish copies a line, or finds that before shows the same.
func (t *Terminal) publish(l *line, before *Row) *Row {
	n := min(len(l.cells), t.cols)
	used := min(l.used, n)
	for n > used && l.cells[n-1] == blankCell {
		n--
	}
	cells := l.cells[:n]
	tab := t.in.freeze()
	if before != nil && before.wrapped == l.wrapped && before.written == used && before.tab.epoch == tab.epoch && sameCells(before.cells, cells) {
		return before
	}
	return &Row{cells: visible(cells), tab: tab, written: used, wrapped: l.wrapped}
}

// visible copies cells without what can't be seen.
func visible(cells []cell) []cell {
	out := make([]cell, len(cells))
	for i, c := range cells {
		out[i] = c &^ cellInner
	}
	return out
}

// sameCells compares published cells with live ones.
func sameCells(published, live []cell) bool {
	if len(published) != len(live) {
		return false
	}
	for i, c := range live {
		if published[i] != c&^cellInner {
			return false
		}
	}
	return true
}

// History returns how many lines that scrolled away are kept.
func (t *Terminal) History() int { return t.history.n }

// HistoryRow returns line i of the history, 0 the oldest; nil if there is none.
func (t *Terminal) HistoryRow(i int) *Row {
	if i < 0 || i >= t.history.n {
		return nil
	}
	cells := visible(t.history.row(i))
	return &Row{cells: cells, tab: t.in.freeze(), written: len(cells), wrapped: t.history.at(i).wrapped}
}
