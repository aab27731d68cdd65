package codex

import (
	"embed"
	"slices"
	"sync"

	"akk/agents"
)

// This file holds what a profile of Codex knows and how the right one is
// found. Rule: every word that is compared with the screen comes from here.

//go:embed profiles/*.toml
var files embed.FS

// Profile is one range of versions.
type Profile struct {
	agents.ProfileHead
	Signals  Signals      `toml:"signals"`
	Composer ComposerText `toml:"composer"`
	Panels   []Panel      `toml:"panel"`
	Submit   Submit       `toml:"submit"`
	// Keys are the rules for answering dialogs.
	Keys []agents.KeyRule `toml:"keys"`
}

// Signals are the words of the pane title.
type Signals struct {
	// Action are the beginnings of a title while a human is asked.
	Action []string `toml:"action_title"`
	// ProgramStatus tells whether OSC 7501 is sent.
	ProgramStatus bool `toml:"program_status"`
}

// ComposerText are the words in and around the composer.
type ComposerText struct {
	Markers      []string `toml:"markers"`       // bold, first cell of the composer
	Shell        string   `toml:"shell"`         // marker of the shell mode
	NotReady     []string `toml:"not_ready"`     // placeholders under which nothing may be typed
	Loading      []string `toml:"loading"`       // whole footer while the session is not ready
	LoadingModel string   `toml:"loading_model"` // in the header's box while the session is not ready
	Interrupt    string   `toml:"interrupt"`     // part of the status row while a turn runs
	Paste        string   `toml:"paste"`         // begin of a collapsed paste
	Queued       []string `toml:"queued"`        // heads of the sections over the composer
	AsyncOne     string   `toml:"async_mark"`    // begin of the row that counts open questions
	AsyncNoun    string   `toml:"async_noun"`    // word in that row
	AsyncAnswer  string   `toml:"async_answer"`  // end of the row under it
	Background   string   `toml:"background"`    // part of a row about background terminals
	Limit        string   `toml:"limit"`         // part of the error row about a usage limit
	ErrorMark    string   `toml:"error_mark"`    // first cell of an error row
	ShellFooter  string   `toml:"shell_footer"`  // footer's right end in shell mode
	QueueFooter  string   `toml:"queue_footer"`  // footer with a draft while a turn runs
	Died         []string `toml:"died"`          // what a shell prints when the agent was killed
	Resume       string   `toml:"resume"`        // what is printed when the program leaves
}

// Panel is something that takes the keys from the composer. It is recognised
// by its footer, and by a heading where one footer serves several.
type Panel struct {
	Owner agents.Owner `toml:"owner"`
	// Kind is the dialog's kind; "" for what is no dialog of a turn.
	Kind string `toml:"kind"`
	// Footer are beginnings of the last row or rows.
	Footer []string `toml:"footer"`
	// Needs must all stand in the footer.
	Needs []string `toml:"needs"`
	// Heading are beginnings of the panel's first row; none: any.
	Heading []string `toml:"heading"`
	// Bold tells that the heading is bold.
	Bold bool `toml:"bold"`
	// Step tells that the heading ends in "i/n".
	Step bool `toml:"step"`
	// Async marks the panel of a question that does not stop the turn.
	Async bool `toml:"async"`
	// Keyed tells that options end in their key, as in "(y)".
	Keyed bool `toml:"keyed"`
	// Free tells that the panel has no options but a text field.
	Free bool `toml:"free"`
	// Mode is an elicitation's mode.
	Mode string `toml:"mode"`
}

// Submit are the limits and times of sending a text, see agents.SubmitPlan.
type Submit struct {
	SettleMillis  int               `toml:"settle_ms"`
	DrawMillis    int               `toml:"draw_ms"`
	AcceptMillis  int               `toml:"accept_ms"`
	Enter         string            `toml:"enter"`
	CollapseChars int               `toml:"collapse_chars"`
	Refuse        map[string]string `toml:"refuse"`

	Clear     agents.ClearPlan     `toml:"clear"`
	Interrupt agents.InterruptPlan `toml:"interrupt"`
}

// CheckKeys implements agents.KeyChecker.
func (p *Profile) CheckKeys() error {
	s := p.Submit
	return agents.CheckPlan(agents.SubmitPlan{SettleMillis: s.SettleMillis, DrawMillis: s.DrawMillis, AcceptMillis: s.AcceptMillis, Enter: s.Enter,
		Clear: s.Clear, Interrupt: s.Interrupt})
}

// loaded reads the embedded profiles once. They are part of the program, and
// a test loads them, so an error here can't reach a user.
var loaded = sync.OnceValue(func() *agents.Profiles[*Profile] {
	set, err := agents.LoadProfiles(files, "profiles", func() *Profile { return new(Profile) })
	if err != nil {
		panic(err)
	}
	return set
})

// anyVersion is the union of all profiles, for a screen whose version nobody
// told (a recording). The newest version's words come first.
var anyVersion = sync.OnceValue(func() *Profile {
	all := loaded().All()
	u := *all[len(all)-1]
	u.Name = "any"
	for i := len(all) - 2; i >= 0; i-- {
		p := all[i]
		u.Signals.Action = union(u.Signals.Action, p.Signals.Action)
		u.Signals.ProgramStatus = u.Signals.ProgramStatus || p.Signals.ProgramStatus
		u.Composer.Markers = union(u.Composer.Markers, p.Composer.Markers)
		u.Composer.NotReady = union(u.Composer.NotReady, p.Composer.NotReady)
		u.Composer.Died = union(u.Composer.Died, p.Composer.Died)
		u.Composer.Loading = union(u.Composer.Loading, p.Composer.Loading)
		u.Composer.Queued = union(u.Composer.Queued, p.Composer.Queued)
		for _, panel := range p.Panels {
			if !slices.ContainsFunc(u.Panels, panel.same) {
				u.Panels = append(u.Panels, panel)
			}
		}
	}
	// What asks for a heading is more exact than what takes any.
	slices.SortStableFunc(u.Panels, func(a, b Panel) int { return anyHeading(a) - anyHeading(b) })
	return &u
})

func anyHeading(p Panel) int {
	if len(p.Heading) == 0 {
		return 1
	}
	return 0
}

func (p Panel) same(o Panel) bool {
	return p.Owner == o.Owner && p.Kind == o.Kind && p.Async == o.Async && p.Free == o.Free && p.Mode == o.Mode &&
		slices.Equal(p.Footer, o.Footer) && slices.Equal(p.Needs, o.Needs) && slices.Equal(p.Heading, o.Heading)
}

func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// profileFor finds the words for a version and the name of its profile. A
// version without a profile is read with the words of all, under the name of
// the nearest: a panel is told by more than a word, so more words are safe.
func (a Agent) profileFor(version string) (words *Profile, name, verification string) {
	if version == "" {
		return anyVersion(), anyVersion().Name, agents.Generic
	}
	p, verification := a.profiles().For(version)
	if _, ok := a.profiles().Covers(version); !ok {
		return anyVersion(), p.Name, verification
	}
	return p, p.Name, verification
}
