//go:build !linux

package panes

import "golang.org/x/sys/unix"

const (
	getTermios = unix.TIOCGETA
	// lineKept is what macOS keeps of a line (MAX_CANON), in bytes without its end.
	lineKept = 1023
)
