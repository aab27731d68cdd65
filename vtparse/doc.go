// Package vtparse turns the bytes that a program writes to its terminal into
// the screen that tmux keeps of it, cell by cell and attribute by attribute.
//
// It promises: the rules are tmux's own (not xterm's) of the tmux version that
// was asked for; whatever the bytes are, memory stays bounded and nothing
// panics; a published Screen is a value that never changes.
//
// It refuses: to answer queries, to reflow on resize (the mirror is seeded
// again), to guess what tmux does not tell.
package vtparse
