package codex

import (
	"strings"
	"unicode/utf8"
)

// This file reads what Codex says about itself beside its picture: the pane
// title and OSC 7501. Rule: a title counts as Codex's own only if it looks
// like one or ends in the project's name; a shell's title says nothing.

// turn is what one signal says about the turn.
type turn int

const (
	says      turn = iota // nothing
	saysIdle              // no turn runs
	saysWork              // a turn runs
	saysBlock             // a human is asked
)

func (t turn) String() string {
	return [...]string{"says nothing", "idle", "working", "asks a human"}[t]
}

// signals are all of them.
type signals struct {
	title   turn
	named   bool // the title is not empty
	project string
	status  turn
	clear   bool // the program said that it left
	row     turn // a status row is drawn over the composer
	rowAt   int
}

// readSignals looks at title and program status.
func (f *frame) readSignals() {
	title := f.s.Title
	g := &f.sig
	g.named = title != ""
	g.project = title[strings.LastIndex(title, "| ")+1:]
	g.project = strings.TrimSpace(g.project)
	first, n := utf8.DecodeRuneInString(title)
	switch {
	case !g.named:
	case prefixOf(title, f.p.Signals.Action) != "":
		g.title = saysBlock
	case first >= 0x2800 && first <= 0x28ff && strings.HasPrefix(title[n:], " "):
		g.title = saysWork
	default:
		g.title = saysIdle // if it is Codex's own, see ownTitle
	}
	ps := f.s.Signals.ProgramStatus
	if ps.App != "" && ps.App != "codex" {
		return
	}
	switch ps.State {
	case "idle", "done":
		g.status = saysIdle
	case "working":
		g.status = saysWork
	case "blocked":
		g.status = saysBlock
	case "clear":
		g.clear = true
	}
}

// ownTitle tells whether a plain title is Codex's: it ends in a folder of the
// path that the footer or the process tells; where no path can be read, it is
// enough that the title was set in our sight.
func (f *frame) ownTitle(path string) bool {
	if f.sig.title != saysIdle {
		return true
	}
	if f.in.Process != nil && f.in.Process.Cwd != "" && onPath(f.in.Process.Cwd, f.sig.project) {
		return true
	}
	if path == "" || strings.Contains(path, "…") {
		return f.s.Signals.PaneTitleSet > 0
	}
	return onPath(path, f.sig.project)
}

// onPath tells whether name is one of the folders of path.
func onPath(path, name string) bool {
	if name == "" {
		return false
	}
	for rest := path; rest != ""; {
		i := strings.LastIndexByte(rest, '/')
		if rest[i+1:] == name {
			return true
		}
		if i < 0 {
			break
		}
		rest = rest[:i]
	}
	return false
}
