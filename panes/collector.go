package panes

// This file sets the pace of the garbage collector of a process that mirrors
// panes. What lives there is mostly packed history, which costs a collection
// next to nothing but much memory; what dies are screens and lists. It upholds:
// a small process is not stopped for every few lists, a big one does not keep a
// multiple of itself.

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// collectAfter is how much is allocated between two collections, in bytes,
	// whatever lives.
	collectAfter = 32 << 20
	// collectLeast and collectMost bound it in percent of what lives.
	collectLeast, collectMost = 30, 800
	// collectStep is from what difference in percent on the pace is changed: that
	// stops all goroutines for a moment.
	collectStep = 10
)

// PaceCollector keeps the pace for as long as the process lives. Call it once.
func PaceCollector() {
	have := 0
	var arm func()
	arm = func() {
		if want := collectPercent(living()); want-have >= collectStep || have-want >= collectStep {
			have = want
			debug.SetGCPercent(want)
		}
		runtime.AddCleanup(new([64]byte), func(int) { arm() }, 0) // at the end of the next collection
	}
	arm()
}

// collectPercent is the pace for so many living bytes.
func collectPercent(live uint64) int {
	if live == 0 { // nothing was collected yet
		return collectMost
	}
	return int(min(max(collectAfter*100/live, collectLeast), collectMost))
}

func living() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return s[0].Value.Uint64()
}
