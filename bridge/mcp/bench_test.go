package mcp

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"akk/agents"
	"akk/bridge/rpc"
)

// BenchmarkListResult is what the bridge adds to a list of 50 terminals.
func BenchmarkListResult(b *testing.B) {
	one, _ := oneTerminal()
	l := one
	l.Terminals = nil
	for i := range 50 {
		r := one.Terminals[0]
		r.ID = fmt.Sprintf("terminal:v2:tmux:codex:work:0.%d:%d", i, 1000+i)
		r.Reading.Reading = agents.Reading{Activity: agents.Idle}
		r.TerminalControl = rpc.TerminalControl{Kind: "tmux", Target: "work:0.0", Capabilities: []string{"screen_status", "send_keys"}}
		l.Terminals = append(l.Terminals, r)
	}
	raw, err := json.Marshal(l)
	if err != nil {
		b.Fatal(err)
	}
	id, err := jsonrpc.MakeID(7.0)
	if err != nil {
		b.Fatal(err)
	}
	for name, s := range map[string]*server{"past the SDK": {Options: Options{Documents: NewDocuments()}}, "through it": {}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var brief listBrief
				if err := json.Unmarshal(raw, &brief); err != nil {
					b.Fatal(err)
				}
				res, err := json.Marshal(s.success(&answer{doc: json.RawMessage(raw), text: listText(&brief)}))
				if err != nil {
					b.Fatal(err)
				}
				line, err := s.Documents.Line(&jsonrpc.Response{ID: id, Result: res})
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(line)))
			}
		})
	}
}
