package vtparse

import "unicode/utf8"

// This file decides which character needs no cell of its own because it joins
// the one before. Rules: up to tmux 3.3 a joiner takes whatever comes next in
// the same chunk; from 3.4 on the text of the cell before decides.

const (
	zeroWidthJoiner   = '\u200d'
	variationSelector = '\ufe0f' // asks for the emoji form
	hangulFiller      = '\u3164'
)

// joined handles r if it joins the character before or vanishes.
func (t *Terminal) joined(r rune, width int) bool {
	if t.profile.joins {
		return t.joinCell(r, width)
	}
	if r == zeroWidthJoiner {
		t.zwj = true
		return true
	}
	if t.zwj {
		t.combine(zeroWidthJoiner)
	}
	if width == 0 || t.zwj {
		t.zwj = false
		t.combine(r)
		return true
	}
	return false
}

// mayJoin tells whether r, one column wide, can join anything but a cluster.
func (p *profile) mayJoin(r rune) bool {
	return r >= 0x1100 && r <= 0x11ff || r == hangulFiller || r >= 0xd7b0 && r <= 0xd7fb || r >= 0xa960 && r <= 0xa97c || r >= 0x1f000
}

// joinCell follows tmux 3.4 and later.
func (t *Terminal) joinCell(r rune, width int) bool {
	p := t.profile
	if p.pairs && r == hangulFiller {
		return true
	}
	alone := width == 0 || r == zeroWidthJoiner || r == variationSelector // makes no sense alone
	widen := r == variationSelector
	if r < 0x80 || t.cx == 0 {
		return alone
	}
	l := t.touch(t.cy)
	n := 1
	last := l.at(t.cx - 1)
	if t.cx != 1 && last.padding() {
		n = 2
		last = l.at(t.cx - 2)
	}
	if last.padding() || n != last.width() {
		return alone
	}
	t.text = last.appendRaw(t.text[:0], &t.in.tables)
	forced := false
	if p.pairs {
		switch hangul(t.text, r) {
		case hangulLost:
			return true
		case hangulLead:
			return false
		case hangulJoins:
			forced = true
		}
	}
	if !alone && !forced {
		switch {
		case p.pairs && pairs(t.text, r):
			widen = true
		case !p.pairs && modifier(r):
			if len(t.text) < 2 {
				return false
			}
			widen = true
		case !endsWithJoiner(t.text):
			return false
		}
	}
	if len(t.text)+utf8.RuneLen(r) > p.cellBytes {
		return alone
	}
	t.text = utf8.AppendRune(t.text, r)
	last = last&^(cellRuneMask|cellCleared) | cellCluster | cellExt | cell(t.in.clusterID(t.text))
	widen = widen && last.width() == 1
	cx := t.cx
	if widen {
		last = last&^cellWidths | cellTwo
	}
	// A capture holds what came of the late half: the columns follow.
	if widen = widen && !(p.lateHalf && t.capture); widen {
		n = 2
		cx++
	}
	l.set(cx-n, last, t.cols)
	if widen {
		half := cx - 1
		if p.lateHalf {
			half = cx
		}
		l.set(half, paddingCell, t.cols)
	}
	if cx > t.cols {
		cx = t.cols
		if !p.pairs {
			cx--
		}
	}
	t.cx = cx
	return true
}

func endsWithJoiner(text []byte) bool {
	r, _ := utf8.DecodeLastRune(text)
	return r == zeroWidthJoiner
}

func regional(r rune) bool { return r >= 0x1f1e6 && r <= 0x1f1ff }
func skinTone(r rune) bool { return r >= 0x1f3fb && r <= 0x1f3ff }

// modifier is what tmux 3.4 and 3.5 join to any character before it.
func modifier(r rune) bool { return regional(r) || skinTone(r) }

// pairs tells whether r joins a cell with this text: flags and skin tones, in
// either order.
func pairs(text []byte, r rune) bool {
	first, _ := utf8.DecodeRune(text)
	switch {
	case regional(first) && regional(r):
		n := 0
		for _, c := range string(text) {
			if regional(c) {
				n++
			}
		}
		return n == 1
	case skinTone(r):
		return takesTone(first)
	case skinTone(first):
		return takesTone(r)
	}
	return false
}

// toned are the characters that tmux lets take a skin tone.
var toned = []rune{
	0x1f44b, 0x1f450, 0x1f466, 0x1f469, 0x1f46e, 0x1f46e, 0x1f470, 0x1f478, 0x1f47c, 0x1f47c,
	0x1f481, 0x1f483, 0x1f485, 0x1f487, 0x1f4aa, 0x1f4aa, 0x1f575, 0x1f575, 0x1f57a, 0x1f57a,
	0x1f590, 0x1f590, 0x1f595, 0x1f596, 0x1f645, 0x1f647, 0x1f64b, 0x1f64f, 0x1f6b4, 0x1f6b6,
	0x1f926, 0x1f926, 0x1f937, 0x1f939, 0x1f93d, 0x1f93e, 0x1f9b5, 0x1f9b6, 0x1f9b8, 0x1f9b9,
	0x1f9cd, 0x1f9cf, 0x1f9d1, 0x1f9df,
}

func takesTone(r rune) bool {
	for i := 0; i < len(toned); i += 2 {
		if r >= toned[i] && r <= toned[i+1] {
			return true
		}
	}
	return false
}

// What a Hangul letter does behind a cell.
const (
	hangulNot   = iota
	hangulLead  // begins a syllable
	hangulJoins // goes on with the syllable before it
	hangulLost  // has nothing to go on with: vanishes
)

// jamo sorts letters into lead (1), vowel (2), tail (3); 0 is none of them.
func jamo(r rune) int {
	switch {
	case r >= 0x1100 && r <= 0x115f, r >= 0xa960 && r <= 0xa97c:
		return 1
	case r >= 0x1160 && r <= 0x11a7, r >= 0xd7b0 && r <= 0xd7c6:
		return 2
	case r >= 0x11a8 && r <= 0x11ff, r >= 0xd7cb && r <= 0xd7fb:
		return 3
	}
	return 0
}

func hangul(text []byte, r rune) int {
	kind := jamo(r)
	switch kind {
	case 0:
		return hangulNot
	case 1:
		return hangulLead
	}
	before, _ := utf8.DecodeLastRune(text)
	if jamo(before) == kind-1 {
		return hangulJoins
	}
	return hangulLost
}
