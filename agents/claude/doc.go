// Package claude reads Claude Code: the live screen, its status file
// sessions/<pid>.json, its window title and its transcript.
//
// It promises: who owns the next key is decided by where the (hidden) cursor is
// parked, because the picture of an empty composer stays drawn below a panel
// that has the keys; an empty composer is proven from cells (marker, reverse
// and faint placeholder, blank rest), never from text; a dialog is what stands
// below a rule at the left edge with the cursor on it, so text in the history
// or in the model's answer, which is always indented, can never be one.
// Whatever contradicts itself is unknown, with both sides in Why.
//
// It refuses: to guess. A frame of which a half is missing, a panel it has no
// name for, a command that may have been wrapped, stay unknown.
//
// Words, glyphs, keys and timings are in profiles/*.toml, structure is here.
package claude
