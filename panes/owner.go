package panes

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// This file keeps two daemons from typing into one server. The mark is a lock
// on a file beside the server's socket: nothing of it is in tmux, so options
// stay as they were, and the kernel takes it away when its daemon dies in any
// way. Everybody may watch; who holds the lock may type.

// ownership is the held lock.
type ownership struct {
	f    *os.File
	path string
}

// maxOwnerText bounds what is read of another daemon's mark, in bytes.
const maxOwnerText = 200

// own takes the lock if it is free. The error names who has it.
func (s *Server) own() error {
	s.omu.Lock()
	defer s.omu.Unlock()
	if s.owner != nil {
		return nil
	}
	if s.life.Err() != nil {
		return ErrServerGone
	}
	dir, base := filepath.Split(s.id.Socket)
	o, err := lockFile(filepath.Join(dir, "."+base+".akk-owner"), s.o.Owner)
	if errors.Is(err, os.ErrPermission) || errors.Is(err, syscall.EROFS) {
		h := fnv.New64a()
		io.WriteString(h, s.id.Socket)
		o, err = lockFile(filepath.Join(os.TempDir(), fmt.Sprintf("akk-owner-%d-%016x", os.Getuid(), h.Sum64())), s.o.Owner)
	}
	if err != nil {
		return err
	}
	s.owner = o
	return nil
}

// disown gives the lock back and removes its file.
func (s *Server) disown() {
	s.omu.Lock()
	defer s.omu.Unlock()
	if s.owner != nil {
		os.Remove(s.owner.path)
		s.owner.f.Close()
		s.owner = nil
	}
}

func lockFile(path, owner string) (*ownership, error) {
	for range 10 { // each round the file was removed under us by its owner
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
		if err != nil {
			return nil, fmt.Errorf("the mark of the daemon that may type: %w", err)
		}
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			text, _ := io.ReadAll(io.LimitReader(f, maxOwnerText))
			f.Close()
			return nil, fmt.Errorf("another akk daemon types into this server (%s): stop it first", strings.TrimSpace(string(text)))
		}
		held, err1 := f.Stat()
		now, err2 := os.Stat(path)
		if err1 != nil || err2 != nil || !os.SameFile(held, now) {
			f.Close()
			continue
		}
		if err := f.Truncate(0); err == nil {
			fmt.Fprintf(f, "%s, pid %d\n", owner, os.Getpid())
		}
		return &ownership{f, path}, nil
	}
	return nil, fmt.Errorf("the mark of the daemon that may type keeps changing: %s", path)
}
