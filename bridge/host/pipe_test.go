package host

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"akk/bridge/rpc"
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

// TestUnreadStderr: a stderr that nobody reads holds nobody up, neither an answer
// nor the end.
func TestUnreadStderr(t *testing.T) {
	errR, errW := io.Pipe() // takes nothing until it is read
	defer errR.Close()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- RunBridge(context.Background(), inR, outW, errW, Options{Version: "1", Level: -8,
			Connect: func(context.Context) (*rpc.Client, error) { return nil, rpc.ErrNoDaemon }})
		outW.Close()
	}()
	go func() {
		for _, l := range append(initialize("2025-11-25"), callLine("1", "list", "{}", "")) {
			_, _ = io.WriteString(inW, l+"\n")
		}
		inW.Close()
	}()
	began := time.Now()
	all, err := io.ReadAll(outR)
	if err != nil || !strings.Contains(string(all), `"id":1,`) {
		t.Errorf("%s, %v", all, err)
	}
	if err := <-done; err != nil || time.Since(began) > patience {
		t.Errorf("ended after %v: %v", time.Since(began), err)
	}
}

// TestLossy: what fits is written in order, what does not is lost, and nobody
// waits.
func TestLossy(t *testing.T) {
	var b bytes.Buffer
	l := NewLossy(&b)
	for range 3 {
		_, _ = io.WriteString(l, "line\n")
	}
	l.Flush()
	<-l.done
	if _, err := l.Write([]byte("late")); err != nil || b.String() != "line\nline\nline\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
	r, w := io.Pipe()
	l = NewLossy(w)
	for range 3 * lossyLines {
		_, _ = io.WriteString(l, "line\n")
	}
	l.Flush()
	l.Flush()
	r.Close()
	<-l.done
}
