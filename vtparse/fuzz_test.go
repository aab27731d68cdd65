package vtparse_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"akk/vtparse"
)

// FuzzWrite feeds anything in any pieces: no panic, everything stays in its
// bounds, and what can be told of a screen can be told.
func FuzzWrite(f *testing.F) {
	f.Add([]byte("hello\x1b[31mworld\r\n\x1b[2J"), uint8(20), uint8(5), uint8(3))
	f.Add([]byte("\x1b[?1049h\x1b[999999999;1H字\x1b[?7l\u0301\x1b[?1049l"), uint8(1), uint8(1), uint8(1))
	f.Add([]byte("\x1b]0;"+strings.Repeat("x", 100)+"\x07\x1b[22t\x1b[2147483647b\x1b[4h\x1b#8"), uint8(3), uint8(2), uint8(7))
	f.Add([]byte("000001\x1b[?0047h000000"), uint8(89), uint8(99), uint8(0)) // the cursor outside of a narrowed alternate screen
	f.Add([]byte("孓0\x1b\x00"), uint8('D'), uint8(0x88), uint8(1))           // a wide character in one column: the cursor is at 2 in tmux
	f.Fuzz(func(t *testing.T, data []byte, cols, rows, cut uint8) {
		version := []string{"3.3a", "3.4", "3.5", "3.7c"}[int(cut)%4]
		term := vtparse.New(int(cols), int(rows), vtparse.Options{TmuxVersion: version, History: int(cut)})
		piece := int(cut)/4 + 1
		for i, n := 0, 0; i < len(data); i, n = i+piece, n+1 {
			term.Write(data[i:min(i+piece, len(data))])
			switch n % 7 {
			case 3:
				check(t, term)
			case 5:
				if data[i]%16 == 0 {
					term.Resize(int(data[i])*int(data[i])/200, int(cols))
				}
			case 6:
				if serial, ok := term.Waiting(); ok && data[i]%8 == 0 {
					term.Expire(serial)
				}
			}
		}
		check(t, term)
		if s := term.Screen(); s != term.Screen() {
			t.Fatal("nothing changed, but the screen did")
		}
	})
}

func check(t *testing.T, term *vtparse.Terminal) {
	s := term.Screen()
	widest := max(s.Cols, 2) // in one column tmux leaves the cursor behind a wide character, too
	if s.Cursor.X < 0 || s.Cursor.X > widest && !s.Alternate || s.Cursor.Y < 0 || s.Cursor.Y >= s.Rows {
		t.Fatalf("cursor %+v outside of %dx%d", s.Cursor, s.Cols, s.Rows)
	}
	for y := range s.Rows {
		r := s.Row(y)
		if r.Len() > s.Cols || r.Written() > r.Len() {
			t.Fatalf("row %d has %d cells, %d written, of %d", y, r.Len(), r.Written(), s.Cols)
		}
	}
	if _, err := json.Marshal(s); err != nil {
		t.Fatal(err)
	}
	for _, r := range s.ANSI() {
		if r != '\n' && r != 0x1b && unicode.IsControl(r) {
			t.Fatalf("control character %U leaves", r)
		}
	}
	picture(t, s)
	st := term.State()
	if st.Upper < 0 || st.Lower < st.Upper || st.Lower >= s.Rows {
		t.Fatalf("scroll region %d-%d of %d", st.Upper, st.Lower, s.Rows)
	}
}

// FuzzSeed: whatever a capture holds, seeding refuses it or makes a sound
// terminal.
func FuzzSeed(f *testing.F) {
	f.Add("\x1b[1mhi\x0eqq\x0f\n字", 10, 3, 2, 1, []byte("\x1b[3"))
	f.Add("\ta\x1b[41m\t\t字\t", 9, 2, 0, 0, []byte{})
	f.Add("\x1b[7m字字\n", 5, 2, 40, 1, []byte("\x1bPq"))
	f.Fuzz(func(t *testing.T, capture string, cols, rows, x, y int, pending []byte) {
		if cols > 300 || rows > 300 {
			return
		}
		s := vtparse.Seed{Cols: cols, Rows: rows, CursorX: x, CursorY: y, Lower: rows - 1, Shown: strings.Split(capture, "\n"), Pending: pending, Wrap: true, Alternate: x > cols}
		term, err := vtparse.NewSeeded(s, vtparse.Options{}, nil)
		if err != nil {
			return
		}
		check(t, term)
		term.Screen().Mismatch(s.Shown, x, y)
		// Again, in the middle of whatever was pending, before and after the timer.
		for range 2 {
			term.Write([]byte(capture))
			check(t, term)
			if term, err = vtparse.NewSeeded(s, vtparse.Options{}, term); err != nil {
				t.Fatal(err)
			}
			check(t, term)
			if serial, open := term.Waiting(); open {
				term.Expire(serial)
			}
		}
		term.Write([]byte("after\x1b[H"))
		check(t, term)
	})
}
