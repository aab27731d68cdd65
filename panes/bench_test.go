package panes

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"
)

// BenchmarkLatency measures the way of a byte: written to a pane's terminal,
// seen as UpdateScreen by a subscriber. The other panes write a line of 120
// bytes ten times a second each (busy) or nothing.
func BenchmarkLatency(b *testing.B) {
	for _, n := range []int{1, 20, 100} {
		for _, busy := range []bool{false, true} {
			b.Run(fmt.Sprintf("panes=%d/busy=%v", n, busy), func(b *testing.B) { latency(b, n, busy) })
		}
	}
}

func latency(b *testing.B, panes int, busy bool) {
	ts := newTmux(b, "cat")
	for i := 1; i < panes; i++ {
		cmd := "cat"
		if busy && i%2 == 0 {
			cmd = `while :; do printf '\r\033[2m%0110d\033[0m' $((i=i+1)); sleep 0.1; done`
		}
		ts.run("new-window", "-d", "-t", "one:", cmd)
	}
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	s, err := Open(ctx, Options{Socket: ts.socket})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	sub := s.Subscribe()
	defer sub.Close()
	tty := ""
	for tty == "" {
		ups, err := sub.Next(ctx)
		if err != nil {
			b.Fatal(err)
		}
		for _, u := range ups {
			if u.Pane == "%0" && u.Kind == UpdateFrame {
				in, _ := s.Pane("%0")
				tty = in.TTY
			}
		}
	}
	f, err := os.OpenFile(tty, os.O_WRONLY, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	var all []time.Duration
	for i := 0; b.Loop(); i++ {
		mark := fmt.Sprintf("%09d", i)
		start := time.Now()
		if _, err := f.WriteString("\r" + mark); err != nil {
			b.Fatal(err)
		}
		for seen := false; !seen; {
			ups, err := sub.Next(ctx)
			if err != nil {
				b.Fatal(err)
			}
			for _, u := range ups {
				seen = seen || u.Pane == "%0" && u.Screen != nil && u.Screen.Line(u.Screen.Cursor.Y) == mark
			}
		}
		all = append(all, time.Since(start))
	}
	slices.Sort(all)
	at := func(q float64) float64 {
		return float64(all[min(int(q*float64(len(all))), len(all)-1)].Microseconds()) / 1000
	}
	b.ReportMetric(at(0.50), "p50-ms")
	b.ReportMetric(at(0.95), "p95-ms")
	b.ReportMetric(at(0.99), "p99-ms")
}
