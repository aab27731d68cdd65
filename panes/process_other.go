//go:build !linux

package panes

import (
	"time"

	"akk/agents"

	"github.com/shirou/gopsutil/v4/process"
)

// This file reads process facts through gopsutil where there is no /proc.

// processStart is the process's start time; false if there is none.
func processStart(pid int) (time.Time, bool) {
	p, err := process.NewProcess(int32(pid))
	if err != nil {
		return time.Time{}, false
	}
	ms, err := p.CreateTime()
	return time.UnixMilli(ms).UTC(), err == nil
}

func processFacts(pid int) (agents.Process, bool) {
	p, err := process.NewProcess(int32(pid))
	if err != nil {
		return agents.Process{}, false
	}
	out := agents.Process{PID: pid}
	if ms, err := p.CreateTime(); err == nil {
		out.StartTime = time.UnixMilli(ms).UTC()
	}
	out.Exe, _ = p.Exe()
	out.Cwd, _ = p.Cwd()
	out.Args, _ = p.CmdlineSlice()
	return out, true
}

func processChildren(pid int) []int {
	p, err := process.NewProcess(int32(pid))
	if err != nil {
		return nil
	}
	kids, _ := p.Children()
	out := make([]int, 0, len(kids))
	for _, k := range kids {
		out = append(out, int(k.Pid))
	}
	return out
}
