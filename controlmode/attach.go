package controlmode

import "strings"

// This file is the command by which a client attaches. Rule: a session that
// would end the server is tested and attached to in one go, by the server
// itself; between a test of ours and the attaching a pane could die.

const attachFlags = "ignore-size,pause-after=5"

// deadWord begins the answer that stands for "not attached".
const deadWord = "akk-dead-pane "

// attachCommand is the client's command, as words.
func attachCommand(session string, skipDead bool) []string {
	if !skipDead {
		return []string{"attach-session", "-E", "-t", session, "-f", attachFlags}
	}
	q := Quote(session)
	return []string{"if-shell", "-F", "-t", session, "#{pane_dead}",
		"display-message -p -t " + q + " '" + deadWord + "#{pane_id}'",
		"attach-session -E -t " + q + " -f " + attachFlags}
}

// attachError is what the answer means; nil: attached.
func attachError(r Reply) error {
	if r.Err {
		return &CommandError{r.Text()}
	}
	if pane, dead := strings.CutPrefix(r.Text(), deadWord); dead {
		return &DeadPaneError{strings.TrimSpace(pane)}
	}
	return nil
}
