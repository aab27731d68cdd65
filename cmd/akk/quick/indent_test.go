package quick

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
)

var indentSeeds = []string{`{}`, `[]`, `null`, `"a"`, `12.5e3`, `{"a":[],"b":{},"c":[1,2,{"d":"x,y:{}[]\"\\"}],"e":""}`, `[[],[[]],"\\\"",true]`, `{"k\"":"\u2028ä","n":null}`}

// What akk prints is what json.Indent makes of it.
func TestIndent(t *testing.T) {
	for _, s := range indentSeeds {
		sameIndent(t, []byte(s))
	}
	sameIndent(t, []byte(`[`+strings.Repeat(`{"a":"`+strings.Repeat("x", 10_000)+`"},`, 50)+`1]`))
}

func FuzzIndent(f *testing.F) {
	for _, s := range indentSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		_ = WriteIndented(io.Discard, b) // whatever it is, it ends
		var tight bytes.Buffer
		if json.Compact(&tight, b) == nil {
			sameIndent(t, tight.Bytes())
		}
	})
}

func sameIndent(t *testing.T, tight []byte) {
	t.Helper()
	var want bytes.Buffer
	if err := json.Indent(&want, tight, "", indentBy); err != nil {
		t.Fatal(err)
	}
	want.WriteByte('\n')
	var got bytes.Buffer
	if err := WriteIndented(&got, tight); err != nil || !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Fatalf("%v %s\n%s\n%s", err, tight, got.Bytes(), want.Bytes())
	}
}
