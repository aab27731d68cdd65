package mcp

import (
	"regexp"
	"sync"
)

// This file says in a Host's words what the desk's cures say in those of the
// command line: a tool where there is one, the user where only he can.

// inWords are tried one after the other; each replaces all that it finds.
var inWords = sync.OnceValue(func() []inWord {
	return []inWord{
		{regexp.MustCompile("(?:run )?`?akk status --wait \\S+ (turn-\\S+?)`?([;,.]|$)"), "call agent_knock_knock_status with turn_id $1 and wait_seconds 45$2"},
		{regexp.MustCompile("(?:run )?`?akk status (turn-\\S+?)`?([;,.]|$)"), "call agent_knock_knock_status with turn_id $1$2"},
		{regexp.MustCompile("(?:run )?`?akk status`?"), "call agent_knock_knock_status"},
		{regexp.MustCompile(`akk close (turn-\S+) --reason (\S+) gives`), "agent_knock_knock_close with turn_id $1 and reason $2 gives"},
		{regexp.MustCompile(`akk send (%\d+)`), "call agent_knock_knock_send with the terminal_id of pane $1"},
		{regexp.MustCompile(`(?:, )?or run: akk handback (%\d+)`), ": the user hands it back with akk handback $1"},
		{regexp.MustCompile(`look at the pane: akk (?:screen|explain) (%\d+)`), "ask the user to look at pane $1"},
		{regexp.MustCompile("(?:run )?`?akk turns --all`?"), "call agent_knock_knock_list"},
		{regexp.MustCompile("(?:run )?`?akk list(?: --all)?`?"), "call agent_knock_knock_list"},
		{regexp.MustCompile("name the id that `akk watch` returned"), "name the watch_id that agent_knock_knock_watch returned"},
		{regexp.MustCompile("(run|see) `?akk (doctor|callbacks|certify|store)"), "ask the user to run `akk $2"},
	}
})

type inWord struct {
	cli  *regexp.Regexp
	tool string
}

// hostWords is a cure for a Host.
func hostWords(cure string) string {
	for _, w := range inWords() {
		cure = w.cli.ReplaceAllString(cure, w.tool)
	}
	return cure
}
