package lab

// What the scripted model does to Claude Code in the suite.

import (
	"path/filepath"
	"time"

	"akk/agents/lab/model"
)

// The words that start the suite's own rules.
const (
	clLong     = "cl:long"     // approval of a command of several lines
	clTwo      = "cl:two"      // two commands in one answer
	clLate     = "cl:late"     // an approval after some seconds of text
	clTool     = "cl:tool"     // a command that runs for some seconds, after its approval
	clWrite    = "cl:write"    // a new file
	clRead     = "cl:read"     // a file outside of the folder
	clFetch    = "cl:fetch"    // a page
	clPlan     = "cl:plan"     // a plan that wants approval
	clMulti    = "cl:multi"    // a question with several answers
	clHang     = "cl:hang"     // nothing for a long time
	clStream   = "cl:stream"   // an answer that streams long enough to look around
	clBehind   = "cl:behind"   // a command in the background
	clAPIError = "cl:badreply" // the API refuses
)

const (
	clLongCommand = "for i in 1 2 3; do\n  echo \"line $i of a rather long command that needs wrapping on an ordinary terminal because it is long\" >> build/log-$i.txt\ndone\nprintf '%s\\n' \"héllo wörld 你好 🎉\""
	clSimple      = "mkdir -p build && touch build/out.txt"
	clWaits       = "until [ -e go ]; do sleep 0.2; done; touch slept"
	// In the background until the scenario's agent ends.
	clBehindCommand = "until [ -e go ]; do sleep 0.5; done; touch behind"
	clURL           = "https://example.com/page"
)

func claudeRules(p Paths) []model.Rule {
	type m = map[string]any
	done := model.Reply{model.Text(DoneAnswer)}
	call := func(word string, steps ...model.Step) model.Rule {
		return model.Rule{Match: word, Replies: []model.Reply{steps, done}}
	}
	bash := func(cmd, what string) model.Step { return model.Tool("Bash", m{"command": cmd, "description": what}) }
	option := func(label string) m { return m{"label": label, "description": "What " + label + " means."} }
	plan := model.Tool("Write", m{"file_path": model.Found, "content": "# Plan\n\n1. Read\n2. Change\n"})
	plan.Find = `/[^\s"'\\` + "`" + `]*/plans/[^\s"'\\` + "`" + `]+\.md`
	behind := model.Tool("Bash", m{"command": clBehindCommand, "description": "Sleep in the background", "run_in_background": true})
	mcp := func(tool string, args m) model.Step { return model.Tool("mcp__notes__"+tool, args) }
	return []model.Rule{
		call(clLong, bash(clLongCommand, "Write log lines in a loop")),
		call(clTwo, bash("touch build/one.txt", "Touch one"), bash("touch build/two.txt", "Touch two")),
		call(clLate, model.Slow(model.Words(20), 8, 60*time.Millisecond), model.Gate(), bash("mkdir -p build && touch build/late.txt", "Create a file late")),
		call(clTool, bash(clWaits, "Sleep for a while")),
		call(clWrite, model.Tool("Write", m{"file_path": filepath.Join(p.Project, "new.md"), "content": "# Notes\n\nFirst line\nSecond line 漢字 🎉\n"})),
		call(clRead, model.Tool("Read", m{"file_path": filepath.Join(p.Outside, "secret.txt")})),
		call(clFetch, model.Tool("WebFetch", m{"url": clURL, "prompt": "Summarise this page"})),
		{Match: clPlan, Replies: []model.Reply{{plan}, {model.Tool("ExitPlanMode", m{"plan": "# Plan\n\n1. Read\n2. Change\n"})}, done}},
		call(clMulti, model.Tool("AskUserQuestion", m{"questions": []m{{"header": "Features", "question": "Which features do you want?", "multiSelect": true,
			"options": []m{option("Logging"), option("Metrics"), option("Tracing")}}}})),
		{Match: clHang, Replies: []model.Reply{{model.Gate(), model.Text(DoneAnswer)}}},
		{Match: clStream, Replies: []model.Reply{{model.Slow(hold(model.Words(60), "word030"), 6, 60*time.Millisecond)}}},
		call(clBehind, behind),
		{Match: clAPIError, Replies: []model.Reply{{model.HTTPError(400, "invalid_request_error", "scripted refusal")}}},
		call("mcp:write", mcp("write_note", m{"title": "today", "body": "buy milk and bread"})),
		call("mcp:form", mcp("ask_form", m{})),
		call("mcp:choice", mcp("ask_choice", m{})),
		call("mcp:url", mcp("ask_url", m{})),
	}
}
