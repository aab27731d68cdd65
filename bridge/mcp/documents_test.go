package mcp

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// A long document is in the line exactly where and as the SDK would have
// written it, whatever it holds: quotes, backslashes, another document's name.
func TestDocuments(t *testing.T) {
	t.Parallel()
	d := NewDocuments()
	long := strings.Repeat("x", longDocument)
	for name, doc := range map[string]any{
		"plain":     map[string]any{"a": long},
		"quotes":    map[string]any{"a": `say "hi" to c:\new ` + long, "b": []any{1, nil, true, "\u2028<&>\x01\n"}},
		"its words": map[string]any{"structuredContent": string(d.head) + "1", "a": long},
		"wide":      map[string]any{"ä€😀": long},
	} {
		t.Run(name, func(t *testing.T) {
			s := &server{Options: Options{Documents: d}}
			line := func(s *server) (string, map[string]any) {
				res, err := json.Marshal(s.success(&answer{doc: doc, text: "a sentence", failed: true}))
				if err != nil {
					t.Fatal(err)
				}
				id, _ := jsonrpc.MakeID("7")
				pieces, err := s.Documents.Line(&jsonrpc.Response{ID: id, Result: res})
				if err != nil {
					t.Fatal(err)
				}
				b := bytes.Join(pieces, nil)
				var m map[string]any
				if err := json.Unmarshal(b, &m); err != nil {
					t.Fatalf("%v in %.300s", err, b)
				}
				return string(b), m
			}
			got, gm := line(s)
			_, wm := line(&server{})
			g, _ := json.Marshal(gm)
			w, _ := json.Marshal(wm)
			if string(g) != string(w) {
				t.Fatalf("differs from the SDK's\n%.400s\n%.400s", g, w)
			}
			if strings.Count(got, string(d.head)) > strings.Count(string(w), string(d.head)) {
				t.Fatal("a name is left in the line")
			}
		})
	}
	if len(d.held) != 0 {
		t.Fatalf("%d documents are held", len(d.held))
	}
}

// What is never written is not held for ever, and too many don't pile up.
func TestDocumentsAreBounded(t *testing.T) {
	t.Parallel()
	d, now := NewDocuments(), time.Unix(1_800_000_000, 0)
	doc := json.RawMessage(`"` + strings.Repeat("x", longDocument) + `"`)
	for range holdMax {
		if d.hold(document{json: doc}, now) == "" {
			t.Fatal("refused")
		}
	}
	if d.hold(document{json: doc}, now) != "" {
		t.Fatal("one too many")
	}
	if d.hold(document{json: doc}, now.Add(holdTime+1)) == "" || len(d.held) != 1 {
		t.Fatalf("%d held", len(d.held))
	}
	if d.hold(document{json: json.RawMessage(`"short"`)}, now) != "" || (*Documents)(nil).hold(document{json: doc}, now) != "" {
		t.Fatal("held")
	}
}
