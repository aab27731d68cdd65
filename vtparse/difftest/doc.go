// Package difftest holds the emulator against a live tmux: random streams go
// through a real pane, and everything that tmux can tell must be equal.
//
// It promises: a disagreement is shrunk and printed as a case for testdata. It
// refuses to judge without the tmux version whose rules it was asked to check.
package difftest
