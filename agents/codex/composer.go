package codex

import (
	"strings"

	"akk/agents"
	"akk/vtparse"
)

// This file proves the composer. Rule: it is ours only while the cursor stands
// in it, and empty only if a faint placeholder stands where the cursor is; a
// blank row proves nothing, since a draft may begin with one.

// maxDraftRows bounds the way from the cursor up to the marker.
const maxDraftRows = 200

// composer tells whether the cursor stands in the composer, and reads it.
func (f *frame) composer() bool {
	top := f.marker()
	if top < 0 {
		return false
	}
	s, row := f.s, f.s.Row(top)
	f.r.Owner = agents.OwnerComposer
	f.why("cursor", "visible in the composer", s.Cursor.Y)
	f.statusRows(top)
	shell := agents.RowHas(row, 0, f.p.Composer.Shell)
	if shell {
		f.flag("shell_mode")
	}
	bottom, foot := f.composerEnd(top)
	f.footer(foot)
	faint, plain := f.ink(row)
	switch {
	case faint && !plain && !shell && s.Cursor.Y == top && s.Cursor.X == 2 && f.blank(top+1):
		if w := has(row, 2, f.p.Composer.NotReady); w != "" {
			f.r.Owner, f.r.Composer, f.r.Activity = agents.OwnerUnknown, agents.ComposerUnknown, agents.ActivityUnknown
			f.why("frame", "composer says: "+w, top)
			break
		}
		if foot > f.last && animated(row) { // R58: it is proven with its footer only
			f.r.Composer = agents.ComposerUnknown
			f.why("frame", "an animated composer without its footer", top)
			break
		}
		f.r.Composer = agents.ComposerEmpty
		f.why("frame", "bold marker, faint placeholder, cursor between them", top)
	case faint && plain && f.mixed(row):
		// A shell that prints into a dead agent's composer leaves such a row,
		// with the cursor behind its prompt.
		f.r.Composer = agents.ComposerUnknown
		if s.Cursor.X > 2 {
			f.r.Owner = agents.OwnerUnknown
		}
		f.why("frame", "text and placeholder share the composer's row", top)
	case plain && (f.shellPrompt() || s.Cursor.Y == top && f.repainted(row)):
		f.r.Owner, f.r.Composer = agents.OwnerUnknown, agents.ComposerUnknown
		f.why("frame", "the composer's row ends like a shell's prompt, or in another paint", top)
	case faint && !plain && s.Cursor.Y == top && f.blank(top+1):
		f.r.Composer = agents.ComposerUnknown
		f.why("frame", "placeholder, but the cursor is not in front of it", top)
	default:
		f.r.Composer = agents.ComposerDraft
		f.r.Draft = f.draft(top, bottom)
		f.r.DraftEnd = s.Cursor.Y == bottom && s.Cursor.X >= agents.RowEnd(f.s.Row(bottom))
		f.r.DraftCollapsed = strings.Contains(f.r.Draft, f.p.Composer.Paste)
		if f.r.DraftCollapsed {
			f.flag("collapsed")
		}
		f.why("frame", "bold marker, text that is not faint", top)
	}
	return true
}

// marker finds the composer's first row from the cursor upwards, -1 if the
// cursor stands in no composer.
func (f *frame) marker() int {
	c := f.s.Cursor
	if c.X < 2 {
		return -1
	}
	for y := c.Y; y >= 0 && y > c.Y-maxDraftRows; y-- {
		r := f.s.Row(y)
		if f.isMarker(r) {
			return y
		}
		// Rows of a draft are indented by two.
		for x := 0; x < 2; x++ {
			if c := r.Rune(x); c != ' ' && !sparkle(r, x) {
				return -1
			}
		}
	}
	return -1
}

// isMarker tells a composer's marker from a message in the history: there the
// bold goes on over the blank behind it.
func (f *frame) isMarker(r *vtparse.Row) bool {
	if has(r, 0, f.p.Composer.Markers) == "" && !agents.RowHas(r, 0, f.p.Composer.Shell) {
		return false
	}
	st, next := r.Style(0), r.Style(1)
	if !st.Has(vtparse.Bold) || st.Has(vtparse.Faint) || next.Has(vtparse.Bold) {
		return false
	}
	return r.Rune(1) == ' ' || sparkle(r, 1)
}

// ink tells which kinds of text stand in the composer's first row.
func (f *frame) ink(r *vtparse.Row) (faint, plain bool) {
	for x, n := 2, r.Len(); x < n; x++ {
		if c := r.Rune(x); c == ' ' || c == 0 || c == '\u00a0' || sparkle(r, x) {
			continue
		}
		if r.Style(x).Has(vtparse.Faint) {
			faint = true
		} else {
			plain = true
		}
	}
	return faint, plain
}

// animated tells whether decoration plays in the row.
func animated(r *vtparse.Row) bool {
	for x, n := 0, r.Len(); x < n; x++ {
		if sparkle(r, x) {
			return true
		}
	}
	return false
}

// mixed tells whether faint text follows plain text in the row without a gap
// that a right-aligned hint would have.
func (f *frame) mixed(r *vtparse.Row) bool {
	lastPlain := -1
	for x, n := 2, r.Len(); x < n; x++ {
		c := r.Rune(x)
		if c == ' ' || c == 0 || sparkle(r, x) {
			continue
		}
		if !r.Style(x).Has(vtparse.Faint) {
			lastPlain = x
		} else if lastPlain >= 0 {
			return x-lastPlain <= 3
		}
	}
	return false
}

// repainted tells whether text before the cursor has not the composer's
// background: a dead agent leaves the cursor there, and a shell writes.
func (f *frame) repainted(r *vtparse.Row) bool {
	paint := r.Style(0).Bg
	return !agents.RowEvery(r, 2, f.s.Cursor.X, func(st vtparse.Style) bool { return st.Bg == paint })
}

// composerEnd returns the last row of the composer and the first row of the
// footer (or popup) under it; foot is behind the last row if there is none.
func (f *frame) composerEnd(top int) (bottom, foot int) {
	from := max(top, f.s.Cursor.Y)
	foot = f.last + 1
	for y := f.last; y > from; y-- {
		if f.blank(y) {
			if foot <= f.last {
				break
			}
			continue
		}
		foot = y
	}
	bottom = foot - 1
	for bottom > from && f.blank(bottom) {
		bottom--
	}
	return bottom, foot
}

// draft joins the composer's rows; it wraps by words, so a break in it may be
// one of the text or of the drawing.
func (f *frame) draft(top, bottom int) string {
	var b strings.Builder
	for y := top; y <= bottom; y++ {
		if y > top {
			b.WriteByte('\n')
		}
		r := f.s.Row(y)
		for x, n := 2, agents.RowEnd(r); x < n; x++ {
			if sparkle(r, x) {
				b.WriteByte(' ')
			} else {
				b.WriteString(r.Text(x))
			}
		}
	}
	lines := strings.Split(b.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// footer reads the rows under the composer.
func (f *frame) footer(foot int) {
	if foot > f.last {
		return
	}
	r := f.s.Row(foot)
	for _, w := range f.p.Composer.Loading {
		if foot == f.last && agents.RowIs(r, 2, w) && !f.sig.named && f.sig.status == says {
			f.r.Activity = agents.Starting
			f.why("frame", "footer without model: the session is not ready", foot)
			return
		}
	}
	if f.footerPath() == "" && agents.RowFind(r, 0, f.p.Composer.QueueFooter) < 0 {
		f.flag("popup")
	}
}

// footerPath is the working directory as the footer tells it, "" if it does
// not.
func (f *frame) footerPath() string {
	for y := f.last; y >= 0 && y > f.last-3; y-- {
		r := f.s.Row(y)
		for x := agents.RowFind(r, 2, " · "); x >= 0; x = agents.RowFind(r, x+3, " · ") {
			if c := r.Rune(x + 3); c != '/' && c != '~' {
				continue
			}
			end := agents.RowFind(r, x+3, " · ")
			if end < 0 {
				end = agents.RowEnd(r)
			}
			if gap := agents.RowFind(r, x+3, "   "); gap >= 0 && gap < end {
				end = gap
			}
			return agents.RowSpan(r, x+3, end)
		}
	}
	return ""
}

func (f *frame) flag(name string) {
	for _, have := range f.r.ComposerFlags {
		if have == name {
			return
		}
	}
	f.r.ComposerFlags = append(f.r.ComposerFlags, name)
}
