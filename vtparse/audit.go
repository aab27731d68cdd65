package vtparse

import (
	"fmt"
	"slices"
	"strings"
)

// This file compares a Screen with what tmux says it holds. Rule: everything
// that capture-pane tells is compared; only what it can't tell is let pass: the
// background of cells past a row's end, how the columns of a cut wide character
// are divided, and how many columns a tab takes that tmux (>= 3.6) tells as one.

// Mismatch compares with the rows of capture-pane -p -e -N (without -N the
// blanks at the end of the rows are not compared) and with cursor_x, cursor_y
// of the same moment. diff tells the first difference in one line.
func (s *Screen) Mismatch(captured []string, cursorX, cursorY int) (diff string, equal bool) {
	p := s.profile
	if p == nil {
		p = profileFor("")
	}
	t := New(s.Cols, s.Rows, Options{})
	t.profile = p
	lines := t.readCapture(captured, s.Rows, 2*s.Cols, nil)
	for y, l := range lines {
		theirs := &Row{cells: l.cells[:min(l.used, len(l.cells))], tab: t.in.freeze(), written: l.used}
		if d := s.Row(y).differs(theirs); d != "" {
			return fmt.Sprintf("row %d: %s", y, d), false
		}
	}
	return s.cursorDiffers(cursorX, cursorY)
}

// MismatchText compares with the rows of a plain capture-pane -p: text only.
func (s *Screen) MismatchText(captured []string, cursorX, cursorY int) (diff string, equal bool) {
	for y := range s.Rows {
		theirs := ""
		if y < len(captured) {
			theirs = strings.TrimRight(captured[y], " ")
		}
		if ours := s.Line(y); ours != theirs && strings.TrimRight(s.Row(y).raw(), " ") != theirs {
			return fmt.Sprintf("row %d: tmux %q, mirror %q", y, theirs, ours), false
		}
	}
	return s.cursorDiffers(cursorX, cursorY)
}

func (s *Screen) cursorDiffers(x, y int) (string, bool) {
	if x != s.Cursor.X || y != s.Cursor.Y {
		return fmt.Sprintf("cursor: tmux %d,%d, mirror %d,%d", x, y, s.Cursor.X, s.Cursor.Y), false
	}
	return "", true
}

// raw is the text with line drawing as the letters that stand for it, which is
// how a capture without -e shows it.
func (r *Row) raw() string {
	var b []byte
	for _, c := range r.cells {
		if !c.padding() {
			b = c.appendRaw(b, r.tab)
		}
	}
	return string(b)
}

// styled is one code point with its style.
type styled struct {
	r rune
	s Style
}

func (r *Row) styled() []styled {
	var out []styled
	for x, c := range r.cells {
		for _, p := range r.Text(x) {
			out = append(out, styled{p, r.tab.styles[c.style()]})
		}
	}
	return out
}

// differs describes the first difference, "" if there is none that theirs
// could tell.
func (r *Row) differs(theirs *Row) string {
	a, b := r.styled(), theirs.styled()
	if slices.ContainsFunc(b, func(c styled) bool { return c.r == '\t' }) {
		if far, ok := tabsFit(a, b); !ok {
			return fmt.Sprintf("character %d: tmux %q with tabs, mirror %q", far, theirs.String(), r.String())
		}
		return ""
	}
	for i := range max(len(a), len(b)) {
		x, y := styled{r: ' '}, styled{r: ' '}
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x == y || i >= len(b) && x.r == ' ' {
			continue
		}
		if x.r != y.r {
			return fmt.Sprintf("character %d: tmux %q, mirror %q (tmux %q, mirror %q)", i, y.r, x.r, theirs.String(), r.String())
		}
		return fmt.Sprintf("style of character %d %q: tmux %q, mirror %q", i, x.r, y.s.SGR(), x.s.SGR())
	}
	return ""
}

// maxTab is how many columns tmux lets a tab cell take.
const maxTab = 32

// tabsFit tells whether a can look like b, in which a tab stands for some blanks
// of one style; far is how much of a was matched at most.
func tabsFit(a, b []styled) (far int, ok bool) {
	// reach holds the places in a that what was read of b may have come to; what
	// is behind a's end is blank.
	reach := make([]bool, len(a)+1)
	reach[0] = true
	for _, c := range b {
		most := 1
		if c.r == '\t' {
			c.r, most = ' ', maxTab
		}
		next := make([]bool, len(a)+1)
		for i, on := range reach {
			for n := 0; on && n < most; n++ {
				if i == len(a) {
					next[i] = next[i] || c == styled{r: ' '}
					break
				}
				if a[i] != c {
					break
				}
				i++
				next[i] = true
				far = max(far, i)
			}
		}
		reach = next
	}
	for i := len(a); i >= 0; i-- {
		if reach[i] {
			return i, true
		}
		if i > 0 && a[i-1].r != ' ' {
			break
		}
	}
	return far, false
}
