package host

// B145: protocol 2026-07-28 forbids a server to begin anything by itself; older
// clients would be asked in vain. In every era each tool gives the same result,
// and the bridge asks its client for nothing, whatever the client can do.

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"akk/bridge/rpc"
)

// everyDesk answers each call with the same words every time.
type everyDesk struct{ desk }

func (d *everyDesk) Respond(_ context.Context, _ rpc.Caller, p rpc.RespondParams) (rpc.Send, error) {
	return rpc.Send{TurnID: p.TurnID, SubmissionOutcome: "agent_accepted", DeliveryReceipt: "agent_accepted", Delivered: true}, nil
}
func (d *everyDesk) RetrySubmission(_ context.Context, _ rpc.Caller, p rpc.TurnParams) (rpc.Send, error) {
	return rpc.Send{TurnID: p.TurnID, SubmissionOutcome: "uncertain"}, nil
}
func (d *everyDesk) Cancel(_ context.Context, _ rpc.Caller, p rpc.CancelParams) (rpc.Cancel, error) {
	return rpc.Cancel{TurnID: p.TurnID, CancelRequested: true, Interrupted: "seen"}, nil
}
func (d *everyDesk) Renew(_ context.Context, _ rpc.Caller, p rpc.RenewParams) (rpc.Renew, error) {
	return rpc.Renew{TurnID: p.TurnID, Renewed: true}, nil
}
func (d *everyDesk) CloseTurn(_ context.Context, _ rpc.Caller, p rpc.CloseParams) (rpc.Close, error) {
	return rpc.Close{TurnID: p.TurnID, Closed: true, TerminalDispatchResolved: true}, nil
}
func (d *everyDesk) Reconcile(context.Context, rpc.Caller, rpc.ReconcileParams) (rpc.Reconciled, error) {
	return rpc.Reconciled{Status: "reconciled", RefreshRequired: true}, nil
}
func (d *everyDesk) watch(id, status string) (rpc.WatchResult, error) {
	return rpc.WatchResult{Watch: rpc.Watch{WatchID: id, Status: status}}, nil
}
func (d *everyDesk) Watch(context.Context, rpc.Caller, rpc.WatchParams) (rpc.WatchResult, error) {
	return d.watch("terminal-watch-1", "active")
}
func (d *everyDesk) Unwatch(_ context.Context, _ rpc.Caller, p rpc.WatchIDParams) (rpc.WatchResult, error) {
	return d.watch(p.WatchID, "cancelled")
}
func (d *everyDesk) WatchStatus(_ context.Context, _ rpc.Caller, p rpc.WatchIDParams) (rpc.WatchResult, error) {
	return d.watch(p.WatchID, "completed")
}
func (d *everyDesk) RetryCallback(_ context.Context, _ rpc.Caller, p rpc.RetryCallbackParams) (rpc.RetryCallback, error) {
	return rpc.RetryCallback{TurnID: p.TurnID, Delivered: true}, nil
}

// everyTool has a valid call for each tool.
var everyTool = map[string]string{
	"list": `{}`, "status": `{"turn_id":"turn-1"}`, "send": `{"terminal_id":"terminal:v2:tmux:codex:a:0.0:1","request":"x"}`,
	"respond": `{"turn_id":"turn-1","request":"x"}`, "cancel": `{"turn_id":"turn-1"}`, "renew": `{"turn_id":"turn-1"}`, "close": `{"turn_id":"turn-1"}`,
	"reconcile_binding": `{"terminal_id":"terminal:v2:tmux:codex:a:0.0:1","conflicting_session_id":"session-1"}`,
	"watch":             `{"terminal_id":"terminal:v2:tmux:codex:a:0.0:1"}`, "unwatch": `{"watch_id":"terminal-watch-1"}`, "retry_callback": `{"turn_id":"turn-1"}`,
	"approve": `{"turn_id":"turn-1"}`, "respond_interaction": `{"watch_id":"terminal-watch-1","interaction_id":"ti_1","answers":[{"question_id":"q","response_kind":"confirm","confirm":true}]}`,
	"identify_foreground": `{"terminal_id":"terminal:v2:tmux:codex:a:0.0:1"}`, "identify_and_send": `{"terminal_id":"terminal:v2:tmux:codex:a:0.0:1","request":"x"}`,
	"list_resumable_threads": `{"terminal_id":"terminal:v2:tmux:codex:a:0.0:1"}`, "new_thread": `{"terminal_id":"terminal:v2:tmux:codex:a:0.0:1"}`,
	"resume_thread":  `{"terminal_id":"terminal:v2:tmux:codex:a:0.0:1","native_thread_id":"11111111-1111-4111-8111-111111111111"}`,
	"native_inspect": `{"terminal_id":"terminal:v2:tmux:codex:a:0.0:1","inspection":"status"}`, "model_options": `{"terminal_id":"terminal:v2:tmux:codex:a:0.0:1"}`,
	"set_model": `{"terminal_id":"terminal:v2:tmux:codex:a:0.0:1","model":"m","reasoning_effort":"high"}`, "repair_model_control": `{"terminal_id":"terminal:v2:tmux:codex:a:0.0:1"}`,
}

func TestB145SameInEveryEra(t *testing.T) {
	path := socket(t)
	d := &everyDesk{desk{hello: make(chan rpc.Caller, 1)}}
	d.send = func(context.Context, rpc.SendParams) (rpc.Send, error) {
		return rpc.Send{TurnID: "turn-1", SubmissionOutcome: "agent_accepted", DeliveryReceipt: "agent_accepted", Delivered: true}, nil
	}
	d.status = func(context.Context, rpc.StatusParams) (rpc.Status, error) {
		return rpc.Status{TurnID: "turn-1", About: "x"}, nil
	}
	daemon(t, d, path)
	asks := `"capabilities":{"elicitation":{},"sampling":{},"roots":{}}`
	first := map[string]string{} // by tool, of the first era
	for _, era := range []struct{ name, version, capabilities string }{
		{"legacy", "2025-06-18", `"capabilities":{}`}, {"legacy that can be asked", "2025-11-25", asks},
		{"modern", "2026-07-28", ""}, {"modern that can be asked", "2026-07-28", `"elicitation":{}`},
	} {
		t.Run(era.name, func(t *testing.T) {
			b := start(t, Options{Connect: dialer(path)})
			meta := ""
			if era.version == "2026-07-28" {
				meta = "," + strings.Replace(modern, `clientCapabilities":{}`, `clientCapabilities":{`+era.capabilities+`}`, 1)
				b.write(`{"jsonrpc":"2.0","id":"init","method":"server/discover","params":{` + meta[1:] + `}}`)
			} else {
				b.write(strings.Replace(initialize(era.version)[0], `"capabilities":{}`, era.capabilities, 1), initialize(era.version)[1])
			}
			// answer fails on whatever the bridge begins by itself.
			answer := func(id string) message {
				for {
					select {
					case l, ok := <-b.lines:
						m := parse(t, l)
						switch {
						case !ok:
							t.Fatal("it ended")
						case m.Method != "" && len(m.ID) > 0:
							t.Fatalf("it asks its client: %s", l)
						case m.Method == "" && string(m.ID) == id:
							return m
						}
					case <-time.After(patience):
						t.Fatalf("no answer with id %s", id)
					}
				}
			}
			answer(`"init"`)
			b.write(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + strings.TrimPrefix(meta, ",") + `}}`)
			var tools struct{ Tools []struct{ Name string } }
			if err := json.Unmarshal(answer("1").Result, &tools); err != nil || len(tools.Tools) != len(everyTool) {
				t.Fatalf("%d tools, this test calls %d (%v)", len(tools.Tools), len(everyTool), err)
			}
			for i, tool := range tools.Tools {
				name := strings.TrimPrefix(tool.Name, "agent_knock_knock_")
				id := fmt.Sprint(i + 10)
				b.write(callLine(id, name, everyTool[name], meta))
				m := answer(id)
				var r struct {
					Content, StructuredContent json.RawMessage
					IsError                    bool
				}
				if m.Error != nil || json.Unmarshal(m.Result, &r) != nil || len(r.Content) == 0 {
					t.Errorf("%s: %s %+v", name, m.Result, m.Error)
					continue
				}
				var got bytes.Buffer
				fmt.Fprintf(&got, "%v %s %s", r.IsError, r.Content, r.StructuredContent)
				if was, ok := first[name]; !ok {
					first[name] = got.String()
				} else if was != got.String() {
					t.Errorf("%s:\n%s\nin the first era:\n%s", name, got.String(), was)
				}
			}
		})
	}
}
