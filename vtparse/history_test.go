package vtparse

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A line that scrolled away is the same when it comes back, whatever it held,
// and what was dropped is never mixed with what was kept.
func TestHistoryKeepsCells(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := history{limit: rapid.IntRange(1, 40).Draw(t, "limit")}
		var want []*line
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			if len(want) > 0 && rapid.IntRange(0, 9).Draw(t, "pop") == 0 {
				got := h.pop()
				last := want[len(want)-1]
				want = want[:len(want)-1]
				if !slices.Equal(got.cells, last.cells) || got.used != last.used || got.wrapped != last.wrapped || got.wide != last.wide {
					t.Fatalf("popped %v, want %v", got, last)
				}
				continue
			}
			n := rapid.IntRange(0, 60).Draw(t, "cells")
			l := &line{cells: make([]cell, n), used: n, wrapped: rapid.Bool().Draw(t, "wrapped")}
			for i := range l.cells {
				l.cells[i] = rapid.SampledFrom([]cell{blankCell, spaceCell, paddingCell, 'a' | cellOne, 'b' | cellOne | 3<<styleShift, 0x65e5 | cellTwo | 1<<31,
					cellRuneMask | cellTwo | cellInner | styleMask, 7 | cellCluster | cellOne, 'q' | cellACS | cellOne}).Draw(t, "cell")
			}
			scrolled := 0
			before := h.n
			h.collect(&scrolled)
			want = want[before-h.n:]
			h.push(l)
			want = append(want, l)
			if h.n != len(want) || h.n > h.limit {
				t.Fatalf("%d lines, want %d of at most %d", h.n, len(want), h.limit)
			}
			for i, w := range want {
				if got := h.line(i); !slices.Equal(got.cells, w.cells) {
					t.Fatalf("line %d is %v, want %v", i, got.cells, w.cells)
				}
			}
		}
		h.rewrite(func(c []cell) {
			for i := range c {
				c[i] ^= 1 << 40
			}
		})
		for i, w := range want {
			n := h.at(i).len
			for x, c := range h.row(i) {
				if c != w.cells[x]^1<<40 {
					t.Fatalf("line %d is %v after a change of all cells", i, h.row(i)[:n])
				}
			}
		}
	})
}
