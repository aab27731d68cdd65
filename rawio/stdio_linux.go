package rawio

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// This file makes a pipe or a socket that another program gave us, which waits
// in the system as it came, one that the poller watches. Invariant: who shares
// it finds it as it was, at the latest after undo.

// Stdio is f for the poller: to read from if it was opened to read, to write to
// if it was opened to write. undo ends its use and leaves f as it was. A file
// that is no pipe and no socket, or that can't be opened once more, is given
// back as it is.
func Stdio(f *os.File) (g *os.File, undo func()) {
	same := func() {}
	raw, err := f.SyscallConn()
	if err != nil {
		return f, same
	}
	err = raw.Control(func(fd uintptr) {
		var st unix.Stat_t
		flags, err := unix.FcntlInt(fd, unix.F_GETFL, 0)
		if err != nil || unix.Fstat(int(fd), &st) != nil || flags&unix.O_NONBLOCK != 0 {
			return
		}
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFIFO:
			// A description of our own: the flag is not shared with anybody.
			mode := flags & unix.O_ACCMODE
			if mode == unix.O_RDWR {
				return
			}
			if g, err = os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", fd), mode|unix.O_NONBLOCK, 0); err != nil {
				g = nil
				return
			}
			own := g
			undo = func() { own.Close() }
		case unix.S_IFSOCK:
			// It can't be opened once more, so whoever shares it shares the flag.
			own, err := unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 3)
			if err != nil {
				return
			}
			if unix.SetNonblock(own, true) != nil {
				unix.Close(own)
				return
			}
			file := os.NewFile(uintptr(own), f.Name())
			g, undo = file, func() {
				file.Close()
				_ = raw.Control(func(fd uintptr) { _ = unix.SetNonblock(int(fd), false) })
			}
		}
	})
	if err != nil || g == nil {
		return f, same
	}
	return g, undo
}
