package vtparse

import "strings"

// This file holds the immutable value that everybody outside the parser sees.
// Invariant: nothing reachable from a *Screen is ever written after it was
// published; a row that did not change is the same *Row in the next Screen, so
// "what changed" is a pointer comparison.

// Screen is what one pane showed at one generation. It is safe to hold by any
// goroutine for ever.
type Screen struct {
	Cols, Rows int    // size in cells, both >= 1
	Generation uint64 // grows by at least one with each published change
	Cursor     Cursor
	Alternate  bool   // the alternate screen is shown
	Title      string // OSC 0/2 title as tmux keeps it
	Modes      Modes
	Signals    Signals
	// Torn is true while a synchronized update (DEC 2026) is open: the rows are
	// a half-drawn frame and no proof may rest on them.
	Torn bool

	rows    []*Row
	profile *profile
}

// Cursor is the text cursor. X may equal Cols: a pending wrap. It may be larger
// when the alternate screen became narrower and nothing was drawn since, and 2
// behind a wide character in one column: tmux leaves it there.
type Cursor struct {
	X, Y    int
	Visible bool // DECTCEM
	Shape   int  // DECSCUSR parameter, 0 = default
}

// Modes are the terminal modes that decide how input is understood.
type Modes struct {
	BracketedPaste bool // DEC 2004 as seen in the stream
	FocusEvents    bool // DEC 1004
	AppCursor      bool // DECCKM
	AppKeypad      bool // DECKPAM
	Mouse          bool // any of DEC 1000, 1002, 1003
	KittyFlags     int  // top of the kitty keyboard stack, 0 = off
	Known          bool // false after seeding from tmux < 3.7, which can't tell BracketedPaste and FocusEvents
}

// Signals are what a program says about itself beside its picture.
type Signals struct {
	Progress      Progress      // OSC 9;4
	ProgramStatus ProgramStatus // OSC 7501
	PaneTitleSet  uint64        // generation of the last title change
}

// Progress is the state of OSC 9;4: State 0 none, 1 normal, 2 error, 3
// indeterminate, 4 paused; Percent 0..100.
type Progress struct {
	State, Percent int
}

// ProgramStatus is the last OSC 7501 of the pane ("program status protocol").
// All fields are "" until one was seen.
type ProgramStatus struct {
	State string // idle | working | done | blocked | clear
	App   string
	Kind  string // permission | question
}

// Row returns row y, 0 at the top. It never returns nil: rows outside of the
// screen are blank.
func (s *Screen) Row(y int) *Row {
	if y < 0 || y >= len(s.rows) || s.rows[y] == nil {
		return &blank
	}
	return s.rows[y]
}

// Line returns the text of row y without trailing blanks.
func (s *Screen) Line(y int) string { return s.Row(y).String() }

// Lines returns the text of all rows, trailing blanks of each cut.
func (s *Screen) Lines() []string {
	out := make([]string, s.Rows)
	for y := range out {
		out[y] = s.Line(y)
	}
	return out
}

// Text joins the rows from (inclusive) to to (exclusive) with newlines; a row
// that wrapped onto the next is joined without one.
func (s *Screen) Text(from, to int) string {
	var b strings.Builder
	for y := from; y < to; y++ {
		b.WriteString(s.Line(y))
		if y+1 < to && !s.Row(y).Wrapped() {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

var blank Row
