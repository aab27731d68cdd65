package claude

import (
	"strings"

	"akk/vtparse"
)

// This file finds the composer and proves what is in it. Rule: emptiness is
// proven from cells; a placeholder looks like a draft as plain text.

// promptRow is where the composer's text begins.
const promptColumn = 2

// composer is the prompt editor as drawn.
type composer struct {
	ok     bool
	top    int // row of the rule above, or of the marker if there is none
	row    int // row of the marker
	bottom int // row of the rule below, -1 if there is none
	shell  bool
	muted  bool // the marker is in the colour that it has while a turn runs
}

// findComposer looks for the bottom-most row that begins with a marker and a
// no-break space: nothing else of the agent's picture does.
func (v *view) findComposer() composer {
	for y := v.last; y >= 0; y-- {
		c := v.at(0, y)
		if c != '❯' && c != '!' || v.at(1, y) != nbsp {
			continue
		}
		p := composer{ok: true, row: y, top: y, bottom: -1, shell: c == '!'}
		if y > 0 && v.edge(y-1) {
			p.top = y - 1
		}
		p.muted = !p.shell && v.style(0, y).Fg != 0
		for b := y + 1; b < v.rows; b++ {
			if v.at(0, b) == bar {
				if v.rule(b) {
					p.bottom = b
				}
				break
			}
			if v.at(0, b) != ' ' {
				break
			}
		}
		return p
	}
	return composer{}
}

// holds tells whether the cursor is parked in the composer's text.
func (p composer) holds(v *view) bool {
	return p.ok && p.bottom > 0 && v.cy >= p.row && v.cy < p.bottom && v.cx >= promptColumn
}

// content says whether the composer is provably empty or holds a draft, the
// draft's text, and why.
func (p composer) content(v *view) (empty, known bool, draft, why string) {
	if p.bottom < 0 {
		return false, false, "", "no rule below the composer"
	}
	rows := p.bottom - p.row
	if rows == 1 && v.filled(p.row) <= promptColumn {
		if v.cx == promptColumn {
			return true, true, "", "nothing behind the marker, cursor right behind it"
		}
		return false, true, strings.Repeat(" ", v.cx-promptColumn), "blanks behind the marker up to the cursor"
	}
	if rows == 1 && v.cx == promptColumn && v.cy == p.row {
		if garbage(v, p.row) {
			return false, false, "", "line cells in the composer"
		}
		if ok, text := p.placeholder(v); ok {
			return true, true, "", "placeholder: " + text
		}
	}
	return false, true, v.draft(p), "text that is no placeholder"
}

// garbage tells whether the row holds cells of an older frame's rule.
func garbage(v *view, y int) bool {
	n := 0
	for x := promptColumn; x < v.cols; x++ {
		if v.at(x, y) == bar {
			n++
		}
	}
	return n >= 8 // a rule is at least as long; nobody drafts one at the cursor's place
}

// placeholder tells whether the composer's only row holds a hint of the agent:
// its first character is reverse (the cursor's place), all the others are
// faint. Without colours (NO_COLOR) the others are plain: then the text must be
// one that the profile knows and the footer must be that of an empty composer.
func (p composer) placeholder(v *view) (bool, string) {
	if !v.style(promptColumn, p.row).Has(vtparse.Reverse) {
		return false, ""
	}
	faint, plain := 0, 0
	for x, n := promptColumn+1, v.filled(p.row); x < n; x++ {
		if v.at(x, p.row) == ' ' || v.at(x, p.row) == 0 {
			continue
		}
		if s := v.style(x, p.row); s.Has(vtparse.Faint) && !s.Has(vtparse.Reverse) {
			faint++
		} else {
			plain++
		}
	}
	text := v.from(promptColumn, p.row)
	if faint > 0 && plain == 0 {
		return true, text
	}
	if faint == 0 && v.w.isPlaceholder(text) && v.footerHas(p, v.w.Composer.EmptyHints) {
		return true, text
	}
	return false, ""
}

// draft is the composer's text. The agent breaks a long row itself and the
// cells don't tell a break from a newline, so a row that had no room for the
// next row's first word is joined: by a blank if the row ends before the edge,
// by nothing if a word was cut. Compare it without white space.
func (v *view) draft(p composer) string {
	var b strings.Builder
	for y := p.row; y < p.bottom; y++ {
		text := v.from(promptColumn, y)
		if y > p.row {
			word, _, _ := strings.Cut(text, " ")
			switch above := v.filled(y - 1); {
			case text == "" || above+1+len([]rune(word)) < v.cols:
				b.WriteByte('\n')
			case above < v.cols-1:
				b.WriteByte(' ')
			}
		}
		b.WriteString(text)
	}
	return b.String()
}

// footerHas tells whether one of the words is in the rows below the composer.
func (v *view) footerHas(p composer, list []string) bool {
	for y := p.bottom + 1; y > 0 && y <= v.last; y++ {
		if containsAny(v.line(y), list) {
			return true
		}
	}
	return false
}

// flags are the things about a composer that are not its text.
func (p composer) flags(v *view, empty bool, draft string) []string {
	var f []string
	add := func(name string, on bool) {
		if on {
			f = append(f, name)
		}
	}
	add("shell_mode", p.shell)
	add("stashed", v.footerHas(p, v.w.Composer.Stashed) || p.top > 0 && containsAny(v.line(p.top-1), v.w.Composer.Stashed))
	add("queued", p.queued(v, empty))
	add("collapsed", !empty && v.w.collapsed(draft))
	add("popup", p.popup(v))
	add("history", p.top < p.row && containsAny(v.line(p.top), v.w.Composer.History))
	add("vim", v.footerHas(p, v.w.Composer.Vim))
	return f
}

// queued tells whether a message waits for the running turn to take it.
func (p composer) queued(v *view, empty bool) bool {
	if empty && containsAny(v.line(p.row), v.w.Composer.QueuedHint) {
		return true
	}
	for y := p.top - 1; y >= 0 && y >= p.top-12; y-- {
		if containsAny(v.line(y), v.w.Composer.QueuedRow) {
			return true
		}
	}
	return false
}

// popup tells whether a list of suggestions or the key help is up: below the
// composer in the classic renderer, above it in the fullscreen one.
func (p composer) popup(v *view) bool {
	first := p.bottom + 1
	if first <= v.last && (v.w.popupRow(v.line(first)) || containsAny(v.line(first), v.w.Composer.Help)) {
		return true
	}
	if !v.s.Alternate {
		return false
	}
	for y := p.top - 1; y >= 0 && y >= p.top-8; y-- {
		if v.at(0, y) == ' ' && v.w.popupRow(v.line(y)) {
			return true
		}
	}
	return false
}

func containsAny(s string, list []string) bool {
	for _, w := range list {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}
