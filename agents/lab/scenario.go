package lab

// The script that every lab session has. It upholds: the same word brings the
// same state in both agents, so that a test is written once.

import (
	"path/filepath"
	"time"

	"akk/agents"
	"akk/agents/lab/model"
)

// The scenarios. A user text that contains one of these words is answered so.
const (
	Hello    = "lab:hello"    // one short answer at once
	Slow     = "lab:slow"     // 60 words in about 12 s
	Think    = "lab:think"    // reasoning, then an answer
	Silent   = "lab:silent"   // nothing for 8 s, then an answer
	Long     = "lab:long"     // 300 lines
	Approval = "lab:approval" // a shell command that needs a human
	Patch    = "lab:patch"    // an edit that needs a human
	Question = "lab:question" // a questionnaire with one question
	Three    = "lab:three"    // a questionnaire with three questions
	Fail     = "lab:fail"     // an error in mid-stream
	HTTP500  = "lab:http500"  // the API refuses
	Dropped  = "lab:drop"     // the connection is cut
)

// The fixed answers, to compare with.
const (
	HelloAnswer = "Hello from the scripted model."
	DoneAnswer  = "Done, as scripted."
)

// Scenarios is the script for agent, with the session's folders in it.
func Scenarios(agent agents.Kind, p Paths) model.Script {
	slow := model.Slow(model.Words(60), 6, 110*time.Millisecond)
	rules := []model.Rule{
		{Match: Hello, Replies: []model.Reply{{model.Text(HelloAnswer)}}},
		{Match: Slow, Replies: []model.Reply{{slow}}},
		{Match: Think, Replies: []model.Reply{{
			model.Reason("**Thinking about it**\n\nOne thing after the other.", 6, 60*time.Millisecond), model.Text(DoneAnswer)}}},
		{Match: Silent, Replies: []model.Reply{{model.Sleep(8 * time.Second), model.Text(DoneAnswer)}}},
		{Match: Long, Replies: []model.Reply{{model.Text(lines(300))}}},
		{Match: Fail, Replies: []model.Reply{{
			model.Slow("Partial text before the error.", 4, 60*time.Millisecond), model.Fail("server_error", "scripted error")}}},
		{Match: HTTP500, Replies: []model.Reply{{model.HTTPError(500, "server_error", "scripted refusal")}}},
		{Match: Dropped, Replies: []model.Reply{{
			model.Slow("Partial text before the cut.", 4, 60*time.Millisecond), model.Drop()}}},
	}
	byWord := calls(agent, p)
	for _, word := range []string{Approval, Patch, Question, Three} {
		replies := append(byWord[word], model.Reply{model.Text(DoneAnswer)})
		rules = append(rules, model.Rule{Match: word, Replies: replies})
	}
	return model.Script{Rules: rules, Default: []model.Reply{{model.Text("Default answer of the scripted model.")}}}
}

// calls are the replies that call a tool, by scenario.
func calls(agent agents.Kind, p Paths) map[string][]model.Reply {
	type m = map[string]any
	option := func(label string) m { return m{"label": label, "description": "What " + label + " means."} }
	if agent == agents.Codex {
		q := func(id, header, question string, labels ...string) m {
			var o []m
			for _, l := range labels {
				o = append(o, option(l))
			}
			return m{"id": id, "header": header, "question": question, "options": o}
		}
		ask := func(qs ...m) []model.Reply {
			return []model.Reply{{model.Tool("request_user_input", m{"questions": qs})}}
		}
		out := filepath.Join(p.Outside, "made.txt")
		return map[string][]model.Reply{
			Approval: {{model.Text("I need to write outside of the workspace."), model.Tool("exec_command", m{
				"cmd": "touch " + filepath.Join(p.Outside, "x1"), "sandbox_permissions": "require_escalated",
				"justification": "Do you want to create a file outside of the workspace?"})}},
			Patch: {{model.Text("I will add a file outside."), model.Custom("apply_patch",
				"*** Begin Patch\n*** Add File: "+out+"\n+outside line one\n+outside line two\n*** End Patch\n")}},
			Question: ask(q("color", "Color", "Which colour should the button have?", "Red", "Blue")),
			Three: ask(q("color", "Color", "Which colour should the button have?", "Red", "Blue"),
				q("size", "Size", "Which size should the button have?", "Small", "Medium", "Large"),
				q("name", "Name", "What should the button be called?", "Save", "Store")),
		}
	}
	q := func(header, question string, labels ...string) m {
		var o []m
		for _, l := range labels {
			o = append(o, option(l))
		}
		return m{"header": header, "question": question, "multiSelect": false, "options": o}
	}
	ask := func(qs ...m) []model.Reply {
		return []model.Reply{{model.Tool("AskUserQuestion", m{"questions": qs})}}
	}
	hello := filepath.Join(p.Project, "hello.py")
	return map[string][]model.Reply{
		Approval: {{model.Text("I will create a file."), model.Tool("Bash", m{
			"command": "mkdir -p build && touch build/out.txt", "description": "Create the build output file"})}},
		Patch: {{model.Tool("Read", m{"file_path": hello})}, {model.Text("Now I will edit it."), model.Tool("Edit", m{
			"file_path": hello, "old_string": "print(\"hello\")", "new_string": "print(\"hello, world\")"})}},
		Question: ask(q("Color", "Which colour should the button have?", "Red", "Blue")),
		Three: ask(q("Color", "Which colour should the button have?", "Red", "Blue"),
			q("Size", "Which size should the button have?", "Small", "Medium", "Large"),
			q("Name", "What should the button be called?", "Save", "Store")),
	}
}

func lines(n int) string { return model.Words(4 * n) }
