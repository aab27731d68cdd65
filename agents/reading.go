package agents

import "time"

// Kind names an agent program. The two that akk knows are in the packages
// agents/codex and agents/claude.
type Kind string

// The kinds.
const (
	Codex  Kind = "codex"
	Claude Kind = "claude"
)

// Activity is what the agent does.
type Activity string

// The activities. Unknown is never idle.
const (
	Starting        Activity = "starting"
	Idle            Activity = "idle"    // no turn runs
	Working         Activity = "working" // a turn runs
	Blocked         Activity = "blocked" // a turn waits for a human's decision
	Exited          Activity = "exited"
	ActivityUnknown Activity = "unknown"
)

// Owner is who gets the next key that is typed into the pane.
type Owner string

// The owners. Only OwnerComposer may be sent a task.
const (
	OwnerComposer      Owner = "composer"
	OwnerApproval      Owner = "approval"
	OwnerQuestionnaire Owner = "questionnaire"
	OwnerEditor        Owner = "editor" // a dialog's text field
	OwnerMenu          Owner = "menu"
	OwnerViewer        Owner = "viewer"
	OwnerStartup       Owner = "startup"
	OwnerOther         Owner = "other"
	OwnerShell         Owner = "shell" // the agent has left, a shell reads
	OwnerUnknown       Owner = "unknown"
)

// Composer is the state of the agent's prompt editor.
type Composer string

// The states of a composer.
const (
	ComposerEmpty   Composer = "empty"
	ComposerDraft   Composer = "draft"
	ComposerHidden  Composer = "hidden"
	ComposerUnknown Composer = "unknown"
)

// Reading is one answer about one screen generation. It is a value; readers
// may keep it. The JSON form is what `akk replay --json` and `akk list --json`
// print.
type Reading struct {
	Agent    Kind     `json:"agent"`
	Activity Activity `json:"activity"`
	Owner    Owner    `json:"owner"`
	Composer Composer `json:"composer"`
	Dialog   *Dialog  `json:"dialog"`

	Background   bool   `json:"background,omitempty"`    // idle, but background work goes on
	LimitedUntil string `json:"limited_until,omitempty"` // the usage limit's own words, "" if none
	Provisional  bool   `json:"provisional,omitempty"`   // the mirror was not audited since its last byte, or the frame is torn

	ComposerFlags []string `json:"composer_flags,omitempty"` // popup stashed queued shell_mode collapsed hidden_draft
	Profile       string   `json:"profile,omitempty"`        // name of the profile that was used
	Verification  string   `json:"verification,omitempty"`   // certified | generic
	Generation    uint64   `json:"generation,omitempty"`
	Why           []Reason `json:"why"`

	// Draft is the composer's text as drawn, wrapped rows joined; it lives in
	// memory only and is never stored or sent to a Host (R226).
	Draft string `json:"-"`
	// DraftCollapsed is set when part of the draft shows only as a paste marker.
	DraftCollapsed bool `json:"-"`
	// DraftEnd is set when the cursor is proven to stand behind the whole draft.
	DraftEnd bool `json:"-"`
}

// Reason is one piece of evidence. Its text form (used in JSON) is
// "layer: rule [rows]".
type Reason struct {
	Layer string // signal | cursor | frame | log | process | mirror
	Rule  string // what was seen, in words of the profile
	Rows  []int  // screen rows, 0 at the top, that show it
}

// Dialog is a prompt of the agent that has the keys.
type Dialog struct {
	Kind        string         `json:"kind"` // exec|patch|edit|write|read|fetch|plan|question|multi_question|free_text|confirm|mcp|elicitation
	Prompt      string         `json:"prompt,omitempty"`
	Command     string         `json:"command,omitempty"`
	Options     []DialogOption `json:"options,omitempty"`
	Selected    *int           `json:"selected,omitempty"` // 0-based, nil if none is marked
	Step        *DialogStep    `json:"step,omitempty"`
	Clipped     bool           `json:"clipped,omitempty"` // rows are missing on screen
	Hidden      bool           `json:"hidden,omitempty"`  // known from signals, not on the screen
	MultiSelect bool           `json:"multi_select,omitempty"`
	Async       bool           `json:"async,omitempty"`
	Path        string         `json:"path,omitempty"`
	URL         string         `json:"url,omitempty"`
	Reason      string         `json:"reason,omitempty"`
	Server      string         `json:"server,omitempty"`
	Tool        string         `json:"tool,omitempty"`
	Mode        string         `json:"mode,omitempty"`      // elicitation: form | message | url
	Arguments   string         `json:"arguments,omitempty"` // of an MCP tool, one row per argument as shown
	Fields      []DialogField  `json:"fields,omitempty"`    // of a form, as far as the screen shows them
	// Top and Bottom bound the region on the screen, rows inclusive.
	Top    int `json:"top"`
	Bottom int `json:"bottom"`
	// Fingerprint is sha256 over the region's unredacted cells, blinking parts
	// normalised, in hex. It is a fence, never shown to a model (R10).
	Fingerprint string `json:"-"`
	// Entry is what the text field that has the keys shows, "" if it is
	// provably empty; nil if none has them or it can't be told. Memory only.
	Entry *string `json:"-"`
}

// DialogField is one field of a form.
type DialogField struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
	Type        string `json:"type,omitempty"`  // text | boolean | choice, "" if the screen does not tell
	Value       string `json:"value,omitempty"` // as shown
	Focused     bool   `json:"focused,omitempty"`
}

// DialogOption is one row that can be chosen.
type DialogOption struct {
	Label       string `json:"label"`
	Key         string `json:"key,omitempty"`
	Description string `json:"description,omitempty"`
	Checked     bool   `json:"checked,omitempty"`
}

// DialogStep is "question Index of Total", 1-based.
type DialogStep struct {
	Index int `json:"index"`
	Total int `json:"total"`
}

// Input is all that a reader may use for one Reading.
type Input struct {
	Screen  Screen
	Version string     // "0.155.1", "" if unknown
	Process *Process   // nil in a replay
	Log     *LogState  // nil in a replay, or before a log was found
	Status  *AppStatus // Claude's status file; nil where there is none
	Now     time.Time
}
