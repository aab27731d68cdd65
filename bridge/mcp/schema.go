package mcp

// This file holds the parts that several tools' schemas share (R34: closed, no
// keys, no indexes, no labels; R9: ids in full).

import (
	"regexp"
	"strings"
	"sync"

	"akk/bridge/rpc"
)

const (
	terminalArg = `"terminal_id":{"type":"string","pattern":"^terminal:v[0-9]+:\\S+$","description":"the id of a terminal in the list"}`
	turnArg     = `"turn_id":{"type":"string","pattern":"` + idPattern + `","description":"the turn_id of a send"}`
	watchArg    = `"watch_id":{"type":"string","pattern":"^terminal-watch-[A-Za-z0-9._:-]+$","description":"the watch_id of a watch"}`
	// conversationArg is the old name of turn_id, and of a raw terminal.
	conversationArg = `"conversation_id":{"type":"string","minLength":1,"description":"a terminal_id from the list, for a terminal without a turn; not together with turn_id"}`
	timeoutArgs     = `"idleTimeoutMinutes":{"type":"number","exclusiveMinimum":0,"description":"accepted; a turn ends when the agent ends it"},
		"agentTimeoutMinutes":{"type":"number","exclusiveMinimum":0,"maximum":525600,"description":"minutes without activity after which the turn counts as stalled; default 60"},
		"agentHardTimeoutMinutes":{"type":"number","exclusiveMinimum":0,"maximum":525600,"description":"minutes in all after which the turn counts as stalled; default 720"}`
	errorField = `"error":{"type":"object"}`
	// idPattern is a full id: short refs (@...), panes (%3) and numbers of a list
	// (#1) are for people (R9, R27).
	idPattern = `^[A-Za-z0-9]\\S*$`
)

var terminalID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^terminal:v[0-9]+:\S+$`) })

// conversation reads conversation_id: a Turn's id, or a terminal's in full.
func (c *call) conversation() (turn, terminal string, bad *rpc.Error) {
	id := c.str("conversation_id")
	switch {
	case id == "":
		return "", "", nil
	case strings.HasPrefix(id, "turn-"):
		return id, "", nil
	case terminalID().MatchString(id):
		return "", id, nil
	}
	return "", "", badArguments(c.tool, "conversation_id must be a terminal's full id from the list, or a turn_id")
}

// object is the schema of an object that takes exactly these members.
func object(required, properties string) string {
	s := `{"type":"object","additionalProperties":false,"properties":{` + properties + `}`
	if required != "" {
		s += `,"required":[` + required + `]`
	}
	return s + `}`
}

// sendOutput describes what a send, an answer and a retry return.
const sendOutput = `{"type":"object","properties":{
		"turn_id":{"type":"string","description":"follow it with agent_knock_knock_status"},
		"session_id":{"type":"string"},
		"terminal_id":{"type":"string"},
		"status":{"type":"string"},
		"submission_outcome":{"type":"string","description":"agent_accepted, pending_acceptance, not_accepted, uncertain or aborted"},
		"delivered":{"type":"boolean"},
		"terminal_input_dispatched":{"type":"boolean"},
		"agent_acceptance":{"type":"string"},
		"safe_to_retry":{"type":"boolean"},
		"do_not_retry":{"type":"boolean"},
		"reason":{"type":"string"},
		"error":{"type":"object"}}}`
