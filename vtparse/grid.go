package vtparse

// This file moves whole lines: scrolling, inserting, deleting, clearing. It
// knows rows and wrap marks, nothing of characters. Rules: a moved line keeps
// its published Row; wrap marks follow tmux line for line, odd ones included;
// whoever changes a visible line, or which one is visible, has touched its row.

// grid is the visible lines and, on the main screen, the lines above them.
type grid struct {
	cols int
	view []*line
	buf  []*line // backing of view: scrolling moves a window over it
	top  int     // where view begins in buf

	low, high int // rows that may have changed since the newest Screen: low <= y < high

	history  history
	keeps    bool // lines that leave at the top go into the history
	scrolled int  // how many of them a growing screen may pull back
	spare    []*line
}

// scrollRoom is how many lines scroll by before the window is moved back.
const scrollRoom = 64

func (g *grid) init(cols, rows, history int) {
	g.cols = cols
	g.keeps = true
	g.history.limit = history
	g.setView(make([]*line, rows))
	for y := range g.view {
		g.view[y] = new(line)
	}
}

// setView makes lines the visible ones.
func (g *grid) setView(lines []*line) {
	g.buf = make([]*line, len(lines)+scrollRoom)
	copy(g.buf, lines)
	g.top = 0
	g.view = g.buf[:len(lines):len(lines)]
	g.touchRows(0, len(lines))
}

// touch is the line of row y, which is going to change.
func (g *grid) touch(y int) *line {
	g.low, g.high = min(g.low, y), max(g.high, y+1)
	return g.view[y]
}

// touchRows is touch for all rows from y on and before end.
func (g *grid) touchRows(y, end int) {
	if y < end {
		g.low, g.high = min(g.low, y), max(g.high, end)
	}
}

// newLine takes a line from the spares or makes one.
func (g *grid) newLine() *line {
	if n := len(g.spare); n > 0 {
		l := g.spare[n-1]
		g.spare = g.spare[:n-1]
		return l
	}
	return new(line)
}

// unwrapAbove drops the wrap mark of the line above row y.
func (g *grid) unwrapAbove(y int) {
	if y == 0 {
		g.history.unwrapLast()
		return
	}
	if l := g.view[y-1]; l.wrapped {
		g.touch(y - 1)
		l.wrapped, l.pub = false, nil
	}
}

// clearLines empties n rows from y on. n may be 0 or less where tmux computes
// such a count: then only the wrap mark above y goes.
func (g *grid) clearLines(y, n int, fill cell) {
	for i := y; i < y+n; i++ {
		g.touch(i).empty(g.cols, fill)
	}
	g.unwrapAbove(y)
}

// clear erases a block of cells; whole lines are emptied.
func (g *grid) clear(x, y, nx, ny int, fill cell) {
	if nx == 0 || ny == 0 {
		return
	}
	if x == 0 && nx == g.cols {
		g.clearLines(y, ny, fill)
		return
	}
	for i := y; i < y+ny; i++ {
		g.touch(i).clear(x, nx, g.cols, fill)
	}
}

// moveLines moves n rows from src to dst; the rows that they leave are emptied.
func (g *grid) moveLines(dst, src, n int, fill cell) {
	if n <= 0 || dst == src {
		return
	}
	g.unwrapAbove(dst)
	g.touchRows(min(dst, src), max(dst, src)+n)
	// The rows that are overwritten become the rows that are left.
	var few [8]*line
	over := few[:0]
	for y := dst; y < dst+n; y++ {
		if y < src || y >= src+n {
			over = append(over, g.view[y])
		}
	}
	copy(g.view[dst:dst+n], g.view[src:src+n])
	for y, i := src, 0; y < src+n; y++ {
		if y < dst || y >= dst+n {
			over[i].empty(g.cols, fill)
			g.view[y] = over[i]
			i++
		}
	}
	if src < dst || src >= dst+n {
		g.unwrapAbove(src)
	}
}

// scrollUp moves the rows of a region up by one. With a history the top row
// goes there, also from a region below the top of the screen.
func (g *grid) scrollUp(upper, lower int, fill cell) {
	if !g.keeps {
		g.moveLines(upper, upper+1, lower-upper, fill)
		return
	}
	l := g.view[upper]
	g.touchRows(upper, lower+1)
	g.history.collect(&g.scrolled)
	g.keep(l)
	if upper == 0 && lower == len(g.view)-1 {
		g.slide()
	} else {
		copy(g.view[upper:lower], g.view[upper+1:lower+1])
	}
	l.empty(g.cols, fill)
	g.view[lower] = l
}

// slide moves the window one line down in its backing.
func (g *grid) slide() {
	n := len(g.view)
	g.buf[g.top] = nil
	g.top++
	if g.top+n > len(g.buf) {
		copy(g.buf, g.buf[g.top:])
		g.top = 0
	}
	g.view = g.buf[g.top : g.top+n : g.top+n]
}

func (g *grid) scrollDown(upper, lower int, fill cell) {
	g.moveLines(upper+1, upper, lower-upper, fill)
}

// insertLines is for a row outside of the region: n rows up to the screen's
// end. All the rest at once changes nothing, as in tmux.
func (g *grid) insertLines(y, n int, fill cell) {
	g.moveLines(y+n, y, len(g.view)-y-n, fill)
}

func (g *grid) insertLinesRegion(lower, y, n int, fill cell) {
	kept := lower + 1 - y - n
	g.moveLines(lower+1-kept, y, kept, fill)
	if n != kept {
		g.clearLines(y+kept, n-kept, fill)
	}
}

func (g *grid) deleteLines(y, n int, fill cell) {
	end := len(g.view)
	g.moveLines(y, y+n, end-y-n, fill)
	if y+n != end-n {
		g.clearLines(end-n, y+n-(end-n), fill)
	}
}

func (g *grid) deleteLinesRegion(lower, y, n int, fill cell) {
	kept := lower + 1 - y - n
	g.moveLines(y, y+n, kept, fill)
	if n != kept {
		g.clearLines(y+kept, n-kept, fill)
	}
}

// clearIntoHistory scrolls everything that was used away, then empties the
// rest: how tmux clears a whole screen that has a history.
func (g *grid) clearIntoHistory(fill cell) {
	last := 0
	for y, l := range g.view {
		if l.used != 0 {
			last = y + 1
		}
	}
	for range last {
		g.scrollUp(0, len(g.view)-1, fill)
	}
	if last < len(g.view) {
		g.clear(0, 0, g.cols, len(g.view)-last, fill)
	}
	if last > 0 {
		g.scrolled = 0
	}
}

// insertCells makes room for n cells at x.
func (g *grid) insertCells(x, y, n int, fill cell) {
	l := g.touch(y)
	if x >= g.cols-1 {
		g.clear(x, y, 1, 1, fill)
		return
	}
	l.move(x+n, x, g.cols-x-n, g.cols, fill)
}

// deleteCells closes the gap of n cells at x.
func (g *grid) deleteCells(x, y, n int, fill cell) {
	l := g.touch(y)
	l.move(x, x+n, g.cols-x-n, g.cols, fill)
	g.clear(g.cols-n, y, x+n-(g.cols-n), 1, fill)
}
