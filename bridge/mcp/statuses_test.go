package mcp

import (
	"bytes"
	"fmt"
	"testing"

	"akk/bridge/rpc"
)

// TestStatusesKept: an unchanged status is the answer of before, a changed one
// never; another target's is not taken for it; what is kept is bounded.
func TestStatusesKept(t *testing.T) {
	var s statuses
	get := func(id, about string) *answer {
		t.Helper()
		a, err := s.answer(rpc.StatusParams{ID: id}, []byte(fmt.Sprintf(`{"agent":"codex","about":%q}`, about)))
		if err != nil || !bytes.Contains(a.ready.json, []byte(about)) || !bytes.Contains(a.ready.text, []byte(about)) || a.text != about {
			t.Fatalf("%s %s: %v %+v", id, about, err, a)
		}
		return a
	}
	one := get("a", "one")
	if again := get("a", "one"); &again.ready.json[0] != &one.ready.json[0] {
		t.Error("an unchanged status was made again")
	}
	get("b", "another")
	get("a", "two")
	get("a", "one")
	for i := range 3 * statusesMax {
		get(fmt.Sprint(i), "x")
	}
	if len(s.made) > statusesMax {
		t.Errorf("%d are kept", len(s.made))
	}
	if _, err := s.answer(rpc.StatusParams{}, []byte(`{"agent":`)); err == nil {
		t.Error("half a document was taken")
	}
}
