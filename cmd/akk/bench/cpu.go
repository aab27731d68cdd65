package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of CPU times in /proc: USER_HZ is 100 on every Linux.
const tick = 10 * time.Millisecond

// idle is the CPU time of the daemon over d.
func (w *world) idle(ctx context.Context, d time.Duration) (time.Duration, error) {
	pid, err := w.daemon(ctx)
	if err != nil {
		return 0, err
	}
	select { // what the measurements caused has ended
	case <-time.After(2 * time.Second):
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	before, err := cpu(pid)
	if err != nil {
		return 0, err
	}
	select {
	case <-time.After(d):
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	after, err := cpu(pid)
	return after - before, err
}

// daemon is the pid of the bench's daemon.
func (w *world) daemon(ctx context.Context) (int, error) {
	out, err := w.run(ctx, w.akk, "serve", "--status", "--json")
	if err != nil {
		return 0, err
	}
	var s struct{ PID int }
	if err := json.Unmarshal([]byte(out), &s); err != nil || s.PID == 0 {
		return 0, fmt.Errorf("akk serve --status answered %q", out)
	}
	return s.PID, nil
}

// stolen is what the hypervisor has kept of this machine's time for others since
// its start, 0 where that is not told.
func stolen() time.Duration {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(b), "\n")
	if f := strings.Fields(line); len(f) > 8 && f[0] == "cpu" {
		n, _ := strconv.Atoi(f[8])
		return time.Duration(n) * tick
	}
	return 0
}

func cpu(pid int) (time.Duration, error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, fmt.Errorf("idle CPU needs Linux's /proc: %w", err)
	}
	s := string(b)
	f := strings.Fields(s[strings.LastIndexByte(s, ')')+1:])
	if len(f) < 13 {
		return 0, fmt.Errorf("/proc/%d/stat has %d fields", pid, len(f))
	}
	user, err1 := strconv.ParseInt(f[11], 10, 64)
	sys, err2 := strconv.ParseInt(f[12], 10, 64)
	if err1 != nil || err2 != nil {
		return 0, fmt.Errorf("/proc/%d/stat can't be read", pid)
	}
	return time.Duration(user+sys) * tick, nil
}

// resident is the daemon's memory.
func (w *world) resident() string {
	pid, err := w.daemon(context.Background())
	if err != nil {
		return "?"
	}
	b, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	for l := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(l, "VmRSS:"); ok {
			return strings.TrimSpace(v)
		}
	}
	return "?"
}
