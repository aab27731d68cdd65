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
