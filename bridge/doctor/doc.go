// Package doctor makes the lines of `akk doctor` about tmux: each says what was
// found, whether it is ok, a warning or failed, and the cure.
//
// It promises: Offline needs no daemon and starts nothing; Server tells of a
// server what its mirrors know; a fault of tmux itself is named with its number
// and with what avoids it.
//
// It refuses: to mend anything.
package doctor
