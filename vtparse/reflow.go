package vtparse

// This file flows wrapped lines to a new width, the history with them. Rule:
// line for line what tmux 3.3a does, so that a recording with resizes plays.

// flow is one reflow: source lines are taken from src, finished ones go to out.
type flow struct {
	src, out []*line // a nil in src was used up
	cols     int
	scrolled int
}

// reflow returns where the cursor that was at column x of line y, counted from
// the oldest line, has gone.
func (t *Terminal) reflow(x, y int) (int, int) {
	f := flow{cols: t.cols, scrolled: t.scrolled}
	for i := range t.history.n {
		f.src = append(f.src, t.history.line(i))
	}
	f.src = append(f.src, t.view...)
	wx, wy := wrapPosition(f.src, x, y)
	for i, l := range f.src {
		if l != nil {
			f.line(i, l)
		}
	}
	for len(f.out) < t.rows {
		f.out = append(f.out, new(line))
	}
	above := len(f.out) - t.rows
	t.history.clear()
	for _, l := range f.out[:above] {
		if t.history.limit > 0 {
			t.history.push(l)
		}
	}
	t.scrolled = min(f.scrolled, above, t.history.n)
	x, y = unwrapPosition(f.out, wx, wy)
	t.setView(f.out[above:])
	if t.history.limit == 0 {
		y -= above
	}
	return x, y
}

// endOfLine stands for a cursor behind the last written cell.
const endOfLine = -1

// wrapPosition turns a position into a column and number of a logical line.
func wrapPosition(lines []*line, x, y int) (wx, wy int) {
	for _, l := range lines[:y] {
		if l.wrapped {
			wx += l.used
		} else {
			wx = 0
			wy++
		}
	}
	if x >= lines[y].used {
		return endOfLine, wy
	}
	return wx + x, wy
}

func unwrapPosition(lines []*line, wx, wy int) (x, y int) {
	for n := 0; y < len(lines)-1 && n != wy; y++ {
		if !lines[y].wrapped {
			n++
		}
	}
	last := len(lines) - 1
	if wx == endOfLine {
		for y < last && lines[y].wrapped {
			y++
		}
		return lines[y].used, y
	}
	for y < last && lines[y].wrapped && wx >= lines[y].used {
		wx -= lines[y].used
		y++
	}
	return wx, y
}

// line moves one source line on: as it is, cut, or with the next joined to it.
func (f *flow) line(i int, l *line) {
	width, at := 0, 0
	for x, c := range l.cells[:l.used] {
		if at == 0 && width+c.width() > f.cols {
			at = x
		}
		width += c.width()
	}
	switch {
	case width > f.cols:
		f.split(i, l, at)
	case width < f.cols && l.wrapped:
		f.take(i, l)
		f.join(i, width)
	default:
		f.take(i, l)
	}
}

func (f *flow) take(i int, l *line) {
	f.out = append(f.out, l)
	f.src[i] = nil
}

// write sets a cell of an unfinished line.
func (f *flow) write(l *line, c cell) {
	if c.padding() {
		l.wide = true
	}
	l.set(l.used, c&^cellCleared, f.cols)
}

// split cuts line i at cell at and as often as needed after it.
func (f *flow) split(i int, l *line, at int) {
	wrapped, rest := l.wrapped, l.cells[at:l.used:l.used]
	head := &line{cells: append([]cell(nil), l.cells[:at]...), used: at, wrapped: true, wide: l.wide}
	f.take(i, head)
	part := new(line)
	f.out = append(f.out, part)
	width, added := 0, 1
	for _, c := range rest {
		if width+c.width() > f.cols {
			part.wrapped = true
			part = new(line)
			f.out = append(f.out, part)
			width = 0
			added++
		}
		width += c.width()
		f.write(part, c)
	}
	part.wrapped = wrapped
	if i <= f.scrolled {
		f.scrolled += added
	}
	if width < f.cols && wrapped {
		f.join(i, width)
	}
}

// join fills the last finished line, of which width columns are used, from
// the source lines after i.
func (f *flow) join(i, width int) {
	to := len(f.out) - 1
	l := f.out[to]
	var from *line
	lines, taken, wrapped := 0, 0, true
	for {
		at := i + 1 + lines
		if at == len(f.src) {
			break
		}
		next := f.src[at]
		if !next.wrapped {
			wrapped = false
		}
		if next.used == 0 {
			if !wrapped {
				break
			}
			lines++
			continue
		}
		if width+next.cells[0].width() > f.cols {
			break
		}
		from, taken = next, 0
		for taken < from.used && width+from.cells[taken].width() <= f.cols {
			width += from.cells[taken].width()
			f.write(l, from.cells[taken])
			taken++
		}
		lines++
		if !wrapped || taken != from.used || width == f.cols {
			break
		}
	}
	if from == nil {
		return
	}
	if left := from.used - taken; left != 0 {
		from.cells = append([]cell(nil), from.cells[taken:from.used]...)
		from.used = left
		lines--
	} else if !wrapped {
		l.wrapped = false
	}
	for n := i + 1; n < i+1+lines; n++ {
		f.src[n] = nil
	}
	if f.scrolled > to+lines {
		f.scrolled -= lines
	} else if f.scrolled > to {
		f.scrolled = to
	}
}
