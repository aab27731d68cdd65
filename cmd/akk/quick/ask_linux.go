package quick

import (
	"syscall"
	"time"
)

// This file is the conversation with the daemon: three lines there, three lines
// back. Package net is too late for us, so it is the kernel's own calls.

const (
	// patience is how long the daemon may be silent, and after how long nothing
	// more is waited for: a live one answers in a millisecond.
	patience = time.Second
	// firstRoom is the first buffer, in bytes: a list of 200 terminals.
	firstRoom = 512 << 10
)

// talk is what is said and what must come back.
type talk struct {
	daemon string // its socket
	store  string
	tmux   string // the server that must be attached
	only   bool   // the list is of that server only
}

// ask returns the list document as the daemon wrote it.
func (t talk) ask() (list []byte, ok bool) {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, false
	}
	defer syscall.Close(fd)
	limit := syscall.NsecToTimeval(int64(patience))
	if syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &limit) != nil ||
		syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_SNDTIMEO, &limit) != nil ||
		syscall.Connect(fd, &syscall.SockaddrUnix{Name: t.daemon}) != nil {
		return nil, false
	}
	peer, err := syscall.GetsockoptUcred(fd, syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	if err != nil || int(peer.Uid) != syscall.Getuid() {
		return nil, false
	}
	only := ""
	if t.only {
		only = t.tmux
	}
	if !writeAll(fd, requests(Version, only)) {
		return nil, false
	}
	return t.answers(fd)
}

// answers reads until all three are there. The hello is the first; the others
// come as they are done.
func (t talk) answers(fd int) (list []byte, ok bool) {
	hello, served, end := false, false, time.Now().Add(patience)
	buf, start, seen := make([]byte, 0, firstRoom), 0, 0
	for {
		for {
			n := indexByte(buf[seen:], '\n')
			if n < 0 {
				seen = len(buf)
				break
			}
			line := buf[start : seen+n]
			if len(line) >= maxLine {
				return nil, false
			}
			start, seen = seen+n+1, seen+n+1
			switch {
			case !hello:
				if hello = greeted(line, Version, t.store); !hello {
					return nil, false
				}
			case !served && attached(line, t.tmux):
				served = true
			case list == nil:
				if list, ok = listOf(line); !ok {
					return nil, false
				}
			default:
				return nil, false
			}
			if served && list != nil {
				return list, true
			}
		}
		if len(buf)-start > maxLine || time.Now().After(end) {
			return nil, false
		}
		if len(buf) == cap(buf) {
			buf = append(make([]byte, 0, 2*cap(buf)), buf...) // list, if there, stays where it is
		}
		n, err := syscall.Read(fd, buf[len(buf):cap(buf)])
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return nil, false
		}
		buf = buf[:len(buf)+n]
	}
}

func writeAll(fd int, b []byte) bool {
	for len(b) > 0 {
		n, err := syscall.Write(fd, b)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return false
		}
		b = b[n:]
	}
	return true
}
