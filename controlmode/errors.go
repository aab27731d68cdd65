package controlmode

import "errors"

var (
	// ErrGone is returned by a command whose connection ended before the whole
	// answer came; what it did is not known.
	ErrGone = errors.New("control connection ended")
	// ErrNotSent is returned by a command that tmux never saw.
	ErrNotSent = errors.New("command was not sent")
	// ErrStalled ends a connection whose Handler did not return in time.
	ErrStalled = errors.New("reader was held up by its own side, connection cut so that the panes go on")
	// ErrOverlong ends a connection that sent a line or an answer beyond all
	// bounds.
	ErrOverlong = errors.New("tmux sent a line that is too long")
	// ErrDeadline ends a connection whose server did not answer in time.
	ErrDeadline = errors.New("tmux did not answer in time")
)

// DeadPaneError is Exit's for a session that Config.SkipDead left alone.
type DeadPaneError struct{ Pane string } // the active pane of its current window, "%3"

func (e *DeadPaneError) Error() string {
	return "not attached: the session's active pane " + e.Pane + " is dead, and this tmux would end; close it (tmux kill-pane -t " + e.Pane + ") or respawn it"
}

// CommandError is tmux's own refusal of a command.
type CommandError struct{ Text string }

func (e *CommandError) Error() string {
	if e.Text == "" {
		return "tmux refused the command"
	}
	return "tmux: " + e.Text
}
