// Package agents reads a coding agent: from its live screen, its own signals,
// its own log and its process it says what the agent does (activity), who gets
// the next key (owner), whether the composer is provably empty (composer) and
// which dialog is open.
//
// It promises: an answer rests on evidence that is named in Why; a
// contradiction or a half frame gives unknown, never the convenient answer;
// words, glyphs and keys of a version come from its profile (TOML), structure
// from Go.
//
// It refuses: to know tmux (it gets a Screen, a Process and files), to type,
// and to store any part of a prompt but its hash.
package agents
