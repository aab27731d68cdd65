package controlmode

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"testing"
)

// FuzzParser feeds arbitrary bytes, whole and cut into pieces of random sizes,
// with body counts as a caller may give them. What must hold: nothing fails,
// and what is told does not depend on the cuts.
func FuzzParser(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.jsonl.gz")
	for _, name := range files {
		for _, st := range conversation(f, name) {
			if st.Recv != "" && len(st.Recv) < 2000 {
				f.Add([]byte(st.Recv), uint64(len(st.Recv)), uint8(0))
			}
		}
	}
	f.Add([]byte("%begin 1 2 1\n%end 1 2 1\n%end 1 2 1\n"), uint64(3), uint8(1))
	f.Add([]byte("%begin 1 2 1\nrow\n%output %0 \\015\n%exit\n%end 1 2 1\n%error 1 2 1\n"), uint64(5), uint8(9))
	f.Add([]byte("\x1bP1000p%begin 1 2 0\r\n%end 1 2 0\r\n%output %0 \\015\r\n%exit\r\n\x1b\\"), uint64(9), uint8(0))
	f.Fuzz(func(t *testing.T, data []byte, seed uint64, want uint8) {
		whole := tellCounted(want, data)
		rnd := rand.New(rand.NewPCG(seed, 1))
		var pieces [][]byte
		for rest := data; len(rest) > 0; {
			n := 1 + rnd.IntN(min(len(rest), 1+rnd.IntN(64)))
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		if cut := tellCounted(want, pieces...); cut != whole {
			t.Errorf("cut into %d pieces:\n%s\nwhole:\n%s", len(pieces), cut, whole)
		}
	})
}

// tellCounted tells what a parser says when every block of ours has want%8
// lines for sure (0: not known), and is plain if bit 3 of want says so.
func tellCounted(want uint8, pieces ...[]byte) string {
	var p Parser
	s := &teller{pure: want&8 != 0}
	if n := int(want % 8); n > 0 {
		s.want = func() int { return n }
	}
	for _, x := range pieces {
		p.Feed(bytes.Clone(x), s) // a slice that is kept would show
	}
	return s.b.String()
}
