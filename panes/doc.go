// Package panes keeps the live mirrors: one Server per tmux server, one
// in-memory terminal per pane, fed by control mode, and the one input gate
// through which a byte may go into a pane.
//
// It promises: a screen is published only while the mirror is exact (seeded by
// pause, capture, continue; seeded again after every resize, pause or loss); a
// pane that several sessions show is fed by exactly one of them; an identity
// that changed, or a server that died, is never bound again; the server itself
// tests a write's conditions in the line that types it; a lock on a pane's
// input ends within two seconds whatever happens to us.
//
// It refuses: to type where it does not own the server, in copy mode, into
// synchronized or dead panes, past a human's lock, or text that could steer a
// terminal. It never resizes, sets no option, and runs no program per screen or
// key (a Hold makes the server run one, two seconds later).
//
// It knows nothing of agents. A control client that is half attached can crash
// tmux before 3.8: ours attach in one moment (controlmode/relay.go), one at a
// time and into a calm (startNext).
package panes
