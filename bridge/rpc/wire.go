package rpc

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	fast "github.com/segmentio/encoding/json"
)

// This file holds how a message is written down: JSON-RPC 2.0, one object a
// line, never longer than MaxLine. Both halves use it.

// MaxLine bounds one message in bytes (R192's spirit: every input is bounded).
// A 1 MB task, JSON-escaped at worst, fits.
const MaxLine = 8 << 20

// errLine is a line that is not a message; the stream behind it is intact.
type errLine struct{ err error }

func (e errLine) Error() string { return e.err.Error() }

// longLine is what is set aside for the first message that does not fit the
// reader's buffer, in bytes: a list of 200 terminals.
const longLine = 512 << 10

// lineReader reads messages. A line that is too long is skipped whole. A long
// answer that is the same as the one before it is that one: who asks again and
// again for a list mostly gets the same, and fresh memory costs more than all
// else of reading it. So nobody may change what he reads.
type lineReader struct {
	r     *bufio.Reader
	long  int             // bytes of the last long message
	spare []byte          // for the next one, where that is read by nobody
	last  json.RawMessage // of the newest long answer
}

// readAhead and askAhead are the buffers of who reads answers and of who reads
// questions, in bytes: those are short, and a command asks once and goes.
const readAhead, askAhead = 64 << 10, 4 << 10

func newLineReader(r io.Reader, size int) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, size), long: longLine}
}

// next returns the next message, an errLine for one that can't be read, or the
// connection's own error.
func (l *lineReader) next() (jsonrpc.Message, error) {
	line, err := l.line()
	if err != nil {
		return nil, err
	}
	m, err := decode(line)
	if r, ok := m.(*jsonrpc.Response); ok && r.Error == nil && len(r.Result) >= readAhead {
		if bytes.Equal(r.Result, l.last) {
			l.spare, r.Result = line[:0], l.last
		} else {
			l.last = r.Result
		}
	}
	return m, err
}

func (l *lineReader) line() ([]byte, error) {
	for {
		var line []byte
		long := false
		for {
			part, err := l.r.ReadSlice('\n')
			if line == nil && err != nil && !long && len(part) >= readAhead {
				if line, l.spare = l.spare, nil; cap(line) < l.long {
					line = make([]byte, 0, l.long) // a list: grown step by step it would be copied as often
				}
			}
			if !long {
				line = append(line, part...)
			}
			if len(line) > MaxLine {
				long, line = true, nil
			}
			if err == nil {
				break
			}
			if !errors.Is(err, bufio.ErrBufferFull) {
				return nil, err // an unfinished last line is not a message
			}
		}
		if long {
			return nil, errLine{fmt.Errorf("message is longer than %d bytes", MaxLine)}
		}
		if n := len(line) - 1; n > 0 {
			if n >= readAhead {
				l.long = n + n/8
			}
			return line[:n], nil
		}
	}
}

// decode reads one line. It never panics, whatever the bytes are.
func decode(line []byte) (m jsonrpc.Message, err error) {
	defer func() {
		if p := recover(); p != nil {
			m, err = nil, errLine{fmt.Errorf("message can't be read: %v", p)}
		}
	}()
	if r, ok := plainAnswer(line); ok {
		return r, nil
	}
	if r, ok := plainRequest(line); ok {
		return r, nil
	}
	m, err = jsonrpc.DecodeMessage(line)
	if err != nil {
		return nil, errLine{fmt.Errorf("message can't be read: %w", err)}
	}
	if n, ok := idOf(m).Raw().(int64); ok && !sameID(line, n) {
		return nil, errLine{errors.New("message has an id that is no whole number, or too large a one: it can't be answered under it")}
	}
	return m, nil
}

func idOf(m jsonrpc.Message) jsonrpc.ID {
	switch m := m.(type) {
	case *jsonrpc.Request:
		return m.ID
	case *jsonrpc.Response:
		return m.ID
	}
	return jsonrpc.ID{}
}

// sameID tells whether the line's id is n as it stands: the SDK makes 1 of 1.5,
// and another number of one beyond 2^53.
func sameID(line []byte, n int64) bool {
	if rest, ok := bytes.CutPrefix(line, []byte(answerHead)); ok { // as encode writes it
		end := bytes.IndexByte(rest, ',')
		if got, err := strconv.ParseInt(string(rest[:max(end, 0)]), 10, 64); err == nil && got == n {
			return true
		}
	}
	var raw struct {
		ID json.RawMessage `json:"id"`
	}
	if _, err := fast.Parse(line, &raw, fast.DontMatchCaseInsensitiveStructFields); err != nil { // as the SDK reads it
		return false
	}
	got, err := strconv.ParseInt(string(bytes.TrimSpace(raw.ID)), 10, 64)
	return err == nil && got == n
}

// The form in which an answer is written: a list of many terminals is read and
// written whole, so that nobody scans it just to find its end.
const (
	answerHead = `{"jsonrpc":"2.0","id":`
	answerBody = `,"result":`

	requestName = `,"method":"`
	requestBody = `","params":`
)

// plainAnswer reads a line that encode wrote for an answer without an error.
// The result is as trustworthy as its writer and is checked where it is decoded.
func plainAnswer(line []byte) (*jsonrpc.Response, bool) {
	rest, ok := bytes.CutPrefix(line, []byte(answerHead))
	if !ok || line[len(line)-1] != '}' {
		return nil, false
	}
	num, result, ok := bytes.Cut(rest, []byte(answerBody))
	if !ok {
		return nil, false
	}
	id, ok := plainID(num)
	if !ok {
		return nil, false
	}
	return &jsonrpc.Response{ID: id, Result: result[: len(result)-1 : len(result)-1]}, true
}

// plainRequest reads a line that encode wrote for a request with parameters.
func plainRequest(line []byte) (*jsonrpc.Request, bool) {
	rest, ok := bytes.CutPrefix(line, []byte(answerHead))
	if !ok || line[len(line)-1] != '}' {
		return nil, false
	}
	num, rest, ok := bytes.Cut(rest, []byte(requestName))
	if !ok {
		return nil, false
	}
	id, ok := plainID(num)
	if !ok {
		return nil, false
	}
	method, rest, ok := bytes.Cut(rest, []byte(requestBody))
	if params := rest[:max(len(rest)-1, 0)]; ok && len(method) > 0 && plainWord(string(method)) && json.Valid(params) && params[0] == '{' && params[len(params)-1] == '}' {
		return &jsonrpc.Request{ID: id, Method: string(method), Params: params[:len(params):len(params)]}, true
	}
	return nil, false
}

// plainID is a whole number that the SDK's ids can hold.
func plainID(num []byte) (jsonrpc.ID, bool) {
	if len(num) == 0 || num[0] < '1' || num[0] > '9' {
		return jsonrpc.ID{}, false
	}
	n, err := strconv.ParseInt(string(num), 10, 64)
	if err != nil {
		return jsonrpc.ID{}, false
	}
	id, err := jsonrpc.MakeID(float64(n))
	return id, err == nil && idNumber(id) == n
}

// appendAnswer begins a line that plainAnswer reads.
func appendAnswer(b []byte, id int64) []byte {
	return append(strconv.AppendInt(append(b, answerHead...), id, 10), answerBody...)
}

// encode writes a message down. The two common forms are written by hand: the
// SDK's way takes most of a short command's time to set up.
func encode(m jsonrpc.Message) ([]byte, error) {
	switch m := m.(type) {
	case *jsonrpc.Response:
		if n := idNumber(m.ID); m.Error == nil && n > 0 && len(m.Result) > 0 {
			b := appendAnswer(make([]byte, 0, len(m.Result)+64), n)
			return append(append(b, m.Result...), '}', '\n'), nil
		}
	case *jsonrpc.Request:
		if n := idNumber(m.ID); n > 0 && len(m.Params) > 0 && plainWord(m.Method) {
			b := strconv.AppendInt(append(make([]byte, 0, len(m.Params)+128), answerHead...), n, 10)
			b = append(append(append(b, requestName...), m.Method...), requestBody...)
			return append(append(b, m.Params...), '}', '\n'), nil
		}
	}
	b, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return nil, err
	}
	return append(b, '\n'), nil
}

// plainWord tells whether a name needs no escapes.
func plainWord(s string) bool {
	for i := range len(s) {
		if c := s[i]; c != '_' && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

func request(id int64, method string, params any) (*jsonrpc.Request, error) {
	r := &jsonrpc.Request{Method: method}
	if id > 0 {
		jid, err := jsonrpc.MakeID(float64(id))
		if err != nil {
			return nil, err
		}
		r.ID = jid
	}
	if params != nil {
		b, err := json.Marshal(params)
		if err != nil {
			return nil, err
		}
		r.Params = b
	}
	return r, nil
}

// wireCode is the JSON-RPC number under which all our Errors travel; the Error
// itself is in its data.
const wireCode = -32000

func wireError(e *Error) *jsonrpc.Error {
	data, _ := json.Marshal(e)
	return &jsonrpc.Error{Code: wireCode, Message: e.Message, Data: data}
}

// fromWire turns the other side's error into ours.
func fromWire(err error) error {
	var we *jsonrpc.Error
	if !errors.As(err, &we) {
		return err
	}
	var e Error
	if we.Data != nil && json.Unmarshal(we.Data, &e) == nil && e.Message != "" {
		return &e
	}
	return &Error{Code: CodeInternal, Message: we.Message}
}

// asError gives every error the form that may leave the daemon.
func asError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Code: CodeInternal, Message: err.Error()}
}

// streamed is the params of every notification that belongs to a stream.
type streamed struct {
	Stream int64           `json:"stream"` // id of the request that opened it
	Data   json.RawMessage `json:"data,omitempty"`
	Error  *Error          `json:"error,omitempty"` // end only
}

const (
	notifyEnd    = "end"    // streamed; the stream has ended, Error tells why
	notifyCancel = "cancel" // streamed; client -> daemon: the caller has gone
)
