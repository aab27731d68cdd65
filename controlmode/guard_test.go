package controlmode

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestCountdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int32
		c := after(time.Second, func() { n.Add(1) })
		time.Sleep(900 * time.Millisecond)
		c.stop()
		time.Sleep(time.Hour)
		if n.Load() != 0 {
			t.Fatal("a stopped countdown ended")
		}
		c.restart()
		time.Sleep(900 * time.Millisecond)
		c.restart()
		time.Sleep(900 * time.Millisecond)
		if n.Load() != 0 {
			t.Fatal("a restarted countdown did not begin anew")
		}
		time.Sleep(time.Hour)
		if n.Load() != 1 {
			t.Fatalf("it ended %d times", n.Load())
		}
	})
}
