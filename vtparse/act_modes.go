package vtparse

// This file sets modes, switches screens and resets. Rules: a mode that tmux
// does not know is not known here; what only input needs (bracketed paste,
// focus, keyboard flags) is remembered for the reader.

func (t *Terminal) sm() { t.ansiModes(true) }
func (t *Terminal) rm() { t.ansiModes(false) }

func (t *Terminal) ansiModes(on bool) {
	for i := range t.parser.nargs {
		if t.parser.get(i, 0, -1) == 4 {
			t.mode.insert = on
		}
	}
}

func (t *Terminal) decset() { t.decModes(true) }
func (t *Terminal) decrst() { t.decModes(false) }

func (t *Terminal) decModes(on bool) {
	for i := range t.parser.nargs {
		switch n := t.parser.get(i, 0, -1); n {
		case 1:
			t.mode.appCursor = on
		case 3:
			t.moveTo(0, 0, true)
			t.clearScreen(t.erase())
		case 6:
			t.mode.origin = on
			t.moveTo(0, 0, true)
		case 7:
			t.mode.nowrap = !on
		case 25:
			t.mode.hidden = !on
		case 1000, 1002, 1003:
			t.mode.mouse = 0
			if on {
				t.mode.mouse = n
			}
		case 1001:
			if !on {
				t.mode.mouse = 0
			}
		case 1004:
			t.mode.focus = on
		case 47, 1047:
			t.switchScreen(on, false)
		case 1049:
			t.switchScreen(on, true)
		case 2004:
			t.mode.bracketed = on
		case 2026:
			t.torn = on
		}
	}
}

func (t *Terminal) switchScreen(on, cursor bool) {
	if on {
		t.alternateOn(cursor)
	} else {
		t.alternateOff(cursor)
	}
}

// alternateOn shows the alternate screen: new lines, no history.
func (t *Terminal) alternateOn(cursor bool) {
	if t.alternate != nil {
		return
	}
	saved := t.unused
	if saved == nil {
		saved = new(savedScreen)
	}
	saved.lines = append(saved.lines[:0], t.view...)
	saved.cols, saved.keeps = t.cols, t.keeps
	t.alternate, t.unused = saved, nil
	if cursor {
		t.altX, t.altY = t.cx, t.cy
	}
	t.altPen = t.pen
	t.touchRows(0, t.rows)
	for y := range t.view {
		t.view[y] = t.newLine()
	}
	t.unwrapAbove(0)
	t.keeps = false
}

// takeView returns the visible lines and leaves the places empty.
func (t *Terminal) takeView() []*line {
	lines := make([]*line, len(t.view))
	copy(lines, t.view)
	return lines
}

// alternateOff shows the main screen again. The saved cursor comes back even
// if the alternate screen was not shown.
func (t *Terminal) alternateOff(cursor bool) {
	saved := t.alternate
	cols, rows := t.cols, t.rows
	if saved != nil {
		t.resize(saved.cols, len(saved.lines), true)
	}
	if cursor && t.altX >= 0 {
		t.cx, t.cy = t.altX, t.altY
		t.setPen(t.altPen)
	}
	if saved != nil {
		t.touchRows(0, t.rows)
		for y, l := range t.view {
			l.empty(t.cols, blankCell)
			t.recycle(l)
			t.view[y] = saved.lines[y]
		}
		clear(saved.lines)
		t.alternate, t.unused = nil, saved
		t.keeps = saved.keeps
		t.cy = min(t.cy, t.rows-1) // saved in a higher screen: tmux reads beyond its own there
		t.resize(cols, rows, true)
	}
	t.cx, t.cy = min(t.cx, t.cols-1), min(t.cy, t.rows-1)
}

// recycle keeps a line for the next alternate screen: one screenful at most.
func (t *Terminal) recycle(l *line) {
	if len(t.spare) < t.rows {
		t.spare = append(t.spare, l)
	}
}

// reset is RIS. It does not leave the alternate screen, and what DECSC saved
// of the origin mode stays.
func (t *Terminal) reset() {
	t.resetPen()
	t.resetTabs()
	t.setRegion(0, t.rows-1)
	t.mode = modes{}
	t.torn = false
	t.kitty = [2][]int{}
	t.clearScreen(blankCell)
	t.cx, t.cy = 0, 0
}

// kittyStack is the keyboard flag stack of the screen that is shown.
func (t *Terminal) kittyStack() *[]int {
	if t.alternate != nil {
		return &t.kitty[1]
	}
	return &t.kitty[0]
}

// maxKitty bounds the stack of keyboard flags; the oldest entry goes first.
const maxKitty = 16

// kittyKeyboard remembers the keyboard flags that a program asks for, though
// tmux does not grant them: '>' pushes, '<' pops, '=' changes the top.
func (t *Terminal) kittyKeyboard(op byte) {
	s := t.kittyStack()
	ps := &t.parser
	switch op {
	case '>':
		if len(*s) == maxKitty {
			*s = append((*s)[:0], (*s)[1:]...)
		}
		*s = append(*s, max(ps.get(0, 0, 0), 0))
	case '<':
		*s = (*s)[:max(0, len(*s)-max(ps.get(0, 1, 1), 1))]
	case '=':
		if len(*s) == 0 {
			*s = append(*s, 0)
		}
		top, flags := &(*s)[len(*s)-1], max(ps.get(0, 0, 0), 0)
		switch ps.get(1, 1, 1) {
		case 1:
			*top = flags
		case 2:
			*top |= flags
		case 3:
			*top &^= flags
		}
	}
}
