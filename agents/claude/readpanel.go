package claude

import (
	"strings"

	"akk/agents"
)

// This file reads what takes the composer's place or its keys: prompts, menus,
// viewers, startup questions. Rule: a panel that has no name is a menu only if
// it shows its keys and the cursor is on it; else the owner is unknown.

// readPanel is everything that takes the composer's place or its keys.
func (v *view) readPanel(c composer, r *agents.Reading, why *reasons) {
	if c.ok && c.bottom < 0 {
		c.ok = false
	}
	if c.ok && v.cy >= c.top {
		why.add("cursor", "neither in the composer nor on a panel", v.cy)
		return
	}
	p := v.findPanel(v.limit(c))
	kind, owner := "", ""
	if p.spec != nil {
		kind, owner = p.spec.Kind, p.spec.Owner
		why.add("frame", "panel: "+v.trimmed(p.title), max(p.top, 0), p.bottom)
	}
	var d *agents.Dialog
	var o agents.Owner
	ok := false
	switch {
	case kind == "question":
		d, o, ok = v.question(p, why)
	case kind == "elicitation":
		d, o, ok = v.elicitation(p, why)
	case owner == "approval":
		d, o, ok = v.approval(p, kind, why)
	case owner == "startup":
		v.readStartup(p, r, why)
		return
	case owner == "viewer" || owner == "menu":
		v.readMenu(p, c, agents.Owner(owner), r, why)
		return
	case v.startupScreen(r, why):
		return
	default:
		v.readUnnamed(p, c, r, why)
		return
	}
	if ok && c.ok {
		why.add("frame", "half a frame: a composer is still drawn below a prompt", c.row)
		return
	}
	if !ok {
		why.add("cursor", "not where this panel has it: half a frame, or left over", v.cy)
		return
	}
	v.blocked(d, o, c, r)
}

// blocked fills in a dialog that has the keys.
func (v *view) blocked(d *agents.Dialog, o agents.Owner, c composer, r *agents.Reading) {
	r.Activity, r.Owner, r.Dialog = agents.Blocked, o, d
	v.drawn(c, r)
	d.Fingerprint = v.fingerprint(d.Top, d.Bottom)
}

// fingerprint is over the region's cells; nothing in a dialog blinks but the
// spinner's glyph, which is outside of it.
func (v *view) fingerprint(top, bottom int) string { return agents.Fingerprint(v.s, top, bottom, nil) }

// readUnnamed is a panel whose title is cut off or unknown.
func (v *view) readUnnamed(p panel, c composer, r *agents.Reading, why *reasons) {
	var tried reasons // what an attempt that failed has seen is no evidence
	d, o, ok := v.approval(p, "", &tried)
	if ok && !c.ok && (d.Prompt != "" || p.clipped && v.hintRow(p) > 0) {
		why.list = append(why.list, tried.list...)
		why.add("frame", "numbered answers to a question", d.Top, d.Bottom)
		v.blocked(d, o, c, r)
		return
	}
	if p.clipped && !c.ok {
		tried.list = nil
		if d, o, ok := v.elicitation(p, &tried); ok {
			why.list = append(why.list, tried.list...)
			why.add("frame", "the end of a form", d.Bottom)
			d.Clipped = true
			v.blocked(d, o, c, r)
			return
		}
	}
	if p.top < 0 || v.hintRow(p) < 0 && !v.optionsOnly(p) {
		why.add("frame", "nothing that is known has the cursor", v.cy)
		return
	}
	v.readMenu(p, c, agents.OwnerMenu, r, why)
}

// optionsOnly tells whether the cursor is on the mark of a row in the panel.
// (not at the left edge, where a message of the human has one).
func (v *view) optionsOnly(p panel) bool {
	return v.cy > p.top && v.cx > 0 && v.marked(v.cy) == v.cx
}

// readMenu is a panel that a human opened.
func (v *view) readMenu(p panel, c composer, owner agents.Owner, r *agents.Reading, why *reasons) {
	if v.cy <= p.top || v.cy > p.bottom && v.cx != 0 {
		why.add("cursor", "not on the panel", v.cy)
		return
	}
	why.add("cursor", "on a panel", v.cy)
	r.Owner = owner
	v.drawn(c, r)
	r.Activity = v.behind(p, c, why)
	if r.Activity == agents.Idle {
		_, row := v.lookTail(p.top)
		r.Background = row >= 0 && containsAny(v.line(row), v.w.Activity.Background)
	}
}

// behind is what a panel leaves to see of the turn behind it.
func (v *view) behind(p panel, c composer, why *reasons) agents.Activity {
	t, row := v.lookTail(p.top)
	if t == tailSpinner {
		why.add("frame", "spinner row above the panel", row)
		return agents.Working
	}
	if c.ok {
		switch f := v.footer(c); {
		case f == footerBusy || c.muted:
			if t == tailText || t == tailUnknown {
				// The turn's spinner is gone from above the panel, or the panel
				// hides it: a prompt of it may be waiting behind the panel.
				why.add("frame", "a turn runs, its spinner is not shown", c.row)
				return agents.ActivityUnknown
			}
			why.add("frame", "composer of a running turn below the panel", c.row)
			return agents.Working
		case v.style(0, c.top).Fg != 0 || f == footerIdle:
			why.add("frame", "composer of no turn below the panel", c.row)
			return agents.Idle
		}
		return agents.ActivityUnknown
	}
	switch t {
	case tailEnded, tailEcho:
		why.add("frame", "no turn runs above the panel", row)
		return agents.Idle
	case tailNone:
		return agents.Idle
	}
	return agents.ActivityUnknown
}

// readStartup is a question before the first composer, or one that the agent
// asks once.
func (v *view) readStartup(p panel, r *agents.Reading, why *reasons) {
	if v.cy <= p.top || v.cy > p.bottom+1 {
		why.add("cursor", "not on the startup question", v.cy)
		return
	}
	why.add("cursor", "on a startup question", v.cy)
	r.Owner, r.Composer, r.Activity = agents.OwnerStartup, agents.ComposerHidden, agents.Starting
	r.Dialog = v.startupDialog(p)
}

// startupScreen is a page of the first start, which has no line above it.
func (v *view) startupScreen(r *agents.Reading, why *reasons) bool {
	for y := 0; y <= v.last; y++ {
		if v.at(0, y) != ' ' || v.at(1, y) == ' ' {
			continue
		}
		for _, s := range v.w.Startup {
			if strings.HasPrefix(v.trimmed(y), s.Row) && v.cy > y {
				why.add("frame", "page of the first start", y)
				r.Owner, r.Composer, r.Activity = agents.OwnerStartup, agents.ComposerHidden, agents.Starting
				r.Dialog = v.startupDialog(panel{top: y, title: y, bottom: v.last})
				return true
			}
		}
	}
	return false
}

// startupDialog reads the rows of a startup question: numbered, or all rows at
// the column of the marked one.
func (v *view) startupDialog(p panel) *agents.Dialog {
	d := &agents.Dialog{Kind: "startup", Prompt: v.trimmed(p.title), Top: max(p.top, 0), Bottom: p.bottom}
	list := v.list(p.title+1, p.bottom)
	if sel := v.marked(v.cy); len(list) == 0 && sel >= 0 {
		for y := v.cy; y > p.title && (y == v.cy || v.indent(y) == sel+2); y-- {
			list = append([]option{{row: y, DialogOption: agents.DialogOption{Label: v.from(sel+2, y)}}}, list...)
		}
		for y := v.cy + 1; y <= p.bottom && v.indent(y) == sel+2; y++ {
			list = append(list, option{row: y, DialogOption: agents.DialogOption{Label: v.from(sel+2, y)}})
		}
	}
	for i := range list {
		list[i].Label, list[i].Checked = chosen(list[i].Label)
	}
	d.Options = plainOptions(list)
	if i := indexOf(list, v.cy); i >= 0 {
		d.Selected = &i
	}
	d.Fingerprint = v.fingerprint(d.Top, d.Bottom)
	return d
}
