package quick

import (
	"io"
	"math/bits"
)

// This file indents JSON in one pass, for the quick and for the usual commands.
// encoding/json reads every byte through its state machine, which for a list of
// 100 terminals took as long as the daemon took to make it.

const (
	indentBy = "  "
	// indentPiece is how many bytes are written at once: a pipe holds them.
	indentPiece = 56 << 10
	// newLine is a line's end and the indentation of the next one, deep enough
	// for our documents.
	newLine = "\n                                                                "
)

// WriteIndented is json.Indent and a new line for JSON that the daemon wrote:
// valid, without white space between its parts. It copies the text between two
// places where something is put in, not part by part.
func WriteIndented(w io.Writer, in []byte) error {
	out, n := make([]byte, indentPiece+4<<10), 0 // n bytes of it are filled
	depth, from := 0, 0                          // in[:from] is in out
	for i := 0; i < len(in); {
		put, cut := "", 0 // put comes in before in[cut]
		switch c := in[i]; {
		case c == '"':
			i = endOfString(in, i)
			continue
		case c == ':':
			i++
			put, cut = " ", i
		case c == ',':
			i++
			put, cut = line(depth), i
		case c|0x20 == '{': // or [
			if i++; i < len(in) && in[i]|0x20 == '}' {
				i++
				continue
			}
			depth++
			put, cut = line(depth), i
		case c|0x20 == '}': // or ]
			depth = max(depth-1, 0)
			put, cut = line(depth), i
			i++
		default:
			i++
			continue
		}
		if n >= indentPiece || n+cut-from+len(put) > len(out) {
			if err := write(w, out[:n]); err != nil {
				return err
			}
			n = 0
		}
		if cut-from+len(put) > len(out) { // a long string
			if err := write(w, in[from:cut]); err != nil {
				return err
			}
			if err := write(w, []byte(put)); err != nil {
				return err
			}
		} else {
			n += copy(out[n:], in[from:cut])
			n += copy(out[n:], put)
		}
		from = cut
	}
	return write(w, append(append(out[:n], in[from:]...), '\n'))
}

func write(w io.Writer, b []byte) error {
	if len(b) == 0 {
		return nil
	}
	_, err := w.Write(b)
	return err
}

// line is a line's end and the indentation of the next one.
func line(depth int) string {
	if n := 1 + depth*len(indentBy); n <= len(newLine) {
		return newLine[:n]
	}
	return deepLine(depth)
}

func deepLine(depth int) string {
	b := []byte{'\n'}
	for range depth {
		b = append(b, indentBy...)
	}
	return string(b)
}

// endOfString is the index behind the string that begins at i; what is no JSON
// ends with the text.
func endOfString(in []byte, i int) int {
	for at := i + 1; ; {
		n := indexByte(in[at:], '"')
		if n < 0 {
			return len(in)
		}
		end, escapes := at+n, 0
		if in[end-1] != '\\' {
			return end + 1
		}
		for end-escapes-1 > i && in[end-escapes-1] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return end + 1
		}
		at = end + 1
	}
}

// indexByte is bytes.IndexByte, which is initialised too late for us: eight
// bytes at a time, -1 if c is not there. (x-ones)&^x&highs has the highest bit of
// the first byte of x that is zero set, and none before it.
func indexByte(b []byte, c byte) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	i, all := 0, uint64(c)*ones
	for ; i+8 <= len(b); i += 8 {
		p := b[i : i+8 : i+8]
		x := all ^ (uint64(p[0]) | uint64(p[1])<<8 | uint64(p[2])<<16 | uint64(p[3])<<24 |
			uint64(p[4])<<32 | uint64(p[5])<<40 | uint64(p[6])<<48 | uint64(p[7])<<56) // one load
		if zero := (x - ones) &^ x & highs; zero != 0 {
			return i + bits.TrailingZeros64(zero)/8
		}
	}
	for ; i < len(b); i++ {
		if b[i] == c {
			return i
		}
	}
	return -1
}
