package ui

import (
	"os"

	"github.com/gdamore/tcell/v2"
)

// This file puts a Picture on a tcell screen. Rule: a role is never told by
// its colour alone, so without colours bold, reverse and the letters remain.

// palette maps a role to a style; colours are palette numbers, so that they
// follow the user's own theme.
type palette map[Role]tcell.Style

// newPalette obeys NO_COLOR (any value but the empty one, as no-color.org says).
func newPalette(colours bool) palette {
	d := tcell.StyleDefault
	fg := func(c tcell.Color) tcell.Style {
		if colours {
			return d.Foreground(c)
		}
		return d
	}
	return palette{
		Plain:    d,
		Dim:      d.Dim(true),
		Strong:   d.Bold(true),
		Title:    d.Bold(true).Reverse(true),
		Key:      d.Bold(true),
		Blocked:  fg(tcell.ColorMaroon).Bold(true),
		Ready:    fg(tcell.ColorGreen),
		Working:  fg(tcell.ColorTeal),
		Unknown:  fg(tcell.ColorPurple).Bold(true),
		Inactive: d.Dim(true),
		Record:   fg(tcell.ColorOlive).Bold(true),
		Alert:    fg(tcell.ColorOlive).Bold(true),
	}
}

// wantColours tells what the environment asks for.
func wantColours() bool { return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" }

// blit draws a picture; the screen itself sends only what differs.
func blit(s tcell.Screen, p Picture, pal palette) {
	for y := range p.H {
		for x := range p.W {
			c := p.At(x, y)
			if c.Width == 0 {
				continue
			}
			st := pal[c.Role]
			if c.Selected {
				st = st.Reverse(true).Dim(false)
			}
			s.Put(x, y, c.Text, st)
		}
	}
	s.Show()
}
