package launch

import "errors"

var (
	// ErrNoTmux is returned when there is no tmux program in PATH.
	ErrNoTmux = errors.New("tmux is not installed, or not in PATH")
	// ErrOldTmux is returned when tmux is older than 3.2, the first version
	// with flow control for the streams that akk reads.
	ErrOldTmux = errors.New("tmux is too old")
	// ErrNoServer is returned when no tmux server answers on the socket.
	ErrNoServer = errors.New("no tmux server is running there")
	// ErrGone is returned when the pane, window or session is not there any more.
	ErrGone = errors.New("it is gone")
	// ErrNoRoom is returned when a window is too narrow for a sidebar.
	ErrNoRoom = errors.New("window is too narrow for the sidebar")
)
