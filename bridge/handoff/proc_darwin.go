package handoff

// This file asks macOS about processes: exit by kqueue, ancestry by sysctl.

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/shirou/gopsutil/v4/process"
	"golang.org/x/sys/unix"
)

type stat struct {
	name                   string
	ppid, pgrp, tty, tpgid int
}

func procStat(pid int) (stat, bool) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Proc.P_pid) != pid {
		return stat{}, false
	}
	return stat{name: unix.ByteSliceToString(k.Proc.P_comm[:]), ppid: int(k.Eproc.Ppid), pgrp: int(k.Eproc.Pgid), tty: int(k.Eproc.Tdev), tpgid: int(k.Eproc.Tpgid)}, true
}

// procImage tells what pid runs, as far as it may be read; false if it is gone.
func procImage(pid int) (exe string, args []string, ok bool) {
	p, err := process.NewProcess(int32(pid))
	if err != nil {
		return "", nil, false
	}
	exe, _ = p.Exe()
	args, _ = p.CmdlineSlice()
	return exe, args, true
}

// imageMark is not known here: the executable's path has to do.
func imageMark(int) string { return "" }

// procEnviron is what pid was started with.
func procEnviron(pid int) ([]string, error) {
	p, err := process.NewProcess(int32(pid))
	if errors.Is(err, process.ErrorProcessNotRunning) {
		return nil, fs.ErrNotExist
	}
	if err != nil {
		return nil, err
	}
	return p.Environ()
}

func foregroundGroup(pid int) int {
	s, ok := procStat(pid)
	if !ok || s.tpgid < 0 {
		return 0
	}
	return s.tpgid
}

func background(pid int) bool {
	s, ok := procStat(pid)
	return ok && s.tty > 0 && s.tpgid > 0 && s.tpgid != s.pgrp
}

// waitExit returns true when the process has ended, false when ctx has.
func waitExit(ctx context.Context, pid int, still func() bool) bool {
	kq, err := unix.Kqueue()
	if err != nil {
		return waitExitSlow(ctx, still)
	}
	defer unix.Close(kq)
	var ev unix.Kevent_t
	unix.SetKevent(&ev, pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	ev.Fflags = unix.NOTE_EXIT
	if _, err := unix.Kevent(kq, []unix.Kevent_t{ev}, nil, nil); err != nil {
		return waitExitSlow(ctx, still)
	}
	if !still() {
		return ctx.Err() == nil
	}
	out := make([]unix.Kevent_t, 1)
	for ctx.Err() == nil {
		tick := unix.NsecToTimespec(int64(exitPoll / time.Nanosecond)) // looks at ctx
		if n, err := unix.Kevent(kq, nil, out, &tick); n > 0 && err == nil {
			return true
		}
	}
	return false
}
