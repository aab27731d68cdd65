package agents

import (
	"testing"

	"akk/vtparse"
)

func screenOf(cols, rows int, text string) Screen {
	t := vtparse.New(cols, rows, vtparse.Options{})
	t.Write([]byte(text))
	return t.Screen()
}

func TestRows(t *testing.T) {
	s := screenOf(20, 6, "\x1b[1m›\x1b[0m \x1b[2m日本 text\x1b[0m\r\n\r\n  indented   \r\n0123456789012345678901234\r\nlast")
	r := s.Row(0)
	if !RowHas(r, 0, "› 日本 text") || RowHas(r, 0, "› 日本 texT") || !RowIs(r, 2, "日本 text") && RowEnd(r) != 11 {
		t.Errorf("RowHas on %q", r.String())
	}
	if RowFind(r, 0, "本") != 4 || RowFind(r, 0, "x t") != -1 {
		t.Errorf("RowFind: %d", RowFind(r, 0, "本"))
	}
	if !RowEveryHas(r, 2, RowEnd(r), vtparse.Faint) || RowEveryHas(r, 0, RowEnd(r), vtparse.Faint) {
		t.Error("RowEveryHas")
	}
	if RowStart(s.Row(2)) != 2 || RowEnd(s.Row(2)) != 10 || !RowBlank(s.Row(1)) || RowText(s.Row(2), 2) != "indented" {
		t.Error("RowStart, RowEnd, RowBlank, RowText")
	}
	if LastRow(s) != 5 || LastRow(screenOf(5, 5, "")) != -1 {
		t.Error("LastRow")
	}
	if got := JoinRows(s, 3, 5, 0); got != "0123456789012345678901234\nlast" {
		t.Errorf("JoinRows = %q", got)
	}
	if n := testing.AllocsPerRun(10, func() { RowHas(r, 0, "› 日本"); RowFind(r, 0, "nowhere"); RowEnd(r) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestFingerprint(t *testing.T) {
	same := func(x, y int, c rune) rune {
		if c == '◦' {
			return '•'
		}
		return c
	}
	a := Fingerprint(screenOf(20, 2, "• text"), 0, 1, same)
	if b := Fingerprint(screenOf(20, 2, "◦ text"), 0, 1, same); a != b {
		t.Error("blinking part counts")
	}
	for _, other := range []string{"• tex", "\x1b[1m• text", "• text\r\nx"} {
		if b := Fingerprint(screenOf(20, 2, other), 0, 1, same); a == b {
			t.Errorf("%q has the same fingerprint", other)
		}
	}
	if b := Fingerprint(screenOf(21, 2, "• text"), 0, 1, same); a == b {
		t.Error("the width does not count")
	}
}
