// Package panes keeps the live mirrors: one Server per tmux server, one
// in-memory terminal per pane, fed by control mode, and the one input gate
// through which a byte may go into a pane.
package panes
