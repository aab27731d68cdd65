package ui

import (
	"path"
	"strconv"
	"strings"

	"akk/bridge/rpc"
)

// This file draws a Model. Render is pure: the same model and size give the
// same picture, and the returned map tells which row a line belongs to, so
// that a click and a scroll need no second layout.

// narrow is the width in cells below which a row drops what is said elsewhere
// (version, age).
const narrow = 26

// Picture is a drawn model.
type Picture struct {
	*Canvas
	RowAt []string // per screen line the id of the row drawn there, "" for none
	Top   int      // the scroll position that was used
}

// line is one line of the list part, drawn later at its place.
type line struct {
	id   string
	draw func(c *Canvas, y int)
}

// Render draws m on w x h cells.
func Render(m Model, w, h int) Picture {
	c := NewCanvas(w, h)
	p := Picture{Canvas: c, RowAt: make([]string, c.H)}
	if m.Help {
		drawHelp(c, m.Keys.withDefaults())
		return p
	}
	rows := Rows(m.List)
	drawHead(c, m, rows)
	foot := drawFoot(c, m, rows)
	body := listLines(m, rows, c.W)
	p.Top = m.Top
	first, last := -1, -1
	for i, l := range body {
		if l.id != "" && l.id == selectedID(m, rows) {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	room := max(c.H-1-foot, 0)
	if last >= p.Top+room {
		p.Top = last - room + 1
	}
	if first >= 0 && first < p.Top {
		p.Top = first
	}
	p.Top = min(max(p.Top, 0), max(len(body)-room, 0))
	for y := 1; y <= room && p.Top+y-1 < len(body); y++ {
		l := body[p.Top+y-1]
		l.draw(c, y)
		p.RowAt[y] = l.id
		if m.Link == Reconnecting {
			c.stale(y) // what was last seen, not what is
		}
		if l.id != "" && l.id == selectedID(m, rows) {
			c.Select(y)
		}
	}
	return p
}

func selectedID(m Model, rows []rpc.Row) string {
	if i := m.index(rows); i >= 0 {
		return rows[i].ID
	}
	return ""
}

func drawHead(c *Canvas, m Model, rows []rpc.Row) {
	x := c.Put(0, 0, c.W, "akk", Title)
	live, need := 0, 0
	for _, r := range rows {
		if r.Demo != "" {
			continue
		}
		live++
		if StateOf(r).order == 0 {
			need++
		}
	}
	switch {
	case m.Link == Connecting:
		c.Put(x+1, 0, c.W, "connecting", Dim)
	case m.Link == Reconnecting:
		c.Put(x+1, 0, c.W, "reconnecting", Alert)
	case need > 0:
		c.Put(x+1, 0, c.W, count(need, "needs you", "need you"), Blocked)
		c.PutRight(x+14, 0, c.W, itoa(live), Dim)
	default:
		c.Put(x+1, 0, c.W, count(live, "agent", "agents"), Dim)
	}
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return itoa(n) + " " + many
}

// footMax is how many lines the answer to a key may take: a refusal with its
// cure, in a sidebar's width.
const footMax = 6

// drawFoot draws the keys, or the answer to the last one, and returns how many
// lines it took.
func drawFoot(c *Canvas, m Model, rows []rpc.Row) int {
	if c.H < 2 {
		return 1
	}
	y := c.H - 1
	tell := func(s string, r Role) int {
		lines := wrap(Clean(s), c.W)
		if most := min(footMax, max(c.H/2, 1)); len(lines) > most {
			lines = append(lines[:most-1], strings.Join(lines[most-1:], " "))
		}
		for i, l := range lines {
			c.Put(0, c.H-len(lines)+i, c.W, l, r)
		}
		return len(lines)
	}
	switch {
	case m.Note != "":
		return tell(m.Note, Strong)
	case m.Link == Reconnecting && m.Trouble != "":
		return tell(m.Trouble, Alert)
	default:
		x, keys := 0, m.Keys.withDefaults()
		hold := [2]string{keys.Takeover, "take over"}
		if i := m.index(rows); i < 0 {
			hold[1] = ""
		} else if h := rows[i].Hold; h != nil && !h.Soft {
			hold = [2]string{keys.Handback, "hand back"}
		}
		for _, k := range [][2]string{{keys.Help, "help"}, {"⏎", "go"}, hold, {keys.Leave, "leave"}} {
			if k[1] == "" {
				continue
			}
			if x+len(k[1])+2 > c.W {
				break
			}
			x = c.Put(x, y, c.W, k[0], Key)
			x = c.Put(x+1, y, c.W, k[1], Dim) + 2
		}
	}
	return 1
}

// listLines lays out the rows: two lines each, a third one for what a blocked
// agent asks.
func listLines(m Model, rows []rpc.Row, w int) []line {
	var out []line
	text := func(s string, r Role) {
		out = append(out, line{draw: func(c *Canvas, y int) { c.Put(0, y, c.W, s, r) }})
	}
	if len(rows) == 0 {
		if m.Link == Connecting {
			return out
		}
		text("", Plain)
		for _, s := range emptyHints(w) {
			text(s, Dim)
		}
		return out
	}
	recordings := false
	for _, r := range rows {
		if r.Demo != "" && !recordings {
			recordings = true
			text("", Plain)
			text("RECORDINGS (no live agents)", Record)
		}
		out = append(out, rowLines(m, r)...)
	}
	return out
}

func emptyHints(w int) []string {
	all := []string{"No agent seen.", "Run codex or claude in a pane,", "or see recordings of real ones:", "akk demo"}
	var out []string
	for _, s := range all {
		out = append(out, wrap(s, w)...)
	}
	return out
}

func rowLines(m Model, r rpc.Row) []line {
	s := StateOf(r)
	name := r.Agent
	if r.Demo != "" {
		name = "REC " + name
	}
	out := []line{
		{r.ID, func(c *Canvas, y int) {
			x := c.Put(0, y, c.W, s.Letter, s.Role) + 1
			end := c.W
			if c.W >= narrow {
				end = c.PutRight(x, y, c.W, Age(m.Now, Since(r)), Dim) - 1
			}
			word := s.Word
			if r.Hold != nil {
				word += " held"
			}
			at := c.PutRight(x+min(TextWidth(name), 7), y, end, word, s.Role)
			nameEnd := min(at, end) - 1
			x = c.Put(x, y, nameEnd, name, Strong)
			if v := r.AgentVersion; v != "" && x+1+TextWidth(v) <= nameEnd {
				c.Put(x+1, y, nameEnd, v, Dim)
			}
		}},
		{r.ID, func(c *Canvas, y int) {
			x := c.Put(2, y, c.W, Place(r), Plain)
			if dir := ShortPath(r.Cwd); dir != "" && c.W-x > 4 {
				c.Put(x+1, y, c.W, dir, Dim)
			}
		}},
	}
	if ask := Asks(r); ask != "" {
		out = append(out, line{r.ID, func(c *Canvas, y int) { c.Put(2, y, c.W, ask, Blocked) }})
	}
	return out
}

// Place is where a row is, as tmux writes it: session:window.pane.
func Place(r rpc.Row) string {
	t := r.TerminalControl
	return t.Session + ":" + strconv.Itoa(t.Window) + "." + strconv.Itoa(t.Pane)
}

// newLine stands for the end of a line where there is one line only.
const newLine = " ⏎ "

// Asks is AskText in one line.
func Asks(r rpc.Row) string {
	var out []string
	for l := range strings.Lines(AskText(r)) {
		if l = strings.Join(strings.Fields(l), " "); l != "" {
			out = append(out, l)
		}
	}
	return strings.Join(out, newLine)
}

// AskText is what a blocked agent wants to know. A command keeps its lines: two
// lines are not one command. A sentence is one line.
func AskText(r rpc.Row) string {
	d := r.Reading.Dialog
	if d == nil || StateOf(r).order != 0 {
		return ""
	}
	for _, s := range []string{d.Command, d.Path, d.URL} {
		if s = strings.TrimSpace(s); s != "" {
			return s
		}
	}
	return strings.Join(strings.Fields(d.Prompt), " ")
}

// ShortPath is the last two parts of a folder's path.
func ShortPath(p string) string {
	if p == "" || p == "/" {
		return p
	}
	p = path.Clean(p)
	dir, base := path.Split(p)
	if parent := path.Base(path.Clean(dir)); parent != "/" && parent != "." {
		return "…/" + parent + "/" + base
	}
	return p
}

var helpStates = []State{
	{"B", "blocked: a decision is yours", Blocked, 0},
	{"L", "at its usage limit", Alert, 0},
	{"I", "idle, waits for a task", Ready, 0},
	{"?", "can't tell (never sent to)", Unknown, 0},
	{"W", "working", Working, 0},
	{"S", "starting", Inactive, 0},
	{"X", "exited", Inactive, 0},
}

func drawHelp(c *Canvas, keys Keys) {
	c.Put(0, 0, c.W, "akk help", Title)
	y := 2
	for _, k := range keys.help() {
		c.Put(0, y, 8, k[0], Key)
		c.Put(9, y, c.W, k[1], Plain)
		y++
	}
	y++
	for _, s := range helpStates {
		c.Put(0, y, c.W, s.Letter, s.Role)
		c.Put(2, y, c.W, s.Word, Plain)
		y++
	}
}

// wrap breaks a text at blanks into lines of at most w cells.
func wrap(s string, w int) []string {
	var out []string
	cur := ""
	for _, f := range strings.Fields(s) {
		switch {
		case cur == "":
			cur = f
		case TextWidth(cur)+1+TextWidth(f) <= w:
			cur += " " + f
		default:
			out = append(out, cur)
			cur = f
		}
	}
	return append(out, cur)
}

func itoa(n int) string { return strconv.Itoa(n) }
