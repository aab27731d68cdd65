package mcp

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"akk/bridge/rpc"
)

// This file calls every tool: what reaches the desk, what comes back, and that
// nothing reaches it that the schema does not allow (R29, R34, R214).

// wholeDesk keeps the last call's parameters and answers with its fields.
type wholeDesk struct {
	fakeDesk
	got any
	err error
}

func (d *wholeDesk) take(p any) error { d.got = p; return d.err }
func (d *wholeDesk) Respond(_ context.Context, p rpc.RespondParams) (rpc.Send, error) {
	p.RequestID = strings.TrimRight(p.RequestID, "0123456789abcdef")
	return rpc.Send{TurnID: p.TurnID, SubmissionOutcome: "agent_accepted", DeliveryReceipt: "agent_accepted", Delivered: true}, d.take(p)
}
func (d *wholeDesk) RetrySubmission(_ context.Context, p rpc.TurnParams) (rpc.Send, error) {
	return rpc.Send{TurnID: p.TurnID, SubmissionOutcome: "uncertain"}, d.take(p)
}
func (d *wholeDesk) Cancel(_ context.Context, p rpc.CancelParams) (rpc.Cancel, error) {
	return rpc.Cancel{TurnID: p.TurnID, CancelRequested: true, Interrupted: "seen"}, d.take(p)
}
func (d *wholeDesk) Renew(_ context.Context, p rpc.RenewParams) (rpc.Renew, error) {
	return rpc.Renew{TurnID: p.TurnID, Renewed: true}, d.take(p)
}
func (d *wholeDesk) CloseTurn(_ context.Context, p rpc.CloseParams) (rpc.Close, error) {
	return rpc.Close{TurnID: p.TurnID, Closed: p.TurnID != "", TerminalDispatchResolved: true}, d.take(p)
}
func (d *wholeDesk) Reconcile(_ context.Context, p rpc.ReconcileParams) (rpc.Reconciled, error) {
	return rpc.Reconciled{Status: "reconciled", RefreshRequired: true}, d.take(p)
}
func (d *wholeDesk) Watch(_ context.Context, p rpc.WatchParams) (rpc.WatchResult, error) {
	return rpc.WatchResult{Watch: rpc.Watch{WatchID: "terminal-watch-1", Status: "active", Warnings: []string{"terminal_activity_fallback: no task"}}}, d.take(p)
}
func (d *wholeDesk) Unwatch(_ context.Context, p rpc.WatchIDParams) (rpc.WatchResult, error) {
	return rpc.WatchResult{Watch: rpc.Watch{WatchID: p.WatchID, Status: "cancelled"}}, d.take(p)
}
func (d *wholeDesk) WatchStatus(_ context.Context, p rpc.WatchIDParams) (rpc.WatchResult, error) {
	return rpc.WatchResult{Watch: rpc.Watch{WatchID: p.WatchID, Status: "completed", Settlement: &rpc.Settlement{Kind: "completed", CompletionText: "it is done"}}}, d.take(p)
}
func (d *wholeDesk) RetryCallback(_ context.Context, p rpc.RetryCallbackParams) (rpc.RetryCallback, error) {
	return rpc.RetryCallback{TurnID: p.TurnID, Delivered: true}, d.take(p)
}

const watchID = "terminal-watch-1"

func TestToolsReachTheDesk(t *testing.T) {
	d := &wholeDesk{}
	d.status = func(_ context.Context, p rpc.StatusParams) (rpc.Status, error) {
		return rpc.Status{TurnID: p.TurnID, About: "x"}, d.take(p)
	}
	cs := connect(t, Options{Desk: d}, nil)
	for _, c := range []struct {
		tool, args string
		want       any
		failed     bool
		text       string
	}{
		{"respond", `{"turn_id":"turn-1","request":"yes"}`, rpc.RespondParams{TurnID: "turn-1", Request: "yes", RequestID: "msg-mcp-", AcceptWaitMillis: 20000}, false, "Accepted"},
		{"send", `{"turn_id":"turn-1"}`, rpc.TurnParams{TurnID: "turn-1"}, true, "not known"},
		{"cancel", `{"turn_id":"turn-1"}`, rpc.CancelParams{TurnID: "turn-1"}, false, "interrupted"},
		{"cancel", `{"conversation_id":"turn-1"}`, rpc.CancelParams{TurnID: "turn-1"}, false, "interrupted"},
		{"cancel", `{"conversation_id":"` + termID + `"}`, rpc.CancelParams{ID: termID}, false, "interrupted"},
		{"renew", `{"turn_id":"turn-1","minutes":5}`, rpc.RenewParams{TurnID: "turn-1", Minutes: 5}, false, "watched again"},
		{"close", `{"turn_id":"turn-1","reason":"superseded_by_human_context_switch"}`, rpc.CloseParams{TurnID: "turn-1", Reason: "superseded_by_human_context_switch"}, false, "closed"},
		{"close", `{"conversation_id":"` + termID + `","expected_message_id":"msg-1"}`, rpc.CloseParams{ID: termID, ExpectedMessageID: "msg-1"}, false, "resolved"},
		{"reconcile_binding", `{"terminal_id":"` + termID + `","conflicting_session_id":"session-1"}`, rpc.ReconcileParams{ID: termID, ConflictingSessionID: "session-1"}, false, "detached"},
		{"watch", `{"terminal_id":"` + termID + `","hardTimeoutMinutes":3}`, rpc.WatchParams{ID: termID, HardTimeoutMinutes: 3}, false, "Warning"},
		{"unwatch", `{"watch_id":"` + watchID + `"}`, rpc.WatchIDParams{WatchID: watchID}, false, "cancelled"},
		{"status", `{"watch_id":"` + watchID + `"}`, rpc.WatchIDParams{WatchID: watchID}, false, "it is done"},
		{"retry_callback", `{"turn_id":"turn-1"}`, rpc.RetryCallbackParams{TurnID: "turn-1"}, false, "delivered"},
		// What a later version does: refused, after the name was looked up.
		{"approve", `{"turn_id":"turn-1","decision":"reject"}`, rpc.StatusParams{TurnID: "turn-1"}, true, "not available for this turn"},
		{"approve", `{"terminal_id":"` + termID + `"}`, rpc.StatusParams{ID: termID}, true, "not available for this terminal"},
		{"respond_interaction", `{"watch_id":"` + watchID + `","interaction_id":"ti_1","answers":[{"question_id":"q","response_kind":"confirm","confirm":true}]}`, rpc.WatchIDParams{WatchID: watchID}, true, "not available for this watch"},
		{"identify_foreground", `{"terminal_id":"` + termID + `"}`, rpc.StatusParams{ID: termID}, true, "not available"},
		{"identify_and_send", `{"terminal_id":"` + termID + `","request":"x"}`, rpc.StatusParams{ID: termID}, true, "not available"},
		{"list_resumable_threads", `{"terminal_id":"` + termID + `"}`, rpc.StatusParams{ID: termID}, true, "not available"},
		{"new_thread", `{"terminal_id":"` + termID + `"}`, rpc.StatusParams{ID: termID}, true, "not available"},
		{"resume_thread", `{"terminal_id":"` + termID + `","native_thread_id":"11111111-1111-4111-8111-111111111111"}`, rpc.StatusParams{ID: termID}, true, "not available"},
		{"native_inspect", `{"terminal_id":"` + termID + `","inspection":"status"}`, rpc.StatusParams{ID: termID}, true, "not available"},
		{"model_options", `{"terminal_id":"` + termID + `"}`, rpc.StatusParams{ID: termID}, true, "not available"},
		{"repair_model_control", `{"terminal_id":"` + termID + `"}`, rpc.StatusParams{ID: termID}, true, "not available"},
		{"set_model", `{"terminal_id":"` + termID + `","model":"gpt-5","reasoning_effort":"high"}`, rpc.StatusParams{ID: termID}, true, "not available"},
	} {
		d.got = nil
		r := callTool(t, cs, c.tool, json.RawMessage(c.args))
		if r.IsError != c.failed || !strings.Contains(textOf(r), c.text) {
			t.Errorf("%s %s: error %v, %s", c.tool, c.args, r.IsError, textOf(r))
		}
		if !reflect.DeepEqual(d.got, c.want) {
			t.Errorf("%s %s: the desk got %+v, want %+v", c.tool, c.args, d.got, c.want)
		}
	}
	// A refusal of the desk is a result with the reason and the next step, for
	// every tool that asks it.
	d.err = &rpc.Error{Code: rpc.CodeRefused, Message: "the human has the terminal", Cure: "run `akk list`"}
	for _, c := range []struct{ tool, args string }{
		{"respond", `{"turn_id":"t","request":"x"}`}, {"send", `{"turn_id":"t"}`}, {"cancel", `{"turn_id":"t"}`}, {"renew", `{"turn_id":"t"}`}, {"close", `{"turn_id":"t"}`},
		{"reconcile_binding", `{"terminal_id":"` + termID + `","conflicting_session_id":"s"}`}, {"watch", `{"terminal_id":"` + termID + `"}`}, {"unwatch", `{"watch_id":"` + watchID + `"}`},
		{"status", `{"watch_id":"` + watchID + `"}`}, {"retry_callback", `{"turn_id":"t"}`}, {"approve", `{"turn_id":"t"}`}, {"new_thread", `{"terminal_id":"` + termID + `"}`},
	} {
		if r := callTool(t, cs, c.tool, json.RawMessage(c.args)); !r.IsError || !strings.Contains(textOf(r), "the human has the terminal\nNext: call agent_knock_knock_list") {
			t.Errorf("%s: %s", c.tool, textOf(r))
		}
	}
}

// R34, R74, R75: every tool refuses what its closed schema does not know, the
// wrong number of exclusive targets, and anything that is no semantic id.
func TestClosedSchemas(t *testing.T) {
	d := &wholeDesk{}
	cs := connect(t, Options{Desk: d}, nil)
	answer := func(a string) string {
		return `{"turn_id":"t","interaction_id":"ti_1","answers":[` + a + `]}`
	}
	for _, c := range []struct{ tool, args string }{
		{"respond", `{"request":"x"}`}, {"respond", `{"turn_id":"t"}`}, {"respond", `{"turn_id":"t","request":""}`},
		{"respond_interaction", answer(``)},
		{"respond_interaction", answer(`{"question_id":"q","response_kind":"multi_select"}`)},
		{"respond_interaction", answer(`{"question_id":"q","response_kind":"single_select","selected_option_ids":["a","b"]}`)},
		{"respond_interaction", answer(`{"question_id":"q","response_kind":"single_select","index":1}`)},
		{"respond_interaction", answer(`{"question_id":"q","response_kind":"confirm","confirm":true},{"question_id":"r","response_kind":"confirm","confirm":true}`)},
		{"respond_interaction", `{"turn_id":"t","watch_id":"` + watchID + `","interaction_id":"ti_1","answers":[{"question_id":"q","response_kind":"confirm","confirm":true}]}`},
		{"respond_interaction", `{"interaction_id":"ti_1","answers":[{"question_id":"q","response_kind":"confirm","confirm":true}]}`},
		{"approve", `{}`}, {"approve", `{"turn_id":"t","terminal_id":"` + termID + `"}`}, {"approve", `{"turn_id":"t","decision":"always"}`}, {"approve", `{"turn_id":"t","key":"y"}`},
		{"watch", `{}`}, {"watch", `{"terminal_id":"%3"}`}, {"watch", `{"terminal_id":"` + termID + `","hardTimeoutMinutes":0}`},
		{"unwatch", `{"watch_id":"1"}`}, {"unwatch", `{}`},
		{"cancel", `{}`}, {"cancel", `{"turn_id":"t","conversation_id":"x"}`}, {"cancel", `{"turn_id":"t","keys":["C-c"]}`},
		{"renew", `{}`}, {"renew", `{"turn_id":"t","minutes":0}`},
		{"close", `{}`}, {"close", `{"turn_id":"t","expected_message_id":"a","expected_transition_id":"b"}`},
		{"retry_callback", `{}`}, {"retry_callback", `{"turn_id":"t","route":{}}`},
		{"reconcile_binding", `{"terminal_id":"` + termID + `"}`}, {"reconcile_binding", `{"terminal_id":"` + termID + `","conflicting_session_id":"s","binding_id":"b"}`},
		{"identify_foreground", `{}`}, {"identify_and_send", `{"terminal_id":"` + termID + `"}`}, {"list_resumable_threads", `{}`}, {"new_thread", `{"terminal_id":"x"}`},
		{"resume_thread", `{"terminal_id":"` + termID + `","native_thread_id":"1111"}`}, {"native_inspect", `{"terminal_id":"` + termID + `"}`},
		{"native_inspect", `{"terminal_id":"` + termID + `","inspection":"usage"}`}, {"model_options", `{}`}, {"repair_model_control", `{}`},
		{"set_model", `{"terminal_id":"` + termID + `","model":"a b","reasoning_effort":"high"}`}, {"set_model", `{"terminal_id":"` + termID + `","model":"a","reasoning_effort":"High"}`},
		{"set_model", `{"terminal_id":"` + termID + `","model":"a"}`},
	} {
		if r := callTool(t, cs, c.tool, json.RawMessage(c.args)); !r.IsError || !strings.Contains(textOf(r), "nothing was done") {
			t.Errorf("%s %s: error %v, %s", c.tool, c.args, r.IsError, textOf(r))
		}
	}
	if d.got != nil {
		t.Errorf("a refused call reached the desk: %+v", d.got)
	}
	// R10, R177: no authority is an argument of any tool.
	for _, tool := range tools {
		var in struct{ Properties map[string]any }
		if err := json.Unmarshal([]byte(tool.input), &in); err != nil {
			t.Fatal(err)
		}
		for name := range in.Properties {
			if dropped(name) || strings.Contains(name, "route") || strings.Contains(name, "profile") || strings.Contains(name, "controller") {
				t.Errorf("%s takes %q", tool.name, name)
			}
		}
	}
	if len(tools) != 22 {
		t.Errorf("%d tools, R28 says 22", len(tools))
	}
}

// The resources are the tools' documents, and who subscribes hears of changes.
func TestResources(t *testing.T) {
	d := &wholeDesk{}
	d.list = oneTerminal
	d.status = func(_ context.Context, p rpc.StatusParams) (rpc.Status, error) {
		if p.ID != termID && p.TurnID != "turn-1" {
			return rpc.Status{}, &rpc.Error{Code: rpc.CodeNotFound, Message: "not there"}
		}
		return rpc.Status{TurnID: p.TurnID, About: "about " + p.ID + p.TurnID}, nil
	}
	d.events = make(chan rpc.Event)
	ctx, cancel := context.WithCancel(t.Context())
	updated := make(chan string, 999)
	cs := connect(t, Options{Desk: d, Context: ctx}, &sdk.ClientOptions{ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { updated <- r.Params.URI }})
	t.Cleanup(cancel)
	for uri, want := range map[string]string{terminalsURI: termID, terminalStart + termID: "about " + termID, terminalStart + strings.ReplaceAll(termID, ":", "%3A"): "about " + termID, turnStart + "turn-1": "about turn-1"} {
		r, err := cs.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		if err != nil || len(r.Contents) != 1 || !strings.Contains(r.Contents[0].Text, want) || strings.Contains(r.Contents[0].Text, "binding_id") {
			t.Errorf("%s: %+v %v", uri, r, err)
		}
	}
	for _, uri := range []string{"akk://terminal/x", "akk://turn/x", "akk://turn/", "akk://nothing", "file:///etc/passwd"} {
		if _, err := cs.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err == nil {
			t.Errorf("%s is there", uri)
		}
	}
	if err := (&resources{}).subscribe(t.Context(), &sdk.SubscribeRequest{Params: &sdk.SubscribeParams{URI: "akk://nothing"}}); err == nil {
		t.Error("nothing can be subscribed to")
	}
	odd := terminalStart + strings.ReplaceAll(termID, ":", "%3a")
	for _, uri := range []string{terminalsURI, turnStart + "turn-1", odd} {
		if err := cs.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err != nil {
			t.Fatal(err)
		}
	}
	// A subscription of the newest protocol is registered after the client's
	// call has returned: the event is told until everybody has heard it.
	want := map[string]bool{terminalsURI: true, turnStart + "turn-1": true, odd: true}
	deadline := time.After(60 * time.Second)
	for seq := uint64(1); len(want) > 0; {
		select {
		case d.events <- rpc.Event{Seq: seq, Type: "turn", TerminalID: termID, TurnID: "turn-1"}:
			seq++
		case got := <-updated:
			delete(want, got)
		case <-deadline:
			t.Fatalf("not told of %v", want)
		}
	}
}

func TestTouched(t *testing.T) {
	raw, odd := terminalStart+termID, terminalStart+strings.ReplaceAll(termID, ":", "%3a")
	r := &resources{subscribed: map[string]int{terminalsURI: 1, raw: 1, odd: 2, turnStart + "turn-1": 1}}
	for _, c := range []struct {
		e    rpc.Event
		want []string
	}{
		{rpc.Event{Type: "reading", TerminalID: "another"}, []string{terminalsURI}},
		{rpc.Event{Type: "reading", TerminalID: termID}, []string{odd, raw, terminalsURI}},
		{rpc.Event{Type: "turn", TurnID: "turn-1"}, []string{terminalsURI, turnStart + "turn-1"}},
		{rpc.Event{Type: "gap"}, []string{odd, raw, terminalsURI, turnStart + "turn-1"}},
	} {
		got := r.touched(c.e)
		slices.Sort(got)
		slices.Sort(c.want)
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v touches %q, want %q", c.e, got, c.want)
		}
	}
}
