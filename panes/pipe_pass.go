package panes

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// This file brings a pane's pipe from tmux to the daemon without a process in
// between: pipe-pane starts our own binary for a moment, which hands its
// standard input (a socket whose other end is tmux) over a Unix socket and
// ends. Rule: that socket is only ever read. It was opened in both directions
// (-IO), so that tmux notices our end at once, kill -9 included, and frees the
// pane's pipe by itself; a byte written into it would be typed into the pane.

// PassCommand is the hidden first argument of a program that calls PassPipe.
const PassCommand = "pass-pipe"

const (
	// passTimeout bounds the handing over; it is local and takes microseconds.
	passTimeout = 5 * time.Second
	// tagSize is the length of a tag: 16 random bytes in hex.
	tagSize = 32
	// maxSocketPath is what sun_path holds on macOS, the smaller one.
	maxSocketPath = 103
)

// PassPipe is the helper: it hands over standard input to the daemon that
// listens on socket, under tag.
func PassPipe(socket, tag string) error {
	c, err := net.DialTimeout("unix", socket, passTimeout)
	if err != nil {
		return fmt.Errorf("hand the pipe to the daemon: %w", err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(passTimeout))
	_, _, err = c.(*net.UnixConn).WriteMsgUnix([]byte(tag), unix.UnixRights(0), nil)
	os.Stdin.Close() // the daemon alone decides when tmux sees the end
	return err
}

// slots takes what helpers hand over.
type slots struct {
	path string
	ln   *net.UnixListener
	work sync.WaitGroup
}

// listenSlots listens beside tmux's own socket, where only this user may go;
// who calls holds the server's owner lock, so a file that is there is a dead
// daemon's.
func listenSlots(tmux string, got func(tag string, fd int)) (*slots, error) {
	dir, base := filepath.Split(tmux)
	path := filepath.Join(dir, "."+base+".akk-pipe")
	ln, err := listenPrivate(path)
	if err != nil {
		h := fnv.New64a()
		io.WriteString(h, tmux)
		path = filepath.Join(os.TempDir(), fmt.Sprintf("akk-%d", os.Getuid()), fmt.Sprintf("pipe-%016x", h.Sum64()))
		if err := privateDir(filepath.Dir(path)); err != nil {
			return nil, err
		}
		if ln, err = listenPrivate(path); err != nil {
			return nil, fmt.Errorf("listen for pipes: %w", err)
		}
	}
	s := &slots{path: path, ln: ln}
	s.work.Go(func() {
		for {
			c, err := ln.AcceptUnix()
			if err != nil {
				return
			}
			s.work.Go(func() {
				defer c.Close()
				c.SetDeadline(time.Now().Add(passTimeout))
				if tag, fd, err := receive(c); err == nil {
					got(tag, fd)
				}
			})
		}
	})
	return s, nil
}

// listenPrivate listens on path with mode 0600.
func listenPrivate(path string) (*net.UnixListener, error) {
	if len(path) > maxSocketPath {
		return nil, fmt.Errorf("path %s is too long for a socket", path)
	}
	if fi, err := os.Lstat(path); err == nil && fi.Mode()&os.ModeSocket != 0 {
		os.Remove(path)
	}
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		ln.Close()
		return nil, err
	}
	return ln, nil
}

func privateDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	fi, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err != nil {
		return err
	}
	if !fi.IsDir() || fi.Mode().Perm()&0o077 != 0 || int(st.Uid) != os.Getuid() {
		return fmt.Errorf("%s must be a directory of yours with mode 0700", dir)
	}
	return nil
}

func (s *slots) close() {
	s.ln.Close() // removes the file
	s.work.Wait()
}

// receive reads one tag and one descriptor.
func receive(c *net.UnixConn) (string, int, error) {
	tag, oob := make([]byte, tagSize+1), make([]byte, unix.CmsgSpace(4))
	n, on, _, _, err := c.ReadMsgUnix(tag, oob)
	if err != nil {
		return "", -1, err
	}
	messages, err := unix.ParseSocketControlMessage(oob[:on])
	if err != nil || len(messages) != 1 {
		return "", -1, errors.New("a helper handed over no pipe")
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 || n != tagSize {
		for _, fd := range fds {
			unix.Close(fd)
		}
		return "", -1, errors.New("a helper handed over something else")
	}
	unix.CloseOnExec(fds[0])
	return string(tag[:n]), fds[0], nil
}

func newTag() string {
	var b [tagSize / 2]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// passLine is the shell command that pipe-pane runs. Nothing of it prints; what
// formats and strftime would read is doubled.
func passLine(passer []string, socket, tag string) string {
	var b strings.Builder
	b.WriteString("exec")
	for _, w := range append(append([]string(nil), passer...), socket, tag) {
		b.WriteString(" '" + strings.ReplaceAll(w, "'", `'\''`) + "'")
	}
	b.WriteString(" >/dev/null 2>&1")
	return strings.NewReplacer("#", "##", "%", "%%").Replace(b.String())
}

// pipeReader reads one pane's pipe until its end.
type pipeReader struct {
	f    *os.File
	conn syscall.RawConn
	once sync.Once
	busy sync.Mutex // while a piece is read and handed on
}

// pipeBuffers are shared: a reader holds one only while bytes are there.
var pipeBuffers = sync.Pool{New: func() any { b := make([]byte, 64<<10); return &b }}

// readPipe starts reading; output is told in order, end once at the end.
func readPipe(fd int, output func([]byte), end func()) (*pipeReader, error) {
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return nil, err
	}
	r := &pipeReader{f: os.NewFile(uintptr(fd), "pipe")}
	var err error
	if r.conn, err = r.f.SyscallConn(); err != nil {
		r.close()
		return nil, err
	}
	go func() {
		for over := false; !over; {
			// One read for each call: a pane that never stops must not keep us
			// from seeing that the pipe was closed.
			err := r.conn.Read(func(fd uintptr) bool {
				r.busy.Lock()
				defer r.busy.Unlock()
				buf := pipeBuffers.Get().(*[]byte)
				defer pipeBuffers.Put(buf)
				n, err := unix.Read(int(fd), *buf)
				switch {
				case n > 0:
					output((*buf)[:n])
				case err == unix.EINTR:
				case err == unix.EAGAIN:
					return false
				default:
					over = true // the end, or a fault that is one
				}
				return true
			})
			over = over || err != nil
		}
		r.close()
		end()
	}()
	return r, nil
}

func (r *pipeReader) close() { r.once.Do(func() { r.f.Close() }) }
