package handoff

// This file asks Linux about processes: exit by pidfd, foreground group and
// ancestry from /proc. It upholds: an exit is an event, not the find of a poll.

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

type stat struct {
	ppid, pgrp, tty, tpgid int
}

// procStat reads /proc/pid/stat. The name may hold anything, so the fields are
// counted from the last ')'.
func procStat(pid int) (stat, bool) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, false
	}
	f := bytes.Fields(raw[bytes.LastIndexByte(raw, ')')+1:])
	if len(f) < 6 {
		return stat{}, false
	}
	n := func(i int) int { v, _ := strconv.Atoi(string(f[i])); return v }
	return stat{ppid: n(1), pgrp: n(2), tty: n(4), tpgid: n(5)}, true
}

// foregroundGroup is the foreground process group of the terminal that pid is
// on, 0 if not known.
func foregroundGroup(pid int) int {
	s, ok := procStat(pid)
	if !ok || s.tpgid < 0 {
		return 0
	}
	return s.tpgid
}

// background tells whether pid is provably not in the foreground of its
// terminal.
func background(pid int) bool {
	s, ok := procStat(pid)
	return ok && s.tty != 0 && s.tpgid > 0 && s.tpgid != s.pgrp
}

// waitExit returns true when the process has ended, false when ctx has. still
// confirms that pid is not yet another process.
func waitExit(ctx context.Context, pid int, still func() bool) bool {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil { // Linux < 5.10, or a process of another pid namespace
		return waitExitSlow(ctx, still)
	}
	f := os.NewFile(uintptr(fd), "pidfd")
	defer f.Close()
	if !still() {
		return ctx.Err() == nil
	}
	stop := context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	rc, err := f.SyscallConn()
	if err != nil {
		return waitExitSlow(ctx, still)
	}
	exited := false
	err = rc.Read(func(fd uintptr) bool {
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(p, 0)
		exited = err == nil && n > 0
		return exited
	})
	if !exited && err != nil && ctx.Err() == nil {
		return waitExitSlow(ctx, still)
	}
	return exited
}
