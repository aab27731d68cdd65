package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"akk/bridge/rpc"
)

// This file holds what a tool is and how a call runs: arguments against the
// closed schema, handler, document through the sanitiser. A panic is a result
// like every other failure.

// tool is one declaration.
type tool struct {
	name        string // without the prefix
	title       string
	description string
	input       string // JSON Schema of an object with additionalProperties false
	output      string // JSON Schema; open, so that a document may grow
	readOnly    bool
	destructive bool
	idempotent  bool
	openWorld   bool
	run         func(ctx context.Context, c *call) (*answer, error)
}

// call is one call of a tool.
type call struct {
	*server
	tool *tool
	req  *sdk.CallToolRequest
	args map[string]any
}

// answer is what a handler found out.
type answer struct {
	doc    any      // a contract document
	ready  document // instead of doc: one that went through the sanitiser before
	text   string   // for a human, short
	failed bool     // isError (CONTRACT-outputs §1.2)
}

func (s *server) add(srv *sdk.Server, t *tool) {
	var schema jsonschema.Schema
	if err := json.Unmarshal([]byte(t.input), &schema); err != nil {
		panic(fmt.Sprintf("schema of %s: %v", t.name, err)) // a fault of the source, met by every test
	}
	checked, err := schema.Resolve(nil)
	if err != nil {
		panic(fmt.Sprintf("schema of %s: %v", t.name, err))
	}
	known := slices.Sorted(maps.Keys(schema.Properties))
	decl := &sdk.Tool{Name: prefix + t.name, Title: t.title, Description: t.description,
		InputSchema:  compact(t.input),
		OutputSchema: compact(t.output),
		Annotations: &sdk.ToolAnnotations{Title: t.title, ReadOnlyHint: t.readOnly, IdempotentHint: t.idempotent,
			DestructiveHint: &t.destructive, OpenWorldHint: &t.openWorld}}
	srv.AddTool(decl, func(ctx context.Context, req *sdk.CallToolRequest) (res *sdk.CallToolResult, err error) {
		defer func() {
			if p := recover(); p != nil {
				s.Logger.Error("panic in a tool", "tool", t.name, "panic", p, "stack", string(debug.Stack()))
				res, err = failure(&rpc.Error{Code: rpc.CodeInternal, Message: "akk made a mistake while answering " + t.name,
					Cure: "what was already sent stays sent: look with agent_knock_knock_list before anything is repeated"}), nil
			}
		}()
		args, bad := arguments(t, req.Params.Arguments, checked, known)
		if bad != nil {
			return failure(bad), nil
		}
		a, err := t.run(ctx, &call{server: s, tool: t, req: req, args: args})
		if err != nil {
			return failure(t.begun(err)), nil
		}
		return s.success(a), nil
	})
}

func compact(s string) json.RawMessage {
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(s)); err != nil {
		panic(err) // as above
	}
	return b.Bytes()
}

// arguments checks against the closed schema; nothing has run before (R214).
func arguments(t *tool, raw json.RawMessage, schema *jsonschema.Resolved, known []string) (map[string]any, *rpc.Error) {
	args := map[string]any{}
	if len(raw) > 0 && !bytes.Equal(raw, []byte("null")) {
		if err := json.Unmarshal(raw, &args); err != nil {
			return nil, badArguments(t, "the arguments must be a JSON object")
		}
	}
	for _, k := range slices.Sorted(maps.Keys(args)) {
		if !slices.Contains(known, k) {
			return nil, badArguments(t, "there is no argument %q; it takes %s", k, strings.Join(known, ", "))
		}
	}
	if err := schema.Validate(args); err != nil {
		return nil, invalid(t, err)
	}
	return args, nil
}

func badArguments(t *tool, format string, a ...any) *rpc.Error {
	return &rpc.Error{Code: rpc.CodeUsage, Message: prefix + t.name + ": " + fmt.Sprintf(format, a...), Cure: "call it again with the arguments that its input schema names; nothing was done"}
}

func (c *call) str(name string) string  { s, _ := c.args[name].(string); return s }
func (c *call) bool(name string) bool   { b, _ := c.args[name].(bool); return b }
func (c *call) num(name string) float64 { n, _ := c.args[name].(float64); return n }
func (c *call) has(name string) bool    { _, ok := c.args[name]; return ok }

// exactlyOne tells whether exactly one of the arguments was given (R34).
func (c *call) exactlyOne(names ...string) *rpc.Error {
	n := 0
	for _, name := range names {
		if c.has(name) {
			n++
		}
	}
	if n != 1 {
		hint := ""
		if slices.Contains(names, "conversation_id") {
			hint = " (conversation_id takes a terminal_id)"
		}
		return badArguments(c.tool, "exactly one of %s is needed, %d were given%s", strings.Join(names, ", "), n, hint)
	}
	return nil
}

// drain returns a context that also ends when the server must end.
func (c *call) drain(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	if c.Draining == nil {
		return ctx, cancel
	}
	go func() {
		select {
		case <-c.Draining:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}
