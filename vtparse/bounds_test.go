package vtparse_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"akk/vtparse"
)

// This file holds the promises about memory and about other goroutines: whatever
// a stream says, what a terminal keeps is bounded by its size and history.

// TestBounds: hostile streams do not make the terminal grow. Each repeats what
// could pile up, or asks for more than there is.
func TestBounds(t *testing.T) {
	for _, c := range []struct {
		name   string
		repeat int
		most   int64 // bytes that may be more afterwards
		stream func(i int) string
	}{
		{"styles and clusters", 50000, 4 << 20, func(i int) string {
			return fmt.Sprintf("\x1b[38;2;%d;%d;%dmx\xcc%c\xcd%c", i&255, i>>8&255, i>>4&255, 0x80+i%64, 0x80+i/64%48)
		}},
		{"title stack", 15000, 512 << 10, func(i int) string { return fmt.Sprintf("\x1b]2;%d%s\a\x1b[22;0t", i, strings.Repeat("x", 100)) }},
		{"long titles on the stack", 6, 12 << 20, func(int) string {
			return "\x1b]2;" + strings.Repeat("x", 1<<20-10) + "\a\x1b[22;0t\x1b[22;0t\x1b[22;0t"
		}},
		{"keyboard flags", 20000, 128 << 10, func(i int) string { return fmt.Sprintf("\x1b[>%du\x1b[=2147483647;2u", i) }},
		{"one cell", 100000, 128 << 10, func(i int) string { return "\u0301" }},
		{"open OSC", 8, 4 << 20, func(int) string { return "\x1b]0;" + strings.Repeat("x", 1<<20) }},
		{"open DCS", 8, 1 << 20, func(int) string { return "\x1bPq" + strings.Repeat("x", 1<<20) }},
		{"open APC", 8, 4 << 20, func(int) string { return "\x1b_" + strings.Repeat("x", 1<<20) }},
		{"open CSI", 2, 1 << 20, func(int) string { return "\x1b[" + strings.Repeat("1;", 1<<19) }},
		{"signals", 1000, 1 << 20, func(i int) string {
			return fmt.Sprintf("\x1b]7501;state=%d%s\a\x1b]9;4;1;%d\a", i, strings.Repeat("s", 2000), i)
		}},
		{"huge numbers", 2000, 1 << 20, func(i int) string {
			return fmt.Sprintf("x\x1b[2147483647%c\x1b[2147483647;2147483647%[1]c\x1b[41m", "@ABCDEFGHJKLMPSTXZ`bdfghlmrtIae"[i%31])
		}},
		{"screens", 4000, 1 << 20, func(i int) string { return "\x1b[?1049h\x1b[41m\x1b[2J\x1b[?47l\x1b7\x1bc" }},
		{"lines away", 2000, 1 << 20, func(i int) string { return "\x1b[44m\x1b[2J\x1b[H" + strings.Repeat("x", 90) + "\x1b[99S\n" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			term := vtparse.New(40, 10, vtparse.Options{History: 50})
			m0 := heap()
			for i := range c.repeat {
				term.Write([]byte(c.stream(i)))
				if i%64 == 0 {
					term.Screen()
				}
			}
			if grown := heap() - m0; grown > c.most {
				t.Errorf("%d bytes more after a hostile stream", grown)
			}
			runtime.KeepAlive(term)
		})
	}
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestBoundsOfSizes: sizes that come and go leave what the largest needs, no
// more; no stream can ask for a size.
func TestBoundsOfSizes(t *testing.T) {
	const history, cols, rows = 100, 200, 60
	m0 := heap()
	term := vtparse.New(cols, rows, vtparse.Options{History: history})
	for i := range 150 {
		fmt.Fprintf(term, "\x1b[4%dm\x1b[8;9999;9999t\x1b[2J%s\r\n\x1b[?1049%c", i%8, strings.Repeat("wrapped ", 100), "hl"[i/7%2])
		term.Resize(1+i*37%cols, 1+i*61%rows)
	}
	if c, r := term.Size(); c > cols || r > rows {
		t.Errorf("the stream made the size %dx%d", c, r)
	}
	// Both screens, spare lines and the history at eight bytes a cell; a narrow
	// screen has many short lines of history, which cost their place too.
	const most = 4*8*cols*(3*rows+history) + 64*history*cols
	if grown := heap() - m0; grown > most {
		t.Errorf("%d bytes, want at most %d", grown, most)
	}
	runtime.KeepAlive(term)
}

// TestScreenInGoroutines: a screen may be held and read by anybody while its
// terminal goes on; run with the race detector.
func TestScreenInGoroutines(t *testing.T) {
	term := vtparse.New(40, 8, vtparse.Options{History: 100})
	type held struct {
		s    *vtparse.Screen
		json string
	}
	screens := make(chan held, 64)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for h := range screens {
				h.s.Logical(3)
				h.s.Text(0, h.s.Rows)
				h.s.SVG()
				h.s.ANSI()
				h.s.Mismatch(nil, 0, 0)
				if b, err := json.Marshal(h.s); err != nil || string(b) != h.json {
					t.Errorf("a held screen changed: %s, was %s (%v)", b, h.json, err)
				}
			}
		})
	}
	last := term.Screen()
	for i := range 150 {
		fmt.Fprintf(term, "\x1b[38;2;%d;0;9mline %d 字e\u0301\r\n\x1b[%dH\x1b[K\x1b[?1049%c", i%256, i, i%8, "hl"[i/9%2])
		if i%50 == 0 {
			term.Resize(20+i%30, 4+i%5)
		}
		s := term.Screen()
		vtparse.Diff(last, s)
		last = s
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			screens <- held{s, string(b)}
		}
	}
	close(screens)
	wg.Wait()
}
