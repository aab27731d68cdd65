package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// This file holds tests of how tools name things (R4, R9, R27).

// R4, R9, R27: a tool takes full ids. What a human may write on the command line
// (a selector, a short ref, a pane, a number of a list) names nothing here, for
// no argument of no tool: the desk is not asked, or knows nobody of that name.
func TestR9OnlyFullIDs(t *testing.T) {
	short := []string{"@0123456789", "@0123", "%3", "#1"}
	words := []string{"only", "codex", "claude", "latest", "previous", "1", "0123456789"}
	for _, tool := range tools {
		var in struct {
			Properties map[string]struct {
				Pattern   string
				MinLength int
			}
			Required []string
		}
		if err := json.Unmarshal([]byte(tool.input), &in); err != nil {
			t.Fatal(err)
		}
		for arg := range in.Properties {
			if !strings.HasSuffix(arg, "_id") || strings.HasPrefix(arg, "expected_") || strings.HasPrefix(arg, "native_") || strings.HasPrefix(arg, "interaction_") || arg == "session_id" || arg == "conflicting_session_id" {
				continue // sessions are compared as they are (TestR5TurnIsNoTarget of package handoff)
			}
			d := &wholeDesk{}
			cs := connect(t, Options{Desk: d}, nil)
			bad := short
			if arg != "turn_id" { // a Turn is compared as it is, but for its short ref
				bad = append(append([]string{}, short...), words...)
			}
			for _, id := range bad {
				args := map[string]any{arg: id}
				for name, v := range map[string]any{"request": "x", "native_thread_id": "11111111-1111-4111-8111-111111111111", "inspection": "status", "model": "m", "reasoning_effort": "high",
					"conflicting_session_id": "session-1", "interaction_id": "ti_1", "answers": []any{map[string]any{"question_id": "q", "response_kind": "confirm", "confirm": true}}} {
					if _, ok := in.Properties[name]; ok && !(arg == "turn_id" && tool.name == "send") {
						args[name] = v
					}
				}
				r := callTool(t, cs, tool.name, args)
				if d.got != nil || !r.IsError || !strings.Contains(textOf(r), "nothing was done") || !strings.Contains(textOf(r), arg) {
					t.Errorf("%s {%s: %q}: the desk got %s, %s", tool.name, arg, id, fmt.Sprintf("%+v", d.got), textOf(r))
					d.got = nil
				}
			}
		}
	}
}
