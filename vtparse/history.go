package vtparse

// This file keeps the lines that scrolled away: their written cells only, one
// after the other in one ring of cells. Rules: never more than limit lines;
// in steady state nothing is allocated.

type history struct {
	limit int
	cells []cell   // ring; a line never spans its end
	lines []keptAt // ring
	first int      // oldest line in lines
	n     int
}

// keptAt is where one line lies in the ring of cells.
type keptAt struct {
	off, len      int
	size, used    int // what the line had: its cells and how many were written
	wrapped, wide bool
}

// minHistoryCells is the first size of the ring, 8 KiB.
const minHistoryCells = 1024

func (h *history) at(i int) *keptAt { return &h.lines[(h.first+i)%len(h.lines)] }

// row returns the cells of line i, 0 the oldest.
func (h *history) row(i int) []cell {
	k := h.at(i)
	return h.cells[k.off : k.off+k.len]
}

func (h *history) unwrapLast() {
	if h.n > 0 {
		h.at(h.n - 1).wrapped = false
	}
}

func (h *history) clear() { h.first, h.n = 0, 0 }

// collect drops the oldest tenth when the history is full, as tmux does.
func (h *history) collect(scrolled *int) {
	if h.n == 0 || h.n < h.limit {
		return
	}
	drop := min(max(h.limit/10, 1), h.n)
	h.first = (h.first + drop) % len(h.lines)
	h.n -= drop
	*scrolled = min(*scrolled, h.n)
}

// push appends l without the blanks at its end that nobody wrote.
func (h *history) push(l *line) {
	n := len(l.cells)
	for n > l.used && l.cells[n-1] == blankCell {
		n--
	}
	if h.n == len(h.lines) {
		h.growLines()
	}
	off, ok := h.place(n)
	if !ok {
		h.growCells(n)
		off, _ = h.place(n)
	}
	copy(h.cells[off:off+n], l.cells[:n])
	h.n++
	*h.at(h.n - 1) = keptAt{off, n, len(l.cells), l.used, l.wrapped, l.wide}
}

// pop removes the newest line and returns it.
func (h *history) pop() *line {
	l := h.line(h.n - 1)
	h.n--
	return l
}

// line returns a copy of line i.
func (h *history) line(i int) *line {
	k := h.at(i)
	l := &line{cells: make([]cell, k.size), used: k.used, wrapped: k.wrapped, wide: k.wide}
	for x := copy(l.cells, h.row(i)); x < k.size; x++ {
		l.cells[x] = blankCell
	}
	return l
}

// place finds room for n cells after the newest line.
func (h *history) place(n int) (int, bool) {
	if h.n == 0 {
		return 0, n <= len(h.cells)
	}
	oldest, newest := h.at(0).off, h.at(h.n-1)
	tail := newest.off + newest.len
	if newest.off < oldest { // the lines wrap around the ring's end
		return tail, tail+n < oldest
	}
	if tail+n <= len(h.cells) {
		return tail, true
	}
	return 0, n < oldest
}

func (h *history) growLines() {
	size := min(max(16, 2*len(h.lines)), h.limit+1)
	lines := make([]keptAt, max(size, h.n+1))
	for i := range h.n {
		lines[i] = *h.at(i)
	}
	h.lines, h.first = lines, 0
}

func (h *history) growCells(n int) {
	cells := make([]cell, max(minHistoryCells, 2*len(h.cells), len(h.cells)+2*n))
	off := 0
	for i := range h.n {
		k := h.at(i)
		copy(cells[off:], h.cells[k.off:k.off+k.len])
		k.off = off
		off += k.len
	}
	h.cells = cells
}
