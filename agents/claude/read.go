package claude

import (
	"strings"
	"time"

	"akk/agents"
)

// This file is the order in which evidence is looked at. Rule: owner before
// composer, and the agent's own signals can only take an answer away or say
// "blocked", never make a screen idle that does not look it.

// Read says what the screen and the signals prove (requirements R2, R7, R10).
func (ag Agent) Read(in agents.Input) agents.Reading {
	r := agents.Reading{Agent: agents.Claude, Activity: agents.ActivityUnknown, Owner: agents.OwnerUnknown, Composer: agents.ComposerUnknown}
	p, verification := ag.known().profiles.For(in.Version)
	r.Profile, r.Verification = p.Name, verification
	if in.Screen == nil {
		return r
	}
	r.Generation, r.Provisional = in.Screen.Generation, in.Screen.Torn
	v := newView(in.Screen, ag.known().wordsOf(p))
	defer v.free()
	var why reasons
	v.read(in, &r, &why)
	v.signals(in, &r, &why)
	v.fromLog(in, &r, &why)
	r.Why = why.list
	return r
}

// read is what the picture, the cursor and the process say.
func (v *view) read(in agents.Input, r *agents.Reading, why *reasons) {
	if v.last < 0 {
		why.add("frame", "blank screen")
		return
	}
	p := v.findComposer()
	if p.holds(v) {
		v.readComposer(in, p, r, why)
		return
	}
	if p.ok && p.bottom < 0 && v.cy == p.row && v.cx == promptColumn && garbage(v, p.row) && v.at(1, p.row-1) == nbsp && v.w.modeRow(v.line(p.row+1)) {
		why.add("cursor", "parked in the composer", v.cy)
		why.add("frame", "cells of an older frame: no rule below the composer", p.row)
		r.Owner = agents.OwnerComposer
		return
	}
	if v.hasLeft(in, r, why) {
		return
	}
	if v.agentsView(r, why) {
		return
	}
	if state, ok := v.viewer(); ok {
		v.readViewer(state, r, why)
		return
	}
	if p.ok && p.bottom > 0 && v.cy > p.bottom {
		v.readFooterFocus(p, r, why)
		return
	}
	v.readPanel(p, r, why)
}

// readComposer is the composer with the cursor parked in it.
func (v *view) readComposer(in agents.Input, p composer, r *agents.Reading, why *reasons) {
	why.add("cursor", "parked in the composer", v.cy)
	r.Owner = agents.OwnerComposer
	activity, _ := v.turn(p, why)
	r.Activity = activity
	empty, known, draft, proof := p.content(v)
	why.add("frame", proof, p.row)
	switch {
	case !known:
		r.Composer = agents.ComposerUnknown
	case empty:
		r.Composer = agents.ComposerEmpty
	default:
		r.Composer = agents.ComposerDraft
		r.Draft, r.DraftCollapsed = draft, v.w.collapsed(draft)
	}
	r.ComposerFlags = p.flags(v, empty, draft)
	if y := v.pending(p.top); y >= 0 {
		why.add("frame", "a permission prompt is held back while somebody types", y)
		r.Activity = agents.Blocked
		r.Dialog = &agents.Dialog{Kind: kindUnknown, Hidden: true, Top: y, Bottom: y}
	}
	if r.Activity == agents.Idle {
		_, row := v.lookTail(p.top)
		r.Background = v.background(p, row)
		v.limited(in, row, r, why)
	}
}

// limited tells of the usage limit that ended the last turn: an error has the
// colour of a warning from its mark on, which no text of the model has; without
// colours only the transcript tells.
func (v *view) limited(in agents.Input, row int, r *agents.Reading, why *reasons) {
	if l := in.Log; l != nil && l.Last != nil && l.Last.Kind == agents.LogFailed && beginsWith(l.Last.Err, v.w.Activity.Limit) {
		r.LimitedUntil = l.Last.Err
		why.add("log", "the last turn failed by a usage limit")
		return
	}
	if row > 0 && v.w.isEnded(v.line(row)) {
		_, row = v.lookTail(row)
	}
	if row < 0 || v.at(0, row) != '●' {
		return
	}
	text := v.from(promptColumn, row)
	if mark := v.style(0, row).Fg; mark == 0 || mark != v.style(promptColumn, row).Fg || !beginsWith(text, v.w.Activity.Limit) {
		return
	}
	for y := row + 1; y <= v.last && v.indent(y) == promptColumn; y++ {
		text += " " + v.trimmed(y)
	}
	r.LimitedUntil = text
	why.add("frame", "error of a usage limit", row)
}

func beginsWith(s string, list []string) bool {
	for _, w := range list {
		if strings.HasPrefix(s, w) {
			return true
		}
	}
	return false
}

// pending is the row that says that a prompt is held back, -1 if none does.
func (v *view) pending(top int) int {
	for y := top - 1; y >= 0 && y >= top-8; y-- {
		if v.at(0, y) != ' ' && !v.blank(y) {
			return -1
		}
		if isOneOf(strings.Trim(v.trimmed(y), "⎿ \u00a0"), v.w.Activity.Pending) {
			return y
		}
	}
	return -1
}

// hasLeft tells whether the agent has given the pane back to a shell. The agent
// says so itself when it ends (cursor on, title empty, keyboard mode popped); a
// killed one says nothing, but then the shell writes into its frame: at the
// left edge, where the agent keeps the cursor's row free.
func (v *view) hasLeft(in agents.Input, r *agents.Reading, why *reasons) bool {
	s := v.s
	switch {
	case s.Cursor.Visible && s.Title == "" && s.Modes.KittyFlags == 0:
		if in.Process != nil {
			why.add("process", "still there, but the terminal's modes are not the agent's")
			if !in.Now.IsZero() && in.Now.Sub(in.Process.StartTime) < startGrace {
				r.Activity = agents.Starting
			}
			return true
		}
		why.add("signal", "cursor shown, title and keyboard mode taken back: the agent has ended")
		r.Activity, r.Owner, r.Composer = agents.Exited, agents.OwnerShell, agents.ComposerHidden
		return true
	case v.foreign():
		why.add("cursor", "at the end of a text at the left edge: somebody else writes here", v.cy)
		if in.Process != nil {
			why.add("process", "still there")
			return true
		}
		r.Owner, r.Composer = agents.OwnerShell, agents.ComposerHidden
		if s.Cursor.Visible {
			why.add("signal", "cursor shown")
			r.Activity = agents.Exited
		}
		return true
	}
	return false
}

// startGrace is how long an agent may take until it has drawn its first frame.
const startGrace = 20 * time.Second

// foreign tells whether the cursor stands behind a text that begins at the left
// edge. The agent parks it there only behind its own marks.
func (v *view) foreign() bool {
	if v.cx == 0 {
		return false
	}
	switch c := v.at(0, v.cy); c {
	case ' ', nbsp, '!', bar, tip, '╌', '│', '╭':
		return false
	case '❯':
		return v.cx >= v.filled(v.cy) && !v.framed()
	case '←':
		return false
	}
	return true
}

// framed tells whether the cursor's row has a line or an option near it, as the
// agent's own rows with a mark have.
func (v *view) framed() bool {
	if _, ok := v.numbered(v.cy); ok {
		return true
	}
	return v.inset(v.cy-1) || v.inset(v.cy+1)
}

// agentsView is the screen that lists sessions: its box starts another one.
func (v *view) agentsView(r *agents.Reading, why *reasons) bool {
	if !strings.Contains(v.s.Title, v.w.Composer.AgentsView) || v.at(0, v.cy) != '❯' {
		return false
	}
	why.add("signal", "title of the list of sessions")
	r.Owner, r.Composer = agents.OwnerOther, agents.ComposerHidden
	for y := 0; y < v.cy; y++ {
		if strings.Contains(v.line(y), v.w.Composer.AgentsIdle) {
			r.Activity = agents.Idle
			why.add("frame", "no session works", y)
		}
	}
	return true
}

// readViewer is the transcript viewer.
func (v *view) readViewer(state string, r *agents.Reading, why *reasons) {
	why.add("frame", "transcript viewer", v.last)
	r.Owner, r.Composer = agents.OwnerViewer, agents.ComposerHidden
	switch {
	case state != "" && state != v.w.Viewer.Waiting && state != v.w.Viewer.Working:
		why.add("frame", "half a frame: the viewer's last row is not whole", v.last)
	case state == v.w.Viewer.Waiting:
		why.add("frame", "viewer says that a dialog waits", v.last)
		r.Activity = agents.Blocked
		r.Dialog = &agents.Dialog{Kind: kindUnknown, Hidden: true, Clipped: true, Top: v.last, Bottom: v.last}
	case state == v.w.Viewer.Working:
		r.Activity = agents.Working
		why.add("frame", "viewer says that a turn runs", v.last)
	case containsAny(v.line(v.last), v.w.Viewer.Tells):
		why.add("frame", "viewer would say that a turn runs", v.last)
		r.Activity = agents.Idle
	default:
		r.Activity = v.viewed(why)
	}
}

// viewed is what the viewer's text shows of the turn: it is not kept up to date
// in all versions, so only an end or an open request counts.
func (v *view) viewed(why *reasons) agents.Activity {
	y := v.last
	for y >= 0 && !v.rule(y) {
		y--
	}
	if y < 0 {
		y = v.last
	}
	t, row := v.lookTail(y)
	switch t {
	case tailEnded:
		why.add("frame", "the text ends with an ended turn", row)
		return agents.Idle
	case tailSpinner:
		why.add("frame", "the text ends with a spinner", row)
		return agents.Working
	case tailPrompt:
		why.add("frame", "the text ends with a request", row)
		return agents.Working
	}
	if t == tailText && row == v.textAbove(y) && toolCall(v.line(row)) {
		why.add("frame", "the text ends with a tool without a result", row)
		return agents.Working
	}
	if containsAny(v.lineAbove(y), v.w.Activity.Running) {
		why.add("frame", "the text ends with a running tool", y-1)
		return agents.Working
	}
	return agents.ActivityUnknown
}

// toolCall tells whether a row is a tool's: "● Bash(ls)".
func toolCall(line string) bool {
	_, rest, _ := strings.Cut(line, " ")
	name, _, ok := strings.Cut(rest, "(")
	return ok && plainName(name) && name[0] >= 'A' && name[0] <= 'Z'
}

// lineAbove is the last row with text above y.
func (v *view) lineAbove(y int) string { return v.line(v.textAbove(y)) }

// textAbove is the last row above y that is not blank, -1 if there is none.
func (v *view) textAbove(y int) int {
	for y--; y >= 0 && v.blank(y); y-- {
	}
	return y
}

// readFooterFocus is the composer drawn, but the cursor parked below it.
func (v *view) readFooterFocus(p composer, r *agents.Reading, why *reasons) {
	r.Activity, _ = v.turn(p, why)
	focus := false
	for y := p.bottom + 1; y <= v.last; y++ {
		focus = focus || containsAny(v.line(y), v.w.Activity.FooterFocus)
	}
	if !focus {
		r.Activity = agents.ActivityUnknown
		why.add("cursor", "below the composer, on nothing known", v.cy)
		return
	}
	why.add("cursor", "on the footer, not in the composer", v.cy)
	r.Owner = agents.OwnerOther
	v.drawn(p, r)
	if r.Activity == agents.Idle {
		_, row := v.lookTail(p.top)
		r.Background = v.background(p, row)
	}
}

// drawn is the state of a composer that is drawn but has not the keys.
func (v *view) drawn(p composer, r *agents.Reading) {
	switch {
	case !p.ok:
		r.Composer = agents.ComposerHidden
	case p.bottom == p.row+1 && v.filled(p.row) <= promptColumn:
		r.Composer = agents.ComposerEmpty
	case p.bottom > p.row:
		r.Composer = agents.ComposerDraft
		r.Draft = v.draft(p)
	}
}
