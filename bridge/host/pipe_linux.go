package host

import (
	"io"
	"syscall"

	"golang.org/x/sys/unix"
)

// outRoom is what fits into the pipe to the Host, in bytes: a list of a hundred
// terminals, so that it is written at once and not in turns with its reader.
// 1 MiB is what the kernel gives anybody.
const outRoom = 1 << 20

// widen makes room in a pipe; where that can't be, it stays as it is.
func widen(out io.Writer) {
	if f, ok := out.(interface {
		SyscallConn() (syscall.RawConn, error)
	}); ok {
		if c, err := f.SyscallConn(); err == nil {
			_ = c.Control(func(fd uintptr) {
				if n, err := unix.FcntlInt(fd, unix.F_GETPIPE_SZ, 0); err == nil && n < outRoom {
					_, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, outRoom)
				}
			})
		}
	}
}
