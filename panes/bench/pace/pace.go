// Package pace watches how fast a machine's cores run while something is
// measured on it. A virtual machine is slowed down from outside, on some of them
// ten times for a tenth of a second and every other second, and no count of the
// kernel tells: it is not "stolen" time. What is measured then is the machine.
//
// Rule: it tells when, and leaves it to the measurement to show both: all
// moments, and those at the machine's own speed.
package pace

import (
	"runtime"
	"slices"
	"sync"
	"time"
)

const (
	// every is between two looks: short beside the slow moments that there are.
	every = 5 * time.Millisecond
	// turns of a multiplication take some microseconds, and the best of tries is
	// taken, so that another program's turn on the core is not a slow core.
	turns, tries = 4000, 3
	// slowFrom is how many times longer than ever a slow core takes.
	slowFrom = 2
)

// Watch looks until it is stopped. Safe for any goroutine.
type Watch struct {
	mu    sync.Mutex
	looks []look
	best  time.Duration
	stop  chan struct{}
	done  sync.WaitGroup
}

type look struct {
	at   time.Time
	took time.Duration
}

// Start begins to look, two hundred times a second, for less than 1 % of a core.
func Start() *Watch {
	w := &Watch{stop: make(chan struct{})}
	w.done.Go(w.run)
	return w
}

// Stop ends it; what was seen stays.
func (w *Watch) Stop() {
	close(w.stop)
	w.done.Wait()
}

func (w *Watch) run() {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		took := probe()
		w.mu.Lock()
		w.looks = append(w.looks, look{time.Now(), took})
		if w.best == 0 || took < w.best {
			w.best = took
		}
		w.mu.Unlock()
		select {
		case <-t.C:
		case <-w.stop:
			return
		}
	}
}

func probe() (best time.Duration) {
	for range tries {
		began, x := time.Now(), uint64(1)
		for range turns {
			x = x*1664525 + 1013904223
		}
		runtime.KeepAlive(x) // or the loop is left out
		if d := time.Since(began); best == 0 || d < best {
			best = d
		}
	}
	return best
}

// Slow tells whether the machine was slow at some moment from one time to
// another, as far as the looks between them and the next ones around them tell.
func (w *Watch) Slow(from, to time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	first, _ := slices.BinarySearchFunc(w.looks, from, func(l look, t time.Time) int { return l.at.Compare(t) })
	for i := max(first-1, 0); i < len(w.looks); i++ {
		if w.looks[i].took >= slowFrom*w.best {
			return true
		}
		if w.looks[i].at.After(to) {
			break
		}
	}
	return false
}

// Share is the part of the looks from one time to another that found it slow.
func (w *Watch) Share(from, to time.Time) float64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	slow, all := 0, 0
	for _, l := range w.looks {
		if !l.at.Before(from) && !l.at.After(to) {
			if all++; l.took >= slowFrom*w.best {
				slow++
			}
		}
	}
	return float64(slow) / float64(max(all, 1))
}
