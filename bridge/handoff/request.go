package handoff

// This file checks a request's text before anything else is done (R33, B23):
// what is refused here has made no record and typed nothing.

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"akk/agents"
	"akk/bridge/rpc"
)

// maxRequest bounds a request in bytes: what one line of tmux's control mode
// was measured to take (tmux-control-mode.md §6).
const maxRequest = 1 << 20

// cleanRequest returns the text with LF line ends, or why it can't be sent.
func cleanRequest(text string) (string, *rpc.Error) {
	if len(text) > maxRequest {
		return "", usage("put the text into a file and send its path", "the request has %d bytes, at most %d are sent", len(text), maxRequest)
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if !utf8.ValidString(text) {
		return "", usage("send UTF-8 text", "the request is not valid UTF-8")
	}
	if strings.TrimSpace(text) == "" {
		return "", usage("say what the agent should do", "the request is empty")
	}
	for at, r := range text {
		if (r < 0x20 && r != '\t' && r != '\n') || (r >= 0x7f && r <= 0x9f) {
			return "", usage("remove it", "the request holds the control character U+%04X at byte %d", r, at)
		}
	}
	return text, nil
}

// checkCommand refuses a first line that the composer would run instead of
// sending it (R33).
func checkCommand(text string, plan agents.SubmitPlan) *rpc.Error {
	first := strings.TrimSpace(text)
	for prefix, why := range plan.Refuse {
		if strings.HasPrefix(first, prefix) {
			return refused("put words before it, or type it in the pane yourself", "the request begins with %q: %s", prefix, why)
		}
	}
	for prefix, why := range map[string]string{
		"/": "the agent would run it as its own command",
		"!": "the agent would run it in a shell",
	} {
		if strings.HasPrefix(first, prefix) {
			return refused("put words before it, or type it in the pane yourself", "the request begins with %q: %s", prefix, why)
		}
	}
	return nil
}

// hashes of a text: as it is, and as a composer keeps it that turns a TAB into
// four spaces (claude-code.md §6.2); the second is "" when they are equal.
func hashes(text string) (string, string) {
	h := agents.HashRequest(text)
	if !strings.Contains(text, "\t") {
		return h, ""
	}
	return h, agents.HashRequest(strings.ReplaceAll(text, "\t", "    "))
}

// checkReplay compares a repeated request id with what it stood for (scenario 50).
func checkReplay(r Receipt, hash, id string) *rpc.Error {
	if r.Hash != hash {
		return usage("use a new request id for a new text", "%s", fmt.Sprintf("request id %q was used for another text", id))
	}
	return nil
}
