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
//
// # How sure it is
//
// tmux 3.3a on Debian 12 is held against live, with random streams (difftest).
// Of 3.4 and 3.7c there are recorded answers to the same byte streams
// (testdata). The rules of 3.5 and 3.6 lie between them and were held against
// nothing. tmux before 3.3 gets the rules of 3.3a.
//
// # What is not modelled
//
//   - Hyperlinks (tmux >= 3.4): OSC 8 is read past, in the stream and in a
//     capture, so links neither disturb nor are told.
//   - Tabs as cells (tmux >= 3.6): a tab over blanks is one wide cell there. It
//     looks the same, but a combining mark right behind it is dropped by tmux
//     and joins a blank here, and how wide a captured tab was is not known: a
//     seed takes the tab stops of the moment, an audit takes any width.
//   - Widths of another C library: tmux up to 3.3 asks wcwidth, and the table is
//     that of glibc 2.36. Under macOS, musl or another glibc some characters,
//     mostly new emoji, are of another width. From 3.4 on tmux has a table of its
//     own for emoji, but asks the library for the rest; the option
//     codepoint-widths (tmux >= 3.6) is not read.
//   - What shows only in a capture's blanks: the background of cells that were
//     erased, never written, before tmux 3.4.
//   - A two-column character in a one-column pane; a joiner at the very end of
//     one of tmux's reads, where %output lines do not tell the read.
//   - tmux keeps as many titles as a program pushes; here 1,024 of them, 4 MiB
//     at most. An OSC or APC string counts up to tmux's default input limit of
//     1 MiB; the option input-buffer-size (tmux >= 3.6) is not read.
//
// A difference that any of these makes is found by the mirror's audit (Mismatch)
// and ended by a new seed; it is not silently believed.
package vtparse
