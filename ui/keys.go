package ui

import "cmp"

// Keys are the keys that a human may choose, one character each; "" is the
// default. Arrows, Enter, Escape and the mouse can't be changed.
type Keys struct {
	Up, Down, First, Last, Help, Leave string
	Takeover, Handback, Restore        string
}

func (k Keys) withDefaults() Keys {
	return Keys{
		Up: cmp.Or(k.Up, "k"), Down: cmp.Or(k.Down, "j"), First: cmp.Or(k.First, "g"), Last: cmp.Or(k.Last, "G"),
		Help: cmp.Or(k.Help, "?"), Leave: cmp.Or(k.Leave, "q"),
		Takeover: cmp.Or(k.Takeover, "t"), Handback: cmp.Or(k.Handback, "b"), Restore: cmp.Or(k.Restore, "r"),
	}
}

// help are the lines of the help page.
func (k Keys) help() [][2]string {
	return [][2]string{
		{k.Down + " " + k.Up + " ↓ ↑", "choose"},
		{"⏎ click", "go to that pane"},
		{k.First + " " + k.Last, "first, last"},
		{k.Takeover, "take over from Hosts"},
		{k.Handback, "hand back to them"},
		{k.Restore, "put cleared draft back"},
		{"^L", "draw again"},
		{k.Help + " esc", "this page"},
		{k.Leave, "leave"},
	}
}
