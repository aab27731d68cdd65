package handoff

// This file tells whether a process still is the agent that was found in it. It
// upholds: a process that became another program (exec: same number, same birth)
// is no agent any more, and no key goes into it; what can't be read proves
// nothing against the agent.

import (
	"errors"
	"strings"

	"akk/agents"
)

var (
	errReplaced  = errors.New("the agent's process runs another program now")
	errReplacing = errors.New("the agent's process is starting another program")
)

// image is what a process ran when the agent was found.
type image struct {
	exe  string
	mark string // imageMark, "" if not known
}

// imageOf is the image of a process that was just read. If it runs something
// else meanwhile, the mark is not this image's.
func imageOf(p *agents.Process) image {
	i := image{exe: program(p.Exe), mark: imageMark(p.PID)}
	if exe, _, ok := procImage(p.PID); !ok || program(exe) != i.exe {
		i.mark = ""
	}
	return i
}

// program is the path of an executable, replaced by an update or not.
func program(exe string) string { return strings.TrimSuffix(exe, " (deleted)") }

// became is what an agent's process is now.
type became int

const (
	sameAgent       became = iota
	otherProgram           // proven
	betweenPrograms        // in the middle of an exec: not known yet which
	noProcess
)

// became looks at the process itself: one small read, if nothing changed.
func (t *terminal) became() became {
	mark := imageMark(t.key.PID)
	if mark != "" && mark == t.image.mark {
		return sameAgent
	}
	exe, args, ok := procImage(t.key.PID)
	if !ok {
		return noProcess
	}
	return t.judge(exe, args, mark)
}

// replaced is became for a look at the pane's processes.
func (t *terminal) replaced(procs []agents.Process) bool {
	for i := range procs {
		if p := &procs[i]; p.PID == t.key.PID && near(p.StartTime, t.key.Start) {
			return t.judge(p.Exe, p.Args, imageMark(p.PID)) == otherProgram
		}
	}
	return false
}

// judge tells what a process is by what it runs now. An agent that starts itself
// anew (an update) is recognised as it was the first time. One that only gave
// itself another title, or whose file was moved, has its old mark; where there
// are none, its old program.
func (t *terminal) judge(exe string, args []string, mark string) became {
	known := mark != "" && t.image.mark != ""
	switch {
	case known && mark == t.image.mark:
		return sameAgent
	case exe != "" && len(args) == 0 && t.image.mark != "":
		return betweenPrograms
	case exe == "" || len(args) == 0:
		return sameAgent
	case !known && program(exe) == t.image.exe:
		return sameAgent
	}
	now := t.proc
	now.Exe, now.Args = exe, args
	if _, ok := t.agent.Match(&now); ok {
		return sameAgent
	}
	return otherProgram
}

// still refuses a key in its last moment. In the middle of an exec too: an agent
// that starts anew has no composer yet.
func (t *terminal) still() error {
	switch t.became() {
	case otherProgram:
		return errReplaced
	case betweenPrograms:
		return errReplacing
	case noProcess:
		return errExited
	}
	return nil
}
