// Package vtparse turns the bytes that a program writes to its terminal into
// the screen that tmux keeps of it, cell by cell and attribute by attribute.
//
// It promises: the rules are tmux's own (not xterm's) of the tmux version that
// was asked for; whatever the bytes are, memory stays bounded and nothing
// panics; a published Screen is a value that never changes.
//
// It refuses: to answer queries, to guess what tmux does not tell. A live mirror
// that changes its size is seeded again; Resize is for recordings.
//
// A byte goes through parse.go (which sequence), act*.go (what it does),
// print.go (where characters go), line.go and grid.go (the cells), and leaves
// as a Screen through publish.go. Versions differ in profile.go and join.go.
package vtparse
