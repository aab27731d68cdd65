package cast

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"
)

// This file reads a recording line by line. Rules: empty lines and a missing
// newline at the end are fine; a line that was cut off at the end of the file
// ends the recording with io.ErrUnexpectedEOF after everything before it was
// delivered.

// maxLine bounds one line, in bytes.
const maxLine = 64 << 20

// Reader reads a recording.
type Reader struct {
	Header Header
	in     *bufio.Reader
	line   int
}

// NewReader reads the header.
func NewReader(r io.Reader) (*Reader, error) {
	rd := &Reader{in: bufio.NewReaderSize(r, 1<<16)}
	line, err := rd.next()
	if err != nil {
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("line 1: empty recording: want a header: %w", ErrFormat)
		}
		return nil, err
	}
	var h headerJSON
	if err := json.Unmarshal(line, &h); err != nil {
		return nil, fmt.Errorf("line %d: header: %w: %w", rd.line, ErrFormat, err)
	}
	if h.Version != 2 {
		return nil, fmt.Errorf("line %d: header says version %d, want 2: %w", rd.line, h.Version, ErrFormat)
	}
	if h.Width < 1 || h.Width > maxSide || h.Height < 1 || h.Height > maxSide {
		return nil, fmt.Errorf("line %d: header says size %dx%d, want 1x1 to %dx%d: %w", rd.line, h.Width, h.Height, maxSide, maxSide, ErrFormat)
	}
	rd.Header = Header{
		Width: h.Width, Height: h.Height, Timestamp: h.Timestamp, Title: h.Title,
		Command: h.Command, Env: h.Env, TmuxVersion: h.TmuxVersion,
	}
	return rd, nil
}

// next returns the next line that is not empty.
func (r *Reader) next() ([]byte, error) {
	for {
		var line []byte
		for {
			part, err := r.in.ReadSlice('\n')
			line = append(line, part...)
			if len(line) > maxLine {
				return nil, fmt.Errorf("line %d: longer than %d bytes: %w", r.line+1, maxLine, ErrFormat)
			}
			if err == nil {
				break
			}
			if errors.Is(err, bufio.ErrBufferFull) {
				continue
			}
			if errors.Is(err, io.EOF) && len(bytes.TrimSpace(line)) > 0 {
				break
			}
			return nil, err
		}
		r.line++
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
}

// Next returns the next event, io.EOF after the last.
func (r *Reader) Next() (Event, error) {
	line, err := r.next()
	if err != nil {
		return Event{}, err
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(line, &parts); err != nil {
		if _, more := r.in.Peek(1); more != nil {
			return Event{}, fmt.Errorf("line %d: cut off: %w", r.line, io.ErrUnexpectedEOF)
		}
		return Event{}, fmt.Errorf("line %d: event: %w: %w", r.line, ErrFormat, err)
	}
	if len(parts) < 3 {
		return Event{}, fmt.Errorf("line %d: event of %d parts, want [time, code, data]: %w", r.line, len(parts), ErrFormat)
	}
	var seconds float64
	var kind string
	if err := json.Unmarshal(parts[0], &seconds); err != nil || math.IsNaN(seconds) || math.Abs(seconds) > maxSeconds {
		return Event{}, fmt.Errorf("line %d: time %s: want seconds: %w", r.line, parts[0], ErrFormat)
	}
	if err := json.Unmarshal(parts[1], &kind); err != nil {
		return Event{}, fmt.Errorf("line %d: code %s: want a string: %w", r.line, parts[1], ErrFormat)
	}
	data, err := decode(parts[2])
	if err != nil {
		return Event{}, fmt.Errorf("line %d: data: want a string: %w", r.line, ErrFormat)
	}
	return Event{Time: time.Duration(seconds * float64(time.Second)), Kind: Kind(kind), Data: data, Line: r.line}, nil
}

// maxSeconds bounds the time of an event: about three years.
const maxSeconds = 1e8
