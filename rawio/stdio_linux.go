package rawio

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// This file makes a pipe or a socket that another program gave us one that the
// poller watches. Invariant: who shares it finds its flags as they were, and
// what he makes of them does not touch us.

// watched is a file that the poller watches though its flags may not tell.
type watched struct{ *os.File }

// unwatched is a file whose flags belong to others: os.File reads and writes it,
// and where they say that it must not wait, poll waits.
type unwatched struct{ f *os.File }

func (u unwatched) Read(p []byte) (int, error) {
	for {
		n, err := u.f.Read(p)
		if n > 0 || !errors.Is(err, unix.EAGAIN) {
			return n, err
		}
		if err := u.await(unix.POLLIN); err != nil {
			return 0, err
		}
	}
}

func (u unwatched) Write(p []byte) (n int, err error) {
	for {
		m, err := u.f.Write(p[n:])
		n += m
		if n == len(p) || !errors.Is(err, unix.EAGAIN) {
			return n, err
		}
		if err := u.await(unix.POLLOUT); err != nil {
			return n, err
		}
	}
}

// await waits until f can be read or written, or has ended.
func (u unwatched) await(events int16) (err error) {
	raw, err := u.f.SyscallConn()
	if err != nil {
		return err
	}
	cerr := raw.Control(func(fd uintptr) {
		for {
			if _, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: events}}, -1); err != unix.EINTR {
				return
			}
		}
	})
	return errors.Join(err, cerr)
}

// Stdio is f for Reader or NewWriter: to read from if it was opened to read, to
// write to if it was opened to write. undo ends its use.
func Stdio(f *os.File) (g io.ReadWriter, undo func()) {
	same := func() {}
	raw, err := f.SyscallConn()
	if err != nil {
		return unwatched{f}, same
	}
	var own *os.File
	err = raw.Control(func(fd uintptr) {
		var st unix.Stat_t
		flags, err := unix.FcntlInt(fd, unix.F_GETFL, 0)
		if err != nil || unix.Fstat(int(fd), &st) != nil {
			return
		}
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFIFO:
			// A description of our own: its flags are nobody else's.
			mode := flags & unix.O_ACCMODE
			if mode == unix.O_RDWR {
				return
			}
			if own, err = os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", fd), mode|unix.O_NONBLOCK, 0); err != nil {
				own = nil
			}
		case unix.S_IFSOCK:
			// It can't be opened once more, so the flag is shared: it is set only
			// while os.NewFile looks at it. No call of ours heeds it.
			dup, err := unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 3)
			if err != nil {
				return
			}
			waits := flags&unix.O_NONBLOCK == 0
			if waits && unix.SetNonblock(dup, true) != nil {
				unix.Close(dup)
				return
			}
			own = os.NewFile(uintptr(dup), f.Name())
			if waits {
				_ = unix.SetNonblock(dup, false)
			}
		}
	})
	if err != nil || own == nil {
		return unwatched{f}, same
	}
	return &watched{own}, func() { own.Close() }
}
