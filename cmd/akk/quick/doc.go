// Package quick answers `akk list --json` before the rest of the program is
// there: to initialise all that akk is made of takes longer than the answer
// itself, and Hosts and status lines ask often.
//
// It works because of the order in which Go initialises packages (the language
// specification, "Package initialization"): sorted by import path, and always
// the first one whose imports are all initialised is next. akk/cmd/akk/quick
// sorts before github.com, so that it runs as soon as package os is there - as
// long as it imports nothing that sorts late itself. Its whole work is done in
// init; a success ends the process there.
//
// The rules:
//
//   - It imports only what allowed in imports_test.go names.
//   - What it prints is byte for byte what the usual command prints.
//   - In any doubt it steps back: it returns, having printed and changed
//     nothing, and the usual command does all of it and finds the words. So it
//     knows only the plain case: a daemon of this very version that runs, and
//     that has the tmux server attached already.
//   - It asks the daemon nothing that changes anything. The usual command says
//     "attach", which for a server that is attached already gives it back; quick
//     asks which are attached, because an attach that was needed must be the
//     usual command's: that one waits for the first readings.
//
// Two things are told by the usual commands only: a mistake in the settings file
// (all others tell it), and Ctrl-C (it ends the process at once, by the signal).
//
// Only Linux is quick; elsewhere the usual command does everything.
package quick
