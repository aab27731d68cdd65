package difftest

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

var (
	streams = flag.Int("streams", 100, "how many random streams to play")
	first   = flag.Uint64("first", 1, "number of the first stream")
	version = flag.String("tmux-version", "3.3a", "whose rules to check; the installed tmux must be that version")
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestDifferential plays random streams in the installed tmux and in the
// emulator. Excluded: a two-column character in a one-column pane; tmux's
// string timer has TestDifferentialTimer.
func TestDifferential(t *testing.T) {
	if v := Version(); v != *version {
		t.Skipf("tmux %q is installed, the rules are those of %q", v, *version)
	}
	dir, err := os.MkdirTemp("", "vd")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	srv, err := Start(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Stop()
	bad := 0
	for i := range *streams {
		st := NewStream(*first + uint64(i))
		diff, err := srv.Run(st, *version)
		if err != nil {
			t.Fatalf("stream %d: %v", *first+uint64(i), err)
		}
		if diff == "" {
			continue
		}
		bad++
		small := srv.Shrink(st, *version)
		again, _ := srv.Run(small, *version)
		line, _ := json.Marshal(map[string]any{"w": small.Cols, "h": small.Rows, "chunks": small.Chunks(), "tokens": small.Tokens})
		t.Errorf("stream %d (%dx%d): %s\nshrunk: %s\n%s\ncase: %s", *first+uint64(i), st.Cols, st.Rows, brief(diff), brief(fmt.Sprintf("%q", small.Tokens)), brief(again), brief(string(line)))
		if bad >= 10 {
			t.Fatal("enough")
		}
	}
	t.Logf("%d streams, %d disagreements with tmux %s", *streams, bad, *version)
}

// brief cuts what a string of a megabyte makes of a message.
func brief(s string) string {
	const most = 4000
	if len(s) <= most {
		return s
	}
	return fmt.Sprintf("%s ... (%d bytes more)", s[:most], len(s)-most)
}

// TestDifferentialTimer: a string that stays open for tmux's five seconds ends
// by itself, at whatever length, and what follows is text.
func TestDifferentialTimer(t *testing.T) {
	if v := Version(); v != *version {
		t.Skipf("tmux %q is installed, the rules are those of %q", v, *version)
	}
	if *streams < 1000 {
		t.Skip("waits for a timer of five seconds twelve times; run by make fuzz-vt")
	}
	dir, err := os.MkdirTemp("", "vt")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	srv, err := Start(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Stop()
	for _, open := range []string{"\x1b]2;t", "\x1b]8;;", "\x1bP", "\x1bPtmux;", "\x1b_", "\x1bk"} {
		for _, n := range []int{10, stringLimit + 10} {
			head := "\x1b[1;31mA\x1b)0\x0e\x1b7" + open + strings.Repeat("C", n)
			if diff, err := srv.RunTimer(30, 5, head, strings.Repeat("q", 40)+"\x1b\\\x1b8AFTER", *version); diff != "" || err != nil {
				t.Errorf("%q and %d bytes: %s %v", open, n, brief(diff), err)
			}
		}
	}
}
