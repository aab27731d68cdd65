package vtparse

// This file changes the size.

// Resize does what tmux does to a pane: reflow on the main screen, none on the
// alternate one. It serves recordings; a live mirror is seeded again.
func (t *Terminal) Resize(cols, rows int) {
	t.resize(clamp(cols, 1, MaxSize), clamp(rows, 1, MaxSize), t.alternate == nil)
}

func (t *Terminal) resize(cols, rows int, reflow bool) {}
