package lab

// Certification: a reader of package agents is held against a real version. It
// upholds: what a reading must say comes from what was done to the agent, its
// own log and the model's side, never from the reader.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"akk/agents"
	"akk/vtparse"
)

// Expect is the truth of a state. An empty field is not compared.
type Expect struct {
	Activity agents.Activity
	Owner    agents.Owner
	Composer agents.Composer
	Dialog   string // kind
	Command  string // part of the dialog's command
	Options  int    // at least so many
}

// Check is one comparison.
type Check struct {
	Name   string
	Want   string
	Got    string
	OK     bool
	Unsafe bool     // an empty composer was claimed where keys would have gone elsewhere
	Why    []string // the reader's reasons, for a check that failed
	Screen string   // the screen, for a check that failed
	Took   time.Duration
}

// Report is the outcome of a certification.
type Report struct {
	Agent     agents.Kind
	Version   string
	Profile   string // as the readings named it
	Isolation string
	Started   time.Time
	Took      time.Duration
	Checks    []Check
}

// Clean is true if every check was as it must be.
func (r Report) Clean() bool {
	return len(r.Checks) > 0 && !slices.ContainsFunc(r.Checks, func(c Check) bool { return !c.OK || c.Unsafe })
}

// readTimeout is how long a reading may take to become true after the screen
// has: the logs of Claude Code lag up to 1.7 s on a loaded machine.
const readTimeout = 5 * time.Second

// truth says what each state is, for both agents.
func truth(kind agents.Kind, st State) Expect {
	blocked := func(o agents.Owner, dialog, command string, options int) Expect {
		return Expect{agents.Blocked, o, agents.ComposerHidden, dialog, command, options}
	}
	switch st {
	case AtWorking:
		return Expect{Activity: agents.Working, Owner: agents.OwnerComposer, Composer: agents.ComposerEmpty}
	case AtApproval:
		if kind == agents.Codex {
			return blocked(agents.OwnerApproval, "exec", "touch ", 2)
		}
		return blocked(agents.OwnerApproval, "exec", "mkdir -p build && touch build/out.txt", 2)
	case AtPatch:
		if kind == agents.Codex {
			return blocked(agents.OwnerApproval, "patch", "", 2)
		}
		return blocked(agents.OwnerApproval, "edit", "", 2)
	case AtQuestionnaire:
		return blocked(agents.OwnerQuestionnaire, "question", "", 2)
	case AtDraft:
		return Expect{Activity: agents.Idle, Owner: agents.OwnerComposer, Composer: agents.ComposerDraft}
	case AtMenu:
		return Expect{Activity: agents.Idle, Owner: agents.OwnerMenu, Composer: agents.ComposerHidden}
	case AtViewer:
		return Expect{Activity: agents.Idle, Owner: agents.OwnerViewer, Composer: agents.ComposerHidden}
	default:
		return Expect{Activity: agents.Idle, Owner: agents.OwnerComposer, Composer: agents.ComposerEmpty}
	}
}

func (e Expect) String() string {
	s := fmt.Sprintf("%s, keys to %s, composer %s", e.Activity, e.Owner, e.Composer)
	if e.Dialog != "" {
		s += ", dialog " + e.Dialog
	}
	if e.Command != "" {
		s += " with " + e.Command
	}
	return s
}

func describe(r agents.Reading) string {
	s := fmt.Sprintf("%s, keys to %s, composer %s", r.Activity, r.Owner, r.Composer)
	if d := r.Dialog; d != nil {
		s += fmt.Sprintf(", dialog %s with %d options", d.Kind, len(d.Options))
		if d.Command != "" {
			s += ", " + d.Command
		}
	}
	return s
}

// met compares a reading with the truth.
func (e Expect) met(r agents.Reading) bool {
	if r.Activity != e.Activity || r.Owner != e.Owner || r.Composer != e.Composer {
		return false
	}
	if e.Dialog == "" {
		return r.Dialog == nil
	}
	return r.Dialog != nil && r.Dialog.Kind == e.Dialog && len(r.Dialog.Options) >= e.Options && strings.Contains(r.Dialog.Command, e.Command)
}

// unsafe is a reading on which a task would be typed into something else.
func (e Expect) unsafe(r agents.Reading) bool {
	ready := func(a agents.Activity, o agents.Owner, c agents.Composer) bool {
		return a == agents.Idle && o == agents.OwnerComposer && c == agents.ComposerEmpty
	}
	return ready(r.Activity, r.Owner, r.Composer) && !ready(e.Activity, e.Owner, e.Composer)
}

// Certify runs the scenario suite on b and compares what a says about each
// state with what is true. An error means that the suite could not be run; what
// the reader got wrong is in the Report.
func Certify(ctx context.Context, a agents.Agent, b Binary) (Report, error) {
	rep := Report{Agent: b.Agent, Version: b.Version, Started: time.Now()}
	se, err := Start(ctx, Options{Binary: b, Record: true})
	if err != nil {
		return rep, err
	}
	defer se.Close()
	rep.Isolation = se.Server.Isolation()
	w, err := newWatcher(ctx, a, se)
	if err != nil {
		return rep, err
	}
	defer w.close()
	rep.Checks = append(rep.Checks, w.identity()...)
	for _, st := range States() {
		if st == AtCopyMode {
			continue // tmux's, not the agent's
		}
		if _, err := se.Reach(ctx, st); errors.Is(err, ErrUnreachable) {
			continue
		} else if err != nil {
			return rep, err
		}
		c, err := w.state(ctx, string(st), truth(b.Agent, st))
		if err != nil {
			return rep, err
		}
		rep.Checks = append(rep.Checks, c)
		if err := se.Leave(ctx, st); err != nil {
			return rep, err
		}
		if c, err = w.state(ctx, "idle after "+string(st), truth(b.Agent, AtIdle)); err != nil {
			return rep, err
		}
		rep.Checks = append(rep.Checks, c)
	}
	turn, err := w.turn(ctx)
	if err != nil {
		return rep, err
	}
	rep.Checks = append(rep.Checks, turn...)
	rep.Profile, rep.Took = w.profile, time.Since(rep.Started)
	return rep, nil
}

// watcher reads one session as akk would: bytes, log, process.
type watcher struct {
	agent   agents.Agent
	se      *Session
	term    *vtparse.Terminal
	fed     int
	proc    *agents.Process
	version string
	matched bool
	log     agents.Log
	events  []agents.LogEvent
	profile string
}

func newWatcher(ctx context.Context, a agents.Agent, se *Session) (*watcher, error) {
	v, err := se.Server.Tmux(ctx, "display-message", "-p", "#{version}")
	if err != nil {
		return nil, err
	}
	scr, err := se.Capture(ctx)
	if err != nil {
		return nil, err
	}
	w := &watcher{agent: a, se: se, term: vtparse.New(se.Cols, se.Rows, vtparse.Options{TmuxVersion: v})}
	if w.proc, err = process(scr.PID); err != nil {
		return nil, err
	}
	w.version, w.matched = a.Match(w.proc)
	return w, nil
}

func (w *watcher) close() {
	if w.log != nil {
		w.log.Close()
	}
}

// identity checks that the process was recognised.
func (w *watcher) identity() []Check {
	got := fmt.Sprintf("recognised %v, version %q", w.matched, w.version)
	want := fmt.Sprintf("recognised true, version %q", w.se.Binary.Version)
	return []Check{{Name: "process", Want: want, Got: got, OK: got == want}}
}

// read takes what is new and reads the state.
func (w *watcher) read() (agents.Reading, error) {
	raw, err := w.se.Raw()
	if err != nil {
		return agents.Reading{}, err
	}
	if _, err := w.term.Write(raw[w.fed:]); err != nil {
		return agents.Reading{}, fmt.Errorf("draw the pane's bytes: %w", err)
	}
	w.fed = len(raw)
	if w.log == nil {
		l, err := w.agent.OpenLog(w.proc)
		if err != nil && !errors.Is(err, agents.ErrNoLog) {
			return agents.Reading{}, fmt.Errorf("open the agent's log: %w", err)
		}
		if err == nil {
			w.log = l
		}
	}
	in := agents.Input{Screen: w.term.Screen(), Version: w.version, Process: w.proc, Now: time.Now()}
	if w.log != nil {
		ev, err := w.log.Poll()
		if err != nil && !errors.Is(err, agents.ErrLogReplaced) {
			return agents.Reading{}, fmt.Errorf("read the agent's log: %w", err)
		}
		w.events = append(w.events, ev...)
		st := w.log.State()
		in.Log, in.Status = &st, w.log.Status()
	}
	r := w.agent.Read(in)
	w.profile = r.Profile
	return r, nil
}

// state reads until the reading is true, for a while, and notes whether it was
// ever unsafe meanwhile.
func (w *watcher) state(ctx context.Context, name string, want Expect) (Check, error) {
	c := Check{Name: name, Want: want.String()}
	start := time.Now()
	for {
		r, err := w.read()
		if err != nil {
			return c, err
		}
		c.Got, c.Took = describe(r), time.Since(start)
		if want.unsafe(r) {
			c.Unsafe = true
		}
		if c.OK = want.met(r); c.OK && !c.Unsafe {
			return c, nil
		}
		if c.OK || time.Since(start) > readTimeout {
			for _, why := range r.Why {
				c.Why = append(c.Why, why.String())
			}
			c.Screen = strings.Join(w.term.Screen().Lines(), "\n")
			return c, nil
		}
		if err := pause(ctx, pollEvery); err != nil {
			return c, err
		}
	}
}

// turn sends one task and checks that the log tells it: accepted once, then
// completed with the final text.
func (w *watcher) turn(ctx context.Context) ([]Check, error) {
	text := "please " + Hello + " for the record\nin two lines"
	before, err := w.se.ReadLog()
	if err != nil {
		return nil, err
	}
	if err := w.se.Send(ctx, text); err != nil {
		return nil, err
	}
	if _, err := w.se.WaitAnswers(ctx, len(before.Answers)+1); err != nil {
		return nil, err
	}
	hash := agents.HashRequest(text)
	got := ""
	start := time.Now()
	for {
		if _, err := w.read(); err != nil {
			return nil, err
		}
		var told []string
		for _, e := range w.events {
			switch {
			case e.Kind == agents.LogAccepted && e.Hash == hash:
				told = append(told, "accepted")
			case e.Kind == agents.LogCompleted && len(told) > 0:
				told = append(told, "completed "+e.Text)
			}
		}
		got = strings.Join(told, ", ")
		if len(told) >= 2 || time.Since(start) > readTimeout {
			break
		}
		if err := pause(ctx, pollEvery); err != nil {
			return nil, err
		}
	}
	want := "accepted, completed " + HelloAnswer
	texts, turns := w.se.Model.Asked(text)
	asked := fmt.Sprintf("%d text in %d turn", texts, turns)
	return []Check{
		{Name: "log of a turn", Want: want, Got: got, OK: got == want},
		{Name: "model was asked", Want: "1 text in 1 turn", Got: asked, OK: texts == 1 && turns == 1},
	}, nil
}

// WriteTo writes the report as Markdown.
func (r Report) WriteTo(out io.Writer) (int64, error) {
	var b strings.Builder
	verdict := "clean"
	if !r.Clean() {
		verdict = "NOT clean"
	}
	fmt.Fprintf(&b, "# %s %s: %s\n\n%s, %s, profile %q, %s\n\n| check | must be | was | |\n| --- | --- | --- | --- |\n",
		r.Agent, r.Version, verdict, r.Started.UTC().Format("2006-01-02 15:04"), r.Took.Round(time.Second), r.Profile, r.Isolation)
	cell := func(s string) string { return strings.NewReplacer("|", "\\|", "\n", " ").Replace(s) }
	for _, c := range r.Checks {
		mark := "ok"
		if !c.OK {
			mark = "WRONG"
		}
		if c.Unsafe {
			mark += " UNSAFE"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", cell(c.Name), cell(c.Want), cell(c.Got), mark)
	}
	for _, c := range r.Checks {
		if c.Screen != "" {
			fmt.Fprintf(&b, "\n## %s\n\nwhy: %s\n\n```\n%s\n```\n", c.Name, strings.Join(c.Why, "; "), strings.TrimRight(c.Screen, "\n "))
		}
	}
	n, err := io.WriteString(out, b.String())
	return int64(n), err
}
