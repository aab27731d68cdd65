package vtparse

// This file finds the function of a control character or sequence: tables by
// final byte. What is not in a table is ignored, as tmux ignores it.

// StringTimeout is how many seconds tmux waits for the end of a string.
const StringTimeout = 5

// control executes a C0 character.
func (t *Terminal) control(b byte) {
	t.stopCharacter()
	switch b {
	case '\b':
		t.backspace()
	case '\t':
		t.tab()
	case '\n', '\v', '\f':
		t.lineFeed(false, t.erase())
	case '\r':
		t.cx = 0
	case 0x0e:
		t.mode.g1 = true
	case 0x0f:
		t.mode.g1 = false
	}
	t.last = -1
}

// escapeSequence executes ESC and final byte b.
func (t *Terminal) escapeSequence(b byte) {
	ps := &t.parser
	switch string(ps.inter[:ps.ninter]) {
	case "":
		if f := escTable[b&0x7f]; f != nil {
			f(t)
		} else {
			return
		}
	case "(":
		if b != '0' && b != 'B' {
			return
		}
		t.mode.acs0 = b == '0'
	case ")":
		if b != '0' && b != 'B' {
			return
		}
		t.mode.acs1 = b == '0'
	case "#":
		if b != '8' {
			return
		}
		t.alignmentTest()
	default:
		return
	}
	t.last = -1
}

// controlSequence executes a CSI sequence whose parameters are split.
func (t *Terminal) controlSequence(b byte) {
	ps := &t.parser
	var f func(*Terminal)
	switch {
	case ps.ninter == 0:
		f = csiTable[b&0x7f]
	case ps.ninter == 1:
		switch ps.inter[0] {
		case '?':
			f = csiPrivate[b&0x7f]
		case '>', '<', '=':
			if b == 'u' { // unknown to tmux: it does not end a repetition
				t.kittyKeyboard(ps.inter[0])
			} else if ps.inter[0] == '>' {
				f = csiGreater[b&0x7f]
			}
		case ' ':
			f = csiSpace[b&0x7f]
		}
	}
	if f == nil {
		return
	}
	f(t)
	t.last = -1
}

// The tables are filled by init because the functions refer back to them.
var escTable, csiTable, csiPrivate, csiGreater, csiSpace [128]func(*Terminal)

func ignored(*Terminal) {}

func init() {
	escTable = [128]func(*Terminal){
		'7': (*Terminal).saveCursor, '8': (*Terminal).restoreCursor,
		'=': func(t *Terminal) { t.mode.appKeypad = true },
		'>': func(t *Terminal) { t.mode.appKeypad = false },
		'D': func(t *Terminal) { t.lineFeed(false, t.erase()) },
		'E': func(t *Terminal) { t.cx = 0; t.lineFeed(false, t.erase()) },
		'H': (*Terminal).setTab, 'M': (*Terminal).reverseIndex,
		'\\': ignored, 'c': (*Terminal).reset,
	}
	csiTable = [128]func(*Terminal){
		'@': (*Terminal).ich, 'A': (*Terminal).cuu, 'B': (*Terminal).cud, 'C': (*Terminal).cuf, 'D': (*Terminal).cub,
		'E': (*Terminal).cnl, 'F': (*Terminal).cpl, 'G': (*Terminal).hpa, 'H': (*Terminal).cup, 'J': (*Terminal).ed,
		'K': (*Terminal).el, 'L': (*Terminal).il, 'M': (*Terminal).dl, 'P': (*Terminal).dch, 'S': (*Terminal).su,
		'T': (*Terminal).sd, 'X': (*Terminal).ech, 'Z': (*Terminal).cbt, '`': (*Terminal).hpa, 'b': (*Terminal).rep,
		'c': ignored, 'd': (*Terminal).vpa, 'f': (*Terminal).cup, 'g': (*Terminal).tbc, 'h': (*Terminal).sm,
		'l': (*Terminal).rm, 'm': (*Terminal).sgr, 'n': ignored, 'r': (*Terminal).decstbm, 's': (*Terminal).saveCursor,
		't': (*Terminal).windowOps, 'u': (*Terminal).restoreCursor,
	}
	csiPrivate = [128]func(*Terminal){'h': (*Terminal).decset, 'l': (*Terminal).decrst}
	csiGreater = [128]func(*Terminal){'c': ignored, 'm': ignored, 'n': ignored, 'q': ignored}
	csiSpace = [128]func(*Terminal){'q': (*Terminal).decscusr}
}

// erase is the cell that erasing leaves: a blank in the pen's background.
func (t *Terminal) erase() cell {
	if bg := t.pen.Bg; bg != t.eraseStyle {
		t.eraseStyle = bg
		t.eraseCell = blankCell | cell(t.in.styleID(Style{Bg: bg}))<<styleShift
	}
	return t.eraseCell
}

// resetPen is the state of a new pen: style, charsets and saved cursor.
func (t *Terminal) resetPen() {
	t.setPen(pen{})
	t.mode.g1, t.mode.acs0, t.mode.acs1 = false, false, false
	t.saved = savedCursor{origin: t.saved.origin}
}

func (t *Terminal) setPen(p pen) {
	t.pen = p
	t.penStale = true
}
