package lab

// Certification: the readers of package agents are held against a real
// version. It upholds: what a reading must say comes from what was done to the
// agent, its own log and the model's side, never from the reader.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"akk/agents"
)

// Suite is the number of the scenario suite: raise it when a scenario is
// added or asks for more, so that a profile tells what it was held against.
const Suite = 1

// readTimeout is how long a reading may take to become true after the screen
// has: the logs of Claude Code lag up to 1.7 s on a loaded machine, more on one
// that starves.
const readTimeout = 15 * time.Second

// CertifyOptions choose what is run. The zero value is the whole suite, one
// scenario after the other.
type CertifyOptions struct {
	Only   []string                         // names of scenarios, nil = all
	Record string                           // folder for recordings with their truth, "" = none
	Jobs   int                              // scenarios at a time, 0 = 1
	Tell   func(scene string, part []Check) // after each scenario; may be nil
}

// ErrNoScene is returned for a scenario that the agent's suite doesn't have.
var ErrNoScene = errors.New("no such scenario")

// Scenes is the suite of an agent.
func Scenes(k agents.Kind) []Scene {
	if k == agents.Codex {
		return codexScenes()
	}
	return claudeScenes()
}

// Certify runs the scenario suite on b and compares every reading of a with
// what is true. An error means that the suite could not be run; what the
// reader got wrong is in the Report.
func Certify(ctx context.Context, a agents.Agent, b Binary, o CertifyOptions) (Report, error) {
	rep := Report{Agent: b.Agent, Version: b.Version, Started: time.Now(), Platform: runtime.GOOS + "-" + nodeArch()}
	var run []Scene
	for _, sc := range Scenes(b.Agent) {
		switch {
		case len(o.Only) > 0 && !slices.Contains(o.Only, sc.Name):
		case !sc.has(b.Version):
			rep.Skipped = append(rep.Skipped, sc.Name)
		default:
			run, rep.Scenes = append(run, sc), append(rep.Scenes, sc.Name)
		}
	}
	for _, name := range o.Only {
		if !slices.ContainsFunc(Scenes(b.Agent), func(s Scene) bool { return s.Name == name }) {
			return rep, fmt.Errorf("certify %s with %q: %w", b.Agent, name, ErrNoScene)
		}
	}
	parts, errs := make([]Report, len(run)), make([]error, len(run))
	next := make(chan int, len(run))
	for i := range run {
		next <- i
	}
	close(next)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	var telling sync.Mutex
	for range max(1, o.Jobs) {
		wg.Go(func() {
			for i := range next {
				if ctx.Err() != nil {
					return
				}
				if parts[i], errs[i] = play(ctx, a, b, run[i], o.Record); errs[i] != nil {
					cancel()
					return
				}
				if o.Tell != nil {
					telling.Lock()
					o.Tell(run[i].Name, parts[i].Checks)
					telling.Unlock()
				}
			}
		})
	}
	wg.Wait()
	for _, p := range parts {
		rep.Checks = append(rep.Checks, p.Checks...)
		rep.Readings += p.Readings
		if p.Profile != "" {
			rep.Profile, rep.Verification = p.Profile, p.Verification
		}
		if p.Tmux != "" {
			rep.Tmux, rep.Isolation = p.Tmux, p.Isolation
		}
	}
	rep.Took = time.Since(rep.Started)
	return rep, firstReal(errs)
}

// firstReal is the error that stopped the others.
func firstReal(errs []error) error {
	var any error
	for _, err := range errs {
		if err == nil {
			continue
		}
		if !errors.Is(err, context.Canceled) {
			return err
		}
		any = err
	}
	return any
}

// play runs one scenario in a server of its own.
func play(ctx context.Context, a agents.Agent, b Binary, sc Scene, record string) (Report, error) {
	rep := Report{}
	o := Options{Binary: b, Record: true}
	if sc.Start != nil {
		sc.Start(b, &o)
	}
	srv, err := NewServer(ctx)
	if err != nil {
		return rep, err
	}
	defer srv.Close()
	rep.Isolation = srv.Isolation()
	if rep.Tmux, err = srv.Tmux(ctx, "display-message", "-p", "#{version}"); err != nil {
		return rep, err
	}
	if sc.Rules != nil {
		o.rules = sc.Rules
	}
	se, err := srv.Start(ctx, o)
	if err != nil {
		if ctx.Err() != nil {
			return rep, ctx.Err()
		}
		// The version does not come up as the suite expects it: that is a finding.
		rep.Checks = append(rep.Checks, Check{Scene: sc.Name, Step: "start", Want: "the composer", Got: "it never came",
			Diffs: []Diff{{"state", "the composer", "it never came"}}, Screen: err.Error()})
		rep.scrub(map[string]string{srv.Dir: "RUN"})
		return rep, nil
	}
	var tp *tape
	if record != "" {
		if tp, err = newTape(record, se, sc.Name, rep.Tmux); err != nil {
			return rep, err
		}
	}
	w, err := newWatcher(ctx, a, se, tp)
	if err != nil {
		return rep, errors.Join(err, tp.close())
	}
	defer w.close()
	st := &Stage{Session: se, ctx: ctx, w: w, scene: sc.Name, rep: &rep, last: Truth{NotReady: true}}
	sc.Play(st)
	rep.Checks = append([]Check{w.identity(sc.Name)}, rep.Checks...)
	rep.Profile, rep.Verification, rep.Readings = w.profile, w.verification, w.readings
	rep.scrub(map[string]string{se.Paths.Project: "PROJECT", se.Paths.Outside: "OUTSIDE", se.Paths.Config: "CONFIG",
		se.Paths.Home: "HOME", se.Paths.Root: "ROOT", srv.Dir: "RUN", filepath.Dir(srv.Socket): "SOCKETS", b.Dir: "INSTALLED"})
	if err := st.err; err != nil && !errors.Is(err, errLost) {
		if ctx.Err() != nil {
			return rep, errors.Join(ctx.Err(), tp.close())
		}
		if !errors.Is(err, ErrTimeout) {
			return rep, errors.Join(fmt.Errorf("scenario %s: %w", sc.Name, err), tp.close())
		}
		rep.Checks = append(rep.Checks, Check{Scene: sc.Name, Step: "a step on the way", Want: "done", Got: err.Error(),
			Diffs: []Diff{{"state", "done", err.Error()}}, Screen: strings.Join(w.term.Screen().Lines(), "\n")})
	}
	return rep, tp.close()
}

// identity checks that the process was recognised.
func (w *watcher) identity(scene string) Check {
	got := fmt.Sprintf("recognised %v, version %q", w.matched, w.version)
	want := fmt.Sprintf("recognised true, version %q", w.se.Binary.Version)
	c := Check{Scene: scene, Step: "process", Want: want, Got: got, OK: got == want}
	if !c.OK {
		c.Diffs = []Diff{{"process", want, got}}
	}
	return c
}

// there tells whether a file is.
func there(path ...string) bool {
	_, err := os.Stat(filepath.Join(path...))
	return err == nil
}
