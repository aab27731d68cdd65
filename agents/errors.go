package agents

import "errors"

var (
	// ErrNoLog is returned by Agent.OpenLog while the process has no log that
	// can be proven to be its own.
	ErrNoLog = errors.New("agent has written no log yet")
	// ErrLogReplaced is returned by Log.Poll when the file was truncated or
	// replaced: what was read before no longer counts.
	ErrLogReplaced = errors.New("agent log was truncated or replaced")
)
