package vtparse

import (
	"bytes"
	"fmt"
	"html"
	"strings"
	"unicode"
)

// This file draws a Screen elsewhere: as text with escape sequences, and as a
// picture. Rules: what is drawn is what the screen holds, but no control
// character leaves (newer tmux keeps C1 in cells); colours of the palette are
// the usual ones, since only the user's terminal knows its own.

// ANSI returns the rows as text with SGR sequences, a newline after each, and
// the default style at the end of every row.
func (s *Screen) ANSI() string {
	var b strings.Builder
	for y := range s.Rows {
		runs := s.Row(y).Runs()
		if n := len(runs); n > 0 && runs[n-1].Style == (Style{}) {
			runs[n-1].Text = strings.TrimRight(runs[n-1].Text, " ")
		}
		for _, run := range runs {
			if sgr := run.Style.SGR(); sgr != "" {
				fmt.Fprintf(&b, "\x1b[%sm%s\x1b[0m", sgr, clean(run.Text))
			} else {
				b.WriteString(clean(run.Text))
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// clean drops control characters, and the two that XML has no place for.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == 0xfffe || r == 0xffff {
			return -1
		}
		return r
	}, s)
}

const (
	svgCellWidth  = 8.4 // px, of a 14 px monospace font
	svgCellHeight = 18  // px
	svgMargin     = 12  // px around the text
	svgForeground = "#d8dee9"
	svgBackground = "#1e222a"
)

// SVG returns the screen as a picture: well-formed XML without scripts or
// links, whatever the screen holds.
func (s *Screen) SVG() string {
	var b bytes.Buffer
	width := float64(s.Cols)*svgCellWidth + 2*svgMargin
	height := s.Rows*svgCellHeight + 2*svgMargin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" viewBox="0 0 %.0f %d">`+"\n", width, height, width, height)
	if s.Title != "" {
		fmt.Fprintf(&b, "<title>%s</title>\n", html.EscapeString(clean(s.Title)))
	}
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="6" fill="%s"/>`+"\n", svgBackground)
	b.WriteString(`<g font-family="ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="14" xml:space="preserve">` + "\n")
	for y := range s.Rows {
		s.svgRow(&b, y)
	}
	if c := s.Cursor; c.Visible { // with a wrap pending it stands on the last column
		fmt.Fprintf(&b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s" fill-opacity="0.5"/>`+"\n",
			svgX(min(c.X, s.Cols-1)), svgMargin+c.Y*svgCellHeight, svgCellWidth, svgCellHeight, svgForeground)
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

func svgX(x int) float64 { return svgMargin + float64(x)*svgCellWidth }

// svgRow draws stretches of one style: the background first, then the text,
// stretched to the columns that it takes. A wide character is a stretch of its
// own, because fonts differ in how wide it is.
func (s *Screen) svgRow(b *bytes.Buffer, y int) {
	r := s.Row(y)
	top := svgMargin + y*svgCellHeight
	for x := 0; x < r.Len(); {
		style, from := r.Style(x), x
		var text strings.Builder
		if r.Width(x) != 1 {
			text.WriteString(r.Text(x))
			if x++; r.Width(from) == 2 && x < r.Len() && r.Width(x) == 0 {
				x++
			}
		}
		for ; x < r.Len() && r.Style(x) == style && r.Width(x) == 1 && r.Width(from) == 1; x++ {
			text.WriteString(r.Text(x))
		}
		fg, bg := svgColors(style)
		w := float64(x-from) * svgCellWidth
		if bg != "" {
			fmt.Fprintf(b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`+"\n", svgX(from), top, w, svgCellHeight, bg)
		}
		if strings.Trim(text.String(), " ") == "" && !style.Has(Underline) && !style.Has(Strike) && !style.Has(Overline) || style.Has(Hidden) {
			continue
		}
		fmt.Fprintf(b, `<text x="%.1f" y="%d" textLength="%.1f" fill="%s"%s>%s</text>`+"\n",
			svgX(from), top+svgCellHeight-5, w, fg, svgAttributes(style), html.EscapeString(clean(text.String())))
	}
}

// svgColors returns both colours; bg is "" for the picture's own.
func svgColors(s Style) (fg, bg string) {
	fg, bg = svgColor(s.Fg), svgColor(s.Bg)
	if s.Has(Reverse) {
		fg, bg = bg, fg
		if bg == "" {
			bg = svgForeground
		}
		if fg == "" {
			fg = svgBackground
		}
	}
	if fg == "" {
		fg = svgForeground
	}
	return fg, bg
}

func svgAttributes(s Style) string {
	var a string
	if s.Has(Bold) {
		a += ` font-weight="bold"`
	}
	if s.Has(Italic) {
		a += ` font-style="italic"`
	}
	if s.Has(Faint) {
		a += ` fill-opacity="0.6"`
	}
	var lines []string
	for _, l := range [...]struct {
		attr Attr
		name string
	}{{Underline, "underline"}, {Strike, "line-through"}, {Overline, "overline"}} {
		if s.Has(l.attr) {
			lines = append(lines, l.name)
		}
	}
	if len(lines) > 0 {
		a += ` text-decoration="` + strings.Join(lines, " ") + `"`
		if u := s.UlStyle; s.Has(Underline) && int(u) < len(svgUnderlines) && svgUnderlines[u] != "" {
			a += ` style="text-decoration-style:` + svgUnderlines[u] + `"`
		}
	}
	return a
}

// svgUnderlines are the CSS names of the underline styles other than one line.
var svgUnderlines = [...]string{2: "double", 3: "wavy", 4: "dotted", 5: "dashed"}

// svgPalette are the first 16 colours, as xterm has them.
var svgPalette = [16]string{
	"#000000", "#cd0000", "#00cd00", "#cdcd00", "#3b78ff", "#cd00cd", "#00cdcd", "#e5e5e5",
	"#7f7f7f", "#ff0000", "#00ff00", "#ffff00", "#5c5cff", "#ff00ff", "#00ffff", "#ffffff",
}

func svgColor(c Color) string {
	if r, g, b, ok := c.RGB(); ok {
		return fmt.Sprintf("#%02x%02x%02x", r, g, b)
	}
	n, ok := c.Index()
	switch {
	case !ok:
		return ""
	case n < 16:
		return svgPalette[n]
	case n >= 232: // grey ramp
		v := 8 + 10*int(n-232)
		return fmt.Sprintf("#%02x%02x%02x", v, v, v)
	}
	level := func(i uint8) int { // 6 levels a component
		if i == 0 {
			return 0
		}
		return 55 + 40*int(i)
	}
	n -= 16
	return fmt.Sprintf("#%02x%02x%02x", level(n/36), level(n/6%6), level(n%6))
}
