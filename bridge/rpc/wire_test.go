package rpc

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// What is written by hand reads as what the SDK writes, with both readers.
func TestEncode(t *testing.T) {
	t.Parallel()
	id := func(n float64) jsonrpc.ID {
		v, err := jsonrpc.MakeID(n)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	word, _ := jsonrpc.MakeID("word")
	for name, m := range map[string]jsonrpc.Message{
		"request":        &jsonrpc.Request{ID: id(7), Method: "list", Params: json.RawMessage(`{"a":1,"result":2}`)},
		"no params":      &jsonrpc.Request{ID: id(7), Method: "servers"},
		"strange method": &jsonrpc.Request{ID: id(7), Method: `a"b\`, Params: json.RawMessage(`{}`)},
		"notification":   &jsonrpc.Request{Method: "cancel", Params: json.RawMessage(`{"stream":3}`)},
		"answer":         &jsonrpc.Response{ID: id(8), Result: json.RawMessage(`{"result":",\"result\":"}`)},
		"null":           &jsonrpc.Response{ID: id(8), Result: json.RawMessage(`null`)},
		"word":           &jsonrpc.Response{ID: word, Result: json.RawMessage(`[]`)},
		"error":          &jsonrpc.Response{ID: id(9), Error: wireError(&Error{Code: CodeRefused, Message: `,"result":`})},
	} {
		ours, err := encode(m)
		if err != nil || ours[len(ours)-1] != '\n' {
			t.Fatalf("%s: %v %q", name, err, ours)
		}
		ours = ours[:len(ours)-1]
		theirs, err := jsonrpc.EncodeMessage(m)
		if err != nil {
			t.Fatal(err)
		}
		want, err := jsonrpc.DecodeMessage(theirs)
		if err != nil {
			t.Fatal(err)
		}
		for reader, read := range map[string]func([]byte) (jsonrpc.Message, error){"ours": decode, "the SDK's": jsonrpc.DecodeMessage} {
			got, err := read(ours)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s, read by %s: %v\n%#v\n%#v", name, reader, err, got, want)
			}
		}
	}
}

// TestLongAnswers: answers stay what they were while others are read, and the
// same one twice is one in memory.
func TestLongAnswers(t *testing.T) {
	t.Parallel()
	var in bytes.Buffer
	var want []string
	for i, c := range "aaabbaacca" {
		n := 3*readAhead + int(c)
		if c == 'c' {
			n = 100 // not long
		}
		body := strconv.Quote(strings.Repeat(string(c), n))
		want = append(want, body)
		in.Write(append(append(appendAnswer(nil, int64(i+1)), body...), "}\n"...))
	}
	r := newLineReader(&in, readAhead)
	var got []json.RawMessage
	for i := range want {
		m, err := r.next()
		a, ok := m.(*jsonrpc.Response)
		if err != nil || !ok || idNumber(a.ID) != int64(i+1) {
			t.Fatalf("%d: %v, %#v", i, err, m)
		}
		got = append(got, a.Result)
	}
	for i := range want {
		if string(got[i]) != want[i] {
			t.Errorf("answer %d is another now", i)
		}
	}
	if &got[0][0] != &got[1][0] || &got[0][0] != &got[2][0] || &got[5][0] != &got[6][0] {
		t.Error("the same answer is there twice")
	}
}

// FuzzPlainRequest: a request that is read without the SDK is what the SDK reads.
func FuzzPlainRequest(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":7,"method":"list","params":{"a":1}}`, `{"jsonrpc":"2.0","id":7,"method":"","params":{}}`,
		`{"jsonrpc":"2.0","id":7,"method":"list","params":{}, "id":8}`, `{"jsonrpc":"2.0","id":7,"method":"list","params":{},"params":1}`,
		`{"jsonrpc":"2.0","id":9007199254740993,"method":"list","params":{}}`, `{"jsonrpc":"2.0","id":+7,"method":"list","params":[] }`,
		`{"jsonrpc":"2.0","id":7,"method":"list","params":}`, `{"jsonrpc":"2.0","id":0,"method":"a_b","params":null}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) == 0 {
			return
		}
		got, ok := plainRequest(in)
		if !ok {
			return
		}
		if want, err := jsonrpc.DecodeMessage(in); err != nil || !reflect.DeepEqual(jsonrpc.Message(got), want) {
			t.Fatalf("%q is read as\n%#v, by the SDK as\n%#v, %v", in, got, want, err)
		}
	})
}
