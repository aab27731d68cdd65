package codex

import (
	"akk/agents"
)

// This file puts the layers together. Rules: owner before composer; half a
// frame proves nothing; what contradicts is unknown.

// Read implements agents.Agent.
func (Agent) Read(in agents.Input) agents.Reading {
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
	f.p, f.r.Profile, f.r.Verification = profileFor(in.Version)
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
	if !gone && !f.sig.clear && !f.farewell() {
		return false
	}
	f.r.Owner, f.r.Composer, f.r.Activity = agents.OwnerShell, agents.ComposerHidden, agents.Exited
	switch {
	case gone:
		f.why("signal", "bracketed paste is off: the program has left the terminal")
	case f.sig.clear:
		f.why("signal", "program status: clear")
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
