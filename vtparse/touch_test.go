package vtparse

import "testing"

// TestMain holds, for every Screen of every test and fuzz target here, that a
// row which nobody touched shows its line still.
func TestMain(m *testing.M) {
	checkTouched = func(t *Terminal, rows []*Row) {
		for y, l := range t.view {
			if r := rows[y]; l.pub != r {
				panic("vtparse: a row changed and was not touched")
			}
		}
	}
	m.Run()
}

// TestUntouchedAlike: nothing to show is the old Screen, also after rows were
// touched and drawn the same again.
func TestUntouchedAlike(t *testing.T) {
	v := New(20, 5, Options{})
	v.Write([]byte("\x1b[2;1Hone\x1b[4;1Htwo"))
	s := v.Screen()
	v.Write([]byte("\x1b[2;1Hone\x1b[4;1Htwo"))
	if v.Screen() != s {
		t.Error("drawn the same again, and another Screen")
	}
	v.Write([]byte("\x1b[3;1Hnew\x1b[4;4H"))
	n := v.Screen()
	for y := range 5 {
		if same := n.Row(y) == s.Row(y); same != (y != 2) {
			t.Errorf("row %d: the same is %v", y, same)
		}
	}
}

// TestCursorSavedHigher: what 1049 saved in a higher screen than the one that
// comes back is no place in it.
func TestCursorSavedHigher(t *testing.T) {
	type step struct {
		text       string
		cols, rows int
	}
	for _, steps := range [][]step{
		{{"", 13, 15}, {"\x1b[24;1H\x1b[?1049h", 46, 2}, {"\x1b[?1049l\x1b[?47h", 14, 4}, {"\x1b[?1049l", 0, 0}},
		{{"", 48, 17}, {"\x1b[17;14f\x1b[?1049h\x1b[?1047l", 55, 6}, {"\x1b[?47h", 49, 14}, {"\x1b[?1049l", 0, 0}},
	} {
		v := New(steps[0].cols, steps[0].rows, Options{})
		for _, s := range steps[1:] {
			v.Write([]byte(s.text))
			v.Screen()
			if s.cols > 0 {
				v.Resize(s.cols, s.rows)
			}
			if c := v.Screen().Cursor; c.Y < 0 || c.Y >= v.Screen().Rows {
				t.Errorf("%q: cursor %+v", s.text, c)
			}
		}
	}
}
