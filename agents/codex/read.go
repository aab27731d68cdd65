package codex

import (
	"strings"

	"akk/agents"
)

// This file puts the layers together. Rules: owner before composer; half a
// frame proves nothing; what contradicts is unknown.

// Read implements agents.Agent.
func (ag Agent) Read(in agents.Input) agents.Reading {
	f := frame{in: in, s: in.Screen}
	f.r = agents.Reading{
		Agent: agents.Codex, Activity: agents.ActivityUnknown,
		Owner: agents.OwnerUnknown, Composer: agents.ComposerUnknown,
	}
	if f.s == nil {
		f.why("frame", "no screen")
		return f.r
	}
	f.r.Generation = f.s.Generation
	f.p, f.r.Profile, f.r.Verification = ag.profileFor(in.Version)
	f.last = agents.LastRow(f.s)
	f.readSignals()
	if f.left() {
		return f.r
	}
	switch {
	case f.last < 0:
		f.why("frame", "blank screen")
	case f.s.Cursor.Visible && f.composer():
	case f.panel():
	case f.s.Cursor.Visible:
		f.why("cursor", "visible, but neither in a composer nor in a known text field", f.s.Cursor.Y)
	default:
		f.why("cursor", "hidden, and no known panel at the bottom", f.last)
	}
	f.activity()
	if f.s.Torn {
		f.torn()
	}
	return f.r
}

// left recognises that Codex has gone (or has not drawn yet): it gives
// bracketed paste back when it leaves.
func (f *frame) left() bool {
	gone := f.s.Modes.Known && !f.s.Modes.BracketedPaste
	died := f.died()
	if !gone && !f.sig.clear && died < 0 && !f.farewell() {
		return false
	}
	f.r.Owner, f.r.Composer, f.r.Activity = agents.OwnerShell, agents.ComposerHidden, agents.Exited
	switch {
	case gone:
		f.why("signal", "bracketed paste is off: the program has left the terminal")
	case f.sig.clear:
		f.why("signal", "program status: clear")
	case died >= 0:
		f.why("frame", "a shell told of the agent's death and prompts", died, f.s.Cursor.Y)
	default:
		f.why("frame", "farewell text", f.last)
	}
	if f.in.Process != nil && gone && f.s.Modes.Known && !f.sig.clear && !f.farewell() && !f.sig.named {
		// The process lives and has never drawn: it is on its way up.
		f.r.Activity, f.r.Owner, f.r.Composer = agents.Starting, agents.OwnerUnknown, agents.ComposerUnknown
		f.why("process", "alive")
	}
	return true
}

// shellPrompt tells whether the cursor stands right behind what ends like a
// shell's prompt.
func (f *frame) shellPrompt() bool {
	c := f.s.Cursor
	r := f.s.Row(c.Y)
	return c.X >= 3 && r.Rune(c.X-1) == ' ' && strings.ContainsRune("$#%>❯➜λ", r.Rune(c.X-2)) && agents.RowEnd(r) <= c.X
}

// died finds the row in which a shell told that the agent was killed, while
// that shell prompts now; -1 if there is none. The word stands at the left
// edge or in what was the composer: an answer can't put it there.
func (f *frame) died() int {
	if !f.shellPrompt() {
		return -1
	}
	for y := f.s.Cursor.Y; y >= 0 && y > f.s.Cursor.Y-maxShellRows; y-- {
		r := f.s.Row(y)
		if has(r, 0, f.p.Composer.Died) != "" {
			return y
		}
		if !f.isMarker(r) {
			continue
		}
		for _, w := range f.p.Composer.Died {
			if agents.RowFind(r, 2, w) >= 0 {
				return y
			}
		}
		return -1
	}
	return -1
}

// maxShellRows bounds how much a shell may have printed since the agent died.
const maxShellRows = 40

// farewell finds the text that Codex prints last, while no title is set.
func (f *frame) farewell() bool {
	if f.sig.named || f.s.Alternate {
		return false
	}
	for y := f.last; y >= 0 && y >= f.last-2; y-- {
		if agents.RowHas(f.s.Row(y), 0, f.p.Composer.Resume) {
			return true
		}
	}
	return false
}

// torn takes back what a half frame can't prove: only the way down stays.
func (f *frame) torn() {
	f.r.Provisional = true
	f.why("frame", "torn: a synchronized update is open")
	if f.r.Activity == agents.Idle {
		f.r.Activity = agents.ActivityUnknown
	}
	if f.r.Owner == agents.OwnerComposer {
		f.r.Owner = agents.OwnerUnknown
	}
	if f.r.Composer != agents.ComposerHidden {
		f.r.Composer = agents.ComposerUnknown
	}
	f.r.Dialog = nil
}
