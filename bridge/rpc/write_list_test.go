package rpc

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	fast "github.com/segmentio/encoding/json"
)

// A list is the same bytes however it is written: whole by the plain encoder, in
// rows, with rows that were written before.
func TestMarshalList(t *testing.T) {
	t.Parallel()
	row := func(id string) Row {
		return Row{ID: id, Command: `say "hi" \ <b>`, AvailableActions: map[string]Action{"send": {Tool: "x", Arguments: map[string]any{"b": 1, "a": "ü\u2028"}}, "a": {}}}
	}
	kept := row("kept")
	kept.WriteDown()
	for name, rows := range map[string][]Row{"nil": nil, "none": {}, "one": {row("a")}, "some": {row("a"), kept, row("b"), kept}} {
		l := List{StoreDir: `"terminals":null`, Terminals: rows}
		want, err := fast.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		got, err := marshal(l)
		if err != nil || string(got) != string(want) {
			t.Errorf("%s: %v\n%s\n%s", name, err, got, want)
		}
		std, _ := json.Marshal(l)
		if string(std) != string(got) {
			t.Errorf("%s: encoding/json writes\n%s\n%s", name, std, got)
		}
		frame, err := frameOf(l)
		if err != nil {
			t.Fatal(err)
		}
		line, err := answerList([]byte("x")[:0], 7, frame, l.Terminals)
		if err != nil || !strings.HasSuffix(string(line), "}\n") {
			t.Fatal(err)
		}
		m, err := decode(line[:len(line)-1])
		if err != nil {
			t.Fatal(err)
		}
		var back, first List
		if err := fromResponse(m, &back); err != nil {
			t.Fatal(err)
		}
		_ = json.Unmarshal(want, &first)
		a, _ := json.Marshal(back)
		b, _ := json.Marshal(first)
		if string(a) != string(b) {
			t.Errorf("%s: read back\n%s\n%s", name, a, b)
		}
	}
}

// A status is the same bytes whether its row was written before or not.
func TestMarshalStatus(t *testing.T) {
	t.Parallel()
	row := func() *Row {
		return &Row{ID: "a", Command: `say "terminal_status": <b>`, AvailableActions: map[string]Action{"send": {Arguments: map[string]any{"a": "ü\u2028"}}}}
	}
	kept := row()
	kept.WriteDown()
	told := func(st Status, events ...Event) Status {
		st.Tell(WriteRecent(events))
		return st
	}
	for name, st := range map[string]Status{
		"told":      told(Status{Terminal: row()}, Event{Type: "reading", Reason: `"recent_events":null <`}, Event{Type: TypeGap, From: 1, To: 2}),
		"both":      told(Status{Terminal: kept, About: `"recent_events":null`, TimedOut: true}, Event{Type: "hold"}),
		"told none": told(Status{}, []Event{}...),
		"none":      {About: `"terminal_status":`},
		"drawn":     {Terminal: row()},
		"kept":      {Terminal: kept, Conversation: &Turn{Reason: `"terminal_status":{}`}, RecentEvents: []Event{{Type: "reading"}, {Type: TypeGap, From: 1, To: 2}}, Limitations: []string{}},
	} {
		want, err := json.Marshal(st)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := marshal(st); err != nil || string(got) != string(want) {
			t.Errorf("%s: %v\n%s\n%s", name, err, got, want)
		}
	}
}

func fromResponse(m jsonrpc.Message, to any) error {
	r, ok := m.(*jsonrpc.Response)
	if !ok {
		return errors.New("no answer")
	}
	return json.Unmarshal(r.Result, to)
}
