// Package tomldepth counts how deep a TOML text is nested before the library
// reads it.
//
// It promises: a file that it passes takes no time that grows with the square
// of its nesting, and what stands in strings and comments counts for nothing.
// Where the text is no TOML the count may be wrong: the library stops there.
package tomldepth

import "bytes"

// Max bounds the levels of lists, tables and dotted keys around a value: the
// library's time grows with the square of them, and a file may hold many such values.
const Max = 32

// depth is the place in the text.
type depth struct {
	text  []byte
	line  int
	open  []level // the lists and inline tables around
	deep  int     // levels around: those of open
	dots  int     // in the key that is read, or that the value belongs to
	value bool    // behind a key's "="
}

// level is an open list or inline table.
type level struct {
	cost  int // the levels it adds: itself and the dots of its key
	table bool
}

// Line returns the first line that is nested deeper than Max, 0 if none.
func Line(text []byte) int {
	d := depth{text: text, line: 1}
	for len(d.text) > 0 {
		if d.step(); d.deep+d.dots > Max {
			return d.line
		}
	}
	return 0
}

// step reads one character, string or comment.
func (d *depth) step() {
	c := d.text[0]
	switch c {
	case '"', '\'':
		d.skip(stringEnd(d.text))
		return
	case '#':
		if n := bytes.IndexByte(d.text, '\n'); n >= 0 {
			d.skip(n)
		} else {
			d.skip(len(d.text))
		}
		return
	case '\n':
		if len(d.open) == 0 {
			d.key()
		}
	case '=':
		d.value = true
	case '.':
		if !d.value {
			d.dots++
		}
	case '[', '{':
		if d.value { // else the name of a table
			d.push(c == '{')
		}
	case ']', '}':
		d.pop()
	case ',':
		if n := len(d.open); n > 0 && d.open[n-1].table {
			d.key()
		}
	}
	d.skip(1)
}

// key begins a new key.
func (d *depth) key() { d.dots, d.value = 0, false }

func (d *depth) push(table bool) {
	l := level{1 + d.dots, table}
	d.open, d.deep = append(d.open, l), d.deep+l.cost
	d.dots, d.value = 0, !table // a list has values only
}

func (d *depth) pop() {
	n := len(d.open)
	if n == 0 {
		return
	}
	d.deep -= d.open[n-1].cost
	d.open = d.open[:n-1]
	d.dots, d.value = 0, true // behind a value
}

// skip goes on by n bytes.
func (d *depth) skip(n int) {
	d.line += bytes.Count(d.text[:n], []byte("\n"))
	d.text = d.text[n:]
}

// stringEnd is the length of the string that text begins with. One of one line
// ends with the line.
func stringEnd(text []byte) int {
	quote := text[0]
	long := len(text) >= 3 && text[1] == quote && text[2] == quote
	i := 1
	if long {
		i = 3
	}
	for ; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && quote == '"':
			i++
		case c == '\n' && !long:
			return i
		case c == quote && !long:
			return i + 1
		case c == quote && i+2 < len(text) && text[i+1] == quote && text[i+2] == quote:
			i += 3
			for more := 0; more < 2 && i < len(text) && text[i] == quote; more++ {
				i++ // the text itself may end with two
			}
			return i
		}
	}
	return len(text)
}
