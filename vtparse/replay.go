package vtparse

// This file plays bytes into a fresh terminal, for `akk replay --raw`.

// ReplayRaw plays data in one terminal and returns its last screen. cuts are
// ascending offsets at which the data reached tmux in separate reads; those
// that lie outside are ignored.
func ReplayRaw(data []byte, cols, rows int, cuts []int, o Options) *Screen {
	t := New(cols, rows, o)
	from := 0
	for _, cut := range cuts {
		if cut > from && cut < len(data) {
			t.Write(data[from:cut])
			from = cut
		}
	}
	t.Write(data[from:])
	return t.Screen()
}
