package vtparse

// This file erases, inserts, deletes, scrolls and repeats. Rules: erased cells
// take the pen's background and nothing else of it; in a pending wrap the
// functions that work at the cursor do nothing.

// atCursor returns how many cells from the cursor on a function with count n
// touches, 0 for none.
func (t *Terminal) atCursor() int {
	n := t.one()
	if n == -1 || t.cx > t.cols-1 {
		return 0
	}
	return min(n, t.cols-t.cx)
}

func (t *Terminal) ich() {
	if n := t.atCursor(); n > 0 {
		t.insertCells(t.cx, t.cy, n, t.erase())
	}
}

func (t *Terminal) dch() {
	if n := t.atCursor(); n > 0 {
		t.deleteCells(t.cx, t.cy, n, t.erase())
	}
}

func (t *Terminal) ech() {
	if n := t.atCursor(); n > 0 {
		t.clear(t.cx, t.cy, n, 1, t.erase())
	}
}

// inRegion tells whether line functions work on the scroll region; outside of
// it they work down to the end of the screen.
func (t *Terminal) inRegion() bool { return t.cy >= t.upper && t.cy <= t.lower }

func (t *Terminal) il() {
	n := t.one()
	switch {
	case n == -1:
	case t.inRegion():
		t.insertLinesRegion(t.lower, t.cy, min(n, t.lower+1-t.cy), t.erase())
	default:
		t.insertLines(t.cy, min(n, t.rows-t.cy), t.erase())
	}
}

func (t *Terminal) dl() {
	n := t.one()
	switch {
	case n == -1:
	case t.inRegion():
		t.deleteLinesRegion(t.lower, t.cy, min(n, t.lower+1-t.cy), t.erase())
	default:
		t.deleteLines(t.cy, min(n, t.rows-t.cy), t.erase())
	}
}

func (t *Terminal) su() {
	n := t.one()
	if n == -1 {
		return
	}
	for range min(n, t.lower-t.upper+1) {
		t.scrollUp(t.upper, t.lower, t.erase())
	}
}

func (t *Terminal) sd() {
	n := t.one()
	if n == -1 {
		return
	}
	for range min(n, t.lower-t.upper+1) {
		t.scrollDown(t.upper, t.lower, t.erase())
	}
}

func (t *Terminal) clearLine() {
	if fill := t.erase(); len(t.view[t.cy].cells) > 0 || fill != blankCell {
		t.clear(0, t.cy, t.cols, 1, fill)
	}
}

func (t *Terminal) el() {
	switch t.parser.get(0, 0, 0) {
	case 0:
		fill := t.erase()
		switch {
		case t.cx == 0:
			t.clearLine()
		case t.cx > t.cols-1, t.cx >= len(t.view[t.cy].cells) && fill == blankCell:
		default:
			t.clear(t.cx, t.cy, t.cols-t.cx, 1, fill)
		}
	case 1:
		if t.cx >= t.cols-1 {
			t.clearLine()
		} else {
			t.clear(0, t.cy, t.cx+1, 1, t.erase())
		}
	case 2:
		t.clearLine()
	}
}

func (t *Terminal) ed() {
	fill := t.erase()
	switch t.parser.get(0, 0, 0) {
	case 0:
		if t.cx == 0 && t.cy == 0 && t.keeps {
			t.clearIntoHistory(fill)
			return
		}
		if t.cx <= t.cols-1 {
			t.clear(t.cx, t.cy, t.cols-t.cx, 1, fill)
		}
		t.clear(0, t.cy+1, t.cols, t.rows-(t.cy+1), fill)
	case 1:
		t.clear(0, 0, t.cols, t.cy, fill)
		t.clear(0, t.cy, min(t.cx+1, t.cols), 1, fill)
	case 2:
		t.clearScreen(fill)
	case 3:
		if t.parser.get(1, 0, 0) == 0 {
			t.history.clear()
			t.scrolled = 0
		}
	}
}

func (t *Terminal) clearScreen(fill cell) {
	if t.keeps {
		t.clearIntoHistory(fill)
	} else {
		t.clear(0, 0, t.cols, t.rows, fill)
	}
}

// rep repeats the last character if nothing came between, to the end of the
// line at most; before tmux 3.5 only an ASCII one.
func (t *Terminal) rep() {
	n := t.one()
	if n == -1 || t.last == -1 {
		return
	}
	n = min(n, t.cols-t.cx)
	if t.profile.repeatAny {
		for range n {
			t.repeat(t.last)
		}
		return
	}
	var run [64]byte
	for i := range run {
		run[i] = byte(t.last)
	}
	t.stopCharacter()
	for n > 0 {
		k := min(n, len(run))
		t.printASCII(run[:k])
		n -= k
	}
}

// repeat prints r without regard to line drawing.
func (t *Terminal) repeat(r rune) {
	if r >= 0x80 {
		t.putRune(r)
		return
	}
	m := &t.mode
	acs0, acs1 := m.acs0, m.acs1
	m.acs0, m.acs1 = false, false
	t.printASCII([]byte{byte(r)})
	m.acs0, m.acs1 = acs0, acs1
}

// alignmentTest fills the screen with E.
func (t *Terminal) alignmentTest() {
	t.touchRows(0, t.rows)
	for _, l := range t.view {
		for x := range t.cols {
			l.set(x, 'E'|cellOne, t.cols)
		}
	}
	t.cx, t.cy = 0, 0
	t.upper, t.lower = 0, t.rows-1
}
