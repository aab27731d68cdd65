package panes

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestCollectPercent(t *testing.T) {
	for live, want := range map[uint64]int{0: 800, 1 << 20: 800, 4 << 20: 800, 8 << 20: 400, 16 << 20: 200, 32 << 20: 100, 100 << 20: 32, 1 << 30: 30, 1 << 50: 30} {
		if got := collectPercent(live); got != want {
			t.Errorf("%d bytes: %d %%, want %d", live, got, want)
		}
	}
}

// Each collection sets the pace of the next.
func TestPaceCollector(t *testing.T) {
	was := debug.SetGCPercent(100)
	defer debug.SetGCPercent(was)
	PaceCollector()
	keep := make([]byte, 64<<20)
	for range 200 {
		runtime.GC()
		if got := debug.SetGCPercent(-1); got != 100 && got < 60 && got >= collectLeast {
			debug.SetGCPercent(got)
			runtime.KeepAlive(keep)
			return
		} else {
			debug.SetGCPercent(got)
		}
	}
	t.Fatal("the pace does not follow what lives")
}
