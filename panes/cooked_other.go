//go:build !linux

package panes

import "golang.org/x/sys/unix"

const (
	getTermios = unix.TIOCGETA
	fionread   = 0x4004667f // FIONREAD
	// lineKept is what macOS keeps of a line (MAX_CANON), in bytes without its end.
	lineKept = 1023
)
