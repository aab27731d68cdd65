package cast

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"
	"unicode/utf8"
)

// This file writes a recording. Rules: one Write per line, so that a recording
// that is cut off loses at most its last line; a character that the program's
// chunks cut is held back until it is whole.

// Writer writes a recording. It is not safe for several goroutines at once.
type Writer struct {
	w      io.Writer
	held   []byte // first bytes of a character
	heldAt time.Duration
	buf    []byte
	err    error
}

// NewWriter writes the header.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	line, err := json.Marshal(headerJSON{
		Version: 2, Width: h.Width, Height: h.Height, Timestamp: h.Timestamp, Title: h.Title,
		Command: h.Command, Env: h.Env, TmuxVersion: h.TmuxVersion,
	})
	if err != nil {
		return nil, fmt.Errorf("write header: %w", err)
	}
	if _, err := w.Write(append(line, '\n')); err != nil {
		return nil, fmt.Errorf("write header: %w", err)
	}
	return &Writer{w: w}, nil
}

// Output records what the program wrote. The bytes of a character that is not
// complete come with the next event.
func (w *Writer) Output(at time.Duration, p []byte) error {
	data := append(w.held, p...)
	keep := partial(data)
	whole := data[:len(data)-keep]
	err := w.err
	if len(whole) > 0 {
		err = w.Event(Event{Time: at, Kind: Output, Data: string(whole)})
	}
	w.held = append([]byte(nil), data[len(whole):]...)
	w.heldAt = at
	return err
}

// Event records any event. What Output held back is written first.
func (w *Writer) Event(e Event) error {
	if w.err != nil {
		return w.err
	}
	if len(w.held) > 0 && e.Kind != Output {
		held := w.held
		w.held = nil
		if err := w.Event(Event{Time: w.heldAt, Kind: Output, Data: string(held)}); err != nil {
			return err
		}
	}
	b := append(w.buf[:0], '[')
	b = strconv.AppendFloat(b, e.Time.Seconds(), 'f', 6, 64)
	b = append(b, ", "...)
	b = encode(b, string(e.Kind))
	b = append(b, ", "...)
	b = encode(b, e.Data)
	b = append(b, ']', '\n')
	w.buf = b
	if _, err := w.w.Write(b); err != nil {
		w.err = fmt.Errorf("write event: %w", err)
	}
	return w.err
}

// Close writes what was held back. It does not close the underlying writer.
func (w *Writer) Close() error {
	if w.err == nil && len(w.held) > 0 {
		held := w.held
		w.held = nil
		w.Event(Event{Time: w.heldAt, Kind: Output, Data: string(held)})
	}
	if w.err != nil {
		return w.err
	}
	w.err = ErrClosed
	return nil
}

// partial is how many bytes at the end of p begin a character that more bytes
// could complete.
func partial(p []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		tail := p[len(p)-n:]
		if utf8.RuneStart(tail[0]) {
			if tail[0] >= 0xc2 && !utf8.FullRune(tail) {
				return n
			}
			return 0
		}
	}
	return 0
}
