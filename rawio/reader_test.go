package rawio

import (
	"bytes"
	"io"
	"os"
	"testing"
	"time"
)

// TestReader: what comes late, in pieces and at once arrives whole; the other
// end's close is the end, our own close ends a read that waits.
func TestReader(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	want := bytes.Repeat([]byte("0123456789abcdef"), 20000)
	go func() {
		defer w.Close()
		for i := 0; i < len(want); i += 4000 {
			if i%80000 == 0 {
				time.Sleep(time.Millisecond) // nothing is there: the reader waits
			}
			if _, err := w.Write(want[i:min(i+4000, len(want))]); err != nil {
				t.Error(err)
			}
		}
	}()
	q := Reader(r)
	if got, err := io.ReadAll(q); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d of %d bytes, %v", len(got), len(want), err)
	}
	if n, err := q.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("after the end: %d, %v", n, err)
	}

	r2, w2, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w2.Close()
	ended := make(chan error, 1)
	go func() {
		_, err := Reader(r2).Read(make([]byte, 10))
		ended <- err
	}()
	time.Sleep(10 * time.Millisecond) // it waits now, or soon
	r2.Close()
	if err := <-ended; err == nil || err == io.EOF {
		t.Errorf("closed in a read: %v", err)
	}
}

// TestReaderWaits: a read that the system would wait in is left to os.File.
func TestReaderWaits(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	w.Close()
	r.Fd() // makes it wait
	if q := Reader(r); q != io.Reader(r) {
		t.Errorf("%T", q)
	}
	if q := Reader(&bytes.Buffer{}); q == nil {
		t.Error("no reader")
	}
}
