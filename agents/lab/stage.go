package lab

// What a scenario does to an agent and what it says is then true. It upholds:
// a key is sent only in the state that the last step has seen; after the first
// step that doesn't come, the scenario does nothing more.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"akk/agents"
	"akk/agents/lab/model"
)

// Scene is one scenario: an agent of its own, brought into states.
type Scene struct {
	Name   string
	Covers string // for the report
	Agent  agents.Kind
	Since  string // first version that has it, "" = all
	Before string // first version that has it no more, "" = none
	// Start changes how the agent is started.
	Start func(Binary, *Options)
	// Rules are the model's, before those of Scenarios.
	Rules func(Paths) []model.Rule
	Play  func(*Stage)
}

// has tells whether version has the scenario.
func (sc Scene) has(version string) bool {
	v, ok := agents.ParseVersion(version)
	if !ok {
		return sc.Before == ""
	}
	since, ok1 := agents.ParseVersion(sc.Since)
	before, ok2 := agents.ParseVersion(sc.Before)
	return (!ok1 || v.Compare(since) >= 0) && (!ok2 || v.Compare(before) < 0)
}

const (
	// keyGap is the pause between two keys in one step: below 50 ms an Escape
	// and a letter become one key.
	keyGap = 300 * time.Millisecond
	// heldFor is how long a picture that moves by itself must go on showing a
	// state before a key is sent.
	heldFor = 500 * time.Millisecond
	// lateLog is how long a log may lag behind: Claude Code's up to 1.7 s on a
	// loaded machine.
	lateLog = 20 * time.Second
)

// errLost ends a scenario whose step did not come; the report has it already.
var errLost = errors.New("a step did not come")

// Stage is a running scenario. Its methods do nothing after the first error.
type Stage struct {
	*Session
	ctx   context.Context
	w     *watcher
	scene string
	rep   *Report
	err   error
	last  Truth
	seen  Screen // of the last step
	offer bool   // the offer of auto mode is a step, not to be declined on the way
}

// shown says that a state is on tmux's own screen.
type shown func(Screen) bool

func has(words ...string) shown { return func(s Screen) bool { return s.Has(words...) } }

func (f shown) and(g shown) shown { return func(s Screen) bool { return f(s) && g(s) } }

// without adds words that must not be there.
func (f shown) without(words ...string) shown {
	return func(s Screen) bool {
		return f(s) && !slices.ContainsFunc(words, func(w string) bool { return s.Has(w) })
	}
}

// tick reads once.
func (st *Stage) tick() {
	if st.err == nil {
		_, st.err = st.w.read()
	}
}

// until looks at tmux's screen, and reads, until ok.
func (st *Stage) until(ok shown, timeout time.Duration) (Screen, bool) {
	end := time.Now().Add(timeout)
	for {
		scr, err := st.Capture(st.ctx)
		if err != nil && st.err == nil {
			st.err = err
		}
		st.tick()
		if st.err == nil && st.Binary.Agent == agents.Claude && offered(scr) && !st.offer {
			// Once shown, at the start or later: it is no part of the scenario.
			st.err = st.decline(st.ctx)
			delete(st.w.kinds, "startup")
		}
		if st.err != nil {
			return scr, false
		}
		if ok(scr) {
			return scr, true
		}
		if time.Now().After(end) {
			return scr, false
		}
		if st.err = pause(st.ctx, pollEvery); st.err != nil {
			return scr, false
		}
	}
}

// held is true once ok has held for a while; a picture that does not move needs
// stillFor, one that does heldFor more.
func held(ok shown, moves bool) shown {
	last, still, since := "", time.Now(), time.Time{}
	return func(s Screen) bool {
		if !ok(s) {
			since = time.Time{}
			return false
		}
		now := time.Now()
		if since.IsZero() {
			since = now
		}
		if p := fmt.Sprint(s.X, s.Y, s.Text()); p != last {
			last, still = p, now
		}
		if moves {
			return now.Sub(since) >= heldFor
		}
		return now.Sub(still) >= stillFor && now.Sub(since) >= heldFor || now.Sub(since) > 4*stillFor
	}
}

// see is a step: the state comes, is still for a while, and is read rightly.
func (st *Stage) see(name string, ok shown, want Truth) {
	st.look(name, held(ok, st.Binary.Agent == agents.Codex), want)
}

// glimpse is a step in a state that passes: it is read as soon as it shows.
func (st *Stage) glimpse(name string, ok shown, want Truth) { st.look(name, ok, want) }

func (st *Stage) look(name string, ok shown, want Truth) {
	if st.err != nil {
		return
	}
	scr, came := st.until(ok, stepTimeout)
	if st.err != nil {
		return
	}
	start := time.Now()
	if !came {
		c := Check{Scene: st.scene, Step: name, Want: want.String(), Got: "the state never came",
			Diffs: []Diff{{"state", "on tmux's screen within " + stepTimeout.String(), "it never came"}}}
		c.Screen = scr.Text()
		st.rep.Checks = append(st.rep.Checks, c)
		st.err = errLost
		return
	}
	between := st.w.between(st.last, want)
	var c Check
	for {
		r, err := st.w.read()
		if err != nil {
			st.err = err
			return
		}
		if scr, err = st.Capture(st.ctx); err != nil {
			st.err = err
			return
		}
		d := want.diffs(r, scr)
		c = newCheck(st.scene, name, want, r, d)
		c.Took = time.Since(start)
		if len(d) == 0 || time.Since(start) > readTimeout {
			if len(d) > 0 {
				c.fail(r, st.w.term.Screen().Lines())
			}
			break
		}
		if st.err = pause(st.ctx, pollEvery); st.err != nil {
			return
		}
	}
	// What was claimed while the state stood there.
	between = append(between, st.w.between(want, want)...)
	if len(between) > 0 {
		c.Diffs, c.OK, c.Unsafe = append(between, c.Diffs...), false, true
	}
	st.w.tape.step(TapeStep{Name: name, Truth: want, Screen: scr})
	st.rep.Checks = append(st.rep.Checks, c)
	st.last, st.seen = want, scr
}

// idle is the step back at an empty composer.
func (st *Stage) idle(name string) { st.see(name, st.atIdle(), isIdle()) }

// atIdle says that the cursor is in a composer.
func (st *Stage) atIdle() shown { return func(s Screen) bool { return st.shown(AtIdle, s) } }

// say sends a text: pasted, drawn, Enter.
func (st *Stage) say(text string) {
	st.draft(text)
	st.keys("Enter")
}

// draft pastes text and waits until it is drawn.
func (st *Stage) draft(text string) {
	if st.err != nil {
		return
	}
	before, err := st.Capture(st.ctx)
	if err == nil {
		err = st.Paste(st.ctx, text)
	}
	if err != nil {
		st.err = err
		return
	}
	drawn := shown(func(s Screen) bool { return (s.X != before.X || s.Y != before.Y) && s.Text() != before.Text() })
	if _, ok := st.until(held(drawn, true), stepTimeout); !ok && st.err == nil {
		st.err = fmt.Errorf("%s: paste %q: %w", st.scene, text, ErrTimeout)
	}
}

// keys sends tmux key names, one after the other.
func (st *Stage) keys(keys ...string) {
	for i, k := range keys {
		if st.err != nil {
			return
		}
		if i > 0 {
			st.wait(keyGap)
		}
		st.err = errors.Join(st.err, st.Keys(st.ctx, k))
	}
}

// twice presses a key two times, close enough to be a double press and far
// enough apart not to become one key.
func (st *Stage) twice(key string) {
	if st.err == nil {
		st.err = errors.Join(st.Keys(st.ctx, key), pause(st.ctx, keyGap/2), st.Keys(st.ctx, key))
	}
}

// typ types text as characters.
func (st *Stage) typ(text string) {
	if st.err == nil {
		st.err = st.Type(st.ctx, text)
	}
}

// wait goes on reading for d.
func (st *Stage) wait(d time.Duration) {
	end := time.Now().Add(d)
	st.until(func(Screen) bool { return !time.Now().Before(end) }, d+stepTimeout)
}

// paste pastes text as it is, and does not wait.
func (st *Stage) paste(text string) {
	if st.err == nil {
		st.err = st.Paste(st.ctx, text)
	}
}

// turn checks what the agent's log told of the text that was said last:
// accepted once, and how the turn ended ("" = no more than accepted). final is
// the last text of the model. The model must have been asked for it once.
func (st *Stage) turn(text string, end agents.LogKind, final string) {
	if st.err != nil {
		return
	}
	want := "accepted"
	if end != "" {
		want += ", " + strings.TrimSpace(string(end)+" "+final)
	}
	hash, got := agents.HashRequest(text), ""
	told := func() string {
		var t []string
		id := ""
		for _, e := range st.w.events {
			switch e.Kind {
			case agents.LogAccepted:
				if e.Hash == hash {
					t, id = append(t, "accepted"), e.TurnID
				}
			case agents.LogCompleted, agents.LogAborted, agents.LogFailed:
				if len(t) == 0 || e.TurnID != id {
					continue
				}
				s := string(e.Kind)
				if e.Kind == agents.LogCompleted {
					s = strings.TrimSpace(s + " " + e.Text)
				}
				t = append(t, s)
			}
		}
		return strings.Join(t, ", ")
	}
	st.until(func(Screen) bool { got = told(); return got == want }, lateLog)
	if st.err != nil {
		return
	}
	c := Check{Scene: st.scene, Step: "log: " + text, Want: want, Got: got, OK: got == want}
	if !c.OK {
		c.Diffs = []Diff{{"log", want, got}}
	}
	st.rep.Checks = append(st.rep.Checks, c)
	texts, turns := st.Model.Asked(text)
	c = Check{Scene: st.scene, Step: "model: " + text, Want: "1 text in 1 turn", Got: fmt.Sprintf("%d text in %d turn", texts, turns)}
	if end == agents.LogFailed && turns > 1 {
		c.Want = c.Got // a failed answer is asked for again
	}
	if c.OK = c.Want == c.Got && texts == 1; !c.OK {
		c.Diffs = []Diff{{"model", c.Want, c.Got}}
	}
	st.rep.Checks = append(st.rep.Checks, c)
}

// that notes a fact that the scenario itself has checked.
func (st *Stage) that(name string, ok bool, got string) {
	if st.err != nil {
		return
	}
	c := Check{Scene: st.scene, Step: name, Want: "so", Got: "so", OK: ok}
	if !ok {
		c.Got, c.Diffs = got, []Diff{{"effect", name, got}}
	}
	st.rep.Checks = append(st.rep.Checks, c)
}

// since tells whether the version is at least want.
func (st *Stage) since(want ...int) bool { return atLeast(st.Binary.Version, want...) }

// answered checks that the newest results that the model was sent hold each of the words.
func (st *Stage) answered(name string, words ...string) {
	got := ""
	st.until(func(Screen) bool {
		for _, r := range st.Model.Requests() {
			if r.Main && len(r.Results) > 0 {
				got = strings.Join(r.Results, " ")
			}
		}
		return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(got, w) })
	}, lateLog)
	missing := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return strings.Contains(got, w) })
	st.that(name, len(missing) == 0, fmt.Sprintf("%q is not in %q", missing, got))
}

// modelDone says that the model's newest answer has ended.
func (st *Stage) modelDone() shown { return func(Screen) bool { return st.w.modelOpen() == 0 } }

// modelBusy says that the model answers.
func (st *Stage) modelBusy() shown { return func(Screen) bool { return st.w.modelOpen() > 0 } }

// open lets the model's answer go on that waits at a gate.
func (st *Stage) open() {
	if st.err == nil {
		st.Model.Open()
	}
}

// release ends a command of the script that waits for the file "go".
func (st *Stage) release() {
	if st.err == nil {
		st.err = os.WriteFile(filepath.Join(st.Paths.Project, "go"), nil, 0o600)
	}
}

func (f shown) or(g shown) shown { return func(s Screen) bool { return f(s) || g(s) } }

func (f shown) not() shown { return func(s Screen) bool { return !f(s) } }
