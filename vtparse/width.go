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

// forcedWide are the characters that tmux from 3.4 on draws two columns wide
// whatever the C library says, as pairs of first and last.
var forcedWide = []rune{
	0x261d, 0x261d, 0x26f9, 0x26f9, 0x270a, 0x270d, 0x1f385, 0x1f385, 0x1f3c2, 0x1f3c4, 0x1f3c7, 0x1f3c7,
	0x1f3ca, 0x1f3cc, 0x1f3fb, 0x1f3ff, 0x1f442, 0x1f443, 0x1f446, 0x1f450, 0x1f466, 0x1f469, 0x1f46b, 0x1f46e,
	0x1f470, 0x1f478, 0x1f47c, 0x1f47c, 0x1f481, 0x1f483, 0x1f485, 0x1f487, 0x1f48f, 0x1f48f, 0x1f491, 0x1f491,
	0x1f4aa, 0x1f4aa, 0x1f574, 0x1f575, 0x1f57a, 0x1f57a, 0x1f590, 0x1f590, 0x1f595, 0x1f596, 0x1f645, 0x1f647,
	0x1f64b, 0x1f64f, 0x1f6a3, 0x1f6a3, 0x1f6b4, 0x1f6b6, 0x1f6c0, 0x1f6c0, 0x1f6cc, 0x1f6cc, 0x1f90c, 0x1f90c,
	0x1f90f, 0x1f90f, 0x1f918, 0x1f91f, 0x1f926, 0x1f926, 0x1f930, 0x1f939, 0x1f93d, 0x1f93e, 0x1f977, 0x1f977,
	0x1f9b5, 0x1f9b6, 0x1f9b8, 0x1f9b9, 0x1f9bb, 0x1f9bb, 0x1f9cd, 0x1f9cf, 0x1f9d1, 0x1f9dd, 0x1fac3, 0x1fac5,
	0x1faf0, 0x1faf8,
}

// regionalWide are the letters of flags: wide in tmux 3.4 and 3.5.
var regionalWide = []rune{0x1f1e6, 0x1f1ff}

var (
	tmux34Widths = sync.OnceValue(func() *widthTable { return newerWidths(append(regionalWide, forcedWide...)) })
	tmux36Widths = sync.OnceValue(func() *widthTable { return newerWidths(forcedWide) })
)

// newerWidths follows tmux 3.4 and later: what the library calls not
// printable is one column wide, C1 controls none.
func newerWidths(wide []rune) *widthTable {
	ranges := make([]widthRange, 0, len(widthGlibc236)+1)
	for _, r := range widthGlibc236 {
		switch {
		case r.lo == 0x7f: // DEL and C1 are one range
			ranges = append(ranges, widthRange{0x80, 0x9f, 0})
		case r.w >= 0:
			ranges = append(ranges, r)
		}
	}
	t := buildWidths(ranges, 1)
	for i := 0; i < len(wide); i += 2 {
		for r := wide[i]; r <= wide[i+1]; r++ {
			t.set(r, 2)
		}
	}
	return t
}

// set changes one character; its page may be shared, so it gets its own.
func (w *widthTable) set(r rune, width int8) {
	page := w.pages[w.page[r>>8]]
	if page[r&0xff] == width {
		return
	}
	page[r&0xff] = width
	w.pages = append(w.pages, page)
	w.page[r>>8] = uint16(len(w.pages) - 1)
}
