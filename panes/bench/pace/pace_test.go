package pace

import (
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSlow(t *testing.T) {
	t0 := time.Now()
	w := &Watch{best: 5}
	for i := range 10 {
		took := time.Duration(6)
		if i == 4 || i == 5 {
			took = 60
		}
		w.looks = append(w.looks, look{t0.Add(time.Duration(i) * time.Second), took})
	}
	for _, c := range []struct {
		from, to float64
		slow     bool
	}{{0, 2, false}, {0.2, 0.3, false}, {3.1, 3.2, true}, {2.1, 2.9, false}, {2.1, 4, true}, {4.5, 4.6, true}, {5.5, 5.6, true}, {6.5, 7, false}, {5.9, 9, true}, {20, 21, false}, {-2, -1, false}} {
		at := func(s float64) time.Time { return t0.Add(time.Duration(s * float64(time.Second))) }
		if got := w.Slow(at(c.from), at(c.to)); got != c.slow {
			t.Errorf("from %v to %v: slow is %v", c.from, c.to, got)
		}
	}
	if got := w.Share(t0, t0.Add(9*time.Second)); got != 0.2 {
		t.Errorf("the share is %v", got)
	}
	if new(Watch).Slow(t0, t0) || new(Watch).Share(t0, t0) != 0 {
		t.Error("one that has not looked knows of slow moments")
	}
}

func TestWatch(t *testing.T) {
	w := Start()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(every) {
		w.mu.Lock()
		n := len(w.looks)
		w.mu.Unlock()
		if n > 3 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("it does not look")
		}
	}
	w.Stop()
	if w.best <= 0 {
		t.Error("a look takes no time")
	}
}
