package lab

// Reading a session as akk would: bytes, log, process. It upholds: no reading
// goes unjudged, also those between two steps of a scenario.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"akk/agents"
	"akk/vtparse"
)

// modelGrace is how long the model's side may have an open answer before a
// reading that says idle is wrong: the request is on its way some time before
// the agent has drawn that it works.
const modelGrace = 3 * time.Second

// odd is a reading between two steps that claims something.
type odd struct {
	reading agents.Reading
	screen  string
}

// watcher reads one session.
type watcher struct {
	agent   agents.Agent
	ctx     context.Context
	se      *Session
	term    *vtparse.Terminal
	raw     *os.File
	fed     int64
	proc    *agents.Process
	version string
	matched bool
	log     agents.Log
	events  []agents.LogEvent
	tape    *tape // nil: nothing is recorded

	profile, verification string
	readings              int
	invited, early        *odd            // since the last step
	kinds                 map[string]*odd // the first with each kind of dialog
	earlyFor              time.Duration
}

func newWatcher(ctx context.Context, a agents.Agent, se *Session, tape *tape) (*watcher, error) {
	v, err := se.Server.Tmux(ctx, "display-message", "-p", "#{version}")
	if err != nil {
		return nil, err
	}
	w := &watcher{agent: a, se: se, ctx: ctx, term: vtparse.New(se.Cols, se.Rows, vtparse.Options{TmuxVersion: v}), tape: tape}
	if w.raw, err = os.Open(se.raw); err != nil {
		return nil, fmt.Errorf("open the pane's bytes (start with Record): %w", err)
	}
	return w, nil
}

// identify finds the agent's process: the pane's, or a child of it (npm's
// entry, a shell).
func (w *watcher) identify(ctx context.Context) error {
	scr, err := w.se.Capture(ctx)
	if err != nil {
		return err
	}
	for _, pid := range append([]int{scr.PID}, children(scr.PID)...) {
		p, err := process(pid)
		if err != nil {
			continue // it ended meanwhile
		}
		p.PanePID = scr.PID
		if v, ok := w.agent.Match(p); ok {
			w.proc, w.version, w.matched = p, v, true
			return nil
		}
	}
	return nil
}

func (w *watcher) close() {
	w.raw.Close()
	if w.log != nil {
		w.log.Close()
	}
}

// feed takes what the pane's program has written since the last call.
func (w *watcher) feed() error {
	b, err := io.ReadAll(io.NewSectionReader(w.raw, w.fed, 1<<40))
	if err != nil {
		return fmt.Errorf("read the pane's bytes: %w", err)
	}
	if len(b) == 0 {
		return nil
	}
	w.fed += int64(len(b))
	w.tape.output(b)
	if _, err := w.term.Write(b); err != nil {
		return fmt.Errorf("draw the pane's bytes: %w", err)
	}
	return nil
}

// alive tells whether the agent's process runs.
func (w *watcher) alive() bool {
	if w.proc == nil {
		return false
	}
	p, err := process(w.proc.PID)
	return err == nil && p.StartTime.Equal(w.proc.StartTime) && p.Exe != ""
}

// read takes what is new and reads the state.
func (w *watcher) read() (agents.Reading, error) {
	open := w.modelOpen()
	if !w.matched { // it may be on its way from the shell to the agent
		if err := w.identify(w.ctx); err != nil {
			return agents.Reading{}, err
		}
	}
	if err := w.feed(); err != nil {
		return agents.Reading{}, err
	}
	in := agents.Input{Screen: w.term.Screen(), Version: w.version, Now: time.Now()}
	if in.Version == "" {
		in.Version = w.se.Binary.Version
	}
	if w.alive() {
		in.Process = w.proc
		if err := w.poll(&in); err != nil {
			return agents.Reading{}, err
		}
	}
	r := w.agent.Read(in)
	w.profile, w.verification = r.Profile, r.Verification
	w.readings++
	w.judge(r, min(open, w.modelOpen()))
	return r, nil
}

// poll reads the agent's log into in.
func (w *watcher) poll(in *agents.Input) error {
	if w.log == nil {
		l, err := w.agent.OpenLog(w.proc)
		if err != nil && !errors.Is(err, agents.ErrNoLog) {
			return fmt.Errorf("open the agent's log: %w", err)
		}
		if err == nil {
			w.log = l
		}
	}
	if w.log == nil {
		return nil
	}
	ev, err := w.log.Poll()
	if err != nil && !errors.Is(err, agents.ErrLogReplaced) {
		return fmt.Errorf("read the agent's log: %w", err)
	}
	w.events = append(w.events, ev...)
	st := w.log.State()
	in.Log, in.Status = &st, w.log.Status()
	return nil
}

// modelOpen is how long the model's newest answer has been open, 0 if none is.
func (w *watcher) modelOpen() time.Duration {
	for _, r := range slices.Backward(w.se.Model.Requests()) {
		if r.Main {
			if r.Ended.IsZero() && r.Status == 200 {
				return time.Since(r.Time)
			}
			return 0
		}
	}
	return 0
}

// judge keeps what a reading claims, until the next step says what was so.
func (w *watcher) judge(r agents.Reading, open time.Duration) {
	note := func() *odd { return &odd{r, strings.Join(w.term.Screen().Lines(), "\n")} }
	if invites(r) {
		w.invited = note()
	}
	if r.Dialog != nil && w.kinds[r.Dialog.Kind] == nil {
		if w.kinds == nil {
			w.kinds = map[string]*odd{}
		}
		w.kinds[r.Dialog.Kind] = note()
	}
	if r.Activity == agents.Idle && open > modelGrace && open > w.earlyFor {
		w.early, w.earlyFor = note(), open
	}
}

// between returns what was claimed since the last step and was so neither
// before nor after it, and begins anew.
func (w *watcher) between(before, after Truth) []Diff {
	var out []Diff
	if o := w.invited; o != nil && !before.ready() && !after.ready() {
		out = append(out, Diff{"between the steps", "no invitation to type", describe(o.reading)})
	}
	for kind := range w.kinds {
		is := func(t Truth) bool {
			return t.Dialog != nil && (t.Dialog.Kind == kind || kind == "unknown") || kind == "startup" && t.Owner == agents.OwnerStartup
		}
		if !is(before) && !is(after) && !after.NotReady {
			out = append(out, Diff{"between the steps", "no dialog " + kind, describe(w.kinds[kind].reading)})
		}
	}
	if w.early != nil {
		out = append(out, Diff{"between the steps", fmt.Sprintf("not idle: the model's answer had been open for %v", w.earlyFor.Round(100*time.Millisecond)), describe(w.early.reading)})
	}
	w.invited, w.kinds, w.early, w.earlyFor = nil, nil, nil, 0
	return out
}
