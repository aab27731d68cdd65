package mcp

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"akk/bridge/rpc"
)

// This file upholds: a call that may have been carried out says that it must not
// be repeated, whichever way its answer was lost; one that only looks never does.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	for _, err := range []error{context.Canceled, context.DeadlineExceeded, rpc.ErrClosed, &rpc.Error{Code: rpc.CodeUncertain, Message: "x"}} {
		for _, tool := range tools {
			if _, known := err.(*rpc.Error); known && tool.readOnly {
				continue
			}
			r := failure(tool.begun(err))
			doc := docText(t, r.StructuredContent)
			want := `"do_not_retry":true`
			if got := strings.Count(doc, want); tool.readOnly && got != 0 || !tool.readOnly && got != 2 {
				t.Errorf("%s, %v: %s", tool.name, err, doc)
			}
		}
	}
	// Nothing was done yet.
	if doc := docText(t, failure(sendTool.begun(&rpc.Error{Code: rpc.CodeRefused, Message: "x"})).StructuredContent); strings.Count(doc, "do_not_retry") != 0 {
		t.Errorf("refused: %s", doc)
	}
	if doc := docText(t, failure(approveTool.begun(untouched(context.Canceled))).StructuredContent); strings.Count(doc, "do_not_retry") != 0 {
		t.Errorf("approve: %s", doc)
	}
}

func docText(t *testing.T, doc any) string {
	t.Helper()
	b, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
