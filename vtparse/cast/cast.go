package cast

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// This file holds what a recording is made of. Rule: the text of an output
// event is the pane's bytes; bytes that are no UTF-8 travel as U+DC80..U+DCFF,
// as other recorders write them, and come back as they were.

// Header is the first line.
type Header struct {
	Width, Height int
	Timestamp     int64             // Unix seconds, 0: not told
	Title         string            // "" : not told
	Command       string            // "" : not told
	Env           map[string]string // usually SHELL and TERM
	TmuxVersion   string            // ours: whose rules the screen followed
}

// Kind is the code of an event.
type Kind string

// The kinds that this package gives a meaning; others are passed on.
const (
	Output Kind = "o" // Data is what the program wrote
	Input  Kind = "i" // Data is what was typed
	Resize Kind = "r" // Data is "COLSxROWS"
	Marker Kind = "m" // Data is a label
)

// Event is one line after the header.
type Event struct {
	Time time.Duration // since the start
	Kind Kind
	Data string
	Line int // in the file, 1 is the header; set by the Reader
}

// Size reads the data of a Resize event.
func (e Event) Size() (cols, rows int, err error) {
	c, r, ok := strings.Cut(e.Data, "x")
	if ok {
		cols, ok = number(c)
	}
	if ok {
		rows, ok = number(r)
	}
	if !ok {
		return 0, 0, fmt.Errorf("line %d: resize to %q: want COLSxROWS: %w", e.Line, e.Data, ErrFormat)
	}
	return cols, rows, nil
}

// maxSide bounds the size of a terminal in a recording.
const maxSide = 10000

func number(s string) (int, bool) {
	n := 0
	for _, c := range []byte(s) {
		if c < '0' || c > '9' || n > maxSide {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, n >= 1 && n <= maxSide
}

// headerJSON is the header as it is written.
type headerJSON struct {
	Version     int               `json:"version"`
	Width       int               `json:"width"`
	Height      int               `json:"height"`
	Timestamp   int64             `json:"timestamp,omitempty"`
	Title       string            `json:"title,omitempty"`
	Command     string            `json:"command,omitempty"`
	Env         map[string]string `json:"env,omitempty"`
	TmuxVersion string            `json:"tmux_version,omitempty"`
}

// decode turns the JSON text of an event into bytes: lone surrogates
// U+DC80..U+DCFF stand for single bytes.
func decode(raw json.RawMessage) (string, error) {
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", err
	}
	if !strings.ContainsRune(s, utf8.RuneError) || !hasLoneByte(raw) {
		return s, nil
	}
	return unescape(raw)
}

// hasLoneByte looks for \udc8x .. \udcfx in a JSON string.
func hasLoneByte(raw []byte) bool {
	for i := 0; i+5 < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		if _, ok := loneByte(raw[i:]); ok {
			return true
		}
		i++
	}
	return false
}

// loneByte reads one \udcXX escape at the start of p.
func loneByte(p []byte) (byte, bool) {
	if len(p) < 6 || p[1] != 'u' || p[2]|0x20 != 'd' || p[3]|0x20 != 'c' {
		return 0, false
	}
	hi, ok1 := hexDigit(p[4])
	lo, ok2 := hexDigit(p[5])
	return hi<<4 | lo, ok1 && ok2 && hi >= 8
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}

// unescape decodes the stretches between lone bytes one by one.
func unescape(raw []byte) (string, error) {
	var out []byte
	part := []byte{'"'}
	flush := func() error {
		var s string
		if err := json.Unmarshal(append(part, '"'), &s); err != nil {
			return err
		}
		out = append(out, s...)
		part = part[:1]
		return nil
	}
	body := raw[1 : len(raw)-1]
	for i := 0; i < len(body); i++ {
		if body[i] != '\\' {
			part = append(part, body[i])
			continue
		}
		if b, ok := loneByte(body[i:]); ok {
			// The second half of a pair is no lone byte.
			if n := len(part); n >= 7 && part[n-6] == '\\' && part[n-5] == 'u' && part[n-4]|0x20 == 'd' && part[n-3]|0x20 >= '8' && part[n-3]|0x20 <= 'b' {
				part = append(part, body[i:i+6]...)
				i += 5
				continue
			}
			if err := flush(); err != nil {
				return "", err
			}
			out = append(out, b)
			i += 5
			continue
		}
		part = append(part, body[i])
		if i+1 < len(body) {
			part = append(part, body[i+1])
			i++
		}
	}
	if err := flush(); err != nil {
		return "", err
	}
	return string(out), nil
}

// encode appends s as a JSON string, bytes that are no UTF-8 as lone bytes.
func encode(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch c := s[0]; {
		case r == utf8.RuneError && n < 2:
			b = append(b, `\udc`...)
			b = append(b, hex[c>>4], hex[c&15])
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\r':
			b = append(b, `\r`...)
		case c < 0x20 || c == 0x7f:
			b = append(b, `\u00`...)
			b = append(b, hex[c>>4], hex[c&15])
		default:
			b = append(b, s[:n]...)
		}
		s = s[n:]
	}
	return append(b, '"')
}
