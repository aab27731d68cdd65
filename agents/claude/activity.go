package claude

import (
	"strconv"
	"strings"

	"akk/agents"
)

// This file says whether a turn runs. Rule: the spinner's glyph and verb are
// any (they change with every version and every task), so what counts is where
// the row stands and what it ends in; and idle needs a frame that is complete.

// tail is what stands directly above the composer or a panel.
type tail int

const (
	tailNone    tail = iota // nothing, or the banner: no turn was ever asked for
	tailSpinner             // a turn runs
	tailEnded               // the row that ends a turn, or an interrupt
	tailEcho                // a slash command or its result
	tailPrompt              // a user message without an answer
	tailText                // the agent's text or a tool
	tailUnknown             // the picture is cut off
)

// lookTail reads upwards from row y (exclusive) to the first row that begins at
// the left edge: everything of the transcript that belongs to such a row is
// indented, so model text can't take its place.
func (v *view) lookTail(y int) (t tail, row int) {
	result := ""
	for y--; y >= 0; y-- {
		c := v.at(0, y)
		if c == ' ' {
			// "⎿" rows are the result of the row above them.
			if x := v.indent(y); x >= 0 && x <= 4 && v.at(x, y) == '⎿' && result == "" {
				result = v.line(y)
			}
			continue
		}
		line := v.line(y)
		switch {
		case c == '❯' && v.at(1, y) == ' ':
			if containsAny(result, v.w.Activity.QueuedResult) {
				result = ""
				continue
			}
			if strings.HasPrefix(v.from(2, y), "/") {
				return tailEcho, y
			}
			if containsAny(result, v.w.Activity.Interrupted) {
				return tailEnded, y
			}
			return tailPrompt, y
		case c == '●' || c == '⏺':
			if containsAny(result, v.w.Activity.Interrupted) {
				return tailEnded, y
			}
			if containsAny(line, v.w.Activity.EndedText) {
				return tailEnded, y
			}
			return tailText, y
		case c == '▎' || v.bannerRow(y):
			return tailNone, y
		case v.w.isEnded(line):
			return tailEnded, y
		case v.w.isSpinner(line):
			return tailSpinner, y
		}
		if v.inset(y) || c == '╭' || c == '╰' {
			continue
		}
		return tailUnknown, y
	}
	if v.last < 0 {
		return tailNone, -1
	}
	if containsAny(result, v.w.Activity.SpinnerResult) {
		return tailSpinner, 0 // the spinner itself is just off the screen
	}
	return tailUnknown, -1
}

// bannerRow tells whether the row is of the logo: blocks at the left edge.
func (v *view) bannerRow(y int) bool {
	for x := 0; x < 3; x++ {
		if c := v.at(x, y); c >= '▀' && c <= '▟' {
			return true
		}
	}
	return false
}

// isSpinner tells whether a row at the left edge is the spinner's: one glyph, a
// blank, a text that ends in an ellipsis before its bracket, or one of the
// profile's other forms ("retrying in 3s").
func (w *words) isSpinner(line string) bool {
	glyph, rest, ok := strings.Cut(line, " ")
	if !ok || len([]rune(glyph)) != 1 {
		return false
	}
	r := []rune(glyph)[0]
	if r < 0x80 && r != '*' || r == '❯' || r == '●' {
		return false
	}
	head := rest
	if i := strings.Index(rest, " ("); i > 0 {
		head = rest[:i]
	}
	return strings.HasSuffix(strings.TrimRight(head, " "), "…") || containsAny(rest, w.Activity.Spinner)
}

// isEnded tells whether a row at the left edge ends a turn: "✻ Baked for 4s",
// "✻ Waiting for 1 background agent to finish".
func (w *words) isEnded(line string) bool {
	r := []rune(line)
	if len(r) < 4 || !strings.ContainsRune(w.Activity.Glyphs, r[0]) || r[1] != ' ' && r[1] != nbsp {
		return false
	}
	rest := string(r[2:])
	for _, p := range w.Activity.EndedPrefix {
		if strings.HasPrefix(rest, p) {
			return true
		}
	}
	_, d, ok := strings.Cut(rest, " for ")
	if !ok {
		return false
	}
	d, _, _ = strings.Cut(d, " ·")
	return duration(d)
}

// duration tells whether s is like "4s", "3m 04s", "1h 2m 3s".
func duration(s string) bool {
	fields := strings.Fields(s)
	for _, f := range fields {
		if len(f) < 2 || !strings.ContainsRune("hms", rune(f[len(f)-1])) {
			return false
		}
		if _, err := strconv.ParseFloat(f[:len(f)-1], 64); err != nil {
			return false
		}
	}
	return len(fields) > 0
}

// background tells whether the frame shows work that goes on without a turn.
func (v *view) background(p composer, tailRow int) bool {
	if tailRow >= 0 && containsAny(v.line(tailRow), v.w.Activity.Background) {
		return true
	}
	for y := p.bottom + 1; y > 0 && y <= v.last; y++ {
		l := v.line(y)
		if containsAny(l, v.w.Activity.Background) || v.w.shellCount(l) {
			return true
		}
	}
	return false
}

// shellCount finds "· 2 shells ·" in a footer.
func (w *words) shellCount(l string) bool {
	for _, part := range strings.Split(l, "·") {
		n, unit, ok := strings.Cut(strings.TrimSpace(part), " ")
		if _, err := strconv.Atoi(n); ok && err == nil && containsAny(unit, w.Activity.Tasks) {
			return true
		}
	}
	return false
}

// footerState is what the rows below the composer say.
type footerState int

const (
	footerMissing footerState = iota // nothing there: half a frame
	footerOther                      // a popup, a hint, an unknown row
	footerIdle                       // a hint that only an empty composer without a turn has
	footerBusy                       // "esc to interrupt"
	footerMode                       // the mode row alone: says neither
	footerBare                       // the mode row before the agent is up
)

func (v *view) footer(p composer) footerState {
	if p.bottom < 0 {
		return footerMissing
	}
	state := footerMissing
	for y := p.bottom + 1; y <= v.last; y++ {
		l := v.line(y)
		if l == "" {
			continue
		}
		switch {
		case containsAny(l, v.w.Activity.Busy):
			return footerBusy
		case containsAny(l, v.w.Activity.IdleHints):
			state = footerIdle
		case state == footerMissing && v.w.modeRow(l):
			state = footerMode
			if v.w.bareMode(l) {
				state = footerBare
			}
		case state == footerMissing:
			state = footerOther
		}
	}
	return state
}

// turn is the activity with the composer on the screen.
func (v *view) turn(p composer, why *reasons) (agents.Activity, bool) {
	f := v.footer(p)
	t, row := v.lookTail(p.top)
	colour := v.style(0, p.top).Fg != 0 // without colours (NO_COLOR) the marker tells nothing
	busy, idle := 0, 0
	say := func(n *int, layer, rule string, rows ...int) {
		*n++
		why.add(layer, rule, rows...)
	}
	if p.muted {
		say(&busy, "frame", "composer's marker has the colour of a running turn", p.row)
	} else if colour && !p.shell && p.top < p.row {
		say(&idle, "frame", "composer's marker has the colour of no turn", p.row)
	}
	switch f {
	case footerBusy:
		say(&busy, "frame", "footer offers to interrupt", p.bottom+1)
	case footerIdle:
		say(&idle, "frame", "footer of a composer at rest", p.bottom+1)
	}
	switch t {
	case tailSpinner:
		say(&busy, "frame", "spinner row", row)
	case tailEnded:
		say(&idle, "frame", "row that ends a turn", row)
	case tailNone, tailEcho:
		idle++
	}
	switch {
	case busy > 0 && p.muted:
		return agents.Working, true // a row that ended an earlier turn may be all that is left in a small pane
	case busy > 0 && (f == footerBusy || t == tailSpinner) && colour && !p.shell:
		why.add("frame", "contradiction: the marker says no turn, the footer or the spinner says one")
		return agents.ActivityUnknown, false
	case busy > 0:
		return agents.Working, true
	case f == footerMissing || p.bottom < 0:
		why.add("frame", "half a frame: no footer", p.row)
		return agents.ActivityUnknown, false
	case f == footerBare && t == tailNone && p.bottom == p.row+1 && v.filled(p.row) <= promptColumn:
		why.add("frame", "the mode row is not complete yet", p.bottom+1)
		return agents.Starting, false
	case idle > 0:
		return agents.Idle, true
	}
	why.add("frame", "neither a running nor an ended turn is shown", p.row)
	return agents.ActivityUnknown, false
}
