package host

import (
	"bytes"
	"io"
	"os"
	"testing"

	"akk/rawio"
)

// TestPutPieces: a line of long pieces arrives whole and once, whatever room the
// pipe has; a file and a buffer take it as well.
func TestPutPieces(t *testing.T) {
	pieces := func() [][]byte {
		return [][]byte{[]byte(`{"a":`), bytes.Repeat([]byte("x"), 300_000), nil, []byte(`,"b":`), bytes.Repeat([]byte("y"), 200_001), []byte("}")}
	}
	want := append(bytes.Join(pieces(), nil), '\n')
	for _, wide := range []bool{false, true} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if wide {
			widen(w)
		}
		got := make(chan []byte)
		go func() {
			b, _ := io.ReadAll(r)
			r.Close()
			got <- b
		}()
		s := &stdio{out: rawio.NewWriter(w), closed: make(chan struct{})}
		if err := s.put(pieces()...); err != nil {
			t.Error(err)
		}
		w.Close()
		if b := <-got; !bytes.Equal(b, want) {
			t.Errorf("wide %v: %d of %d bytes", wide, len(b), len(want))
		}
	}
	var b bytes.Buffer
	s := &stdio{out: rawio.NewWriter(&b), closed: make(chan struct{})}
	if err := s.put(pieces()...); err != nil || !bytes.Equal(b.Bytes(), want) {
		t.Errorf("a buffer has %d of %d bytes, %v", b.Len(), len(want), err)
	}

	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	s = &stdio{out: rawio.NewWriter(w), closed: make(chan struct{})}
	if err := s.put(pieces()...); err == nil {
		t.Error("nobody reads, and the line was written")
	}
}
