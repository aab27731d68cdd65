package handoff

// This file decides whether the composer shows exactly our text. It upholds:
// Enter only on exactly our text (B25, B31, scenario 41).

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"akk/agents"
)

// pasteMarker is what an agent draws instead of a long paste; both agents put
// it in brackets and begin it with "Pasted" (codex.md §4, claude-code.md §6.2).
var (
	pasteMarker = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[Pasted [^\]]*\]`) })
	markerChars = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`([\d,.]+) chars?`) })
	markerLines = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\+([\d,.]+) lines?`) })
)

// drawn tells whether the reading's draft is our text, and Enter would submit
// it: over an open list of completions it would take a suggestion (B26).
func drawn(r agents.Reading, text string) bool { return stands(r, text) && !suggesting(r) }

// suggesting tells whether a list of completions is open.
func suggesting(r agents.Reading) bool { return slices.Contains(r.ComposerFlags, "popup") }

// stands tells whether the reading's draft is our text. White space is left
// out of the comparison: a composer wraps, indents and expands it; every other
// character counts.
func stands(r agents.Reading, text string) bool {
	if r.Owner != agents.OwnerComposer || r.Composer != agents.ComposerDraft {
		return false
	}
	if !r.DraftCollapsed {
		return squeeze(r.Draft) == squeeze(text)
	}
	marks := pasteMarker().FindAllString(r.Draft, -1)
	rest := pasteMarker().ReplaceAllString(r.Draft, "")
	return len(marks) == 1 && squeeze(rest) == "" && markerFits(marks[0], text)
}

// Drawn tells whether the composer shows this dispatch's text. After a restart
// only its hash is left (R226), which a wrapped text does not fit.
func (d *Dispatch) Drawn(r agents.Reading) bool {
	if d.Text != "" {
		return stands(r, d.Text)
	}
	return r.Owner == agents.OwnerComposer && r.Composer == agents.ComposerDraft && !r.DraftCollapsed && agents.HashRequest(r.Draft) == d.Turn.Hash
}

// markerFits compares the size that a marker tells with our text's. A marker
// without a size fits only a text of one line.
func markerFits(mark, text string) bool {
	trimmed := strings.TrimRight(text, "\n")
	lines := strings.Count(trimmed, "\n")
	if m := markerChars().FindStringSubmatch(mark); m != nil {
		n := number(m[1])
		return n == utf8.RuneCountInString(text) || n == utf8.RuneCountInString(trimmed)
	}
	if m := markerLines().FindStringSubmatch(mark); m != nil {
		n := number(m[1])
		return n == lines || n == strings.Count(text, "\n")
	}
	return lines == 0
}

func number(s string) int {
	n, err := strconv.Atoi(strings.NewReplacer(",", "", ".", "").Replace(s))
	if err != nil {
		return -1
	}
	return n
}

func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}
