package vtparse

import "sync"

// This file answers how many columns a character takes. Rule: the answer is
// the tmux server's, so a table is taken from a C library, not from Unicode.

// widthRange says that lo..hi are w columns wide, -1 for "not printable".
type widthRange struct {
	lo, hi rune
	w      int8
}

// widthTable is two-staged: pages of 256 characters, equal pages shared.
type widthTable struct {
	page  [0x1100]uint16
	pages [][256]int8
}

func (w *widthTable) of(r rune) int { return int(w.pages[w.page[r>>8&0x1fff]][r&0xff]) }

var glibc236 = sync.OnceValue(func() *widthTable { return buildWidths(widthGlibc236, 1) })

// buildWidths makes a table of sorted ranges; everything else is rest wide.
func buildWidths(ranges []widthRange, rest int8) *widthTable {
	t := new(widthTable)
	seen := map[[256]int8]uint16{}
	next := 0
	for p := range t.page {
		var page [256]int8
		for i := range page {
			page[i] = rest
		}
		lo, hi := rune(p)<<8, rune(p)<<8|0xff
		for next < len(ranges) && ranges[next].hi < lo {
			next++
		}
		for _, r := range ranges[next:] {
			if r.lo > hi {
				break
			}
			for c := max(r.lo, lo); c <= min(r.hi, hi); c++ {
				page[c-lo] = r.w
			}
		}
		n, ok := seen[page]
		if !ok {
			n = uint16(len(t.pages))
			seen[page] = n
			t.pages = append(t.pages, page)
		}
		t.page[p] = n
	}
	return t
}
