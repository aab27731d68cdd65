package panes

import "golang.org/x/sys/unix"

const (
	getTermios = unix.TCGETS
	fionread   = unix.TIOCINQ
	// lineKept is what Linux keeps of a line, in bytes without its end.
	lineKept = 4095
)
