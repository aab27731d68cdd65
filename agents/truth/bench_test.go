package truth_test

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"akk/agents"
	"akk/agents/registry"
	"akk/agents/truth"
	"akk/vtparse"
)

// load reads all recordings and who reads them.
func load(t testing.TB) (recs []*truth.Recording, by []agents.Agent) {
	t.Helper()
	paths, err := truth.Find(folders()...)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range paths {
		rec, err := truth.Load(p)
		if err != nil {
			t.Fatal(err)
		}
		recs, by = append(recs, rec), append(by, registry.For(agents.Kind(rec.Agent)))
	}
	return recs, by
}

// rounds is how often the recordings are played; of each frame the quickest
// reading counts, since the machine's other work is not the reader's.
const rounds = 5

// BenchmarkReadFrames times the reading after each changed frame of the
// recordings, each frame fresh from the emulator (issue 5, shows 5: <= 100 µs
// in 99 of 100).
func BenchmarkReadFrames(b *testing.B) {
	recs, by := load(b)
	var took []time.Duration
	var name []string
	for b.Loop() {
		for round := range rounds {
			n := 0
			for i, rec := range recs {
				var last *vtparse.Screen
				err := rec.Play(0, func(s truth.Step) {
					if s.Screen == last {
						return
					}
					last = s.Screen
					start := time.Now()
					by[i].Read(agents.Input{Screen: last})
					d := time.Since(start)
					if round == 0 && n == len(took) {
						took, name = append(took, d), append(name, rec.Name())
					}
					took[n] = min(took[n], d)
					n++
				})
				if err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	slowest := 0
	for i := range took {
		if took[i] > took[slowest] {
			slowest = i
		}
	}
	b.Logf("slowest frame: %s, %v", name[slowest], took[slowest])
	slices.Sort(took)
	at := func(p float64) float64 { return float64(took[int(p*float64(len(took)-1))].Nanoseconds()) / 1000 }
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(len(took)), "frames")
	b.ReportMetric(at(0.5), "µs-p50")
	b.ReportMetric(at(0.99), "µs-p99")
	b.ReportMetric(at(1), "µs-max")
}

// maxBytes is what a reading of an unchanged frame may allocate, in bytes: its
// reasons, a dialog's texts. A screen of 120x40 alone is 4,800 characters.
const maxBytes = 12 << 10

// sample is which part of the snapshots is measured.
const sample = 40

// TestAllocations: what a reading allocates does not grow with the screen. Each
// snapshot is read as it is, and on a screen of six times the cells.
func TestAllocations(t *testing.T) {
	recs, by := load(t)
	var small, big []uint64
	for i, rec := range recs {
		err := rec.Play(0, func(s truth.Step) {
			if s.Marker && s.At%sample == 0 {
				small = append(small, allocated(by[i], s.Screen))
				if last := small[len(small)-1]; last > maxBytes {
					t.Errorf("%s #%d: %d bytes", rec.Name(), rec.Snaps[s.At].N, last)
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, rec := range recs {
		err := rec.Enlarged(300, 100, func(s truth.Step) {
			if s.Marker && s.At%sample == 0 {
				big = append(big, allocated(by[i], s.Screen))
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(small)
	slices.Sort(big)
	median := len(small) / 2
	t.Logf("bytes per reading: median %d, most %d; on a screen of 300x100: median %d, most %d", small[median], small[len(small)-1], big[median], big[len(big)-1])
	if big[median] > 2*small[median] {
		t.Errorf("a screen of 300x100 costs %d bytes, one as recorded %d", big[median], small[median])
	}
}

// allocated is how many bytes one more reading of a frame allocates.
func allocated(a agents.Agent, s *vtparse.Screen) uint64 {
	const n = 8
	a.Read(agents.Input{Screen: s})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range n {
		a.Read(agents.Input{Screen: s})
	}
	runtime.ReadMemStats(&after)
	return (after.TotalAlloc - before.TotalAlloc) / n
}
