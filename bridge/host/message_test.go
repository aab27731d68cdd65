package host

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"akk/bridge/mcp"
)

// TestStrangeIDs: who can't be answered under his id is told so, not answered
// under another.
func TestStrangeIDs(t *testing.T) {
	t.Parallel()
	for id, ok := range map[string]bool{
		`1`: true, `-7`: true, `9007199254740992`: true, `"a"`: true, `"\u00e9\n"`: true, `0`: true,
		`1.5`: false, `1e3`: false, `9007199254740993`: false, `-0`: false, "\"\xff\"": false,
		`"\ud800"`: false, `"\ufffd\ud800"`: false, `"\ufffd"`: true, `"\ud83d\ude00"`: true, "\"\ufffd\"": true,
	} {
		m, err := decode([]byte(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`))
		if (err == nil) != ok {
			t.Errorf("id %s: %v, %v", id, m, err)
		}
		if !ok {
			continue
		}
		b, err := jsonrpc.EncodeMessage(&jsonrpc.Response{ID: m.(*jsonrpc.Request).ID, Result: json.RawMessage(`{}`)})
		var want, got any
		var back struct {
			ID json.RawMessage `json:"id"`
		}
		if err != nil || json.Unmarshal(b, &back) != nil || json.Unmarshal([]byte(id), &want) != nil || json.Unmarshal(back.ID, &got) != nil || want != got {
			t.Errorf("id %s is answered as %s, %v", id, b, err)
		}
	}
}

// FuzzPlain: a message that is read without the SDK is what the SDK reads, and a
// call is told its id, whatever its parameters say of it.
func FuzzPlain(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{"progressToken":1}}}`,
		`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x","arguments":{"_meta":1}}}`,
		`{"jsonrpc":"2.0","id":1.5,"method":"m","params":{}}`, `{"jsonrpc":"2.0","method":"m","params": {"a":1} }`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"\u005fmeta":{"akk/call":7}}}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}`,
		`{"jsonrpc":"2.0","id":null,"method":"m"}`, `{"jsonrpc":"2.0","id":1,"method":null}`, `{"jsonrpc":"2.0","id":1,"METHOD":"m"}`,
		`{"jsonrpc":"2.0","id":1,"method":"m","error":{"code":"x"}}`, `{"jsonrpc":"2.0","id":1,"method":"m","method":"n","id":2}`,
		`{"jsonrpc":"2.0","id":[],"method":"m"}`, `{"jsonrpc":"2.0","id":12345678901234567890,"method":"m"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`,
		`{"jsonrpc":"2.0","id":1,"method":"m","params":` + strings.Repeat("[", 1200) + strings.Repeat("]", 1200) + `}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if !json.Valid(in) || len(in) == 0 || in[0] != '{' {
			return
		}
		got, ok := plain(in)
		if !ok {
			return
		}
		want, err := jsonrpc.DecodeMessage(in)
		if err != nil {
			t.Fatalf("%q is read, the SDK says %v", in, err)
		}
		if !reflect.DeepEqual(jsonrpc.Message(got), want) {
			t.Fatalf("%q is read as\n%#v, the SDK reads\n%#v", in, got, want)
		}
		var p, before map[string]json.RawMessage
		tagged := tag(got.Params, "id")
		if json.Unmarshal(got.Params, &before) != nil || before == nil {
			if string(tagged) != string(got.Params) {
				t.Fatalf("%q became %q", got.Params, tagged)
			}
			return
		}
		if err := json.Unmarshal(tagged, &p); err != nil {
			t.Fatalf("%q became %q: %v", got.Params, tagged, err)
		}
		var meta map[string]any
		if raw, ok := before["_meta"]; ok && (json.Unmarshal(raw, &meta) != nil || meta == nil) {
			return // no place for it: the SDK refuses this
		}
		if json.Unmarshal(p["_meta"], &meta) != nil || meta[mcp.MetaCall] != "id" {
			t.Fatalf("%q became %q", got.Params, tagged)
		}
		delete(p, "_meta")
		delete(before, "_meta")
		for k, v := range before {
			var a, b any
			if json.Unmarshal(v, &a) != nil || json.Unmarshal(p[k], &b) != nil || !reflect.DeepEqual(a, b) {
				t.Fatalf("%q became %q", got.Params, tagged)
			}
		}
		if len(p) != len(before) {
			t.Fatalf("%q became %q", got.Params, tagged)
		}
	})
}
