package codex

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"akk/agents"
)

// This file follows the rollouts that a Codex process holds open. Rules: a
// descriptor of the process is the proof that a rollout is its own; after
// /new, /clear or a resume the one that was written last is the current one.

// recheck is how often the descriptors are looked at again, at most.
const recheck = 500 * time.Millisecond

// heldLog is an agents.Log over the rollouts of one process.
type heldLog struct {
	pid     int
	since   time.Time
	held    func(pid int) ([]string, error)
	now     func() time.Time
	checked time.Time
	open    []*follow
	current *follow
}

// follow is one rollout being read.
type follow struct {
	tail *agents.Tail
	sum  *rollout
	last time.Time // of its last event
}

func openHeld(pid int, since time.Time, held func(int) ([]string, error)) (*heldLog, error) {
	l := &heldLog{pid: pid, since: since, held: held, now: time.Now}
	if err := l.look(); err != nil {
		return nil, err
	}
	if len(l.open) == 0 {
		return nil, agents.ErrNoLog
	}
	l.current = l.open[len(l.open)-1]
	return l, nil
}

// look opens rollouts that the process has opened since.
func (l *heldLog) look() error {
	l.checked = l.now()
	paths, err := l.held(l.pid)
	if err != nil {
		return fmt.Errorf("look for the rollout of process %d: %w", l.pid, err)
	}
	for _, p := range paths {
		if slices.ContainsFunc(l.open, func(f *follow) bool { return f.tail.Path() == p }) {
			continue
		}
		t, err := agents.OpenTail(p)
		if err != nil {
			continue // gone between the two looks
		}
		l.open = append(l.open, &follow{tail: t, sum: newRollout(p, l.since)})
	}
	return nil
}

func (l *heldLog) Path() string { return l.current.tail.Path() }

// WatchPaths are the current rollout and its folder: a new conversation makes
// a new file there.
func (l *heldLog) WatchPaths() []string {
	out := make([]string, 0, len(l.open)+1)
	for _, f := range l.open {
		out = append(out, f.tail.Path())
	}
	return append(out, filepath.Dir(l.Path()))
}

func (l *heldLog) Poll() ([]agents.LogEvent, error) {
	if l.now().Sub(l.checked) >= recheck {
		// A process that is gone can't be looked at; what it wrote still counts.
		_ = l.look()
	}
	var out []agents.LogEvent
	var failed error
	for _, f := range l.open {
		events, err := f.poll()
		if err != nil {
			failed = errors.Join(failed, err)
		}
		if f.sum.sub {
			continue
		}
		if n := len(events); n > 0 {
			f.last = events[n-1].Time
			if f != l.current && !f.last.Before(l.current.last) || l.current.sum.sub {
				l.current = f
			}
		}
		out = append(out, events...)
	}
	return out, failed
}

// poll reads one rollout's new lines.
func (f *follow) poll() ([]agents.LogEvent, error) {
	var out []agents.LogEvent
	err := f.tail.Poll(func(b []byte, end int64) {
		if e, ok := f.sum.parseLine(b, end); ok {
			e.Path = f.tail.Path()
			out = append(out, e)
		}
	})
	if errors.Is(err, agents.ErrLogReplaced) {
		f.sum = newRollout(f.tail.Path(), f.sum.since)
		return nil, err
	}
	return out, err
}

// Rivals is how many conversations of the process could take a text: with more
// than one the same text in two of them is nobody's (R49).
func (l *heldLog) Rivals() int {
	n := 0
	for _, f := range l.open {
		if !f.sum.sub {
			n++
		}
	}
	return n
}

func (l *heldLog) State() agents.LogState { return l.current.sum.state }

// Status is nil: Codex writes no status file.
func (l *heldLog) Status() *agents.AppStatus { return nil }

func (l *heldLog) Close() error {
	var err error
	for _, f := range l.open {
		err = errors.Join(err, f.tail.Close())
	}
	l.open = nil
	return err
}
