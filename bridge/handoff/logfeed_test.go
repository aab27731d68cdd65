package handoff

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"akk/agents"
	"akk/agents/codex"
)

// forgetful is a log that finds a new conversation only every half second, as
// Codex's does.
type forgetful struct {
	agents.Log
	checked time.Time
	begun   *atomic.Bool // the new conversation has taken its task
	told    bool
}

func (l *forgetful) Path() string              { return "rollout" }
func (l *forgetful) WatchPaths() []string      { return nil }
func (l *forgetful) State() agents.LogState    { return agents.LogState{} }
func (l *forgetful) Status() *agents.AppStatus { return nil }
func (l *forgetful) Close() error              { return nil }

func (l *forgetful) Poll() ([]agents.LogEvent, error) {
	if now := time.Now(); now.Sub(l.checked) >= 500*time.Millisecond {
		l.checked = now
		if !l.told && l.begun.Load() {
			l.told = true
			return []agents.LogEvent{{Kind: agents.LogAccepted}}, nil
		}
	}
	return nil, nil
}

type withLog struct {
	agents.Agent
	log agents.Log
}

func (a withLog) OpenLog(*agents.Process) (agents.Log, error) { return a.log, nil }

// A quick first task of a new conversation is found without any further sign of
// life: the last poke came too early for the look that finds its file.
func TestFeederLooksOnceMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var begun atomic.Bool
		got := make(chan time.Duration, 1)
		files := newFileWatch(slog.New(slog.DiscardHandler))
		files.tried = true
		start := time.Now()
		f := newFeeder(withLog{codex.Agent{}, &forgetful{begun: &begun}}, agents.Process{PID: 1}, files, slog.New(slog.DiscardHandler), func(u *logUpdate) {
			if len(u.events) > 0 {
				got <- time.Since(start)
			}
		})
		ctx, cancel := context.WithCancel(t.Context())
		defer func() { cancel(); <-f.done }()
		go f.run(ctx)
		time.Sleep(10 * time.Second) // long looked at
		start = time.Now()
		f.poke() // the task is typed: a look
		time.Sleep(20 * time.Millisecond)
		begun.Store(true)
		f.poke() // it was answered: too early for the next look, and the last sign
		select {
		case after := <-got:
			if after > time.Second {
				t.Errorf("found after %s", after)
			}
		case <-time.After(time.Minute):
			t.Error("never found")
		}
	})
}

// A file that comes long after the last sign of life is found too: the agent's
// session would stay unknown, and no callback reach its pane.
func TestFeederGoesOnLooking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var begun atomic.Bool
		var looks atomic.Int32
		got := make(chan struct{}, 1)
		files := newFileWatch(slog.New(slog.DiscardHandler))
		files.tried = true
		f := newFeeder(lateLog{codex.Agent{}, &begun, &looks}, agents.Process{PID: 1}, files, slog.New(slog.DiscardHandler), func(u *logUpdate) {
			if len(u.events) > 0 {
				got <- struct{}{}
			}
		})
		ctx, cancel := context.WithCancel(t.Context())
		defer func() { cancel(); <-f.done }()
		go f.run(ctx)
		f.poke()
		time.Sleep(20 * time.Second)
		begun.Store(true)
		select {
		case <-got:
		case <-time.After(seekMost + time.Second):
			t.Error("never found")
		}
		before := looks.Load()
		time.Sleep(time.Hour)
		if n := looks.Load() - before; n > 130 {
			t.Errorf("%d looks in an hour of rest", n)
		}
	})
}

// lateLog is an agent whose log is not there at first.
type lateLog struct {
	agents.Agent
	begun *atomic.Bool
	looks *atomic.Int32
}

func (a lateLog) OpenLog(*agents.Process) (agents.Log, error) {
	a.looks.Add(1)
	if !a.begun.Load() {
		return nil, agents.ErrNoLog
	}
	return &forgetful{begun: a.begun}, nil
}
