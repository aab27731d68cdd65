package claude

import (
	"strings"

	"akk/agents"
)

// This file finds the panel that has the keys (a permission prompt, a
// questionnaire, a menu, a viewer, a startup question) and names it. Rule: a
// panel begins below a line from edge to edge, which text of the model can't
// draw, and the cursor is parked in it.

// panel is a region of the screen.
type panel struct {
	top     int // row of the line above, -1 if it is cut off
	title   int // row of the title, -1 if it is cut off
	bottom  int // last row with anything on it
	spec    *panelSpec
	clipped bool
}

// limit is the last row that a panel can have: the one above a composer that
// stays drawn below it, or the last row of the screen.
func (v *view) limit(p composer) int {
	if p.ok && p.bottom > 0 && v.cy < p.top {
		b := p.top - 1
		for b >= 0 && v.blank(b) {
			b--
		}
		return b
	}
	return v.last
}

// findPanel looks upwards from the last row for the lowest line whose next text
// is a title that the profile knows; without one, for the lowest line above the
// cursor; without any, the panel's head is off the screen.
func (v *view) findPanel(bottom int) panel {
	from := min(bottom, v.cy)
	lowest := -1
	for y := from; y >= 0; y-- {
		if c := v.at(0, y); c != bar && c != tip || !v.rule(y) {
			continue
		}
		t := v.nextText(y+1, bottom)
		if t < 0 {
			continue
		}
		if lowest < 0 {
			lowest = y
		}
		if s := v.w.panelFor(v, t); s != nil {
			return panel{top: y, title: t, bottom: bottom, spec: s}
		}
	}
	if lowest >= 0 {
		return panel{top: lowest, title: v.nextText(lowest+1, bottom), bottom: bottom}
	}
	t := v.nextText(0, bottom)
	p := panel{top: -1, title: -1, bottom: bottom, clipped: true}
	if t >= 0 {
		if s := v.w.panelFor(v, t); s != nil {
			p.title, p.spec = t, s
		}
	}
	return p
}

// nextText is the first row from y on that is neither blank nor a line, -1 if
// there is none up to bottom.
func (v *view) nextText(y, bottom int) int {
	for ; y <= bottom; y++ {
		if !v.blank(y) && !v.inset(y) {
			return y
		}
	}
	return -1
}

// panelFor is the profile's entry for a title, nil if it has none.
func (w *words) panelFor(v *view, y int) *panelSpec {
	line := v.trimmed(y)
	if chips(line) && v.indent(y) <= chipsIndent {
		return &questionSpec
	}
	for i := range w.Panels {
		s := &w.Panels[i]
		if s.Title+s.Prefix+s.Suffix == "" || s.Title != "" && line != s.Title {
			continue
		}
		if strings.HasPrefix(line, s.Prefix) && strings.HasSuffix(line, s.Suffix) && (s.With == "" || v.below(y, s.With)) {
			return s
		}
	}
	return nil
}

// chipsIndent is where a questionnaire's head begins at most; what the model
// writes is indented further.
const chipsIndent = 1

// below tells whether a word stands in a row below y.
func (v *view) below(y int, word string) bool {
	for y++; y <= v.last; y++ {
		if strings.Contains(v.line(y), word) {
			return true
		}
	}
	return false
}

var questionSpec = panelSpec{Kind: "question", Owner: string(agents.OwnerQuestionnaire)}

// chips tells whether a row is the head of a questionnaire: its questions with
// a box each, " ☐ Database" or "←  ☒ Database  ☐ Language  ✔ Submit  →".
func chips(line string) bool {
	line = strings.TrimSpace(strings.Trim(line, "←→ "))
	return strings.HasPrefix(line, "☐ ") || strings.HasPrefix(line, "☒ ")
}

// viewer tells whether the last row is that of the transcript viewer, and what
// it says in front.
func (v *view) viewer() (state string, ok bool) {
	for y := v.last; y >= 0 && y >= v.last-1; y-- {
		before, _, found := strings.Cut(v.line(y), v.w.Viewer.Mark)
		if found && v.cy >= y {
			return strings.Trim(before, " ·\u00a0"), true
		}
	}
	return "", false
}

// selectedRow is the row of the option that has the focus: the one that the
// cursor is parked on, or the one with the mark if the cursor waits at the left
// edge below the panel. -1 if there is none.
func (v *view) selectedRow(p panel) int {
	if v.cy > p.top && v.cy <= p.bottom && v.marked(v.cy) >= 0 {
		return v.cy
	}
	if v.cx != 0 {
		return -1
	}
	for y := p.bottom; y > p.top; y-- {
		if v.marked(y) >= 0 {
			return y
		}
	}
	return -1
}

// marked is the column of the mark "❯ " in front of the row's text, -1 if the
// row has none.
func (v *view) marked(y int) int {
	x := v.indent(y)
	if x >= 0 && v.at(x, y) == '❯' && v.at(x+1, y) == ' ' {
		return x
	}
	return -1
}
