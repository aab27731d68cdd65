package profile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// This file turns bytes into a tree that remembers lines, order and repeated
// names, which encoding/json forgets.

// depthMax bounds nesting; a profile has five levels.
const depthMax = 16

type kind string

const (
	kindObject kind = "an object"
	kindArray  kind = "an array"
	kindString kind = "a string"
	kindNumber kind = "a number"
	kindBool   kind = "a boolean"
	kindNull   kind = "null"
)

// node is one value of the document.
type node struct {
	kind    kind
	pointer string
	line    int
	members []member // object, in the file's order, repeated ones too
	items   []*node  // array
	str     string   // string
	num     json.Number
	flag    bool
}

type member struct {
	name string
	line int
	node *node
}

// escape makes a token of a JSON Pointer (RFC 6901).
func escape(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

type reader struct {
	data []byte
	dec  *json.Decoder
	at   int // end of the last token
	line int // of at

	deepest int
}

// parseDocument reads exactly one JSON value.
func parseDocument(data []byte, depth int) (*node, *Fault) {
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		return nil, &Fault{Line: 1, Message: "begins with a byte order mark; save it as UTF-8 without one"}
	case !utf8.Valid(data):
		return nil, &Fault{Line: lineOf(data, firstInvalid(data)), Message: "is not UTF-8"}
	}
	if err := valid(data); err != nil {
		return nil, err
	}
	r := &reader{data: data, dec: json.NewDecoder(bytes.NewReader(data)), line: 1, deepest: depth}
	r.dec.UseNumber()
	tok, f := r.next("")
	if f != nil {
		return nil, f
	}
	return r.value(tok, "", 0)
}

// valid finds the first fault of the grammar.
func valid(data []byte) *Fault {
	if json.Valid(data) {
		return nil
	}
	var v json.RawMessage
	err := json.Unmarshal(data, &v)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return &Fault{Line: lineOf(data, int(syntax.Offset)-1), Message: "is not JSON: " + syntax.Error()}
	}
	return &Fault{Message: fmt.Sprintf("is not JSON: %v", err)}
}

func firstInvalid(data []byte) int {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(data)
}

func lineOf(data []byte, offset int) int {
	return 1 + bytes.Count(data[:max(0, min(offset, len(data)))], []byte("\n"))
}

// next returns the next token; r.line is where it begins.
func (r *reader) next(pointer string) (json.Token, *Fault) {
	tok, err := r.dec.Token()
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("it ends too early")
		}
		return nil, &Fault{Pointer: pointer, Line: r.line, Message: fmt.Sprintf("can't be read: %v", err)}
	}
	end := int(r.dec.InputOffset())
	start := r.at
	for start < end && strings.IndexByte(" \t\r\n,:", r.data[start]) >= 0 {
		if r.data[start] == '\n' {
			r.line++
		}
		start++
	}
	r.at = end // no token holds a newline
	return tok, nil
}

func (r *reader) value(tok json.Token, pointer string, depth int) (*node, *Fault) {
	n := &node{pointer: pointer, line: r.line}
	if depth > r.deepest {
		return nil, &Fault{Pointer: pointer, Line: r.line, Message: fmt.Sprintf("is nested deeper than %d levels", r.deepest)}
	}
	switch v := tok.(type) {
	case string:
		n.kind, n.str = kindString, v
	case json.Number:
		n.kind, n.num = kindNumber, v
	case bool:
		n.kind, n.flag = kindBool, v
	case nil:
		n.kind = kindNull
	case json.Delim:
		if v == '[' {
			return n, r.array(n, depth)
		}
		return n, r.object(n, depth)
	}
	return n, nil
}

func (r *reader) array(n *node, depth int) *Fault {
	n.kind = kindArray
	for r.dec.More() {
		p := fmt.Sprintf("%s/%d", n.pointer, len(n.items))
		tok, f := r.next(p)
		if f != nil {
			return f
		}
		item, f := r.value(tok, p, depth+1)
		if f != nil {
			return f
		}
		n.items = append(n.items, item)
	}
	_, f := r.next(n.pointer)
	return f
}

func (r *reader) object(n *node, depth int) *Fault {
	n.kind = kindObject
	for r.dec.More() {
		tok, f := r.next(n.pointer)
		if f != nil {
			return f
		}
		m := member{line: r.line}
		m.name, _ = tok.(string)
		p := n.pointer + "/" + escape(m.name)
		if tok, f = r.next(p); f != nil {
			return f
		}
		if m.node, f = r.value(tok, p, depth+1); f != nil {
			return f
		}
		n.members = append(n.members, m)
	}
	_, f := r.next(n.pointer)
	return f
}

// answerDepth bounds the nesting of a command's answer.
const answerDepth = 64

// DecodeAnswer reads the one JSON document that a callback's command writes
// (R205): UTF-8, no name twice in an object, at most 64 levels. Numbers are
// json.Number.
func DecodeAnswer(data []byte) (any, error) {
	n, fault := parseDocument(data, answerDepth)
	if fault != nil {
		return nil, errors.New(fault.String())
	}
	return n.plain()
}

func (n *node) plain() (any, error) {
	switch n.kind {
	case kindString:
		return n.str, nil
	case kindNumber:
		return n.num, nil
	case kindBool:
		return n.flag, nil
	case kindArray:
		out := make([]any, 0, len(n.items))
		for _, item := range n.items {
			v, err := item.plain()
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, nil
	case kindObject:
		out := make(map[string]any, len(n.members))
		for _, m := range n.members {
			if _, twice := out[m.name]; twice {
				return nil, fmt.Errorf("%s is there twice", m.node.pointer)
			}
			v, err := m.node.plain()
			if err != nil {
				return nil, err
			}
			out[m.name] = v
		}
		return out, nil
	}
	return nil, nil
}
