package mcp

import (
	"encoding/json"
	"strings"
	"testing"
)

// A Host is told its tools, and what only its user can do as that.
func TestHostWords(t *testing.T) {
	t.Parallel()
	for cli, want := range map[string]string{
		"run `akk list`": "call agent_knock_knock_list",
		"run `akk list`: close it without that reason, or not at all": "call agent_knock_knock_list: close it without that reason, or not at all",
		"run `akk turns --all` to see the tasks that were sent":       "call agent_knock_knock_list to see the tasks that were sent",
		"look at it: akk status turn-20261130T100001-bbbbbbbb":        "look at it: call agent_knock_knock_status with turn_id turn-20261130T100001-bbbbbbbb",
		"wait until it is idle: akk status --wait 50s turn-1":         "wait until it is idle: call agent_knock_knock_status with turn_id turn-1 and wait_seconds 45",
		"ask for it back, or run: akk handback %12":                   "ask for it back: the user hands it back with akk handback %12",
		"send to the terminal itself: akk send %3":                    "send to the terminal itself: call agent_knock_knock_send with the terminal_id of pane %3",
		"do not send it again; look at the pane: akk screen %3":       "do not send it again; ask the user to look at pane %3",
		"decide: akk close turn-1 --reason superseded_by_human_context_switch gives that turn up; or bring the agent back to its conversation": "decide: agent_knock_knock_close with turn_id turn-1 and reason superseded_by_human_context_switch gives that turn up; or bring the agent back to its conversation",
		"choose a pane where an agent runs: akk list": "choose a pane where an agent runs: call agent_knock_knock_list",
		"run `akk doctor`":                            "ask the user to run `akk doctor`",
		"name the id that `akk watch` returned":       "name the watch_id that agent_knock_knock_watch returned",
		"try again in a moment":                       "try again in a moment",
		"look whether it is stopped (akk doctor), or end it; then look with `akk list` before it is called again": "ask the user to look whether it is stopped (akk doctor), or end it; then look with agent_knock_knock_list before it is called again",
	} {
		if got := hostWords(cli); got != want {
			t.Errorf("%q\n got %q\nwant %q", cli, got, want)
		}
	}
}

// Arguments that don't fit are told in plain words, with what to do (N12).
func TestInvalidArguments(t *testing.T) {
	d := &wholeDesk{}
	cs := connect(t, Options{Desk: d}, nil)
	for _, c := range []struct{ tool, args, want string }{
		{"send", `{"terminal_id":"%3","request":"x"}`, `"%3" is no terminal_id` + "\n"},
		{"send", `{"terminal_id":"%3","request":"x"}`, "take it in full from the list (agent_knock_knock_list); nothing was done"},
		{"renew", `{"turn_id":"@12ab"}`, `"@12ab" is no turn_id` + "\n"},
		{"unwatch", `{"watch_id":"7"}`, "take it in full from the answer to agent_knock_knock_watch"},
		{"unwatch", `{}`, "watch_id is missing\n"},
		{"set_model", `{"terminal_id":"` + termID + `"}`, `"model" "reasoning_effort" are missing`},
		{"list", `{"all":"yes"}`, "all is of type string, it must be of type boolean\n"},
		{"list", `{"agent":"emacs"}`, "agent is emacs, it must be one of: codex claude\n"},
		{"list", `{"idleTimeoutMinutes":0}`, "idleTimeoutMinutes is 0, it must be more than 0\n"},
		{"status", `{"turn_id":"turn-1","wait_seconds":99}`, "wait_seconds is 99, it must be at most "},
		{"cancel", `{"conversation_id":""}`, "conversation_id is empty\n"},
		{"respond_interaction", `{"watch_id":"` + watchID + `","interaction_id":"ti_1","answers":[{"question_id":" ","response_kind":"confirm","confirm":true}]}`, `" " is no answers.question_id` + "\n"},
	} {
		got := textOf(callTool(t, cs, c.tool, json.RawMessage(c.args)))
		if !strings.Contains(got, c.want) || strings.Contains(got, "validating") || strings.Contains(got, "regular expression") || d.got != nil {
			t.Errorf("%s %s: %s, want %q", c.tool, c.args, got, c.want)
		}
	}
}
