package vtparse

// This file changes the size. Rules: a pane that gets lower gives up blank
// rows at the bottom first, then rows at the top; one that gets higher takes
// back what scrolled away; wrapped lines flow to the new width on the main
// screen only.

// Resize does what tmux does to a pane: reflow on the main screen, none on the
// alternate one. It serves recordings; a live mirror is seeded again.
func (t *Terminal) Resize(cols, rows int) {
	cols, rows = clamp(cols, 1, MaxSize), clamp(rows, 1, MaxSize)
	if cols != t.cols || rows != t.rows {
		t.resize(cols, rows, t.alternate == nil)
	}
}

func (t *Terminal) resize(cols, rows int, reflow bool) {
	// y counts from the oldest line of the history while lines come and go.
	y := t.history.n + t.cy
	if cols != t.cols {
		t.cols = cols
		t.resetTabs()
	} else {
		reflow = false
	}
	if rows != t.rows {
		y -= t.setRows(rows)
	}
	x := t.cx
	if reflow {
		x, y = t.reflow(x, y)
	}
	if y >= t.history.n {
		t.cx, t.cy = x, y-t.history.n
	} else {
		t.cx, t.cy = 0, 0
	}
	t.touchRows(0, t.rows)
	for _, l := range t.view {
		l.pub = nil
	}
}

// setRows changes the height and returns by how many lines the cursor's line
// moved up because lines above it are gone for good.
func (t *Terminal) setRows(rows int) (lost int) {
	var lines []*line
	if old := t.rows; rows < old {
		needed := old - rows
		if bottom := min(old-1-t.cy, needed); bottom > 0 {
			t.deleteLines(old-bottom, bottom, blankCell)
			needed -= bottom
		}
		if t.keeps {
			for _, l := range t.view[:needed] {
				t.keep(l)
			}
			if t.history.limit == 0 {
				lost = needed
			}
			lines = t.takeView()[needed : needed+rows]
		} else {
			if lost = min(t.cy, needed); lost > 0 {
				t.deleteLines(0, lost, blankCell)
			}
			lines = t.takeView()[:rows]
		}
	} else {
		back := 0
		if t.keeps {
			back = min(t.scrolled, rows-old, t.history.n)
		}
		t.scrolled -= back
		lines = make([]*line, rows)
		for y := range lines {
			switch {
			case y < back:
				lines[back-1-y] = t.history.pop()
			case y < back+old:
				lines[y] = t.view[y-back]
			default:
				lines[y] = new(line)
			}
		}
	}
	t.setView(lines)
	t.rows = rows
	t.upper, t.lower = 0, rows-1
	return lost
}

// keep moves a line into the history.
func (g *grid) keep(l *line) {
	if g.history.limit > 0 {
		g.history.push(l)
		g.scrolled++
	}
}
