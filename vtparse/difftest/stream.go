package difftest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// This file makes random streams. Rule: a stream is a list of tokens, so that
// it can be shrunk token by token; equal seeds give equal streams.

// Stream is one test: what to write into a pane of which size.
type Stream struct {
	Cols, Rows int
	Tokens     []string
	Cuts       map[int]bool // tokens before which the stream is cut into chunks
}

var sizes = [...][2]int{{1, 1}, {1, 5}, {2, 2}, {5, 1}, {10, 3}, {80, 24}, {300, 100}}

// NewStream makes stream number n.
func NewStream(n uint64) Stream {
	r := rand.New(rand.NewPCG(n, 0x5eed))
	s := Stream{Cols: 2 + r.IntN(30), Rows: 1 + r.IntN(10), Cuts: map[int]bool{}}
	if r.IntN(6) == 0 {
		size := sizes[r.IntN(len(sizes))]
		s.Cols, s.Rows = size[0], size[1]
	}
	g := generator{r, s.Cols, s.Rows}
	for range 5 + r.IntN(70) {
		if r.IntN(15) == 0 {
			s.Cuts[len(s.Tokens)] = true
		}
		s.Tokens = append(s.Tokens, g.token())
	}
	if n%longEvery == 0 {
		at := r.IntN(len(s.Tokens) + 1)
		s.Tokens = slices.Insert(s.Tokens, at, g.longString())
	}
	return s
}

const (
	longEvery   = 25      // every so many streams one has a string of about stringLimit
	stringLimit = 1 << 20 // bytes, tmux's limit: a longer string has no effect
)

// longString is a string that is too long for tmux, or nearly, in each of the
// forms that strings have.
func (g generator) longString() string {
	intro := g.pick("\x1b]2;", "\x1b]0;", "\x1b]8;;", "\x1b]7501;state=", "\x1b]52;c;", "\x1bP", "\x1bP1;2q", "\x1bPtmux;", "\x1b_", "\x1bk", "\x1bX", "\x1b^", "\x1b[", "\x1b[?1;")
	n := stringLimit - len(intro) + g.IntN(9) - 4
	if g.IntN(3) == 0 {
		n = 2 * stringLimit
	}
	fill := g.pick("C", "7", ";", "é", "\r\n")
	return intro + strings.Repeat(fill, n/len(fill)) + g.pick("\x1b\\", "\a", "\x18", "\x1a", "\x1b[31m", "")
}

type generator struct {
	*rand.Rand
	cols, rows int
}

func (g generator) pick(list ...string) string { return list[g.IntN(len(list))] }

// number is small, near the size, zero, missing or absurd.
func (g generator) number() string {
	switch g.IntN(12) {
	case 0:
		return ""
	case 1:
		return "0"
	case 2:
		return fmt.Sprint(g.cols + g.IntN(3) - 1)
	case 3:
		return fmt.Sprint(g.rows + g.IntN(3) - 1)
	case 4:
		return g.pick("999", "65536", "2147483647", "2147483648", "99999999999", "007")
	case 5:
		return g.pick("1:2", ":", "4:3")
	}
	return fmt.Sprint(1 + g.IntN(max(g.cols, g.rows)))
}

func (g generator) numbers(n int) string {
	p := make([]string, n)
	for i := range p {
		p[i] = g.number()
	}
	return strings.Join(p, ";")
}

var narrow = []string{
	"é", "e\u0301", "\u0301", "\u200b", "\u200d", "─│╭", "⏺ ", "❤\ufe0f", "1\ufe0f\u20e3", "🇩🇪", "\u0378", "\u00ad", "\U0001fae8",
	"\u0600", "\u05d0", "\u0e33", "\ufeff", "\u2028", "\ufffd", "\u0085",
}

var wide = []string{"字", "漢字", "😀", "👨\u200d👩", "👍🏽", "か\u3099", "\u200d👩", "한글", "\u1100\u1161", "🏳\ufe0f\u200d🌈"}

var raw = []string{
	"\xff", "\x80", "\xe5\xad", "\xe5", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x9b31m", "\xe2\x80", "\x1b", "\x1b[", "\x1b[3", "\x18", "\x1a", "\x1b]0;t", "\x1bP", "\x1b_",
}

func (g generator) token() string {
	switch g.IntN(24) {
	case 0, 1, 2, 3:
		return g.pick("a", "bc", "xyz", "qxlk", "0123456789", "hello world", "  ", strings.Repeat("=", 1+g.IntN(g.cols+3)))
	case 4, 5:
		return g.pick(narrow...)
	case 6:
		if g.cols == 1 {
			return "w"
		}
		return g.pick(wide...)
	case 7, 8:
		return g.pick("\r", "\n", "\r\n", "\b", "\t", "\v", "\f", "\a", "\x0e", "\x0f", "\x00", "\x7f", "\x05")
	case 9:
		return g.pick(raw...)
	case 10:
		b := make([]byte, 1+g.IntN(4))
		for i := range b {
			b[i] = byte(g.IntN(256))
			if b[i] >= 0x80 && g.cols == 1 {
				b[i] &= 0x7f
			}
		}
		return string(b)
	case 11, 12, 13, 14:
		return "\x1b[" + g.numbers(g.IntN(3)) + g.pick("@", "A", "B", "C", "D", "E", "F", "G", "H", "J", "K", "L", "M", "P", "S", "T", "X", "Z", "`", "b", "d", "f", "g", "r", "s", "u", "H", "K", "J", "b")
	case 15:
		return "\x1b[" + g.numbers(g.IntN(4)) + g.pick("I", "a", "c", "e", "h", "l", "n", "q", "t", "^", "p", "x", "i", " q", " @", "$r", "!p", "\"q", "T")
	case 16, 17:
		return "\x1b[?" + g.pick("1", "3", "5", "6", "7", "25", "47", "1047", "1048", "1049", "1000", "1002", "1003", "1004", "1006", "2004", "2026", "12", "6;7", "7;4", "69", "1001") + g.pick("h", "l")
	case 18, 19:
		n := 1 + g.IntN(4)
		p := make([]string, n)
		for i := range p {
			p[i] = g.sgr()
		}
		return "\x1b[" + strings.Join(p, ";") + "m"
	case 20:
		return "\x1b" + g.pick("7", "8", "=", ">", "D", "E", "H", "M", "c", "Z", "#8", "(0", "(B", ")0", ")B", "(A", "*0", "N", "O", "\\", "#3", "%G", " F")
	case 21:
		return g.pick("\x1b]0;t1\x07", "\x1b]2;t2\x1b\\", "\x1b]2;\xff\x07", "\x1b]0;✳ x\x1b\\", "\x1b]7;file:///tmp\x07", "\x1b]8;;u\x07", "\x1b]52;c;aGk=\x07",
			"\x1b]133;A\x07", "\x1b]9;4;1;50\x07", "\x1b]7501;state=idle:app=codex\x1b\\", "\x1b]x\x07", "\x1b]4294967298;big\x07", "\x1b]2;open", "\x1b]2;\u0378\x07",
			"\x1bPq~~\x1b\\", "\x1bPtmux;\x1b\x1b[31mx\x1b\\", "\x1bP$q\x07x\x1b\\", "\x1b_ap\x1b\\", "\x1b^pm\x1b\\", "\x1bXsos\x1b\\", "\x1bkname\x1b\\", "\x1b_\x1b\\", "\x1b]2;a\x18")
	case 22:
		return "\x1b[" + g.pick("22;0t", "23;0t", "22;1t", "23;2t", "4h", "4l", "20h", "34h", ">1u", "<u", "=1;2u", "?u", ">4;2m", ">4m", ">q", "?2026$p", "?1;2S", "?6n", "?K", "?J", "3;J", "3J", ";1J")
	}
	return "\x1b[" + g.pick("?", ">", "<", "=", "??", "?>", "!", "$", "'", "   ", "    ") + g.numbers(g.IntN(3)) + string(rune(0x40+g.IntN(0x3f)))
}

func (g generator) sgr() string {
	switch g.IntN(10) {
	case 0:
		return fmt.Sprintf("38;5;%d", g.IntN(260))
	case 1:
		return fmt.Sprintf("48;2;%d;%d;%d", g.IntN(258), g.IntN(256), g.IntN(256))
	case 2:
		return g.pick("58;5;9", "58;2;1;2;3", "58:2::1:2:3", "58:5:7", "59", "58;5;300")
	case 3:
		return g.pick("4:0", "4:1", "4:2", "4:3", "4:4", "4:5", "4:6", "4:", "38:2:1:2:3", "38:2::1:2:3", "38:5:9", "48:5:", "48:2::1:2:3:4:5", "1:2:3:4:5:6:7:8", "5:3")
	case 4:
		return g.pick("0", "", "39", "49", "21", "22", "24", "53", "55", "38", "48;5", "38;2;1;2", "38;9")
	case 5:
		return fmt.Sprint(40 + g.IntN(8))
	}
	return fmt.Sprint(g.IntN(110))
}

// Chunks returns the stream as the pieces that are written one after the other.
func (s Stream) Chunks() [][]byte {
	var out [][]byte
	var cur []byte
	for i, t := range s.Tokens {
		if s.Cuts[i] && len(cur) > 0 {
			out = append(out, cur)
			cur = nil
		}
		cur = append(cur, t...)
	}
	if len(cur) > 0 {
		out = append(out, cur)
	}
	return out
}

// without returns the stream without tokens from..to-1.
func (s Stream) without(from, to int) Stream {
	n := Stream{Cols: s.Cols, Rows: s.Rows, Cuts: map[int]bool{}}
	for i, t := range s.Tokens {
		if i >= from && i < to {
			continue
		}
		if s.Cuts[i] {
			n.Cuts[len(n.Tokens)] = true
		}
		n.Tokens = append(n.Tokens, t)
	}
	return n
}
