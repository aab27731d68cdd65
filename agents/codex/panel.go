package codex

import (
	"strings"
	"unicode"

	"akk/agents"
	"akk/vtparse"
)

// This file recognises what has taken the keys from the composer. Rules: a
// panel is told by its footer at the very bottom, then by its heading; what
// can't be parsed whole is told as blocked, without options.

// footerRows is how many rows a footer may take in a narrow pane.
const footerRows = 4

// panel reads the panel at the bottom of the screen.
func (f *frame) panel() bool {
	for y := f.last; y >= 0 && y > f.last-footerRows; y-- {
		r := f.s.Row(y)
		if agents.RowBlank(r) {
			return false
		}
		x := agents.RowStart(r)
		if x > 3 {
			continue
		}
		if x == 0 && r.Rune(1) == ' ' && !f.s.Cursor.Visible && f.sig.title == saysBlock {
			x = 2 // Codex left cells of an older frame behind after a resize
		}
		if f.trailed(y) {
			continue
		}
		text := f.paragraph(y, f.last+1, x)
		for i := range f.p.Panels {
			p := &f.p.Panels[i]
			if prefixOf(text, p.Footer) == "" || !containsAll(text, p.Needs) {
				continue
			}
			if f.open(p, y) {
				return true
			}
		}
	}
	return false
}

// trailed tells whether something that is no part of a footer stands under
// row y: a footer is indented, and its wrapped rows alike.
func (f *frame) trailed(y int) bool {
	for y++; y <= f.last; y++ {
		if x := agents.RowStart(f.s.Row(y)); x == 0 || x > 3 {
			return true
		}
	}
	return false
}

// open fills in the reading from a panel whose footer begins at row foot.
func (f *frame) open(p *Panel, foot int) bool {
	owner := p.Owner
	visible := f.s.Cursor.Visible
	switch owner {
	case agents.OwnerEditor:
		if !visible {
			return false
		}
	case agents.OwnerQuestionnaire, agents.OwnerApproval:
		if visible {
			owner = agents.OwnerEditor
		}
	case agents.OwnerMenu, agents.OwnerViewer, agents.OwnerStartup, agents.OwnerOther:
		// A search field may show the cursor; the panel still has the keys.
	}
	head := -1
	if len(p.Heading) > 0 {
		if head = f.heading(p, foot); head < 0 {
			return false
		}
	}
	f.r.Owner, f.r.Composer = owner, agents.ComposerHidden
	if head >= 0 {
		f.why("frame", "panel: "+f.name(p)+", footer and heading at the bottom", head, foot)
	} else {
		f.why("frame", "panel: "+f.name(p)+", footer at the bottom", foot)
	}
	if visible {
		f.why("cursor", "visible in a panel", f.s.Cursor.Y)
	} else {
		f.why("cursor", "hidden")
	}
	if owner == agents.OwnerStartup {
		f.r.Activity = agents.Starting
		return true
	}
	if p.Kind != "" {
		f.r.Dialog = f.dialog(p, head, foot)
		if p.Kind == "mcp" && f.r.Dialog.Kind == "elicitation" && f.r.Dialog.Mode == "form" && !visible {
			f.r.Owner = agents.OwnerQuestionnaire
		}
	}
	return true
}

func (f *frame) name(p *Panel) string {
	if p.Kind != "" {
		return p.Kind
	}
	return string(p.Owner)
}

// heading finds the panel's first row over the footer. It stands two cells in
// (the async panel's at the left edge) and may wrap.
func (f *frame) heading(p *Panel, foot int) int {
	for y := foot - 1; y >= 0; y-- {
		r := f.s.Row(y)
		x := agents.RowStart(r)
		if x != 2 && x != 0 || x >= r.Len() {
			continue
		}
		if x == 0 {
			if !p.Async || agents.RowFind(r, 0, " ") != 1 {
				continue
			}
			x = 2
		}
		for _, h := range p.Heading {
			first, _, _ := strings.Cut(h, " ")
			if !agents.RowHas(r, x, first) || p.Bold && !r.Style(x).Has(vtparse.Bold) {
				continue
			}
			if strings.HasPrefix(f.paragraph(y, min(y+4, foot), x), strings.TrimSpace(h)) {
				if _, _, ok := step(agents.RowText(r, x)); p.Step && !ok {
					continue
				}
				return y
			}
		}
	}
	return -1
}

// step reads the first "i/n" (or "i of n") of a text.
func step(text string) (i, n int, ok bool) {
	at := strings.IndexFunc(text, unicode.IsDigit)
	if at < 0 {
		return 0, 0, false
	}
	i, rest := number(text[at:])
	switch {
	case strings.HasPrefix(rest, "/"):
		rest = rest[1:]
	case strings.HasPrefix(rest, " of "):
		rest = rest[4:]
	default:
		return 0, 0, false
	}
	n, _ = number(rest)
	return i, n, n >= i && i >= 1
}

// number reads digits, at most four.
func number(s string) (n int, rest string) {
	i := 0
	for i < len(s) && i < 4 && s[i] >= '0' && s[i] <= '9' {
		n = n*10 + int(s[i]-'0')
		i++
	}
	return n, s[i:]
}
