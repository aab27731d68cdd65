package vtparse

import "bytes"

// This file turns bytes outside of plain text into sequences: which state the
// parser is in, and when a sequence is complete. It draws nothing. Rules: 7-bit
// controls only; a sequence that breaks a limit is dropped whole; nothing is
// kept beyond the limits below.

type state uint8

const (
	ground state = iota
	escape
	escapeIntermediate
	csiEntry
	csiParameter
	csiIntermediate
	csiIgnore
	dcsEntry
	dcsParameter
	dcsIntermediate
	dcsHandler
	dcsEscape
	dcsIgnore
	oscString
	apcString
	renameString
	consumeString
)

const (
	maxIntermediates = 3
	maxParamBytes    = 63
	maxParams        = 23 // one more and the sequence is ignored
	maxNumber        = 1<<31 - 1
	maxString        = 1<<20 - 1 // bytes of an OSC or APC string
	// keptString is what stays allocated between strings.
	keptString = 4096
)

type parser struct {
	state   state
	discard bool // a limit was broken

	inter  [maxIntermediates]byte
	ninter int
	param  [maxParamBytes]byte
	nparam int
	str    []byte // OSC and APC strings

	args  [maxParams + 1]arg
	nargs int

	char            [4]byte // a character that is not complete yet
	partial, wanted int

	timed  bool   // tmux's string timer runs
	serial uint64 // counts the strings that started it

	// What capture-pane -P would tell: tmux forgets it only when a sequence
	// ends, not when its timer drops a string.
	since  int      // bytes since ground state was entered by a sequence's end
	told   int      // of them, those that a seed told as an open string
	lapsed struct { // the string that the timer dropped, none: kind is ground
		kind     state
		min, max int // its bytes; after a seed it may have been dropped long before
	}
}

// clear forgets the parts of a sequence and stops the timer.
func (p *parser) clear() {
	p.ninter, p.nparam = 0, 0
	p.str = p.str[:0]
	p.discard, p.timed = false, false
}

func (p *parser) toGround() {
	p.state = ground
	p.timed = false
	p.since, p.told, p.lapsed.kind = 0, 0, ground
	if cap(p.str) > keptString {
		p.str = nil
	}
}

func (p *parser) startString(s state) {
	p.clear()
	p.state = s
	p.timed = true
	p.told = 0
	p.serial++
}

func (p *parser) intermediate(b byte) {
	if p.ninter == maxIntermediates {
		p.discard = true
		return
	}
	p.inter[p.ninter] = b
	p.ninter++
}

func (p *parser) parameter(b byte) {
	if p.nparam == maxParamBytes {
		p.discard = true
		return
	}
	p.param[p.nparam] = b
	p.nparam++
}

func (t *Terminal) enterEscape() {
	t.parser.clear()
	t.parser.state = escape
}

// step consumes bytes outside of ground state and returns how many, at least
// one.
func (t *Terminal) step(p []byte) int {
	ps, b := &t.parser, p[0]
	switch ps.state {
	case dcsHandler: // only ESC \ ends it: not CAN, not BEL
		n := bytes.IndexByte(p, 0x1b)
		if n < 0 {
			return len(p)
		}
		ps.state = dcsEscape
		return n + 1
	case dcsEscape:
		if b == '\\' {
			ps.toGround()
		} else {
			ps.state = dcsHandler
		}
		return 1
	case oscString, apcString, renameString, consumeString:
		return t.stringBytes(p)
	}
	if b == 0x18 || b == 0x1a {
		t.control(b)
		ps.toGround()
		return 1
	}
	if b == 0x1b {
		t.enterEscape()
		return 1
	}
	if b < 0x20 {
		if ps.state < dcsEntry {
			t.control(b)
		}
		return 1
	}
	if ps.state == dcsIgnore || b >= 0x7f {
		return 1
	}
	switch ps.state {
	case escape, escapeIntermediate:
		t.stepEscape(b)
	case csiIgnore:
		if b >= 0x40 {
			ps.toGround()
		}
	case csiEntry, csiParameter, csiIntermediate:
		t.stepCSI(b)
	case dcsEntry, dcsParameter, dcsIntermediate:
		ps.stepDCS(b)
	}
	return 1
}

func (t *Terminal) stepEscape(b byte) {
	ps := &t.parser
	if b < 0x30 {
		ps.intermediate(b)
		ps.state = escapeIntermediate
		return
	}
	if ps.state == escape {
		switch b {
		case '[':
			ps.clear()
			ps.state = csiEntry
			return
		case 'P':
			t.last = -1
			ps.startString(dcsEntry)
			return
		case ']':
			t.last = -1
			ps.startString(oscString)
			return
		case '_':
			t.last = -1
			ps.startString(apcString)
			return
		case 'k':
			t.last = -1
			ps.startString(renameString)
			return
		case 'X', '^':
			t.last = -1
			ps.startString(consumeString)
			return
		}
	}
	if !ps.discard {
		t.escapeSequence(b)
	}
	ps.toGround()
}

func (t *Terminal) stepCSI(b byte) {
	ps := &t.parser
	switch {
	case b < 0x30:
		ps.intermediate(b)
		ps.state = csiIntermediate
	case b >= 0x40:
		if !ps.discard && ps.split() {
			t.controlSequence(b)
		}
		ps.toGround()
	case ps.state == csiIntermediate, b >= 0x3c && ps.state == csiParameter:
		ps.state = csiIgnore
	case b >= 0x3c:
		ps.intermediate(b)
		ps.state = csiParameter
	default:
		ps.parameter(b)
		ps.state = csiParameter
	}
}

func (p *parser) stepDCS(b byte) {
	switch {
	case b < 0x30:
		p.intermediate(b)
		p.state = dcsIntermediate
	case b >= 0x40:
		p.state = dcsHandler
	case p.state == dcsIntermediate, b == ':', b >= 0x3c && p.state == dcsParameter:
		p.state = dcsIgnore
	default:
		p.state = dcsParameter
	}
}

// stringBytes consumes a stretch of an OSC, APC or other string. ESC and CAN
// end it as well as its terminator, and what was collected still counts.
func (t *Terminal) stringBytes(p []byte) int {
	ps := &t.parser
	n := 0
	for n < len(p) && p[n] >= 0x20 {
		n++
	}
	if n > 0 {
		if ps.state == oscString || ps.state == apcString {
			if len(ps.str)+n > maxString {
				ps.discard = true
				n = min(n, len(p))
			} else if !ps.discard {
				ps.str = append(ps.str, p[:n]...)
			}
		}
		return n
	}
	switch b := p[0]; {
	case b == 0x1b:
		t.endString(false)
		t.enterEscape()
	case b == 0x18 || b == 0x1a:
		t.control(b)
		t.endString(false)
		ps.toGround()
	case b == 0x07 && ps.state == oscString:
		t.endString(true)
		ps.toGround()
	}
	return 1
}

// Waiting tells whether an unfinished string keeps tmux's timer running, and
// which string it is. tmux gives such a string StringTimeout; the caller, who
// has the clock, calls Expire then.
func (t *Terminal) Waiting() (serial uint64, yes bool) { return t.parser.serial, t.parser.timed }

// Expire does what tmux does when its string timer fires: the string is
// dropped, the parser starts afresh, pen, charsets and saved cursor are reset.
// Nothing happens if the string of that serial has ended meanwhile.
func (t *Terminal) Expire(serial uint64) {
	if !t.parser.timed || t.parser.serial != serial {
		return
	}
	t.resetPen()
	t.parser.lapse()
	t.last = -1
}

// lapse drops the open string.
func (p *parser) lapse() {
	p.lapsed.kind, p.lapsed.min, p.lapsed.max = p.state, p.since, p.since
	if p.told > 0 {
		p.lapsed.min = p.told
	}
	p.clear()
	p.state = ground
	p.str = nil
}
