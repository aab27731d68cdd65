package controlmode

import "errors"

var (
	// ErrGone is returned by a command whose connection ended before the whole
	// answer came; what it did is not known.
	ErrGone = errors.New("control connection ended")
	// ErrDeadline ends a connection whose server did not answer in time.
	ErrDeadline = errors.New("tmux did not answer in time")
)

// CommandError is tmux's own refusal of a command.
type CommandError struct{ Text string }

func (e *CommandError) Error() string {
	if e.Text == "" {
		return "tmux refused the command"
	}
	return "tmux: " + e.Text
}
