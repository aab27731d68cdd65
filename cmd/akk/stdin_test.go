package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/adrg/xdg"
)

// readStarted tells when the first read waits.
type readStarted struct {
	io.Reader
	ch chan struct{}
}

func (r readStarted) Read(p []byte) (int, error) {
	select {
	case r.ch <- struct{}{}:
	default:
	}
	return r.Reader.Read(p)
}

// A signal ends every command that waits for standard input: exit code 1, a
// line that says so and one with the cure, nothing on stdout.
func TestInterruptedInput(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	xdg.Reload()
	t.Cleanup(xdg.Reload)
	for _, args := range []string{
		"send %0 -", "send %0", "respond turn-1 -", "respond turn-1", "replay -", "replay --json -", "replay --raw --size 80x24 -",
		"host-callback --session s --delivery-id d --message-id m",
	} {
		ctx, cancel := context.WithCancel(t.Context())
		pr, pw := io.Pipe()
		in := readStarted{pr, make(chan struct{}, 1)}
		var out, errs bytes.Buffer
		code := make(chan int, 1)
		go func() { code <- run(ctx, strings.Fields(args), in, &out, &errs) }()
		select {
		case <-in.ch:
		case c := <-code:
			t.Errorf("%s: it reads no input (%d, %s)", args, c, errs.String())
		}
		cancel()
		select {
		case c := <-code:
			if said := errs.String(); c != exitFailed || out.Len() > 0 || !strings.Contains(said, "interrupted") || !strings.Contains(said, "  cure: ") {
				t.Errorf("%s: exit code %d, %q, %q", args, c, out.String(), said)
			}
		case <-time.After(patience):
			t.Errorf("%s: it does not end", args)
		}
		pw.Close()
	}
}

// Input comes through whole, with its end or its error.
func TestStdinWhole(t *testing.T) {
	want := strings.Repeat("0123456789", 30_000)
	got, err := io.ReadAll((&app{in: strings.NewReader(want)}).stdin(t.Context()))
	if err != nil || string(got) != want {
		t.Errorf("%d bytes of %d, %v", len(got), len(want), err)
	}
	pr, pw := io.Pipe()
	pw.CloseWithError(io.ErrNoProgress)
	if _, err := io.ReadAll((&app{in: pr}).stdin(t.Context())); err != io.ErrNoProgress {
		t.Error(err)
	}
}
