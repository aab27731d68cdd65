package difftest

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/hinshun/vt10x"

	"akk/vtparse"
)

// secondStreams is how many streams vt10x is asked about.
const secondStreams = 20

// plainStream has only what vt10x can do: ASCII, cursor moves, insert and
// delete, scroll regions, tabs, erase. No line is filled to its end, because
// what a pending wrap means is where emulators differ.
func plainStream(n uint64) Stream {
	r := rand.New(rand.NewPCG(n, 0x10))
	s := Stream{Cols: 30 + r.IntN(20), Rows: 4 + r.IntN(8), Cuts: map[int]bool{}}
	for range 40 {
		t := ""
		switch r.IntN(5) {
		case 0, 1:
			t = fmt.Sprintf("\x1b[%d;%dH", 1+r.IntN(s.Rows), 1+r.IntN(s.Cols/3)) + strings.Repeat(string(rune('a'+r.IntN(26))), 1+r.IntN(s.Cols/2))
		case 2:
			t = []string{"\r\n", "\t", "\b", "\r", "\x1bM", "\x1bD", "\x1bE"}[r.IntN(7)]
		case 3:
			t = fmt.Sprintf("\x1b[%d%c", 1+r.IntN(4), "ABCDLMP@XSTGd"[r.IntN(13)])
		case 4:
			top := 1 + r.IntN(s.Rows-1)
			t = []string{"\x1b[K", "\x1b[1K", "\x1b[2K", "\x1b[J", "\x1b[1J", fmt.Sprintf("\x1b[%d;%dr", top, top+1+r.IntN(s.Rows-top)), "\x1b[r"}[r.IntN(7)]
		}
		s.Tokens = append(s.Tokens, t)
	}
	return s
}

// TestSecondOpinion asks vt10x, an emulator that shares nothing with ours.
// tmux decides; where both emulators agree against tmux the test says so.
func TestSecondOpinion(t *testing.T) {
	var srv *Server
	if Version() == *version {
		dir, err := os.MkdirTemp("", "vs")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		if srv, err = Start(dir); err != nil {
			t.Fatal(err)
		}
		defer srv.Stop()
	}
	apart := 0
	for n := range uint64(secondStreams) {
		st := plainStream(n)
		data := []byte(strings.Join(st.Tokens, ""))
		ours := vtparse.ReplayRaw(data, st.Cols, st.Rows, nil, vtparse.Options{})
		other := vt10x.New(vt10x.WithSize(st.Cols, st.Rows), vt10x.WithWriter(io.Discard))
		other.Write(data)
		theirs := strings.Split(other.String(), "\n")
		diff, same := ours.MismatchText(theirs[:min(len(theirs), st.Rows)], other.Cursor().X, other.Cursor().Y)
		if !same {
			apart++
			t.Logf("stream %d: vt10x differs: %s", n, diff)
		}
		if srv == nil {
			continue
		}
		d, err := srv.Run(st, *version)
		switch {
		case err != nil:
			t.Fatal(err)
		case d != "" && same:
			t.Errorf("stream %d: both emulators disagree with tmux: %s\n%q", n, d, st.Tokens)
		case d != "":
			t.Errorf("stream %d: %s\n%q", n, d, st.Tokens)
		}
	}
	t.Logf("vt10x agrees on %d of %d streams", secondStreams-apart, secondStreams)
	if apart > secondStreams/2 {
		t.Errorf("vt10x differs on %d of %d streams that it should be able to do", apart, secondStreams)
	}
}
