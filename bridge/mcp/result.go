package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"akk/bridge/rpc"
)

// This file makes results: the document as structured content, and as text a
// sentence for people and the same document for Hosts that only pass text on.

func (s *server) success(a *answer) *sdk.CallToolResult {
	d := a.ready
	if d.json == nil {
		var err error
		if d.json, err = sanitise(a.doc); err != nil {
			return failure(fmt.Errorf("the answer can't be written: %w", err))
		}
	}
	doc := d.json
	if d.brief == nil {
		d.brief = sentence(a.text)
	}
	if name := s.Documents.hold(d, time.Now()); name != "" {
		doc = json.RawMessage(`"` + name + `"`)
		return &sdk.CallToolResult{StructuredContent: doc, Content: []sdk.Content{&sdk.TextContent{Text: name + briefMark}, &sdk.TextContent{Text: name}}, IsError: a.failed}
	}
	return &sdk.CallToolResult{
		StructuredContent: doc,
		Content:           []sdk.Content{&sdk.TextContent{Text: a.text}, &sdk.TextContent{Text: string(doc)}},
		IsError:           a.failed,
	}
}

// code is the code of a refusal, "" of any other error.
func code(err error) string {
	var e *rpc.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// begun is err for a call of t that ended without an answer of the daemon: where
// t changes something, it may have been done.
func (t *tool) begun(err error) error {
	if t.readOnly || errors.As(err, new(*rpc.Error)) {
		return err
	}
	e := &rpc.Error{Code: rpc.CodeUncertain, Cure: "look with agent_knock_knock_list before it is called again"}
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		e.Message = "the call was cancelled after it had begun; whether it was carried out is not known, and what the agent has taken goes on"
	case errors.Is(err, rpc.ErrClosed):
		e.Message = "the connection to the akk daemon ended during the call; it may have been carried out"
	default:
		return err
	}
	return e
}

// failure turns every error into a result with the reason and the next step.
func failure(err error) *sdk.CallToolResult {
	var e *rpc.Error
	if !errors.As(err, &e) {
		e = &rpc.Error{Code: rpc.CodeInternal, Message: err.Error()}
		switch {
		case errors.Is(err, context.Canceled):
			e = &rpc.Error{Code: rpc.CodeUnavailable, Message: "the call was cancelled", Cure: "what the agent has taken goes on: look with agent_knock_knock_list"}
		case errors.Is(err, rpc.ErrNoDaemon), errors.Is(err, rpc.ErrClosed):
			e.Code, e.Cure = rpc.CodeUnavailable, "try again: the daemon is started by the next call"
		}
	}
	next := hostWords(e.Cure)
	text := scrub(e.Message)
	if next != "" {
		text += "\nNext: " + next
	}
	told := map[string]any{"code": e.Code, "message": scrub(e.Message), "next_step": next}
	whole := map[string]any{"error": told}
	if e.Code == rpc.CodeUncertain { // where a send's own document has it, and in the error
		text += "\nDo not send it again: it may have been carried out."
		told["do_not_retry"], whole["do_not_retry"] = true, true
	}
	doc, merr := json.Marshal(whole)
	r := &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}, IsError: true}
	if merr == nil {
		r.StructuredContent = json.RawMessage(doc)
	}
	return r
}
