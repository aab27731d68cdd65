package handoff

// This file asks Linux about processes: exit by pidfd, foreground group and
// ancestry from /proc. It upholds: an exit is an event, not the find of a poll.

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

type stat struct {
	name                   string
	ppid, pgrp, tty, tpgid int
}

// procBuffer holds what is mostly read at once, bytes.
const procBuffer = 4096

// readProc is os.ReadFile for a small file of /proc, which nothing waits for:
// a third of its time.
func readProc(path string) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	buf := make([]byte, procBuffer)
	switch n, err := unix.Read(fd, buf); {
	case err != nil && err != unix.EINTR:
		return nil, err
	case err == nil && n < len(buf):
		return buf[:n], nil
	}
	return os.ReadFile(path)
}

// procStat reads /proc/pid/stat. The name may hold anything, so the fields are
// counted from the last ')'.
func procStat(pid int) (stat, bool) {
	raw, err := readProc("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return stat{}, false
	}
	begin, end := bytes.IndexByte(raw, '(')+1, bytes.LastIndexByte(raw, ')')
	if begin <= 0 || end < begin {
		return stat{}, false
	}
	f := bytes.Fields(raw[end+1:])
	if len(f) < 6 {
		return stat{}, false
	}
	n := func(i int) int { v, _ := strconv.Atoi(string(f[i])); return v }
	return stat{name: string(raw[begin:end]), ppid: n(1), pgrp: n(2), tty: n(4), tpgid: n(5)}, true
}

// procImage tells what pid runs, as far as it may be read; false if it is gone.
func procImage(pid int) (exe string, args []string, ok bool) {
	dir := "/proc/" + strconv.Itoa(pid) + "/"
	exe, err := os.Readlink(dir + "exe")
	raw, _ := readProc(dir + "cmdline")
	if len(raw) == 0 && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH)) {
		return "", nil, false // a zombie too
	}
	if len(raw) > 0 {
		args = strings.Split(strings.TrimSuffix(string(raw), "\x00"), "\x00")
	}
	return exe, args, true
}

// imageMark changes with every exec and with nothing else that a program does:
// the addresses of its code, its data and its stack, which are drawn anew each
// time. Those of its arguments are left out: a program may move them for a title.
// "" if they may not be read.
func imageMark(pid int) string {
	raw, err := readProc("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	f := bytes.Fields(raw[bytes.LastIndexByte(raw, ')')+1:])
	const code, stack, data = 23, 25, 42 // behind the name; proc(5) counts from 1 and two more
	if len(f) < data+2 || string(f[stack]) == "0" {
		return ""
	}
	return string(bytes.Join(append(f[code:stack+1:stack+1], f[data:data+2]...), []byte(" ")))
}

// procEnviron is what pid was started with.
func procEnviron(pid int) ([]string, error) {
	raw, err := readProc("/proc/" + strconv.Itoa(pid) + "/environ")
	return strings.Split(string(raw), "\x00"), err
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
