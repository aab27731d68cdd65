package main

import (
	"bytes"
	"io"
	"strings"
)

// This file indents JSON in one pass. encoding/json reads every byte through
// its state machine, which for a list of 100 terminals took as long as the
// daemon took to make it.

const (
	indentBy = "  "
	// indentPiece is how many bytes are written at once: a pipe holds them.
	indentPiece = 56 << 10
)

// newLine is a line's end and the indentation of the next one, deep enough for
// our documents.
var newLine = "\n" + strings.Repeat(indentBy, 32)

// writeIndented is json.Indent and a new line for JSON that the daemon wrote:
// valid, without white space between its parts.
func writeIndented(w io.Writer, in []byte) error {
	out, depth := make([]byte, 0, indentPiece+4<<10), 0
	line := func() {
		if n := 1 + depth*len(indentBy); n <= len(newLine) {
			out = append(out, newLine[:n]...)
			return
		}
		out = append(out, '\n')
		for range depth {
			out = append(out, indentBy...)
		}
	}
	for i := 0; i < len(in); i++ {
		if len(out) >= indentPiece {
			if _, err := w.Write(out); err != nil {
				return err
			}
			out = out[:0]
		}
		switch c := in[i]; c {
		case '"':
			end := endOfString(in, i)
			out = append(out, in[i:end]...)
			i = end - 1
		case '{', '[':
			out = append(out, c)
			if i+1 < len(in) && (in[i+1] == '}' || in[i+1] == ']') {
				i++
				out = append(out, in[i])
				continue
			}
			depth++
			line()
		case '}', ']':
			depth = max(depth-1, 0)
			line()
			out = append(out, c)
		case ',':
			out = append(out, c)
			line()
		case ':':
			out = append(out, ": "...)
		default:
			out = append(out, c)
		}
	}
	_, err := w.Write(append(out, '\n'))
	return err
}

// endOfString is the index behind the string that begins at i; what is no JSON
// ends with the text.
func endOfString(in []byte, i int) int {
	for at := i + 1; ; {
		n := bytes.IndexByte(in[at:], '"')
		if n < 0 {
			return len(in)
		}
		end, escapes := at+n, 0
		for end-escapes-1 > i && in[end-escapes-1] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return end + 1
		}
		at = end + 1
	}
}
