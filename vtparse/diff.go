package vtparse

import (
	"fmt"
	"strings"
)

// This file tells two screens apart. Rule: unchanged rows cost a pointer
// comparison.

// Change is one row that two screens do not share.
type Change struct {
	Y             int
	Before, After *Row
	From, To      int // the columns From..To-1 hold everything that differs; From == To: only the wrap mark
}

// String is one line for a log.
func (c Change) String() string {
	return fmt.Sprintf("row %d, columns %d-%d: %q -> %q", c.Y, c.From, max(c.From, c.To-1), c.Before.String(), c.After.String())
}

// Diff returns the rows of b that look different from those of a, top down.
// Either may be nil: an empty screen.
func Diff(a, b *Screen) []Change {
	if a == nil {
		a = new(Screen)
	}
	if b == nil {
		b = new(Screen)
	}
	var out []Change
	for y := range max(a.Rows, b.Rows) {
		before, after := a.Row(y), b.Row(y)
		if before == after || before.Equal(after) {
			continue
		}
		n := max(before.Len(), after.Len())
		c := Change{Y: y, Before: before, After: after}
		same := func(x int) bool {
			return before.Text(x) == after.Text(x) && before.Width(x) == after.Width(x) && before.Style(x) == after.Style(x)
		}
		for c.From < n && same(c.From) {
			c.From++
		}
		for c.To = n; c.To > c.From && same(c.To-1); {
			c.To--
		}
		if c.From == n {
			if before.Wrapped() == after.Wrapped() {
				continue // only blanks at the end
			}
			c.From, c.To = 0, 0
		}
		out = append(out, c)
	}
	return out
}

// Logical returns the text of the whole line that row y is part of, wrapped
// rows joined, and the rows from (inclusive) to to (exclusive) that it spans.
func (s *Screen) Logical(y int) (text string, from, to int) {
	if y < 0 || y >= s.Rows {
		return "", y, y
	}
	from, to = y, y+1
	for from > 0 && s.Row(from-1).Wrapped() {
		from--
	}
	for to < s.Rows && s.Row(to-1).Wrapped() {
		to++
	}
	var b strings.Builder
	for i := from; i < to-1; i++ {
		b.WriteString(s.Row(i).full())
	}
	b.WriteString(s.Line(to - 1))
	return b.String(), from, to
}
