package panes

import "slices"

// This file is the table of what tmux versions do differently and this package
// must do differently for it. Rule: a version is compared nowhere else.

// quirks is one row of the table: what holds from a version on.
type quirks struct {
	major, minor int    // from this version on, until the next row
	paste        string // byte-exact pasting, with markers where asked for
	deadFocus    bool   // ends when a client attaches to an active pane that is dead and had asked for focus events (3776)
}

// quirkTable is sorted, newest first. Sources: tmux's CHANGES and measurements
// with the version itself.
var quirkTable = []quirks{
	// 3.7 sends a buffer through vis(3) unless -S is given, which 3.6 rejects.
	{3, 7, "paste-buffer -p -r -d -S", false},
	// 3776 was reported for 3.4 a month after its release and mended soon after;
	// measured: 3.3a ends, 3.5a and 3.6 don't.
	{3, 5, "paste-buffer -p -r -d", false},
	{3, 2, "paste-buffer -p -r -d", true},
}

// quirk is the row for a version; one without a number ("master") is new.
func quirk(version string) quirks {
	i := slices.IndexFunc(quirkTable, func(q quirks) bool { return atLeast(version, q.major, q.minor) })
	if i < 0 {
		i = len(quirkTable) - 1
	}
	return quirkTable[i]
}
