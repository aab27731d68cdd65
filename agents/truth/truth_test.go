package truth_test

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"akk/agents"
	"akk/agents/registry"
	"akk/agents/truth"
)

// folders are those of AKK_RECORDINGS (separated by ":"), else the ones that
// the repository holds.
func folders() []string {
	if v := os.Getenv("AKK_RECORDINGS"); v != "" {
		return strings.Split(v, ":")
	}
	return []string{"../codex/testdata/recordings", "../claude/testdata/recordings"}
}

// some of the recordings are enough for the suite; `make truth` takes them all.
const some = 3

// each calls f for the recordings, as many at a time as there are cores.
func each(t *testing.T, f func(*truth.Recording, agents.Agent)) {
	t.Helper()
	paths, err := truth.Find(folders()...)
	if err != nil {
		t.Fatal(err)
	}
	todo := make(chan string)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for p := range todo {
				rec, err := truth.Load(p)
				if err != nil {
					t.Error(err)
					continue
				}
				a := registry.For(agents.Kind(rec.Agent))
				if a == nil {
					t.Errorf("%s: nobody reads %s", p, rec.Agent)
					continue
				}
				f(rec, a)
			}
		})
	}
	for i, p := range paths {
		if os.Getenv("AKK_PIECE") != "" || i%some == 0 {
			todo <- p
		}
	}
	close(todo)
	wg.Wait()
}

// pieces are the lengths in bytes after which chunks are cut and read: 0 as
// they came; 331 divides nothing, so frames are torn anywhere. AKK_PIECE=1 is
// every byte prefix.
func pieces() []int {
	if n, err := strconv.Atoi(os.Getenv("AKK_PIECE")); err == nil {
		return []int{n}
	}
	return []int{0, 331}
}

// TestEveryPrefix reads after every piece of every recording: between two
// snapshots no answer may be unsafe for both (issue 5, shows 2).
func TestEveryPrefix(t *testing.T) {
	for _, piece := range pieces() {
		var readings, spans atomic.Int64
		each(t, func(rec *truth.Recording, a agents.Agent) {
			told, seen := map[string]bool{}, -1
			err := rec.Play(piece, func(s truth.Step) {
				if s.At < 0 || !s.Marker && s.At+1 >= len(rec.Snaps) {
					return
				}
				if s.At != seen {
					seen = s.At
					spans.Add(1)
				}
				readings.Add(1)
				r := a.Read(agents.Input{Screen: s.Screen})
				from, to := rec.Snaps[s.At], rec.Snaps[s.At]
				if !s.Marker {
					to = rec.Snaps[s.At+1]
				}
				what := truth.UnsafeBetween(r, from.Truth, to.Truth)
				if len(what) == 0 || !s.Marker && rec.Passed(s.At, r) {
					return
				}
				if key := fmt.Sprint(s.At, what, r.Activity, r.Owner, r.Composer); !told[key] {
					told[key] = true
					t.Errorf("%s #%d %s, line %d: %s: %s/%s/%s, was %s/%s/%s: %v", rec.Name(), from.N, from.Label, s.Line, what,
						r.Activity, r.Owner, r.Composer, from.Truth.Activity, from.Truth.Owner, from.Truth.Composer, r.Why)
					if os.Getenv("AKK_SHOW") != "" {
						t.Logf("cursor %+v\n%s", s.Screen.Cursor, strings.Join(s.Screen.Lines(), "\n"))
					}
				}
			})
			if err != nil {
				t.Error(err)
			}
		})
		t.Logf("piece %d: %d readings in %d spans", piece, readings.Load(), spans.Load())
	}
}
