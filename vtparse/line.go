package vtparse

// This file holds one line of the grid, with the three lengths that tmux
// keeps apart: the cells it has (len(cells)), the cells that were ever written
// (used, what capture-pane prints), and the width of the screen. Rule: whoever
// changes a line drops its published Row.

type line struct {
	cells   []cell
	used    int  // 1 + the last cell that was written
	wrapped bool // the text goes on in the next line
	wide    bool // may hold padding
	pub     *Row // what was published of it, nil after a change
}

// at reads cell x; what was never there is a blank.
func (l *line) at(x int) cell {
	if x < len(l.cells) {
		return l.cells[x]
	}
	return spaceCell
}

// expand makes room for cells up to n. tmux grows a line in steps of a quarter,
// a half and the whole width, and the steps can be seen: a blank that is
// "printed" past the last step leaves no trace.
func (l *line) expand(n, cols int, fill cell) {
	if n <= len(l.cells) {
		return
	}
	switch {
	case n < cols/4:
		n = cols / 4
	case n < cols/2:
		n = cols / 2
	case n < cols:
		n = cols
	}
	from := len(l.cells)
	if n <= cap(l.cells) {
		l.cells = l.cells[:n]
	} else {
		grown := make([]cell, n)
		copy(grown, l.cells)
		l.cells = grown
	}
	tail := l.cells[from:]
	for i := range tail {
		tail[i] = fill
	}
}

// set writes one cell.
func (l *line) set(x int, c cell, cols int) {
	if x >= len(l.cells) {
		l.expand(x+1, cols, blankCell)
	}
	if x >= l.used {
		l.used = x + 1
	}
	if c.padding() {
		l.wide = true
	}
	l.cells[x] = c | l.cells[x]&cellExt
	l.pub = nil
}

// clear erases the n cells from x on. With the default background nothing
// grows; n may be smaller than 1, then only the room is made.
func (l *line) clear(x, n, cols int, fill cell) {
	if fill == blankCell {
		have := min(len(l.cells), cols)
		if x > have {
			return
		}
		n = min(n, have-x)
	}
	l.expand(x+n, cols, blankCell)
	for i := x; i < x+n; i++ {
		l.cells[i] = fill
	}
	l.pub = nil
}

// move copies n cells from src to dst and erases those of the source that
// were not overwritten.
func (l *line) move(dst, src, n, cols int, fill cell) {
	if n <= 0 || dst == src {
		return
	}
	l.expand(src+n, cols, blankCell)
	l.expand(dst+n, cols, blankCell)
	copy(l.cells[dst:dst+n], l.cells[src:src+n])
	l.used = max(l.used, dst+n)
	for x := src; x < src+n; x++ {
		if x < dst || x >= dst+n {
			l.cells[x] = fill
		}
	}
	l.pub = nil
}

// empty makes the line new: no cells, or a full row of fill.
func (l *line) empty(cols int, fill cell) {
	l.cells = l.cells[:0]
	l.used, l.wrapped, l.wide, l.pub = 0, false, false, nil
	if fill != blankCell {
		l.expand(cols, cols, fill)
	}
}
