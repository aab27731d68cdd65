package panes

import (
	"context"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// This file asks macOS: the end of processes by one kqueue for all of them. It
// is compiled with the rest, and was never run: no macOS was at hand.

// ends is the kqueue with everybody who waits.
var ends struct {
	once    sync.Once
	kq      int
	err     error
	mu      sync.Mutex
	waiting map[int]map[chan struct{}]struct{}
}

// processEnd returns true when the process has ended, false when ctx has or
// when the kernel can't tell.
func processEnd(ctx context.Context, pid int) bool {
	ends.once.Do(func() {
		ends.waiting = map[int]map[chan struct{}]struct{}{}
		if ends.kq, ends.err = unix.Kqueue(); ends.err == nil {
			unix.CloseOnExec(ends.kq)
			go tellEnds()
		}
	})
	if ends.err != nil {
		return false
	}
	over := make(chan struct{})
	ends.mu.Lock()
	if ends.waiting[pid] == nil {
		ends.waiting[pid] = map[chan struct{}]struct{}{}
	}
	ends.waiting[pid][over] = struct{}{}
	ends.mu.Unlock()
	defer func() {
		ends.mu.Lock()
		defer ends.mu.Unlock()
		if delete(ends.waiting[pid], over); len(ends.waiting[pid]) == 0 {
			delete(ends.waiting, pid)
		}
	}()
	var ask [1]unix.Kevent_t
	unix.SetKevent(&ask[0], pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	ask[0].Fflags = unix.NOTE_EXIT
	if _, err := unix.Kevent(ends.kq, ask[:], nil, nil); err != nil {
		return err == unix.ESRCH
	}
	select {
	case <-over:
		return true
	case <-ctx.Done():
		return false
	}
}

// tellEnds runs as long as the program.
func tellEnds() {
	events := make([]unix.Kevent_t, 16)
	for {
		n, err := unix.Kevent(ends.kq, nil, events, nil)
		if err != nil && err != unix.EINTR {
			return
		}
		ends.mu.Lock()
		for _, e := range events[:max(n, 0)] {
			for c := range ends.waiting[int(e.Ident)] {
				close(c)
			}
			delete(ends.waiting, int(e.Ident))
		}
		ends.mu.Unlock()
	}
}

// foreground is never the same twice: each look makes the list be read again.
func foreground(int) string { return strconv.FormatInt(time.Now().UnixNano(), 10) }
