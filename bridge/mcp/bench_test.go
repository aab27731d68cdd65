package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

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

// BenchmarkCall is a status from its line in to its line out, but for the daemon.
func BenchmarkCall(b *testing.B) {
	near, far := net.Pipe()
	desk := &fakeDesk{status: func(context.Context, rpc.StatusParams) (rpc.Status, error) { return open(agents.Working), nil }}
	ses, err := New(Options{Desk: desk}).Connect(b.Context(), &sdk.IOTransport{Reader: far, Writer: far}, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer ses.Wait()
	defer near.Close()
	in := bufio.NewReaderSize(near, 1<<20)
	ask := func(line string) {
		if _, err := io.WriteString(near, line+"\n"); err != nil {
			b.Fatal(err)
		}
		if _, err := in.ReadSlice('\n'); err != nil {
			b.Fatal(err)
		}
	}
	ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"b","version":"1"}}}`)
	b.ReportAllocs()
	for b.Loop() {
		ask(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"agent_knock_knock_status","arguments":{"conversation_id":"terminal:v2:tmux:codex:work:0.0:42"}}}`)
	}
}
