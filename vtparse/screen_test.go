package vtparse_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"akk/vtparse"
)

func write(t *vtparse.Terminal, s string) *vtparse.Screen {
	t.Write([]byte(s))
	return t.Screen()
}

// TestSharing: a screen never changes, rows are shared, no change no screen.
func TestSharing(t *testing.T) {
	term := vtparse.New(20, 4, vtparse.Options{})
	a := write(term, "one\r\ntwo\r\nthree")
	if b := write(term, "\x1b[m\x1b[?9999h"); b != a {
		t.Error("nothing changed, but there is a new screen")
	}
	b := write(term, "\x1b[2;1HTWO")
	if a.Line(1) != "two" || b.Line(1) != "TWO" {
		t.Errorf("rows: %q and %q", a.Line(1), b.Line(1))
	}
	for _, y := range []int{0, 2, 3} {
		if a.Row(y) != b.Row(y) {
			t.Errorf("row %d is not shared", y)
		}
	}
	if b.Generation <= a.Generation {
		t.Errorf("generation %d after %d", b.Generation, a.Generation)
	}
	// A redraw of the same text keeps the row.
	if c := write(term, "\x1b[2;1H\x1b[KTWO"); c != b {
		t.Error("a redraw of the same text is a change")
	}
	d := vtparse.Diff(a, b)
	if len(d) != 1 || d[0].Y != 1 || d[0].From != 0 || d[0].To != 3 {
		t.Errorf("diff: %v", d)
	}
	// Scrolled rows keep their identity.
	if c := write(term, "\x1b[4;1H\n"); c.Row(0) != b.Row(1) {
		t.Error("a scrolled row is not shared")
	}
}

// TestStyles looks at attributes, colours and widths.
func TestStyles(t *testing.T) {
	s := write(vtparse.New(30, 2, vtparse.Options{}), "\x1b[2;3;4:3;58:5:9mdim\x1b[0;91;48;2;1;2;3m字\x1b[0;1;7;53mx\x1b[m\x0e\x1b)0q\x0f")
	r := s.Row(0)
	want := []struct {
		x, width  int
		text, sgr string
	}{{0, 1, "d", "2;3;4:3;58;5;9"}, {3, 2, "字", "38;5;9;48;2;1;2;3"}, {4, 0, "", ""}, {5, 1, "x", "1;7;53"}, {6, 1, "─", ""}, {7, 1, " ", ""}}
	for _, w := range want {
		if r.Text(w.x) != w.text || r.Width(w.x) != w.width || r.Style(w.x).SGR() != w.sgr {
			t.Errorf("cell %d: %q width %d style %q, want %+v", w.x, r.Text(w.x), r.Width(w.x), r.Style(w.x).SGR(), w)
		}
	}
	if !r.Style(0).Has(vtparse.Faint) || r.Style(0).UlStyle != 3 || r.Rune(3) != '字' || r.Rune(4) != 0 || r.Rune(99) != ' ' {
		t.Errorf("style %+v", r.Style(0))
	}
}

// TestSignals: what programs tell about themselves, and modes for input.
func TestSignals(t *testing.T) {
	term := vtparse.New(20, 3, vtparse.Options{})
	s := write(term, "\x1b]9;4;1;40\x07\x1b]7501;state=blocked:app=codex:kind=permission\x1b\\\x1b]0;✳ title\x07\x1b[?2004h\x1b[?1h\x1b=\x1b[?1002h\x1b[>5u\x1b[?1004h\x1b[4 q")
	if s.Signals.Progress != (vtparse.Progress{State: 1, Percent: 40}) || s.Signals.ProgramStatus != (vtparse.ProgramStatus{State: "blocked", App: "codex", Kind: "permission"}) {
		t.Errorf("signals %+v", s.Signals)
	}
	if s.Title != "✳ title" || s.Signals.PaneTitleSet != s.Generation {
		t.Errorf("title %q set at %d of %d", s.Title, s.Signals.PaneTitleSet, s.Generation)
	}
	if want := (vtparse.Modes{BracketedPaste: true, FocusEvents: true, AppCursor: true, AppKeypad: true, Mouse: true, KittyFlags: 5, Known: true}); s.Modes != want {
		t.Errorf("modes %+v", s.Modes)
	}
	if s.Cursor.Shape != 4 {
		t.Errorf("shape %d", s.Cursor.Shape)
	}
	s = write(term, "\x1b]9;4;0\x07\x1b]7501;?\x07\x1b]9;4;9;9\x07\x1b]9;hello\x07\x1b[<u\x1b[?2026h")
	if s.Signals.Progress != (vtparse.Progress{}) || s.Signals.ProgramStatus.State != "blocked" || s.Modes.KittyFlags != 0 || !s.Torn {
		t.Errorf("%+v %+v torn %v", s.Signals, s.Modes, s.Torn)
	}
	if s = write(term, "\x1b[?2026l"); s.Torn {
		t.Error("torn after the update's end")
	}
}

// TestLogical joins wrapped rows.
func TestLogical(t *testing.T) {
	s := write(vtparse.New(5, 4, vtparse.Options{}), "abcdefgh\r\nx")
	text, from, to := s.Logical(1)
	if text != "abcdefgh" || from != 0 || to != 2 || s.Text(0, 3) != "abcdefgh\nx" {
		t.Errorf("%q %d %d, text %q", text, from, to, s.Text(0, 3))
	}
}

// TestStringTimer: a string that never ends is dropped after tmux's timer,
// and the pen with it.
func TestStringTimer(t *testing.T) {
	term := vtparse.New(20, 2, vtparse.Options{})
	write(term, "\x1b[31m\x1b]0;never")
	serial, ok := term.Waiting()
	if !ok {
		t.Fatal("no string is open")
	}
	term.Expire(serial + 1)
	if _, ok := term.Waiting(); !ok {
		t.Fatal("another string's timer ended this one")
	}
	term.Expire(serial)
	if s := write(term, "x"); s.Line(0) != "x" || s.Row(0).Style(0) != (vtparse.Style{}) || s.Title != "" {
		t.Errorf("%q style %v title %q", s.Line(0), s.Row(0).Style(0), s.Title)
	}
}

// TestLapsedPending: tmux tells a string that its timer dropped as pending
// until the next sequence ends (measured in 3.3a). The terminal before knows,
// at the latest when its own timer fired; until then the timer is not started
// anew by each seed.
func TestLapsedPending(t *testing.T) {
	const stale = "\x1bPCCC"
	seed := vtparse.Seed{Cols: 20, Rows: 2, CursorX: 1, Wrap: true, Lower: 1, SavedX: -1, Shown: []string{"A"}, Pending: []byte(stale)}
	again := func(pending string, prev *vtparse.Terminal) *vtparse.Terminal {
		t.Helper()
		seed.Pending = []byte(pending)
		term, err := vtparse.NewSeeded(seed, vtparse.Options{}, prev)
		if err != nil {
			t.Fatal(err)
		}
		return term
	}
	term := again(stale, nil)
	serial, open := term.Waiting()
	if !open {
		t.Fatal("a pending string is not open")
	}
	term = again(stale+"DD", again(stale, term))
	if now, open := term.Waiting(); !open || now != serial {
		t.Errorf("serial %d, open %v after two more seeds, want %d", now, open, serial)
	}
	term.Expire(serial)
	for _, p := range []struct{ pending, then, want string }{
		{stale + "DD", "x", "Ax"},
		{stale + "DD\x1b[3", "1mx", "Ax"},
		{stale + "DD\x1b]2;t", "i\ax", "Ax"},
		{stale + "DDE", "x\x1b\\y", "Ay"}, // grown without a sequence: another string
		{"\x1b]2;tDD", "x\ay", "Ay"},      // of another kind
		{"\x1b]2;t", "x\ay", "Ay"},        // shorter
		{"", "x", "Ax"},
	} {
		one := again(stale+"DD", nil)
		n, _ := one.Waiting()
		one.Expire(n)
		if got := write(again(p.pending, again(stale+"DD", one)), p.then).Line(0); got != p.want {
			t.Errorf("%q pending, then %q: %q, want %q", p.pending, p.then, got, p.want)
		}
	}
	// The string may have lapsed before the first seed: what is told stays as
	// short as it was, whatever text comes meanwhile.
	term = again(stale, nil)
	serial, _ = term.Waiting()
	write(term, "text\r\nand more")
	term.Expire(serial)
	for range 3 {
		if term = again(stale, term); !term.Ground() {
			t.Fatal("a string that lapsed before the first seed is open again")
		}
		write(term, "text")
	}
	// Any sequence's end, CAN too, makes tmux forget it.
	for _, end := range []string{"\x1b[m", "\x18", "\x1b7", "\x1b]2;x\a"} {
		one := again(stale, nil)
		n, _ := one.Waiting()
		one.Expire(n)
		write(one, "text"+end)
		if _, open := again(stale, one).Waiting(); !open {
			t.Errorf("%q: a new string is taken for the dropped one", end)
		}
	}
}

// TestSeed: what tmux can't tell comes from the terminal before.
func TestSeed(t *testing.T) {
	prev := vtparse.New(10, 2, vtparse.Options{})
	before := write(prev, "\x1b[?2004h\x1b[1;32mab\x1b[3")
	seed := vtparse.Seed{
		Cols: 10, Rows: 2, CursorX: 2, CursorVisible: true, Wrap: true, Lower: 1, SavedX: -1,
		Shown: []string{"\x1b[1;32mab", ""}, Pending: vtparse.DecodePending(`\033[3`), Tabs: []int{4}, TabsTold: true,
	}
	term, err := vtparse.NewSeeded(seed, vtparse.Options{}, prev)
	if err != nil {
		t.Fatal(err)
	}
	if term.Ground() {
		t.Error("the pending sequence is lost")
	}
	if s := term.Screen(); s.Row(0) != before.Row(0) || s.Generation < before.Generation || !s.Modes.BracketedPaste {
		t.Errorf("row shared %v, generation %d after %d, modes %+v", s.Row(0) == before.Row(0), s.Generation, before.Generation, s.Modes)
	}
	s := write(term, "4mc\r\tX")
	if got := s.Row(0).Style(2).SGR(); got != "1;38;5;4" || s.Row(0).Text(4) != "X" {
		t.Errorf("pen %q, %q", got, s.Line(0))
	}
	for _, bad := range []vtparse.Seed{{}, {Cols: 5, Rows: 5, CursorX: 6}, {Cols: 5, Rows: 5, Lower: 4, Alternate: true, CursorX: vtparse.MaxSize + 1}, {Cols: 5, Rows: 5, Lower: 5}, {Cols: 1, Rows: 1, Shown: []string{"a", "b"}}, {Cols: 5, Rows: 5, CursorY: -1}} {
		if _, err := vtparse.NewSeeded(bad, vtparse.Options{}, nil); !errors.Is(err, vtparse.ErrSeed) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	// tmux >= 3.6 tells blanks as tabs, also where it joins rows.
	tabs := vtparse.Seed{Cols: 12, Rows: 3, Lower: 2, Shown: []string{"a\tb\x1b[41m\tc", "\td", "x"}, Joined: []string{"a\tb\tc\td", "x"}, Tabs: []int{4, 8}, TabsTold: true}
	if term, err := vtparse.NewSeeded(tabs, vtparse.Options{TmuxVersion: "3.7c"}, nil); err != nil {
		t.Error(err)
	} else if s := term.Screen(); s.Line(0) != "a   b   c" || s.Row(0).Style(7).SGR() != "48;5;1" || s.Row(0).Style(3).SGR() != "" || !s.Row(0).Wrapped() || s.Row(1).Wrapped() {
		t.Errorf("tabs: %q wrapped %v, style %q", s.Line(0), s.Row(0).Wrapped(), s.Row(0).Style(7).SGR())
	} else if d, ok := s.Mismatch(tabs.Shown, 0, 0); !ok {
		t.Errorf("tabs: %s", d)
	} else if _, ok := s.Mismatch([]string{"a\tb\x1b[42m\tc", "\td", "x"}, 0, 0); ok {
		t.Error("a tab of another colour is no difference")
	} else if _, ok := s.Mismatch([]string{"a\tb\x1b[41m\tc\x1b[m!", "\td", "x"}, 0, 0); ok {
		t.Error("text behind a tab is no difference")
	}
	wrapped := vtparse.Seed{Cols: 5, Rows: 3, Lower: 2, Shown: []string{"abcde", "fg", "x"}, Joined: []string{"abcdefg", "x"}}
	if term, err := vtparse.NewSeeded(wrapped, vtparse.Options{}, nil); err != nil || !term.Screen().Row(0).Wrapped() || term.Screen().Row(1).Wrapped() {
		t.Errorf("wrap marks are lost: %v", err)
	}
}

// TestCellBytes: at most 25 bytes a cell with both screens in use.
func TestCellBytes(t *testing.T) {
	const panes, cols, rows = 100, 200, 50
	var m0, m1 runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m0)
	all := make([]*vtparse.Terminal, panes)
	line := strings.Repeat("x", cols)
	for i := range all {
		all[i] = vtparse.New(cols, rows, vtparse.Options{})
		write(all[i], strings.Repeat("\x1b[3"+fmt.Sprint(i%8)+"m"+line, rows)+"\x1b[?1049h\x1b[H"+strings.Repeat(line, rows))
	}
	runtime.GC()
	runtime.ReadMemStats(&m1)
	per := float64(m1.HeapAlloc-m0.HeapAlloc) / (panes * cols * rows * 2)
	if t.Logf("%.1f bytes per cell, a published screen included", per); per > 25 {
		t.Errorf("%.1f bytes per cell", per)
	}
	runtime.KeepAlive(all)
}

// TestNoAllocations: parsing and acting allocate nothing in steady state.
func TestNoAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	term := vtparse.New(80, 24, vtparse.Options{History: 100})
	chunk := []byte(strings.Repeat("\x1b[?2026h\x1b[3;5H\x1b[2K\x1b[1;38;2;9;8;7mhello ── 字 e\u0301\x1b[0m\r\n\x1b[5;20r\x1b[20;1H\n\n\x1b[r\x1b[24;1Hline\r\n\x1b[?2026l\x1b]0;title\x07", 20))
	for range 50 {
		term.Write(chunk)
	}
	if n := testing.AllocsPerRun(50, func() { term.Write(chunk) }); n > 0 {
		t.Errorf("%.1f allocations per chunk", n)
	}
}

// TestChunks: where a stream is cut changes nothing but the joiner's rule.
func TestChunks(t *testing.T) {
	var cases []vtCase
	load(t, "testdata/cases-3.4.json.gz", &cases)
	for _, c := range cases {
		data := c.bytes(t)
		o := vtparse.Options{TmuxVersion: "3.4"}
		whole := vtparse.ReplayRaw(data, c.W, c.H, nil, o)
		every := make([]int, len(data))
		for i := range every {
			every[i] = i
		}
		cut := vtparse.ReplayRaw(data, c.W, c.H, every, o)
		if d := vtparse.Diff(whole, cut); len(d) > 0 || whole.Cursor != cut.Cursor || whole.Title != cut.Title {
			t.Errorf("%s: byte by byte: %v", c.Name, d)
		}
	}
}

// TestVersions: unknown versions get the nearest older rules.
func TestVersions(t *testing.T) {
	show := func(v string) string {
		return vtparse.ReplayRaw([]byte("a\x80字\x1b[b"), 20, 1, nil, vtparse.Options{TmuxVersion: v}).Line(0)
	}
	for v, want := range map[string]string{"": "a字", "3.2": "a字", "3.3a": "a字", "3.4": "a字", "3.5a": "a字字", "next-3.6": "a\ufffd字字", "3.7c": "a\ufffd字字", "4.0": "a\ufffd字字", "master": "a\ufffd字字", "2.9": "a字"} {
		if got := show(v); got != want {
			t.Errorf("%q: %q, want %q", v, got, want)
		}
	}
}

// TestHistory keeps at most as many lines as asked for.
func TestHistory(t *testing.T) {
	term := vtparse.New(10, 2, vtparse.Options{History: 20})
	var all []string
	for i := range 100 {
		s := fmt.Sprintf("l%d", i)
		all = append(all, s)
		write(term, s+"\r\n")
	}
	n := term.History()
	if n > 20 || n < 10 {
		t.Fatalf("%d lines kept", n)
	}
	var got []string
	for i := range n {
		got = append(got, term.HistoryRow(i).String())
	}
	if want := all[99-n : 99]; !slices.Equal(got, want) {
		t.Errorf("kept %q, want %q", got, want)
	}
	if term.HistoryRow(n) != nil || term.HistoryRow(-1) != nil {
		t.Error("a line that is not there")
	}
}
