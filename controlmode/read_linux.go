package controlmode

import (
	"io"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// This file reads a pipe that is never waited for in the system: whether there
// is something to read, Go's poller tells. So the read itself need not be
// announced to the scheduler as one that may last, which wakes a thread of its
// own (sysmon) for every one that comes after a rest. With panes that stream it
// was a fifth of the daemon's CPU time.

// ready reads what is there.
type ready struct {
	pipe syscall.RawConn
	try  func(fd uintptr) bool // made once
	buf  []byte
	n    int
	err  error
}

// quickly is a reader of r without that announcement; r itself where a read
// might wait in the system. Only one goroutine may use it.
func quickly(r io.Reader) io.Reader {
	f, ok := r.(*os.File)
	if !ok {
		return r
	}
	pipe, err := f.SyscallConn()
	if err != nil {
		return r
	}
	waits := true
	if pipe.Control(func(fd uintptr) {
		flags, err := unix.FcntlInt(fd, unix.F_GETFL, 0)
		waits = err != nil || flags&unix.O_NONBLOCK == 0
	}) != nil || waits {
		return r
	}
	q := &ready{pipe: pipe}
	q.try = q.once
	return q
}

// Read is os.File's.
func (q *ready) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	q.buf = p
	err := q.pipe.Read(q.try)
	switch {
	case err != nil:
		return 0, err
	case q.err != nil:
		return 0, q.err
	case q.n == 0:
		return 0, io.EOF
	}
	return q.n, nil
}

// once is false when there is nothing to read yet.
func (q *ready) once(fd uintptr) bool {
	for {
		n, _, err := syscall.RawSyscall(syscall.SYS_READ, fd, uintptr(unsafe.Pointer(&q.buf[0])), uintptr(len(q.buf)))
		switch err {
		case 0:
			q.n, q.err = int(n), nil
			return true
		case syscall.EINTR:
		case syscall.EAGAIN:
			return false
		default:
			q.n, q.err = 0, os.NewSyscallError("read", err)
			return true
		}
	}
}
