package handoff

// This file follows an agent's own log on a goroutine of its own: it finds it,
// polls it when a file changed or the screen moved, and posts what came. It
// upholds: a slow disk or a long log never holds up the terminal's readings.

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"akk/agents"
)

const (
	pollGap     = 10 * time.Millisecond  // least time between two polls
	openGap     = 250 * time.Millisecond // least time between two searches for a log
	openUrgency = 30 * time.Second       // how long a search goes on by itself after Enter
	// lastLook is after how long without a poke the log is looked at once more. An
	// agent's new conversation begins a file of its own, which a log may look for
	// only every half second (codex.recheck): the one look that would find it may
	// be the one after the last poke.
	lastLook = 600 * time.Millisecond
	// seekMost is how long the looks after it are apart at most, each twice as far
	// as the one before: on a loaded machine an agent writes its first line long
	// after it has drawn its answer, and the file may be one that nobody watches.
	seekMost = 30 * time.Second
	// rivalWait is how long the other logs of a process with several are given
	// to take the same text, so that it is seen to be in one only (R49).
	rivalWait = 250 * time.Millisecond
)

type feeder struct {
	agent agents.Agent
	proc  agents.Process
	watch *fileWatch
	post  func(*logUpdate)
	out   *slog.Logger
	pokes chan struct{}
	syncs chan chan struct{}
	hurry chan struct{}
	done  chan struct{}

	log     agents.Log // own
	lastErr string
}

func newFeeder(a agents.Agent, p agents.Process, w *fileWatch, out *slog.Logger, post func(*logUpdate)) *feeder {
	return &feeder{agent: a, proc: p, watch: w, post: post, out: out, pokes: make(chan struct{}, 1), syncs: make(chan chan struct{}),
		hurry: make(chan struct{}, 1), done: make(chan struct{})}
}

// poke says that the log may have grown. It never waits.
func (f *feeder) poke() {
	select {
	case f.pokes <- struct{}{}:
	default:
	}
}

// urgent makes the feeder look again and again until there is a log.
func (f *feeder) urgent() {
	select {
	case f.hurry <- struct{}{}:
	default:
	}
	f.poke()
}

// sync returns when everything that is in the log now has been posted, or ctx
// ends.
func (f *feeder) sync(ctx context.Context) {
	ch := make(chan struct{})
	select {
	case f.syncs <- ch:
	case <-f.done:
		return
	case <-ctx.Done():
		return
	}
	select {
	case <-ch:
	case <-f.done:
	case <-ctx.Done():
	}
}

func (f *feeder) run(ctx context.Context) {
	defer close(f.done)
	defer f.close()
	again := time.NewTimer(0) // the first look
	defer again.Stop()
	last, seek := time.NewTimer(lastLook), lastLook
	defer last.Stop()
	var searched, hurryUntil time.Time
	look := func(now time.Time, force bool) {
		if f.log == nil {
			if wait := openGap - now.Sub(searched); wait > 0 && !force {
				again.Reset(wait)
				return
			}
			searched = now
		}
		f.poll(ctx)
		if f.log == nil && now.Before(hurryUntil) {
			again.Reset(openGap)
		}
	}
	var polled time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.hurry:
			hurryUntil = time.Now().Add(openUrgency)
		case ch := <-f.syncs:
			polled = time.Now()
			look(polled, true)
			close(ch)
		case <-last.C:
			polled = time.Now()
			look(polled, false)
			seek = min(2*seek, seekMost)
			last.Reset(seek)
		case <-f.pokes:
			now := time.Now()
			seek = lastLook
			last.Reset(seek)
			if wait := pollGap - now.Sub(polled); wait > 0 {
				again.Reset(wait)
				continue
			}
			polled = now
			look(now, false)
		case <-again.C:
			polled = time.Now()
			look(polled, false)
		}
	}
}

// poll opens the log if there is none yet, reads what came and posts it.
func (f *feeder) poll(ctx context.Context) {
	defer func() {
		if r := recover(); r != nil { // no panic crosses a package border
			f.warn("reading the agent's log panicked", "panic", r)
			f.close()
		}
	}()
	if f.log == nil {
		l, err := f.agent.OpenLog(&f.proc)
		if err != nil {
			if !errors.Is(err, agents.ErrNoLog) {
				f.warn("the agent's log can't be opened", "error", err)
			}
			return
		}
		f.log = l
	}
	events, err := f.log.Poll()
	if r, ok := f.log.(interface{ Rivals() int }); ok && err == nil && r.Rivals() > 1 && slices.ContainsFunc(events, isAccepted) {
		select {
		case <-time.After(rivalWait):
		case <-ctx.Done():
		}
		var more []agents.LogEvent
		more, err = f.log.Poll()
		events = append(events, more...)
	}
	replaced := errors.Is(err, agents.ErrLogReplaced)
	if err != nil {
		f.warn("the agent's log can't be read", "path", f.log.Path(), "error", err)
		if errors.Is(err, agents.ErrLogReplaced) {
			more, _ := f.log.Poll()
			events = append(events, more...)
		}
	}
	f.watch.set(f, f.log.WatchPaths())
	st := f.log.State()
	f.post(&logUpdate{path: f.log.Path(), events: events, state: &st, status: f.log.Status(), replaced: replaced})
}

func isAccepted(e agents.LogEvent) bool { return e.Kind == agents.LogAccepted }

func (f *feeder) warn(msg string, args ...any) {
	key := msg
	for _, a := range args {
		if err, ok := a.(error); ok {
			key += err.Error()
		}
	}
	if key != f.lastErr { // once per change, not per frame
		f.lastErr = key
		f.out.Warn(msg, append(args, "pid", f.proc.PID)...)
	}
}

func (f *feeder) close() {
	f.watch.set(f, nil)
	if f.log != nil {
		if err := f.log.Close(); err != nil {
			f.warn("closing the agent's log", "error", err)
		}
		f.log = nil
	}
}
