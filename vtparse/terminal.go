package vtparse

import "unicode/utf8"

// This file holds the terminal: the state that one pane's bytes work on, and
// the loop that hands them to print, control and the parser. Rule: one
// goroutine owns a Terminal; what leaves it is a Screen.

// Options choose whose rules are followed. The zero value is tmux 3.3a
// without a readable history.
type Options struct {
	// TmuxVersion is the version of the tmux server, such as "3.4" or
	// "next-3.6"; "" stands for "3.3a". Versions that are not known get the
	// rules of the nearest older one that is.
	TmuxVersion string
	// History is how many lines that scrolled away are kept, 0 for none.
	History int
}

// MaxSize bounds Cols and Rows: tmux itself allows no larger pane.
const MaxSize = 10000

// Terminal is one pane. The zero value is not usable; see New and NewSeeded.
type Terminal struct {
	grid    // the lines, the main screen's or the alternate's
	profile *profile
	rows    int

	cx, cy       int
	upper, lower int // scroll region, both inclusive
	tabs         []bool
	mode         modes
	pen          pen
	penCell      cell // style number of pen, in place; valid if !penStale
	penStale     bool
	eraseStyle   Color // background that eraseCell stands for
	eraseCell    cell

	saved     savedCursor // DECSC
	alternate *savedScreen
	altPen    pen // pen, column and row that leaving the alternate screen restores
	altX      int // -1: none
	altY      int

	parser parser
	last   rune // last printed character, for REP; -1: none
	zwj    bool

	title      []byte
	titleBytes int
	titles     []string // title stack, of titleBytes bytes
	shape      int
	kitty      [2][]int // keyboard flag stacks of the main and the alternate screen
	signals    Signals
	status     []byte // text of the last program status
	known      bool   // Modes.Known
	torn       bool   // DEC 2026 is open
	capture    bool   // reads the output of capture-pane

	titleSet   bool // since the last Screen
	generation uint64
	screen     *Screen
	text       []byte       // scratch for cell texts
	unused     *savedScreen // kept for the next alternate screen

	in interner // numbers of styles and clusters; big, so behind what every byte needs
}

// modes are the modes that change what is drawn or what input means.
type modes struct {
	hidden, nowrap, insert, origin  bool
	appCursor, appKeypad, bracketed bool
	focus                           bool
	mouse                           int // 0, 1000, 1002 or 1003
	g1, acs0, acs1                  bool
}

// pen is the style of what is printed next.
type pen struct {
	Style
	given cell // cellFg256, cellBg256
}

type savedCursor struct {
	pen            pen
	x, y           int
	origin         bool
	g1, acs0, acs1 bool
}

// savedScreen is the main screen while the alternate one is shown.
type savedScreen struct {
	lines []*line
	cols  int
	keeps bool
}

// New returns an empty terminal. Sizes outside of 1..MaxSize are clamped.
func New(cols, rows int, o Options) *Terminal {
	t := &Terminal{profile: profileFor(o.TmuxVersion), known: true}
	t.in.reset()
	t.rows = clamp(rows, 1, MaxSize)
	t.grid.init(clamp(cols, 1, MaxSize), t.rows, max(o.History, 0))
	t.lower = t.rows - 1
	t.resetTabs()
	t.altX, t.altY = -1, -1
	t.last = -1
	t.eraseCell = blankCell
	return t
}

func clamp(n, lo, hi int) int { return max(lo, min(n, hi)) }

// Size returns the size in cells.
func (t *Terminal) Size() (cols, rows int) { return t.cols, t.rows }

// Write feeds one chunk, as tmux read it from the pane: one %output line. A
// few of tmux's rules depend on where its reads ended. It takes any bytes,
// never fails and never keeps p.
func (t *Terminal) Write(p []byte) (int, error) {
	t.zwj = false
	for i := 0; i < len(p); {
		if t.parser.state != ground {
			n := t.step(p[i:])
			if t.parser.state != ground {
				t.parser.since += n
			}
			i += n
			continue
		}
		switch b := p[i]; {
		case b >= 0x80:
			i += t.topBit(p[i:])
		case b >= 0x20 && b != 0x7f:
			n := 1
			for _, c := range p[i+1:] {
				if c-0x20 >= 0x5f {
					break
				}
				n++
			}
			if t.parser.partial != 0 {
				t.stopCharacter()
			}
			t.printASCII(p[i : i+n])
			t.last = rune(p[i+n-1])
			i += n
		case b == 0x1b:
			if n := t.quickCSI(p[i:]); n > 0 {
				i += n
				continue
			}
			t.enterEscape()
			t.parser.since++
			i++
		case b == 0x18 || b == 0x1a:
			t.control(b)
			t.parser.toGround()
			i++
		case b != 0x7f:
			t.control(b)
			i++
		default:
			i++
		}
	}
	if t.in.full() && !t.capture {
		t.compact()
	}
	return len(p), nil
}

// topBit handles bytes from 0x80 on in ground state and returns how many. A
// malformed character swallows as many bytes as its first byte announced.
func (t *Terminal) topBit(p []byte) int {
	ps := &t.parser
	if ps.partial == 0 {
		// The whole character is there: the usual case.
		if r, n := utf8.DecodeRune(p); n > 1 {
			t.character(r)
			return n
		}
		switch b := p[0]; {
		case b >= 0xc2 && b <= 0xdf:
			ps.wanted = 2
		case b >= 0xe0 && b <= 0xef:
			ps.wanted = 3
		case b >= 0xf0 && b <= 0xf4:
			ps.wanted = 4
		default:
			t.malformed()
			return 1
		}
		ps.char[0] = p[0]
		ps.partial = 1
		t.noLast()
		return 1
	}
	ps.char[ps.partial] = p[0]
	ps.partial++
	if ps.partial < ps.wanted {
		return 1
	}
	ps.partial = 0
	if r, n := utf8.DecodeRune(ps.char[:ps.wanted]); n == ps.wanted {
		t.character(r)
	} else {
		t.malformed()
	}
	return 1
}

// character prints a character that is not ASCII.
func (t *Terminal) character(r rune) {
	t.noLast()
	t.putRune(r)
	if t.profile.repeatAny {
		t.last = r
	}
}

// noLast ends what REP could repeat; newer versions keep it over bytes that
// print nothing.
func (t *Terminal) noLast() {
	if !t.profile.repeatAny {
		t.last = -1
	}
}

// malformed is called for bytes that are no UTF-8.
func (t *Terminal) malformed() {
	t.noLast()
	if t.profile.replaces {
		t.putRune(utf8.RuneError)
	}
}

// stopCharacter drops a character that something else interrupted.
func (t *Terminal) stopCharacter() {
	if t.parser.partial != 0 {
		t.parser.partial = 0
		if t.profile.replaces {
			t.putRune(utf8.RuneError)
		}
	}
}

// Ground tells whether the parser is between sequences. If it is right after
// NewSeeded and the first byte that comes is 0x80..0xBF, tmux held the first
// half of a character that it can't tell: seed again.
func (t *Terminal) Ground() bool { return t.parser.state == ground && t.parser.partial == 0 }

// compact renumbers styles and clusters after too many were made up.
func (t *Terminal) compact() {
	t.in.compact(func(visit func([]cell)) {
		t.touchRows(0, t.rows)
		for _, l := range t.view {
			visit(l.cells)
			l.pub = nil
		}
		if t.alternate != nil {
			for _, l := range t.alternate.lines {
				visit(l.cells)
				l.pub = nil
			}
		}
		t.history.rewrite(visit)
	})
	t.penStale = true
	t.eraseStyle, t.eraseCell = 0, blankCell
}
