package rawio

import (
	"io"
	"net"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// This file holds the calls of the system. Invariant: none waits, whoever shares
// the descriptor and whatever he does to its flags: a socket is told so with
// every call (MSG_DONTWAIT), another file is one of our own with O_NONBLOCK.
// EAGAIN goes to the poller.

// pollable is what os.File and the connections of net have in common.
type pollable interface {
	io.Reader
	io.Writer
	SyscallConn() (syscall.RawConn, error)
}

// open is f's descriptor, nil where a call might wait in the system, and whether
// it is a socket's.
func open(f any) (raw syscall.RawConn, socket bool) {
	p, ok := f.(pollable)
	if !ok {
		return nil, false
	}
	raw, err := p.SyscallConn()
	if err != nil {
		return nil, false
	}
	_, watched := f.(*watched)
	if raw.Control(func(fd uintptr) {
		var st unix.Stat_t
		flags, err := unix.FcntlInt(fd, unix.F_GETFL, 0)
		if err != nil || unix.Fstat(int(fd), &st) != nil {
			return
		}
		socket = st.Mode&unix.S_IFMT == unix.S_IFSOCK
		watched = watched || flags&unix.O_NONBLOCK != 0
	}) != nil || !watched {
		return nil, false
	}
	return raw, socket
}

// Reader reads r.
func Reader(r io.Reader) io.Reader {
	raw, socket := open(r)
	if raw == nil {
		return r
	}
	return newReader(raw, socket)
}

// Conn reads and writes nc.
func Conn(nc net.Conn) net.Conn {
	raw, socket := open(nc)
	if raw == nil {
		return nc
	}
	return &conn{Conn: nc, in: newReader(raw, socket), out: NewWriter(nc)}
}

// reader reads what is there.
type reader struct {
	raw    syscall.RawConn
	socket bool
	try    func(fd uintptr) bool // made once
	buf    []byte
	n      int
	err    error
}

func newReader(raw syscall.RawConn, socket bool) *reader {
	r := &reader{raw: raw, socket: socket}
	r.try = r.once
	return r
}

// Read is the file's.
func (r *reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	r.buf = p
	err := r.raw.Read(r.try)
	r.buf = nil
	switch {
	case err != nil:
		return 0, err
	case r.err != nil:
		return 0, r.err
	case r.n == 0:
		return 0, io.EOF
	}
	return r.n, nil
}

// once is false when there is nothing to read yet.
func (r *reader) once(fd uintptr) bool {
	for {
		var n uintptr
		var err syscall.Errno
		if r.socket {
			n, _, err = syscall.RawSyscall6(syscall.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(&r.buf[0])), uintptr(len(r.buf)), unix.MSG_DONTWAIT, 0, 0)
		} else {
			n, _, err = syscall.RawSyscall(syscall.SYS_READ, fd, uintptr(unsafe.Pointer(&r.buf[0])), uintptr(len(r.buf)))
		}
		switch err {
		case 0:
			acquire(fd)
			r.n, r.err = int(n), nil
			return true
		case syscall.EINTR:
		case syscall.EAGAIN:
			return false
		default:
			r.n, r.err = 0, os.NewSyscallError("read", err)
			return true
		}
	}
}

// rawWriter writes pieces.
type rawWriter struct {
	raw    syscall.RawConn
	socket bool
	msg    unix.Msghdr           // of a socket
	try    func(fd uintptr) bool // made once
	pieces [][]byte              // what is left
	iov    []unix.Iovec
	n      int
	err    error
}

// newRaw writes f; nil where a call might wait in the system.
func newRaw(f any) *rawWriter {
	raw, socket := open(f)
	if raw == nil {
		return nil
	}
	w := &rawWriter{raw: raw, socket: socket}
	w.try = w.once
	return w
}

func (w *rawWriter) all(pieces [][]byte) (int, error) {
	w.pieces, w.n, w.err = append(w.pieces[:0], pieces...), 0, nil
	err := w.raw.Write(w.try)
	clear(w.pieces)
	clear(w.iov[:cap(w.iov)]) // also of a longer call before
	w.msg.Iov = nil
	if err == nil {
		err = w.err
	}
	return w.n, err
}

// once is false when there is no room yet.
func (w *rawWriter) once(fd uintptr) bool {
	for {
		w.iov = w.iov[:0]
		for _, p := range w.pieces {
			if len(p) > 0 && len(w.iov) < maxIovec {
				v := unix.Iovec{Base: &p[0]}
				v.SetLen(len(p))
				w.iov = append(w.iov, v)
			}
		}
		if len(w.iov) == 0 {
			return true
		}
		release(fd)
		var n uintptr
		var err syscall.Errno
		if w.socket {
			w.msg.Iov = &w.iov[0]
			w.msg.SetIovlen(len(w.iov))
			n, _, err = syscall.RawSyscall(syscall.SYS_SENDMSG, fd, uintptr(unsafe.Pointer(&w.msg)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
		} else {
			n, _, err = syscall.RawSyscall(syscall.SYS_WRITEV, fd, uintptr(unsafe.Pointer(&w.iov[0])), uintptr(len(w.iov)))
		}
		switch err {
		case 0:
			w.went(int(n))
		case syscall.EINTR:
		case syscall.EAGAIN:
			return false
		default:
			w.err = os.NewSyscallError("write", err)
			return true
		}
	}
}

// maxIovec bounds the pieces of one call of the system (IOV_MAX is 1024).
const maxIovec = 64

// went takes n bytes off what is left.
func (w *rawWriter) went(n int) {
	w.n += n
	for i, p := range w.pieces {
		if n < len(p) {
			w.pieces[i] = p[n:]
			return
		}
		n -= len(p)
		w.pieces[i] = nil
	}
}

// conn is a connection; all but reading and writing is the original's.
type conn struct {
	net.Conn
	in  *reader
	out *Writer
}

func (c *conn) Read(p []byte) (int, error)  { return c.in.Read(p) }
func (c *conn) Write(p []byte) (int, error) { return c.out.WriteAll(p) }
