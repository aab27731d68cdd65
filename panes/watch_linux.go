package panes

import (
	"bytes"
	"context"
	"os"
	"strconv"
	"unsafe"

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
// process group, name and directory. "" if not known. It is asked often: one
// read for most panes, no file of the runtime's.
func foreground(pid int) string {
	var buf [1024]byte
	stat := slurp(procFile(pid, "stat"), buf[:])
	open, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if open < 0 || end < open {
		return ""
	}
	f := bytes.Fields(stat[end+1:])
	if len(f) < 6 {
		return ""
	}
	group, err := strconv.Atoi(string(f[5]))
	if err != nil || group <= 0 {
		return ""
	}
	var out []byte
	out = append(append(out, f[5]...), ' ')
	if group == pid {
		out = append(out, stat[open+1:end]...)
	} else {
		var name [64]byte
		out = append(out, slurp(procFile(group, "comm"), name[:])...)
	}
	n := 0
	if name, err := unix.BytePtrFromString(procFile(group, "cwd")); err == nil {
		if got, _, errno := unix.RawSyscall6(unix.SYS_READLINKAT, atCwd, uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)), 0, 0); errno == 0 {
			n = int(got)
		}
	}
	return string(append(append(out, ' '), buf[:n]...))
}

// atCwd is AT_FDCWD, which an absolute path never needs.
const atCwd = ^uintptr(0) - 99

// slurp reads a small file of /proc; nil if it is not there. The kernel makes it
// at once, so the calls are not announced to Go's scheduler as ones that may
// wait (package rawio tells why).
func slurp(name string, buf []byte) []byte {
	path, err := unix.BytePtrFromString(name)
	if err != nil {
		return nil
	}
	fd, _, errno := unix.RawSyscall6(unix.SYS_OPENAT, atCwd, uintptr(unsafe.Pointer(path)), unix.O_RDONLY|unix.O_CLOEXEC, 0, 0, 0)
	if errno != 0 {
		return nil
	}
	n, _, errno := unix.RawSyscall(unix.SYS_READ, fd, uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)))
	_, _, _ = unix.RawSyscall(unix.SYS_CLOSE, fd, 0, 0)
	if errno != 0 {
		return nil
	}
	return buf[:n]
}
