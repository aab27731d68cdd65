package agents

import "akk/vtparse"

// Screen is the picture that a reader gets.
type Screen = *vtparse.Screen

// Agent is all that akk knows about one kind of agent. Implementations are
// stateless and safe for any goroutine.
type Agent interface {
	Kind() Kind

	// Read never fails: what can't be told is unknown in the Reading.
	Read(Input) Reading

	// Match tells whether the process is this agent, and its version ("" if
	// not known). It looks at Exe and Args and may read files beside the
	// executable (package.json); it starts nothing.
	Match(p *Process) (version string, ok bool)

	// OpenLog finds the log of the process. It returns ErrNoLog while the
	// agent has not written one yet; ask again after the first turn.
	OpenLog(p *Process) (Log, error)

	// Submit is how this version is sent a task.
	Submit(version string) SubmitPlan
}

// SubmitPlan is the certified way to send a text: a bracketed paste, the draft
// seen on the screen, then Enter.
type SubmitPlan struct {
	// SettleMillis is the least time in ms between paste and Enter.
	SettleMillis int
	// DrawMillis is how long the draft may take to appear, in ms.
	DrawMillis int
	// AcceptMillis is how long acceptance may take to show in the log, in ms.
	AcceptMillis int
	// Enter are the bytes that submit.
	Enter string
	// Refuse lists first characters that the composer would take as a command
	// or as its shell mode, each with the reason.
	Refuse map[string]string
	// CollapseChars and CollapseLines say from which size on a paste shows as
	// a marker only; 0 = never.
	CollapseChars, CollapseLines int
	Clear                        ClearPlan
	Interrupt                    InterruptPlan
}

// ClearPlan empties a composer whose cursor stands at the end of its draft,
// with keys that do no harm to an empty one. The zero value: this version's
// draft is never cleared.
type ClearPlan struct {
	First      string `toml:"first"`   // bytes of the first step
	Again      string `toml:"again"`   // of every further step
	StepMillis int    `toml:"step_ms"` // how long a step's effect may take to show, in ms
}

// InterruptPlan ends the running turn (R169). It is pressed once, at a proven
// working agent with an empty composer. The zero value: never.
type InterruptPlan struct {
	Key          string `toml:"key"`       // its bytes
	Name         string `toml:"name"`      // C-c | Escape
	EffectMillis int    `toml:"effect_ms"` // how long the end may take to show, in ms
	// Shows is part of a row while a turn runs. Where the proof saw it, the key
	// is pressed only if the server still sees it: Ctrl-C ends an idle Codex.
	Shows string `toml:"-"`
}

// Log is an agent's own log, read incrementally. It is used by one goroutine.
type Log interface {
	Path() string
	// WatchPaths are the files and folders whose change means "Poll again".
	WatchPaths() []string
	// Poll reads what came since the last call and never waits. A torn last
	// line is kept for the next call; a truncated or replaced file starts over
	// and says so with ErrLogReplaced.
	Poll() ([]LogEvent, error)
	State() LogState
	// Status is Claude's status file as last polled; nil for other agents.
	Status() *AppStatus
	Close() error
}
