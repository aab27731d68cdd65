package truth

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"akk/agents"
	"akk/vtparse"
	"akk/vtparse/cast"
)

// This file plays a recording. Rule: the screens that a reader gets are those
// that a mirror of the pane would have published, at every chunk or finer.

// history is tmux's default, in lines: a resize brings them back.
const history = 2000

// Step is a screen between two snapshots, or at one.
type Step struct {
	Screen *vtparse.Screen
	// At is the index of the last snapshot that was passed, -1 before the first.
	At int
	// Marker tells that the screen is the one of snapshot At itself.
	Marker bool
	// Line is the line of the recording.
	Line int
}

// Play calls see at every snapshot, and between them after each chunk (piece 0)
// or after every piece bytes of each chunk. It checks that the recording has as
// many markers as its table has snapshots.
func (r *Recording) Play(piece int, see func(Step)) error { return r.play(0, 0, piece, see) }

// Enlarged plays the recording on a screen that is larger than the agent knew:
// what it draws is in one corner, or not understood. It is for measuring.
func (r *Recording) Enlarged(cols, rows int, see func(Step)) error { return r.play(cols, rows, 0, see) }

func (r *Recording) play(cols, rows, piece int, see func(Step)) error {
	return r.feed(cols, rows, piece, func(_ *vtparse.Terminal, s Step) { see(s) })
}

func (r *Recording) feed(cols, rows, piece int, see func(*vtparse.Terminal, Step)) error {
	rd, err := cast.NewReader(bytes.NewReader(r.Cast))
	if err != nil {
		return err
	}
	fixed := cols > 0
	if !fixed {
		cols, rows = rd.Header.Width, rd.Header.Height
	}
	t := vtparse.New(cols, rows, vtparse.Options{TmuxVersion: rd.Header.TmuxVersion, History: history})
	at := -1
	for {
		e, err := rd.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("%s: %w", r.Name(), err)
		}
		switch e.Kind {
		case cast.Marker:
			if at++; at >= len(r.Snaps) {
				return fmt.Errorf("%s: more markers than the %d snapshots of the table", r.Name(), len(r.Snaps))
			}
			see(t, Step{t.Screen(), at, true, e.Line})
		case cast.Resize:
			cols, rows, err := e.Size()
			if err != nil {
				return fmt.Errorf("%s: %w", r.Name(), err)
			}
			if !fixed {
				t.Resize(cols, rows)
			}
			see(t, Step{t.Screen(), at, false, e.Line})
		case cast.Output:
			for d := e.Data; d != ""; {
				n := len(d)
				if piece > 0 {
					n = min(n, piece)
				}
				t.Write([]byte(d[:n]))
				d = d[n:]
				see(t, Step{t.Screen(), at, false, e.Line})
			}
		}
	}
	if at+1 != len(r.Snaps) {
		return fmt.Errorf("%s: %d markers, %d snapshots in the table", r.Name(), at+1, len(r.Snaps))
	}
	return nil
}

// After is the screen at the first snapshot of that label with bytes written on
// top. "{word}" in the bytes stands for "row;1" of the lowest row that holds it.
func (r *Recording) After(label, write string) (*vtparse.Screen, error) {
	i := slices.IndexFunc(r.Snaps, func(s Snap) bool { return s.Label == label })
	if i < 0 {
		return nil, fmt.Errorf("%s has no snapshot %q", r.Name(), label)
	}
	var out *vtparse.Screen
	err := r.feed(0, 0, 0, func(t *vtparse.Terminal, s Step) {
		if !s.Marker || s.At != i {
			return
		}
		for {
			from, to := strings.IndexByte(write, '{'), strings.IndexByte(write, '}')
			if from < 0 || to < from {
				break
			}
			row := 0
			for y := range s.Screen.Rows {
				if strings.Contains(s.Screen.Line(y), write[from+1:to]) {
					row = y + 1
				}
			}
			write = write[:from] + strconv.Itoa(row) + ";1" + write[to+1:]
		}
		t.Write([]byte(write))
		out = t.Screen()
	})
	return out, err
}

// Bytes are the size and all that was written up to snapshot i of a recording
// that was never resized.
func (r *Recording) Bytes(i int) (cols, rows int, out []byte, err error) {
	rd, err := cast.NewReader(bytes.NewReader(r.Cast))
	if err != nil {
		return 0, 0, nil, err
	}
	for at := -1; at < i; {
		e, err := rd.Next()
		if err != nil {
			return 0, 0, nil, fmt.Errorf("%s has no snapshot %d: %w", r.Name(), i, err)
		}
		switch e.Kind {
		case cast.Marker:
			at++
		case cast.Output:
			out = append(out, e.Data...)
		}
	}
	return rd.Header.Width, rd.Header.Height, out, nil
}

// What an unsafe answer may be.
const (
	FalselyIdle     = "idle, but a turn runs, starts or waits"
	FalselyComposer = "the composer has the keys, but it has not"
	FalselyEmpty    = "the composer is empty, but it is not"
	FalseDialog     = "a dialog, but there is none"
)

// Unsafe lists what would let somebody type where it must not be.
func Unsafe(r agents.Reading, w Truth) (out []string) {
	if r.Activity == agents.Idle && w.Activity != "idle" && w.Activity != "unknown" {
		out = append(out, FalselyIdle)
	}
	if r.Owner == agents.OwnerComposer && w.Owner != "composer" && w.Owner != "unknown" {
		out = append(out, FalselyComposer)
	}
	if r.Composer == agents.ComposerEmpty && w.Composer != "empty" {
		out = append(out, FalselyEmpty)
	}
	if r.Dialog != nil && !r.Dialog.Hidden && w.Dialog == nil && (w.Owner == "composer" || w.Owner == "shell") {
		out = append(out, FalseDialog)
	}
	return out
}

// UnsafeBetween lists what is unsafe whenever between a and b it was said: for
// equal truths that is theirs, else what neither of them makes right.
func UnsafeBetween(r agents.Reading, a, b Truth) (out []string) {
	after := Unsafe(r, b)
	for _, u := range Unsafe(r, a) {
		if slices.Contains(after, u) {
			out = append(out, u)
		}
	}
	return out
}
