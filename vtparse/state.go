package vtparse

// This file tells the terminal's state in tmux's own terms, for tests and bug
// reports that compare it with a live tmux.

// State returns what tmux's formats would tell of the pane now: a Seed without
// its captures.
func (t *Terminal) State() Seed {
	s := Seed{
		Cols: t.cols, Rows: t.rows, CursorX: t.cx, CursorY: t.cy, CursorVisible: !t.mode.hidden,
		Alternate: t.alternate != nil, SavedX: t.altX, SavedY: t.altY,
		Insert: t.mode.insert, AppCursor: t.mode.appCursor, AppKeypad: t.mode.appKeypad,
		Origin: t.mode.origin, Wrap: !t.mode.nowrap, Upper: t.upper, Lower: t.lower, Mouse: t.mode.mouse,
		BracketedPaste: t.mode.bracketed, BracketedPasteTold: t.known, TabsTold: true, Title: string(t.title),
	}
	for x, on := range t.tabs {
		if on {
			s.Tabs = append(s.Tabs, x)
		}
	}
	return s
}
