package vtparse

// This file moves the cursor. Rules: the cursor may stand one past the last
// column (a pending wrap), and each function has its own way out of it; the
// scroll region stops vertical moves that start inside of it.

func (t *Terminal) one() int { return t.parser.get(0, 1, 1) }

// moveTo is absolute; origin lets rows count from the scroll region if DECOM
// is on. -1 keeps a coordinate.
func (t *Terminal) moveTo(x, y int, origin bool) {
	if origin && y != -1 && t.mode.origin {
		if y > t.lower-t.upper {
			y = t.lower
		} else {
			y += t.upper
		}
	}
	if x != -1 {
		t.cx = min(x, t.cols-1)
	}
	if y != -1 {
		t.cy = min(y, t.rows-1)
	}
}

func (t *Terminal) up(n int) {
	if t.cy < t.upper {
		n = min(n, t.cy)
	} else {
		n = min(n, t.cy-t.upper)
	}
	t.cx = min(t.cx, t.cols-1)
	t.cy -= n
}

func (t *Terminal) down(n int) {
	if t.cy > t.lower {
		n = min(n, t.rows-1-t.cy)
	} else {
		n = min(n, t.lower-t.cy)
	}
	t.cx = min(t.cx, t.cols-1)
	t.cy += n
}

func (t *Terminal) cuu() {
	if n := t.one(); n != -1 {
		t.up(n)
	}
}

func (t *Terminal) cud() {
	if n := t.one(); n != -1 {
		t.down(n)
	}
}

// cuf counts the way that is left as unsigned: from a pending wrap that is a
// huge number, and what goes too far ends in the last column.
func (t *Terminal) cuf() {
	n := t.one()
	if n == -1 {
		return
	}
	if t.cx == t.cols {
		t.cx = t.cols - 1
		return
	}
	t.cx += min(n, t.cols-1-t.cx)
}

func (t *Terminal) cub() {
	if n := t.one(); n != -1 {
		t.cx = min(t.cx-min(n, t.cx), t.cols-1)
	}
}

func (t *Terminal) cnl() {
	if n := t.one(); n != -1 {
		t.cx = 0
		t.down(n)
	}
}

func (t *Terminal) cpl() {
	if n := t.one(); n != -1 {
		t.cx = 0
		t.up(n)
	}
}

func (t *Terminal) hpa() {
	if n := t.one(); n != -1 {
		t.moveTo(n-1, -1, true)
	}
}

func (t *Terminal) vpa() {
	if n := t.one(); n != -1 {
		t.moveTo(-1, n-1, true)
	}
}

func (t *Terminal) cup() {
	n, m := t.one(), t.parser.get(1, 1, 1)
	if n != -1 && m != -1 {
		t.moveTo(m-1, n-1, true)
	}
}

// backspace climbs to the end of a line that wrapped.
func (t *Terminal) backspace() {
	if t.cx > 0 {
		t.cx = min(t.cx, t.cols) - 1
		return
	}
	if t.cy > 0 && t.view[t.cy-1].wrapped {
		t.cy--
		t.cx = t.cols - 1
	}
}

// lineFeed goes down, scrolling at the region's end. wrapped: because the
// text goes on.
func (t *Terminal) lineFeed(wrapped bool, fill cell) {
	if wrapped {
		if l := t.view[t.cy]; !l.wrapped {
			t.touch(t.cy)
			l.wrapped, l.pub = true, nil
		}
	}
	if t.cy == t.lower {
		t.scrollUp(t.upper, t.lower, fill)
	} else if t.cy < t.rows-1 {
		t.cy++
	}
}

func (t *Terminal) reverseIndex() {
	if t.cy == t.upper {
		t.scrollDown(t.upper, t.lower, t.erase())
	} else if t.cy > 0 {
		t.cy--
	}
}

func (t *Terminal) saveCursor() {
	t.saved = savedCursor{t.pen, t.cx, t.cy, t.mode.origin, t.mode.g1, t.mode.acs0, t.mode.acs1}
}

func (t *Terminal) restoreCursor() {
	t.setPen(t.saved.pen)
	t.mode.g1, t.mode.acs0, t.mode.acs1 = t.saved.g1, t.saved.acs0, t.saved.acs1
	t.mode.origin = t.saved.origin
	t.moveTo(t.saved.x, t.saved.y, false)
}

// decstbm refuses a region of one line.
func (t *Terminal) decstbm() {
	n, m := t.one(), t.parser.get(1, 1, t.rows)
	if n == -1 || m == -1 {
		return
	}
	t.setRegion(n-1, m-1)
}

func (t *Terminal) setRegion(upper, lower int) {
	upper, lower = min(upper, t.rows-1), min(lower, t.rows-1)
	if upper >= lower {
		return
	}
	t.cx, t.cy = 0, 0
	t.upper, t.lower = upper, lower
}

func (t *Terminal) resetTabs() {
	if len(t.tabs) == t.cols {
		clear(t.tabs)
	} else {
		t.tabs = make([]bool, t.cols)
	}
	for x := 8; x < t.cols; x += 8 {
		t.tabs[x] = true
	}
}

func (t *Terminal) tab() {
	if t.capture {
		t.capturedTab()
		return
	}
	if t.cx >= t.cols-1 {
		return
	}
	for t.cx++; t.cx < t.cols-1 && !t.tabs[t.cx]; {
		t.cx++
	}
}

// capturedTab reads a tab of a capture: tmux from 3.6 on keeps one that was
// written over blanks, with their style.
func (t *Terminal) capturedTab() {
	if len(t.tabs) == 0 {
		t.putASCII(t.penStyle()|cellOne|'\t', '\t')
		return
	}
	for more := t.cx < t.cols; more; more = t.cx < len(t.tabs)-1 && !t.tabs[t.cx] {
		t.putASCII(t.penStyle()|spaceCell, ' ')
	}
}

func (t *Terminal) cbt() {
	x := min(t.cx, t.cols-1)
	n := t.one()
	if n == -1 {
		return
	}
	for ; x > 0 && n > 0; n-- {
		for x--; x > 0 && !t.tabs[x]; {
			x--
		}
	}
	t.cx = x
}

func (t *Terminal) setTab() {
	if t.cx < t.cols {
		t.tabs[t.cx] = true
	}
}

func (t *Terminal) tbc() {
	switch t.parser.get(0, 0, 0) {
	case 0:
		if t.cx < t.cols {
			t.tabs[t.cx] = false
		}
	case 3:
		clear(t.tabs)
	}
}

func (t *Terminal) decscusr() {
	if n := t.parser.get(0, 0, 0); n >= 0 && n <= 6 {
		t.shape = n
	}
}
