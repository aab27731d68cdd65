package panes

import (
	"strconv"

	"akk/agents"
)

// maxProcesses bounds the tree that is read for one pane; a build below an
// agent may have thousands, and the agent is near the top.
const maxProcesses = 500

// Processes implements Provider: the pane's process first, parents before
// children. What can't be read (a process that has just ended, another user's)
// is left out or has empty fields.
func (s *Server) Processes(id string) []agents.Process {
	in, ok := s.Pane(id)
	if !ok || in.PanePID <= 0 {
		return nil
	}
	var out []agents.Process
	queue := []int{in.PanePID}
	for len(queue) > 0 && len(out) < maxProcesses {
		pid := queue[0]
		queue = queue[1:]
		p, ok := processFacts(pid)
		if !ok {
			continue
		}
		p.PanePID, p.TTY = in.PanePID, in.TTY
		out = append(out, p)
		queue = append(queue, processChildren(pid)...)
	}
	return out
}

// procFile is the path of a file of Linux's /proc.
func procFile(pid int, name string) string { return "/proc/" + strconv.Itoa(pid) + "/" + name }
