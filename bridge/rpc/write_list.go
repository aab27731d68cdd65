package rpc

import (
	"bytes"
	"encoding/json"
	"hash/maphash"
	"slices"
	"sync"

	fast "github.com/segmentio/encoding/json"
)

// This file writes answers down. A list of many terminals is long and asked for
// often: a faster writer of the same bytes does it, and a row that was written
// already is taken as it is.

func marshal(result any) ([]byte, error) {
	switch r := result.(type) {
	case List:
		return marshalList(r)
	case Status:
		return marshalStatus(r)
	}
	return json.Marshal(result)
}

// WriteDown makes the row's JSON once, for lists that show it again. The row
// must not change afterwards.
func (r *Row) WriteDown() {
	r.written, _ = fast.Marshal(*r)
	r.sum = maphash.Bytes(sums, r.written)
}

// noRows stands where the rows belong; in a string it would be escaped.
const noRows = `"terminals":null`

func marshalList(l List) ([]byte, error) {
	frame, err := frameOf(l)
	if err != nil {
		return nil, err
	}
	return appendList(nil, frame, l.Terminals, 0)
}

// frameOf is a list's JSON with null for its rows.
func frameOf(l List) ([]byte, error) {
	l.Terminals = nil
	return fast.Marshal(l)
}

// appendList appends a list's JSON, made of its frame and its rows, and leaves
// room for more behind it.
func appendList(out, frame []byte, rows []Row, more int) (_ []byte, err error) {
	if rows == nil {
		return append(slices.Grow(out, len(frame)+more), frame...), nil
	}
	size := len(frame) + 2*len(rows) + more
	for i := range rows {
		size += len(rows[i].written)
	}
	at := bytes.Index(frame, []byte(noRows)) + len(noRows) - len("null")
	out = append(append(slices.Grow(out, size), frame[:at]...), '[')
	for i := range rows {
		if i > 0 {
			out = append(out, ',')
		}
		if w := rows[i].written; w != nil {
			out = append(out, w...)
			continue
		}
		if out, err = fast.Append(out, &rows[i], fast.EscapeHTML|fast.SortMapKeys); err != nil {
			return nil, err
		}
	}
	return append(append(out, ']'), frame[at+len("null"):]...), nil
}

// afterTerminal is what comes behind a Status's terminal, noEvents what stands
// where its events belong.
const (
	afterTerminal = `"terminal_status":`
	noEvents      = `"recent_events":null`
)

// Recent are the events of a Status, written down once for all who ask.
type Recent struct {
	events  []Event
	written []byte
}

// WriteRecent writes events down; they must not change afterwards.
func WriteRecent(events []Event) Recent {
	b, _ := fast.Marshal(events)
	return Recent{events, b}
}

// Tell makes them the Status's.
func (st *Status) Tell(r Recent) { st.RecentEvents, st.recent = r.events, r.written }

// marshalStatus takes the terminal's row and the events as they are if they were
// written already.
func marshalStatus(st Status) ([]byte, error) {
	var row []byte
	if st.Terminal != nil && st.Terminal.written != nil {
		row, st.Terminal = st.Terminal.written, nil
	}
	if st.recent != nil {
		st.RecentEvents = nil
	}
	b, err := fast.Marshal(st)
	if err != nil || row == nil && st.recent == nil {
		return b, err
	}
	at := bytes.Index(b, []byte(afterTerminal)) // a quote in a string is escaped
	const name = `"terminal":`
	out := append(make([]byte, 0, len(b)+len(name)+len(row)+len(st.recent)+1), b[:at]...)
	if row != nil {
		out = append(append(append(out, name...), row...), ',')
	}
	b = b[at:]
	if st.recent != nil {
		at = bytes.LastIndex(b, []byte(noEvents)) + len(noEvents) - len("null")
		out = append(append(out, b[:at]...), st.recent...)
		b = b[at+len("null"):]
	}
	return append(out, b...), nil
}

// lists are buffers of answers that were sent.
var lists = sync.Pool{New: func() any { return new([]byte) }}

// answerList is encode for the answer that a list is, without a second copy of
// it; it is appended to b.
func answerList(b []byte, id int64, frame []byte, rows []Row) ([]byte, error) {
	b, err := appendList(appendAnswer(b, id), frame, rows, len("}\n"))
	return append(b, '}', '\n'), err
}
