package lab

// The agent's process as a reader of package agents wants it.

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"akk/agents"
)

// clockTicks is USER_HZ, 100 on every Linux that Go runs on.
const clockTicks = 100

// process reads the facts of pid from /proc.
func process(pid int) (*agents.Process, error) {
	dir := fmt.Sprintf("/proc/%d/", pid)
	stat, err := os.ReadFile(dir + "stat")
	if err != nil {
		return nil, fmt.Errorf("read process %d: %w", pid, err)
	}
	f := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) // the name may hold blanks
	if len(f) < 20 {
		return nil, fmt.Errorf("read process %d: /proc/%d/stat is cut", pid, pid)
	}
	ticks, err := strconv.ParseInt(string(f[19]), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("read process %d: %w", pid, err)
	}
	boot, err := bootTime()
	if err != nil {
		return nil, err
	}
	p := &agents.Process{PID: pid, PanePID: pid, StartTime: boot.Add(time.Duration(ticks) * time.Second / clockTicks), Env: map[string]string{}}
	p.Exe, _ = os.Readlink(dir + "exe")
	p.Cwd, _ = os.Readlink(dir + "cwd")
	p.TTY, _ = os.Readlink(dir + "fd/0")
	cmdline, _ := os.ReadFile(dir + "cmdline")
	p.Args = strings.Split(strings.TrimSuffix(string(cmdline), "\x00"), "\x00")
	env, _ := os.ReadFile(dir + "environ")
	for kv := range strings.SplitSeq(string(env), "\x00") {
		if k, v, ok := strings.Cut(kv, "="); ok {
			p.Env[k] = v
		}
	}
	return p, nil
}

func bootTime() (time.Time, error) {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return time.Time{}, fmt.Errorf("read the boot time: %w", err)
	}
	for line := range strings.Lines(string(b)) {
		if s, ok := strings.CutPrefix(line, "btime "); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
			return time.Unix(n, 0).UTC(), err
		}
	}
	return time.Time{}, fmt.Errorf("read the boot time: /proc/stat has none")
}

// children are the pids of the direct children of pid.
func children(pid int) []int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return nil // it ended
	}
	var out []int
	for _, f := range strings.Fields(string(b)) {
		if n, err := strconv.Atoi(f); err == nil {
			out = append(out, n)
		}
	}
	return out
}
