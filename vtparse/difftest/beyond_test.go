package difftest

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"akk/vtparse"
)

// TestDifferentialCursor: when the alternate screen becomes narrower, tmux leaves the
// cursor where it was, outside of the screen, until something moves it.
func TestDifferentialCursor(t *testing.T) {
	if v := Version(); v != *version {
		t.Skipf("tmux %q is installed, the rules are those of %q", v, *version)
	}
	dir, err := os.MkdirTemp("", "vb")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	srv, err := Start(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Stop()
	moves := []string{"", "x", "xyz", "字", "e\u0301", "\u0301", "\b", "\t", "\r", "\n", "\x1bM", "\x1b7\x1b8", "\x1b[?1049l", "\x1b[?7lx", "\x1b[4hx", "\x1bc", "\x1b#8", "\x1b[5b", "a\x1b[5b"}
	for _, f := range "@ABCDEFGJKLMPSTXZ`adesu" {
		moves = append(moves, "\x1b[3"+string(f))
		if *streams > 100 || strings.ContainsRune("@ABCDKPX", f) {
			moves = append(moves, "\x1b["+string(f), "\x1b[40"+string(f), "\x1b[1"+string(f)+"x")
		}
	}
	for _, move := range moves {
		d, err := srv.beyond(move)
		if err != nil {
			t.Fatalf("%q: %v", move, err)
		}
		if d != "" {
			t.Errorf("%q: %s", move, d)
		}
	}
}

// beyond plays move with the cursor outside of the screen, in a mirror that was
// resized and in one that was seeded.
func (srv *Server) beyond(move string) (string, error) {
	const cols, narrow, rows = 50, 20, 5
	if err := srv.Open(cols, rows); err != nil {
		return "", err
	}
	head := "\x1b]2;t\x07main\x1b[?1049h\x1b[H" + strings.Repeat("abcdefghi ", 4) + "\x1b[2;44H"
	term := vtparse.New(cols, rows, vtparse.Options{History: 2000})
	term.Write([]byte(head))
	if err := srv.Write([]byte(head)); err != nil {
		return "", err
	}
	term.Resize(narrow, rows)
	if _, err := srv.Do(fmt.Sprintf("refresh-client -C %dx%d", narrow, rows)); err != nil {
		return "", err
	}
	seed := term.State()
	var err error
	if seed.Shown, err = srv.Do("capture-pane -p -e -N -t " + srv.pane); err != nil {
		return "", err
	}
	if seed.Saved, err = srv.Do("capture-pane -p -e -N -a -q -t " + srv.pane); err != nil {
		return "", err
	}
	seeded, err := vtparse.NewSeeded(seed, vtparse.Options{History: 2000}, nil)
	if err != nil {
		return "", err
	}
	srv.onData = func(p []byte) { term.Write(p); seeded.Write(p) }
	if err := srv.Write([]byte(move)); err != nil {
		return "", err
	}
	if d, err := srv.compare(term); d != "" || err != nil {
		return "resized: " + d, err
	}
	if d, err := srv.compare(seeded); d != "" || err != nil {
		return "seeded: " + d, err
	}
	return "", nil
}
