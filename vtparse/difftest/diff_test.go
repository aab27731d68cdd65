package difftest

import (
	"encoding/json"
	"flag"
	"os"
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
// emulator. Excluded: a two-column character in a one-column pane, and tmux's
// string timer.
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
		t.Errorf("stream %d (%dx%d): %s\nshrunk: %q\n%s\ncase: %s", *first+uint64(i), st.Cols, st.Rows, diff, small.Tokens, again, line)
		if bad >= 10 {
			t.Fatal("enough")
		}
	}
	t.Logf("%d streams, %d disagreements with tmux %s", *streams, bad, *version)
}
