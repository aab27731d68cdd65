package main

import "io"

// This file indents JSON in one pass. encoding/json reads every byte through
// its state machine, which for a list of 100 terminals took as long as the
// daemon took to make it.

const (
	indentBy = "  "
	// indentPiece is how many bytes are written at once.
	indentPiece = 32 << 10
)

// writeIndented is json.Indent and a new line for JSON that the daemon wrote:
// valid, without white space between its parts.
func writeIndented(w io.Writer, in []byte) error {
	out, depth := make([]byte, 0, indentPiece+4<<10), 0
	line := func() {
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
			end := i + 1
			for end < len(in) && in[end] != '"' {
				if in[end] == '\\' {
					end++ // what is escaped
				}
				end++
			}
			if end >= len(in) {
				end = len(in) - 1 // not JSON: as it is
			}
			out = append(out, in[i:end+1]...)
			i = end
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
