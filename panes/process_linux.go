package panes

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"akk/agents"
)

// This file reads /proc. One pane's tree costs a few small reads, no scan of
// all processes.

// clockTicks is USER_HZ: 100 on every Linux that Go runs on.
const clockTicks = 100

var bootTime = sync.OnceValue(func() time.Time {
	b, _ := os.ReadFile("/proc/stat")
	for line := range strings.Lines(string(b)) {
		if s, ok := strings.CutPrefix(line, "btime "); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
			return time.Unix(n, 0).UTC()
		}
	}
	return time.Time{}
})

// processStart is the process's start time; false if there is none.
func processStart(pid int) (time.Time, bool) {
	b, err := os.ReadFile(procFile(pid, "stat"))
	if err != nil {
		return time.Time{}, false
	}
	_, rest, ok := bytes.Cut(b, []byte(") ")) // the name may hold blanks
	if i := bytes.LastIndex(b, []byte(") ")); i >= 0 {
		rest, ok = b[i+2:], true
	}
	f := bytes.Fields(rest)
	if !ok || len(f) < 20 || f[0][0] == 'Z' || f[0][0] == 'X' { // a zombie has ended
		return time.Time{}, false
	}
	ticks, err := strconv.ParseInt(string(f[19]), 10, 64)
	if err != nil {
		return time.Time{}, false
	}
	return bootTime().Add(time.Duration(ticks) * time.Second / clockTicks), true
}

// processFacts reads what /proc tells of a process. In the middle of an exec the
// program is the new one and arguments and environment are empty, for as long as
// a cold disk takes: then all three stay empty, and whoever looks again sees
// them. (A process without any argument is not there otherwise: the kernel does
// not start one.)
func processFacts(pid int) (agents.Process, bool) {
	start, ok := processStart(pid)
	if !ok {
		return agents.Process{}, false
	}
	p := agents.Process{PID: pid, StartTime: start}
	p.Cwd, _ = os.Readlink(procFile(pid, "cwd"))
	exe, _ := os.Readlink(procFile(pid, "exe"))
	args, aerr := os.ReadFile(procFile(pid, "cmdline"))
	env, eerr := os.ReadFile(procFile(pid, "environ"))
	if again, _ := os.Readlink(procFile(pid, "exe")); again != exe || exe != "" && aerr == nil && len(args) == 0 {
		return p, true
	}
	p.Exe = exe
	if aerr == nil && len(args) > 0 {
		p.Args = strings.Split(strings.TrimSuffix(string(args), "\x00"), "\x00")
	}
	if eerr == nil {
		p.Env = map[string]string{}
		for kv := range strings.SplitSeq(string(env), "\x00") {
			if k, v, ok := strings.Cut(kv, "="); ok {
				p.Env[k] = v
			}
		}
	}
	return p, true
}

func processChildren(pid int) []int {
	tasks, _ := os.ReadDir(procFile(pid, "task"))
	var out []int
	for _, t := range tasks {
		b, err := os.ReadFile(procFile(pid, "task/"+t.Name()+"/children"))
		if err != nil {
			continue
		}
		for _, f := range strings.Fields(string(b)) {
			if n, err := strconv.Atoi(f); err == nil {
				out = append(out, n)
			}
		}
	}
	return out
}
