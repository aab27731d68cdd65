package mcp

import (
	"regexp"
	"strings"
	"sync"

	"akk/bridge/rpc"
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
		{regexp.MustCompile("look with `akk list`"), "look with agent_knock_knock_list"},
		{regexp.MustCompile(`look whether it is stopped \(akk`), "ask the user to look whether it is stopped (akk"},
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

// invalid says why the arguments don't fit the schema; the library names
// keywords, regular expressions and places in the schema.
func invalid(t *tool, err error) *rpc.Error {
	what := err.Error()
	name := ""
	for strings.HasPrefix(what, "validating ") {
		place, rest, ok := strings.Cut(what, ": ")
		if !ok {
			break
		}
		name, what = argument(place), rest
	}
	e := badArguments(t, "%s", strings.TrimPrefix(name+": "+what, ": "))
	for _, w := range invalidWords() {
		m := w.lib.FindStringSubmatchIndex(what)
		if m == nil {
			continue
		}
		said := string(w.lib.ExpandString(nil, strings.ReplaceAll(w.words, "NAME", name), what, m))
		e.Message = prefix + t.name + ": " + said
		break
	}
	if from := origins[name]; from != "" && strings.HasPrefix(what, "pattern: ") {
		e.Cure = "take it in full from " + from + "; nothing was done"
	}
	return e
}

// argument is the name of what a place in a schema is about:
// "validating /properties/answers/items/properties/question_id".
func argument(place string) string {
	var names []string
	parts := strings.Split(place, "/")
	for i := 1; i < len(parts); i++ {
		if parts[i] == "properties" && i+1 < len(parts) {
			i++
			names = append(names, parts[i])
		}
	}
	return strings.Join(names, ".")
}

// origins say where an id comes from.
var origins = map[string]string{
	"terminal_id": "the list (agent_knock_knock_list)",
	"turn_id":     "the answer to agent_knock_knock_send, or from the list",
	"watch_id":    "the answer to agent_knock_knock_watch, or from the list",
}

type invalidWord struct {
	lib   *regexp.Regexp
	words string // NAME is the argument
}

var invalidWords = sync.OnceValue(func() []invalidWord {
	return []invalidWord{
		{regexp.MustCompile(`^pattern: (".*") does not match `), "${1} is no NAME"},
		{regexp.MustCompile(`^required: missing properties: \["([^"]*)"\]`), "${1} is missing"},
		{regexp.MustCompile(`^required: missing properties: \[(.*)\]`), "${1} are missing"},
		{regexp.MustCompile(`^type: (?s:.*) has type "(\w+)", want "(\w+)"$`), "NAME is of type ${1}, it must be of type ${2}"},
		{regexp.MustCompile(`^enum: (.*) does not equal any of: \[(.*)\]$`), "NAME is ${1}, it must be one of: ${2}"},
		{regexp.MustCompile(`^minLength: "" contains`), "NAME is empty"},
		{regexp.MustCompile(`^maxLength: (?s:.*), more than (\d+)$`), "NAME is longer than ${1} characters"},
		{regexp.MustCompile(`^minimum: (\S+?)(?:/1)? is less than (\S+?)(?:\.0+)?$`), "NAME is ${1}, it must be at least ${2}"},
		{regexp.MustCompile(`^maximum: (\S+?)(?:/1)? is greater than (\S+?)(?:\.0+)?$`), "NAME is ${1}, it must be at most ${2}"},
		{regexp.MustCompile(`^exclusiveMinimum: (\S+?)(?:/1)? is less than or equal to (\S+?)(?:\.0+)?$`), "NAME is ${1}, it must be more than ${2}"},
	}
})
