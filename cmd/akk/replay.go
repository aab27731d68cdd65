package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"akk/testdata/demo"
	"akk/ui/launch"
	"akk/vtparse"

	"github.com/spf13/cobra"
)

// replayFlags are the options of akk replay.
type replayFlags struct {
	agent, agentVersion string
	tmuxVersion         string
	raw                 bool
	size, cuts          string
	speed               float64
	demo                bool
}

func newReplay(a *app) *cobra.Command {
	var f replayFlags
	c := &cobra.Command{
		Use:   "replay FILE.cast|-",
		Short: "Play a recording in the terminal; --json: print screen and reading at each of its markers",
		Long: `Plays an asciicast v2 recording in real time. With --json nothing is played:
for each marker one object {marker, label, screen, reading} is printed, and of a
recording without markers its last screen, as marker 0 "the end". With
--raw the input is plain bytes that are put on one screen of --size.

replay needs no daemon and no tmux.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if f.speed < 0 {
				return usagef("--speed must not be negative")
			}
			if f.demo {
				return a.playDemo(c.Context(), args[0], f.speed)
			}
			in, err := a.input(c.Context(), args[0])
			if err != nil {
				return err
			}
			defer in.Close()
			switch {
			case f.raw:
				return a.replayRaw(in, f)
			case a.json:
				return a.replayJSON(in, args[0], f)
			}
			return a.play(c.Context(), in, args[0], f.speed)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.agent, "agent", "", "whose screen it is, `codex` or claude (default: by the recording's title)")
	fl.StringVar(&f.agentVersion, "agent-version", "", "the agent's `version` (default: by the recording's title)")
	fl.StringVar(&f.tmuxVersion, "tmux-version", "", "the `version` of tmux whose rules hold (default 3.3a)")
	fl.BoolVar(&f.raw, "raw", false, "the input is bytes, not a recording; needs --size")
	fl.StringVar(&f.size, "size", "", "size of the screen of --raw, as `80x24`")
	fl.StringVar(&f.cuts, "cuts", "", "byte `offsets` at which the input of --raw was split into writes, as 3,7")
	fl.Float64Var(&f.speed, "speed", 1, "`times` as fast as it was; 0 shows the end at once")
	fl.BoolVar(&f.demo, "demo", false, "")
	_ = fl.MarkHidden("demo")
	return c
}

// input opens a file, or standard input for "-". What gzip has packed is
// unpacked.
func (a *app) input(ctx context.Context, name string) (io.ReadCloser, error) {
	in := io.NopCloser(a.stdin(ctx))
	if name != "-" {
		f, err := openFile(ctx, name)
		if err != nil {
			return nil, fail("give the path of a recording (asciicast v2), as `akk record` writes it", "open the recording: %v", pathless(err, name))
		}
		in = f
	}
	br := bufio.NewReader(in)
	var r io.Reader = br
	if magic, _ := br.Peek(2); string(magic) == "\x1f\x8b" {
		z, err := gzip.NewReader(br)
		if err != nil {
			in.Close()
			return nil, badCast(name, err)
		}
		r = z
	}
	return struct {
		io.Reader
		io.Closer
	}{&whileAlive{ctx, r}, in}, nil
}

// whileAlive is a reader that fails when ctx has ended: what is packed or
// buffered may go on for long without a read of the file.
type whileAlive struct {
	ctx  context.Context
	from io.Reader
}

func (w *whileAlive) Read(p []byte) (int, error) {
	n, err := w.from.Read(p)
	if w.ctx.Err() != nil && !errors.Is(err, errInput) {
		return 0, w.ctx.Err()
	}
	return n, err
}

// openFile is os.Open that ends with ctx: who opens a FIFO, or reads one, waits
// for its writer.
func openFile(ctx context.Context, name string) (*os.File, error) {
	type opened struct {
		f   *os.File
		err error
	}
	ch := make(chan opened, 1)
	go func() {
		f, err := os.Open(name)
		ch <- opened{f, err}
	}()
	select {
	case o := <-ch:
		if o.err == nil {
			context.AfterFunc(ctx, func() { o.f.Close() })
		}
		return o.f, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// pathless is err with the file named once.
func pathless(err error, name string) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", name, pe.Err)
	}
	return err
}

// screenDoc is the line that --raw prints.
type screenDoc struct {
	Screen *vtparse.Screen `json:"screen"`
}

// maxRaw bounds the input of --raw, in bytes, as cast does a recording's line.
const maxRaw = 64 << 20

func (a *app) replayRaw(in io.Reader, f replayFlags) error {
	c, r, ok := strings.Cut(f.size, "x")
	cols, err1 := strconv.Atoi(c)
	rows, err2 := strconv.Atoi(r)
	if !ok || err1 != nil || err2 != nil || cols < 1 || rows < 1 || cols > vtparse.MaxSize || rows > vtparse.MaxSize {
		return usagef("--raw needs --size COLSxROWS with 1 to %d each, got %q", vtparse.MaxSize, f.size)
	}
	var cuts []int
	if f.cuts != "" {
		for s := range strings.SplitSeq(f.cuts, ",") {
			n, err := strconv.Atoi(s)
			if err != nil || n < 0 {
				return usagef("--cuts wants byte offsets as 3,7, got %q", f.cuts)
			}
			cuts = append(cuts, n)
		}
	}
	data, err := io.ReadAll(io.LimitReader(in, maxRaw+1))
	switch {
	case errors.Is(err, errInput), errors.Is(err, context.Canceled):
		return err
	case err != nil:
		return fail("check the file or the pipe", "read the bytes: %v", err)
	case len(data) > maxRaw:
		return fail("give a part of it, e.g. with head -c", "the input is longer than %d bytes", maxRaw)
	}
	s := vtparse.ReplayRaw(data, cols, rows, cuts, vtparse.Options{TmuxVersion: f.tmuxVersion})
	if a.json {
		return a.line(screenDoc{s})
	}
	for _, l := range s.Lines() {
		a.printf("%s\n", printable(l))
	}
	return nil
}

// playDemo plays an embedded recording, over and over, until the human ends it.
func (a *app) playDemo(ctx context.Context, name string, speed float64) error {
	b, err := demo.Open(name)
	if err != nil {
		return fail("run `akk demo`", "%v", err)
	}
	for _, r := range demo.All() {
		if r.Name == name {
			defer a.markPane(ctx, launch.MarkDemo, r.Agent+" "+r.Version)() // should its opener have died (B124)
		}
	}
	ctx, restore := a.untilKey(ctx)
	defer restore()
	defer a.tidy()
	for {
		if err := a.playOnce(ctx, bytes.NewReader(b), name, speed); err != nil && ctx.Err() == nil {
			return err
		}
		select { // the end stays on the screen for a while, then it begins anew
		case <-ctx.Done():
			return nil
		case <-time.After(demoRest):
		}
	}
}

// demoRest is how long the end of a demo's recording stays on the screen.
const demoRest = 20 * time.Second
