package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// This file tests input without an end: it is refused at a bound, and a signal
// ends what reads on.

// again is a text that is repeated for ever. Of one that is made by forever each
// read takes a long piece.
type again struct {
	text string
	at   int
	read atomic.Int64
}

func forever(text string) *again { return &again{text: strings.Repeat(text, 1<<14)} }

func (r *again) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		c := copy(p[n:], r.text[r.at:])
		n, r.at = n+c, (r.at+c)%len(r.text)
	}
	r.read.Add(int64(n))
	return n, nil
}

// Each way to read a recording stops at the bound of a line.
func TestEndlessLine(t *testing.T) {
	packed := filepath.Join(t.TempDir(), "z.cast.gz")
	f, err := os.Create(packed)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	io.CopyN(z, forever(" x"), maxRaw+1<<20)
	z.Close()
	f.Close()
	for _, c := range []struct{ args, name string }{{"replay --json", "-"}, {"replay", packed}, {"explain", packed}, {"replay --raw --size 80x24", "-"}} {
		in := forever(" x")
		var out, errs bytes.Buffer
		code := run(t.Context(), append(strings.Fields(c.args), c.name), in, &out, &errs)
		if said := errs.String(); code != exitFailed || out.Len() > 0 || !strings.Contains(said, "longer than 67108864 bytes") || !strings.Contains(said, "  cure: ") {
			t.Errorf("%s %s: exit code %d, %q", c.args, c.name, code, said)
		}
		if n := in.read.Load(); n > maxRaw+2<<20 {
			t.Errorf("%s: %d bytes were read", c.args, n)
		}
	}
}

// A signal ends a replay that has no end of its own: of a stream, and of what
// is packed.
func TestEndlessReplayInterrupted(t *testing.T) {
	const head = "{\"version\":2,\"width\":10,\"height\":3}\n"
	pack, w := io.Pipe()
	go func() {
		z := gzip.NewWriter(w)
		io.Copy(z, io.MultiReader(strings.NewReader(head), forever("[1,\"o\",\"x\"]\n")))
	}()
	defer pack.Close()
	for _, in := range []io.Reader{io.MultiReader(strings.NewReader(head), forever("[1,\"o\",\"x\"]\n")), pack} {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		code := make(chan int, 1)
		var out, errs bytes.Buffer
		go func() { code <- run(ctx, []string{"replay", "--json", "-"}, in, &out, &errs) }()
		select {
		case c := <-code:
			if c != exitFailed || out.Len() > 0 {
				t.Errorf("exit code %d, %q, %q", c, out.String(), errs.String())
			}
		case <-time.After(patience):
			t.Fatal("it does not end")
		}
		cancel()
	}
}
