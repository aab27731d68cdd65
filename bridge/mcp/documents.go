package mcp

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// This file carries long documents past the SDK, which would read and copy
// each of them once a layer: a result holds a name in the document's place, and
// the transport that writes the line puts the document there. Invariants: a
// name can't be guessed (a Host's text never becomes one), a document is put in
// once, and a result that isn't written holds its document no longer than
// holdTime.

const (
	// longDocument is from how many bytes on a document takes this way.
	longDocument = 1 << 10
	// holdTime is how long a document waits for its line; between result and
	// line there are only two calls of the SDK.
	holdTime = 30 * time.Second
	// holdMax bounds the documents that wait; one more goes through the SDK.
	holdMax = 64
)

// Documents is the way from one server's tools to its transport, safe for any
// goroutine. The zero value is not usable: NewDocuments.
type Documents struct {
	head []byte // of every name, secret

	mu   sync.Mutex
	next uint64
	held map[string]heldDocument
}

type heldDocument struct {
	document
	at time.Time
}

// document is a JSON document and, where it was made already, its text: the
// same as a JSON string; and the sentence for people beside it, a JSON string
// too.
type document struct {
	json  json.RawMessage
	text  []byte
	brief []byte
}

// briefMark behind a name asks for the sentence.
const briefMark = "-brief"

// NewDocuments makes the way for Options.Documents; the transport must write
// what Line returns.
func NewDocuments() *Documents {
	return &Documents{head: []byte("akk-document-" + rand.Text() + "-"), held: map[string]heldDocument{}}
}

// hold returns the name under which a line asks for doc; "" = it must go
// through the SDK.
func (d *Documents) hold(doc document, now time.Time) string {
	if d == nil || len(doc.json) < longDocument {
		return ""
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for name, h := range d.held {
		if now.Sub(h.at) > holdTime {
			delete(d.held, name)
		}
	}
	if len(d.held) >= holdMax {
		return ""
	}
	d.next++
	name := string(strconv.AppendUint(d.head[:len(d.head):len(d.head)], d.next, 10))
	d.held[name] = heldDocument{doc, now}
	return name
}

func (d *Documents) take(name []byte) (document, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	h, ok := d.held[string(name)]
	delete(d.held, string(name))
	return h.document, ok
}

// Line writes a message down without its newline, in pieces: as the SDK does,
// with the documents in their places. A nil *Documents holds none. The pieces
// must not be changed.
func (d *Documents) Line(m jsonrpc.Message) ([][]byte, error) {
	line, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return nil, err
	}
	if r, ok := m.(*jsonrpc.Response); d == nil || !ok || r.Error != nil || !bytes.Contains(line, d.head) {
		return [][]byte{line}, nil
	}
	return d.fill(line), nil
}

// fill puts the document of the first name into each place of that name: as
// text where a text block asks, as it is where the structured content asks, its
// sentence where the name is marked.
func (d *Documents) fill(line []byte) [][]byte {
	from := bytes.Index(line, d.head)
	to := from + len(d.head)
	for to < len(line) && line[to] >= '0' && line[to] <= '9' {
		to++
	}
	name := line[from:to]
	doc, ok := d.take(name)
	if !ok {
		return [][]byte{line} // it waited too long; the Host sees a name and can list again
	}
	if doc.text == nil {
		doc.text = appendText(make([]byte, 0, 5*len(doc.json)/4), doc.json)
	}
	opened := append([]byte{'"'}, name...)
	var out [][]byte
	for from := 0; ; {
		i := bytes.Index(line[from:], opened)
		if i < 0 {
			return append(out, line)
		}
		i += from
		before, rest := line[:i], line[i+len(opened):]
		var part []byte
		switch {
		case bytes.HasPrefix(rest, []byte(briefMark+`"`)):
			part, rest = doc.brief, rest[len(briefMark)+1:]
		case len(rest) == 0 || rest[0] != '"':
			from = i + len(opened)
			continue // a longer name
		case bytes.HasSuffix(before, []byte(`"structuredContent":`)):
			part, rest = doc.json, rest[1:]
		default:
			part, rest = doc.text, rest[1:]
		}
		out = append(out, before, part)
		line, from = rest, 0
	}
}

// sentence is a text as a JSON string.
func sentence(text string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(text) != nil { // a string can always be written
		return []byte(`""`)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// appendText writes a JSON document as a JSON string. Valid JSON without white
// space between its parts holds no control character: quotes and backslashes
// are all there is to escape.
func appendText(out []byte, doc json.RawMessage) []byte {
	out = append(out, '"')
	from := 0
	for i, c := range doc {
		if c == '"' || c == '\\' {
			out = append(append(out, doc[from:i]...), '\\', c)
			from = i + 1
		}
	}
	return append(append(out, doc[from:]...), '"')
}
