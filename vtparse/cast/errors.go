package cast

import "errors"

var (
	// ErrFormat is returned for a header or an event that is no asciicast v2;
	// the error that wraps it tells the line and what was expected.
	ErrFormat = errors.New("not asciicast v2")
	// ErrClosed is returned by a Writer that was closed.
	ErrClosed = errors.New("recording is closed")
)
