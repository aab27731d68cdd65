package lab

// What the scripted model does to Codex in the suite.

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"akk/agents/lab/model"
)

// The words that start the suite's own rules.
const (
	cxTool   = "cx:tool"   // a command that runs in the sandbox for some seconds
	cxLong   = "cx:long"   // approval of a command of several lines
	cxHuge   = "cx:huge"   // approval of a command that the screen can't hold
	cxWide   = "cx:wide"   // approval with wide characters
	cxTwo    = "cx:two"    // two approvals in one answer
	cxLate   = "cx:late"   // an approval after some seconds
	cxEdit   = "cx:edit"   // a patch that changes one file and adds another
	cxAsync  = "cx:async"  // a question that does not stop the turn
	cxAsync2 = "cx:2async" // two of them
	cxLimit  = "cx:limit"  // the usage limit is reached
	cxHang   = "cx:hang"   // nothing for a long time
	cxStream = "cx:stream" // an answer that streams long enough to look around
)

const (
	cxLongCommand = "for i in 1 2 3; do\n  echo \"line $i of a long command with many words in it, so that it wraps over the right border of the pane\"\ndone\nprintf '%s\\n' a b c | sort -r | head -2"
	cxWideText    = "echo '日本語 🚀 テスト'"
)

func cxHugeCommand() string {
	var l []string
	for i := range 60 {
		l = append(l, fmt.Sprintf("echo step %d > /dev/null", i))
	}
	return strings.Join(l, "\n")
}

// cxWaits runs until the scenario makes the file "go".
const cxWaits = "until [ -e go ]; do sleep 0.2; done; echo finished"

// hold stops an answer's stream before the word, until the scenario lets it go on.
func hold(text, word string) string { return strings.Replace(text, word, model.Hold+word, 1) }

// escalated calls a command that needs a human.
func escalated(cmd, why string) model.Step {
	return model.Tool("exec_command", map[string]any{"cmd": cmd, "sandbox_permissions": "require_escalated", "justification": why})
}

func mcpCall(tool string, args map[string]any) model.Step {
	if args == nil {
		args = map[string]any{}
	}
	st := model.Tool(tool, args)
	st.Namespace = "mcp__notes"
	return st
}

const (
	cxPatch = "*** Begin Patch\n*** Update File: notes.txt\n@@\n-alpha\n+alpha changed\n beta\n*** Add File: added.txt\n+first line\n+second line\n*** End Patch\n"
	// longLine is longer than the 60 characters to which Codex cuts an argument.
	longLine = "line %d of a long note with enough words to wrap over the border of a pane that is narrow"
)

func longNote() string {
	var l []string
	for i := range 30 {
		l = append(l, fmt.Sprintf(longLine, i))
	}
	return strings.Join(l, "\n")
}

func codexRules(p Paths) []model.Rule {
	done := model.Reply{model.Text(DoneAnswer)}
	call := func(word string, steps ...model.Step) model.Rule {
		return model.Rule{Match: word, Replies: []model.Reply{steps, done}}
	}
	later := model.Slow(hold(model.Words(60), "word030"), 6, 60*time.Millisecond)
	ask := func(qs ...map[string]any) model.Step {
		return model.Tool("request_user_input_async", map[string]any{"questions": qs})
	}
	colour := map[string]any{"title": "Which colour should the button have?", "options": []string{"Red", "Blue"}}
	return []model.Rule{
		call(cxTool, model.Text("I will run a command."), model.Tool("exec_command", map[string]any{"cmd": cxWaits, "yield_time_ms": 20000})),
		call(cxLong, escalated(cxLongCommand, "Do you want to run the long command?")),
		call(cxHuge, escalated(cxHugeCommand(), "Do you want to run sixty steps?")),
		call(cxWide, escalated(cxWideText, "日本語の理由 🚀?")),
		call(cxTwo, escalated("touch "+filepath.Join(p.Outside, "a1"), "First of two?"), escalated("touch "+filepath.Join(p.Outside, "a2"), "Second of two?")),
		call(cxLate, model.Gate(), escalated("touch "+filepath.Join(p.Outside, "late"), "Do you want to create a late file?")),
		call(cxEdit, model.Custom("apply_patch", cxPatch)),
		{Match: cxAsync, Replies: []model.Reply{{ask(colour)}, {later}}},
		{Match: cxAsync2, Replies: []model.Reply{{ask(colour, map[string]any{"title": "What is the name of the project?"})}, {later}}},
		{Match: cxLimit, Replies: []model.Reply{{model.HTTPError(429, "usage_limit_reached", "limit reached")}}},
		{Match: cxHang, Replies: []model.Reply{{model.Gate(), model.Text(DoneAnswer)}}},
		{Match: cxStream, Replies: []model.Reply{{later}}},
		call("mcp:write", mcpCall("write_note", map[string]any{"title": "today", "body": "buy milk and bread"})),
		call("mcp:long", mcpCall("write_note", map[string]any{"title": "Überschrift 日本語 🚀", "body": longNote()})),
		call("mcp:late", model.Gate(), mcpCall("write_note", map[string]any{"title": "late"})),
		call("mcp:form", mcpCall("ask_form", nil)),
		call("mcp:text", mcpCall("ask_text", nil)),
		call("mcp:confirm", mcpCall("ask_confirm", nil)),
		call("mcp:url", mcpCall("ask_url", nil)),
	}
}
