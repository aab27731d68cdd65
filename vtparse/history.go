package vtparse

import "encoding/binary"

// This file keeps the lines that scrolled away: their written cells only,
// packed (a byte or so for a cell, see appendCells), one after the other in one
// ring of bytes. Rules: never more than limit lines; in steady state nothing is
// allocated.

type history struct {
	limit int
	data  []byte   // ring; a line never spans its end
	lines []keptAt // ring
	first int      // oldest line in lines
	n     int
	pack  []byte // scratch
}

// keptAt is where one line lies in the ring of bytes.
type keptAt struct {
	off, packed   int32 // in data
	len           int32 // cells
	size, used    int32 // what the line had: its cells and how many were written
	wrapped, wide bool
}

// minHistoryBytes is the first size of the ring.
const minHistoryBytes = 4096

func (h *history) at(i int) *keptAt { return &h.lines[(h.first+i)%len(h.lines)] }

// row returns a copy of the cells of line i, 0 the oldest.
func (h *history) row(i int) []cell {
	k := h.at(i)
	return unpackCells(make([]cell, 0, k.len), h.data[k.off:k.off+k.packed])
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
	h.append(l.cells[:n], keptAt{size: int32(len(l.cells)), used: int32(l.used), wrapped: l.wrapped, wide: l.wide})
}

func (h *history) append(cells []cell, k keptAt) {
	if h.n == len(h.lines) {
		h.growLines()
	}
	h.pack = packCells(h.pack[:0], cells)
	n := len(h.pack)
	off, ok := h.place(n)
	if !ok {
		h.growData(n)
		off, _ = h.place(n)
	}
	copy(h.data[off:off+n], h.pack)
	k.off, k.packed, k.len = int32(off), int32(n), int32(len(cells))
	h.n++
	*h.at(h.n - 1) = k
}

// rewrite gives all cells to visit, which may change them.
func (h *history) rewrite(visit func([]cell)) {
	old := *h
	h.data, h.lines, h.first, h.n = nil, nil, 0, 0
	for i := range old.n {
		cells := old.row(i)
		visit(cells)
		h.append(cells, *old.at(i))
	}
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
	l := &line{cells: make([]cell, k.size), used: int(k.used), wrapped: k.wrapped, wide: k.wide}
	x := len(unpackCells(l.cells[:0], h.data[k.off:k.off+k.packed]))
	for ; x < int(k.size); x++ {
		l.cells[x] = blankCell
	}
	return l
}

// place finds room for n bytes after the newest line.
func (h *history) place(n int) (int, bool) {
	if h.n == 0 {
		return 0, n <= len(h.data)
	}
	oldest, newest := int(h.at(0).off), h.at(h.n-1)
	tail := int(newest.off + newest.packed)
	if int(newest.off) < oldest { // the lines wrap around the ring's end
		return tail, tail+n < oldest
	}
	if tail+n <= len(h.data) {
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

// growData makes the ring larger by a quarter: many panes have a history, and
// what is too much counts for each.
func (h *history) growData(n int) {
	data := make([]byte, max(minHistoryBytes, len(h.data)+len(h.data)/4+2*n))
	off := 0
	for i := range h.n {
		k := h.at(i)
		copy(data[off:], h.data[k.off:k.off+k.packed])
		k.off = int32(off)
		off += int(k.packed)
	}
	h.data = data
}

// asciiRun marks a run whose code points are one byte each.
const asciiRun = 1

// packCells appends cells as runs of one style: what they share without the
// code point, shifted by one for asciiRun; their number; the code points.
func packCells(b []byte, cells []cell) []byte {
	for i := 0; i < len(cells); {
		shared, ascii, n := cells[i]&^cellRuneMask, true, 0
		for _, c := range cells[i:] {
			if c&^cellRuneMask != shared || (c&cellRuneMask < 0x80) != ascii && n > 0 {
				break
			}
			ascii = c&cellRuneMask < 0x80
			n++
		}
		head := uint64(shared>>21) << 1
		if ascii {
			head |= asciiRun
		}
		b = binary.AppendUvarint(b, head)
		b = binary.AppendUvarint(b, uint64(n))
		for _, c := range cells[i : i+n] {
			if ascii {
				b = append(b, byte(c&cellRuneMask))
			} else {
				b = binary.AppendUvarint(b, uint64(c&cellRuneMask))
			}
		}
		i += n
	}
	return b
}

// unpackCells undoes packCells.
func unpackCells(out []cell, b []byte) []cell {
	for len(b) > 0 {
		head, k := binary.Uvarint(b)
		n, k2 := binary.Uvarint(b[k:])
		b = b[k+k2:]
		shared := cell(head>>1) << 21
		for range n {
			if head&asciiRun != 0 {
				out = append(out, shared|cell(b[0]))
				b = b[1:]
				continue
			}
			r, k := binary.Uvarint(b)
			out = append(out, shared|cell(r))
			b = b[k:]
		}
	}
	return out
}
