package mcp

import "testing"

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
		"run `akk doctor`":                      "ask the user to run `akk doctor`",
		"name the id that `akk watch` returned": "name the watch_id that agent_knock_knock_watch returned",
		"try again in a moment":                 "try again in a moment",
	} {
		if got := hostWords(cli); got != want {
			t.Errorf("%q\n got %q\nwant %q", cli, got, want)
		}
	}
}
