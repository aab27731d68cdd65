package panes

import (
	"bytes"
	"context"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// This file asks Linux: exit by pidfd, the foreground program from /proc.

// processEnd returns true when the process has ended, false when ctx has or
// when the kernel can't tell (before 5.3).
func processEnd(ctx context.Context, pid int) bool {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err == unix.ESRCH {
		return true
	}
	if err != nil {
		return false
	}
	f := os.NewFile(uintptr(fd), "pidfd")
	defer f.Close()
	stop := context.AfterFunc(ctx, func() { f.Close() })
	defer stop()
	conn, err := f.SyscallConn()
	if err != nil {
		return false
	}
	err = conn.Read(func(fd uintptr) bool {
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(p, 0)
		return err == nil && n == 1
	})
	return err == nil && ctx.Err() == nil
}

// foreground describes the program in front on the terminal of pid: its
// process group, name and directory. "" if not known.
func foreground(pid int) string {
	b, err := os.ReadFile(procFile(pid, "stat"))
	if err != nil {
		return ""
	}
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(f) < 6 {
		return ""
	}
	group, err := strconv.Atoi(string(f[5]))
	if err != nil || group <= 0 {
		return ""
	}
	name, _ := os.ReadFile(procFile(group, "comm"))
	cwd, _ := os.Readlink(procFile(group, "cwd"))
	return strconv.Itoa(group) + " " + string(name) + cwd
}
