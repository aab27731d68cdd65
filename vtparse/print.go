package vtparse

import "unicode/utf8"

// This file puts characters into cells: runs of ASCII at once, everything
// else one by one. Rules: where the cursor is, who wraps and which half of a
// wide character is blanked is tmux's, and differs between the two ways.

// penStyle returns the number of the pen's style, in place.
func (t *Terminal) penStyle() cell {
	if t.penStale {
		p := &t.pen
		t.penCell = cell(t.in.styleID(p.Style))<<styleShift | p.given
		if p.Attr&(Strike|Overline) != 0 || p.UlStyle > 1 || p.Ul != 0 || (p.Fg|p.Bg)&colorRGB != 0 {
			t.penCell |= cellExt
		}
		t.penStale = false
	}
	return t.penCell
}

// acs tells whether line drawing is on.
func (t *Terminal) acs() bool {
	if t.mode.g1 {
		return t.mode.acs1
	}
	return t.mode.acs0
}

// printASCII prints bytes 0x20..0x7E.
func (t *Terminal) printASCII(run []byte) {
	base := t.penStyle() | cellOne
	if t.capture && t.zwj { // what stands behind a joiner in a capture was joined
		t.zwj = false
		if t.combine(zeroWidthJoiner) && t.combine(rune(run[0])) {
			run = run[1:]
		}
	}
	if t.mode.nowrap || t.mode.insert || t.acs() {
		if t.acs() {
			base |= cellACS
		}
		for _, b := range run {
			t.putASCII(base|cell(b), rune(b))
		}
		return
	}
	for len(run) > 0 {
		if t.cx >= t.cols {
			t.lineFeed(true, blankCell)
			t.cx = 0
		}
		n := min(len(run), t.cols-t.cx)
		l := t.touch(t.cy)
		x := t.cx
		if l.wide {
			t.blankLeft(l, x)
		}
		if x+n > len(l.cells) {
			l.expand(x+n, t.cols, blankCell)
		}
		if x+n > l.used {
			l.used = x + n
		}
		cells := l.cells[x : x+n]
		for i, b := range run[:n] {
			cells[i] = base | cell(b) | cells[i]&cellExt
		}
		l.pub = nil
		t.cx += n
		if l.wide {
			t.blankRight(l, t.cx)
		}
		run = run[n:]
	}
}

// blankLeft blanks the wide character of which a run that starts at x
// overwrites the second half.
func (t *Terminal) blankLeft(l *line, x int) {
	if x == 0 {
		return
	}
	c := paddingCell
	for ; x > 0; x-- {
		if c = l.at(x); !c.padding() {
			break
		}
		l.set(x, spaceCell, t.cols)
	}
	if c.width() > 1 {
		l.set(x, spaceCell, t.cols)
	}
}

// blankRight blanks the padding that a run which ended before x left alone.
func (t *Terminal) blankRight(l *line, x int) {
	for ; x < t.cols && l.at(x).padding(); x++ {
		l.set(x, spaceCell, t.cols)
	}
}

// putRune prints a character that is not ASCII.
func (t *Terminal) putRune(r rune) {
	width := t.profile.width(r)
	if width < 0 {
		return
	}
	if width == 1 && t.simple() {
		// The common case: box drawing, bullets, arrows.
		l := t.touch(t.cy)
		x := t.cx
		if !l.wide && (!t.profile.joins || !t.profile.mayJoin(r) && (x == 0 || l.at(x-1)&cellCluster == 0)) {
			if x >= len(l.cells) {
				l.expand(x+1, t.cols, blankCell)
			}
			if x >= l.used {
				l.used = x + 1
			}
			l.cells[x] = t.penStyle() | cellOne | cellExt | cell(r)
			l.pub = nil
			t.cx++
			return
		}
	}
	if t.joined(r, width) {
		return
	}
	t.put(t.penStyle()|cell(width)<<22|cellExt|cell(r), width)
}

// simple tells whether a one-column character goes straight into its cell.
func (t *Terminal) simple() bool {
	return !t.zwj && !t.mode.nowrap && !t.mode.insert && t.cx < t.cols
}

// putASCII prints one byte the slow way.
func (t *Terminal) putASCII(c cell, r rune) {
	if !t.joined(r, 1) {
		t.put(c, 1)
	}
}

// put writes a character of one or two columns at the cursor.
func (t *Terminal) put(c cell, width int) {
	cols := t.cols
	if t.mode.nowrap && width > 1 && (width > cols || t.cx != cols && t.cx > cols-width) {
		return // does not fit
	}
	must := false // write the cell even if nothing seems to change
	if t.mode.insert {
		t.insertCells(t.cx, t.cy, width, blankCell)
		must = true
	}
	fits := cols >= width
	if !t.mode.nowrap && fits && t.cx > cols-width {
		t.lineFeed(true, blankCell)
		t.cx = 0
	}
	if fits && t.cx > cols-width {
		return
	}
	l := t.touch(t.cy)
	if l.wide && t.overwrite(l, width) {
		must = true
	}
	for x := t.cx + 1; x < t.cx+width; x++ {
		l.set(x, paddingCell, cols)
		must = true
	}
	if must || !t.unchanged(l, c) {
		l.set(t.cx, c, cols)
	}
	stick := 0
	if t.mode.nowrap {
		stick = 1
	}
	if !fits {
		t.cx = cols - 1
	} else if t.cx <= cols-stick-width || cols-stick-width < 0 {
		t.cx += width
	} else {
		t.cx = cols - stick
	}
}

// unchanged tells whether tmux finds that c is what the cell at the cursor
// holds already, and leaves it alone. It does not look at the underline colour,
// and takes cells that the line does not have for default blanks.
func (t *Terminal) unchanged(l *line, c cell) bool {
	if t.cx >= len(l.cells) {
		p := t.pen.Style
		p.Ul = 0
		return c&(cellRuneMask|cellWidths|cellACS) == spaceCell && p == (Style{})
	}
	if t.pen.Ul == 0 || t.profile.seesUl || c&cellRuneMask >= 0x7f || t.pen.given != 0 {
		return false
	}
	p := t.pen.Style
	p.Ul = 0
	return l.cells[t.cx] == c&^(styleMask|cellExt)|cell(t.in.styleID(p))<<styleShift
}

// overwrite blanks what is left of wide characters that a character of the
// given width at the cursor cuts.
func (t *Terminal) overwrite(l *line, width int) bool {
	now, done := l.at(t.cx), false
	if now.padding() {
		x := t.cx
		for ; x > 0 && l.at(x).padding(); x-- {
			l.set(x, spaceCell, t.cols)
		}
		l.set(x, spaceCell, t.cols)
		done = true
	}
	if width != 1 || now.width() != 1 {
		for x := t.cx + width; x < t.cols && l.at(x).padding(); x++ {
			l.set(x, spaceCell, t.cols)
			done = true
		}
	}
	return done
}

// combine appends text to the character at the left of the cursor, if there
// is one and it stays within the size that tmux gives a cell.
func (t *Terminal) combine(r rune) bool {
	l := t.touch(t.cy)
	x := t.cx - 1
	for x >= 0 && l.at(x).padding() {
		x--
	}
	if x < 0 {
		return false
	}
	c := l.at(x)
	t.text = c.appendRaw(t.text[:0], &t.in.tables)
	if len(t.text)+utf8.RuneLen(r) > t.profile.cellBytes {
		return false
	}
	t.text = utf8.AppendRune(t.text, r)
	c = c&^(cellRuneMask|cellCleared) | cellCluster | cellExt | cell(t.in.clusterID(t.text))
	l.set(x, c, t.cols)
	return true
}
