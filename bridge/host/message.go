package host

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	fast "github.com/segmentio/encoding/json"

	"akk/bridge/mcp"
)

// This file reads one line of the Host. Invariants: whatever the bytes are, it
// never panics; what is read is what the SDK would read.

// decode never panics, whatever the bytes are.
func decode(text []byte) (m jsonrpc.Message, err error) {
	defer func() {
		if p := recover(); p != nil {
			m, err = nil, fmt.Errorf("it can't be read: %v", p)
		}
	}()
	if text[0] != '{' {
		return nil, errors.New("it is not an object (batches are not taken)")
	}
	if r, ok := plain(text); ok {
		return r, nil
	}
	if m, err = jsonrpc.DecodeMessage(text); err != nil {
		return nil, err
	}
	var raw struct {
		ID json.RawMessage `json:"id"`
	}
	if _, err := fast.Parse(text, &raw, fast.DontMatchCaseInsensitiveStructFields); err != nil {
		return nil, err
	}
	if _, ok := plainID(raw.ID); !ok && !wholeText(raw.ID) {
		return nil, errors.New("it can't be answered under its id: that is no whole number, too large a one, or no UTF-8")
	}
	return m, nil
}

// nestedMost is how deep the SDK lets a message be nested.
const nestedMost = 1000

// plain reads a request whose method is a plain string, as the SDK does, which
// sets aside 64 kB for it; everything else is left to the SDK. The text is
// valid JSON.
func plain(text []byte) (*jsonrpc.Request, bool) {
	if bytes.Count(text, []byte("{"))+bytes.Count(text, []byte("[")) > nestedMost {
		return nil, false
	}
	var m struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  json.RawMessage `json:"method"`
		Params  json.RawMessage `json:"params"`
		Error   json.RawMessage `json:"error"`
	}
	if _, err := fast.Parse(text, &m, fast.DontMatchCaseInsensitiveStructFields); err != nil || m.Version != "2.0" || m.Error != nil {
		return nil, false
	}
	n := len(m.Method)
	if n < 2 || m.Method[0] != '"' || bytes.IndexByte(m.Method, '\\') >= 0 || !utf8.Valid(m.Method) {
		return nil, false
	}
	id, ok := plainID(m.ID)
	return &jsonrpc.Request{Method: string(m.Method[1 : n-1]), ID: id, Params: m.Params}, ok
}

// plainID is an id that is answered as it was written: none, a plain string or a
// whole number that a float64 holds. The SDK makes 1 of 1.5.
func plainID(raw json.RawMessage) (jsonrpc.ID, bool) {
	var v any
	switch n := len(raw); {
	case n == 0 || string(raw) == "null":
	case raw[0] == '"' && bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw):
		v = string(raw[1 : n-1])
	default:
		i, err := strconv.ParseInt(string(raw), 10, 64)
		if err != nil || i < -maxID || i > maxID || string(raw) == "-0" {
			return jsonrpc.ID{}, false
		}
		v = float64(i)
	}
	id, err := jsonrpc.MakeID(v)
	return id, err == nil
}

// wholeText tells whether a string says what it stands for: half a surrogate
// pair is read as U+FFFD.
func wholeText(raw json.RawMessage) bool {
	var s string
	if raw[0] != '"' || !utf8.Valid(raw) || json.Unmarshal(raw, &s) != nil {
		return false
	}
	const lost = "\ufffd"
	written := strings.Count(string(raw), lost) + strings.Count(strings.ToLower(string(raw)), `\ufffd`)
	return strings.Count(s, lost) <= written
}

// maxID is the largest whole number that every JSON reader holds.
const maxID = 1 << 53

// idOf is the id of a message that is wrong otherwise.
func idOf(text []byte) json.RawMessage {
	var m struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(text, &m) != nil || len(m.ID) == 0 || (m.ID[0] != '"' && m.ID[0] != '-' && (m.ID[0] < '0' || m.ID[0] > '9')) {
		return nil
	}
	return m.ID
}

func idKey(id jsonrpc.ID) string { return fmt.Sprintf("%T:%v", id.Raw(), id.Raw()) }

// tag tells the tool the id of its call. Params that can't take it are left
// for the server to refuse.
func tag(params json.RawMessage, id any) json.RawMessage {
	call, err := json.Marshal(id)
	if err != nil {
		return params
	}
	if p := bytes.TrimLeft(params, " \t\r\n"); len(p) > 1 && p[0] == '{' && !bytes.Contains(p, []byte("_meta")) && !bytes.Contains(p, []byte(`\u`)) {
		rest := bytes.TrimLeft(p[1:], " \t\r\n")
		out := append(append(append(make([]byte, 0, len(p)+len(call)+32), `{"_meta":{"`+mcp.MetaCall+`":`...), call...), '}')
		if len(rest) > 0 && rest[0] != '}' {
			out = append(out, ',')
		}
		return append(out, rest...)
	}
	var p map[string]json.RawMessage
	if json.Unmarshal(params, &p) != nil || p == nil {
		return params
	}
	meta := map[string]json.RawMessage{}
	if raw, ok := p["_meta"]; ok && json.Unmarshal(raw, &meta) != nil || meta == nil {
		return params
	}
	meta[mcp.MetaCall] = call
	if p["_meta"], err = json.Marshal(meta); err != nil {
		return params
	}
	tagged, err := json.Marshal(p)
	if err != nil {
		return params
	}
	return tagged
}
