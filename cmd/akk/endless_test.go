package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// This file tests input without an end: it is refused at a bound, and a signal
// ends what reads on.

// again is a text that is repeated for ever.
type again struct {
	text string
	at   int
	read int64
}

func (r *again) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		c := copy(p[n:], r.text[r.at:])
		n, r.at = n+c, (r.at+c)%len(r.text)
	}
	r.read += int64(n)
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
	io.CopyN(z, &again{text: " x"}, maxRaw+1<<20)
	z.Close()
	f.Close()
	for _, args := range []string{"replay --json", "replay", "explain", "replay --raw --size 80x24"} {
		for _, name := range []string{"-", packed} {
			if args == "explain" && name == "-" {
				continue
			}
			in := &again{text: " x"}
			var out, errs bytes.Buffer
			c := run(t.Context(), append(strings.Fields(args), name), in, &out, &errs)
			if said := errs.String(); c != exitFailed || out.Len() > 0 || !strings.Contains(said, "longer than 67108864 bytes") || !strings.Contains(said, "  cure: ") {
				t.Errorf("%s %s: exit code %d, %q", args, name, c, said)
			}
			if in.read > maxRaw+2<<20 {
				t.Errorf("%s: %d bytes were read", args, in.read)
			}
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
		io.Copy(z, io.MultiReader(strings.NewReader(head), &again{text: "[1,\"o\",\"x\"]\n"}))
	}()
	defer pack.Close()
	for _, in := range []io.Reader{io.MultiReader(strings.NewReader(head), &again{text: "[1,\"o\",\"x\"]\n"}), pack} {
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
