package claude

import (
	"embed"
	"strings"
	"sync"

	"akk/agents"
	"akk/vtparse"
)

// This file loads what is known of the versions. Rule: words and timings are
// data; a mistake in them is found by the first test, not by a user.

const reverse = vtparse.Reverse

//go:embed words.toml
var wordsFile []byte

//go:embed profiles/*.toml
var profileFiles embed.FS

// words are what the agent writes on its screen (words.toml).
type words struct {
	agents.ProfileHead
	Hints    []string `toml:"hints"`
	Composer struct {
		Placeholders []string `toml:"placeholders"`
		EmptyHints   []string `toml:"empty_hints"`
		QueuedHint   []string `toml:"queued_hint"`
		QueuedRow    []string `toml:"queued_row"`
		Stashed      []string `toml:"stashed"`
		History      []string `toml:"history"`
		Vim          []string `toml:"vim"`
		Help         []string `toml:"help"`
		PopupMarks   []string `toml:"popup_marks"`
		PasteMark    string   `toml:"paste_mark"`
		AgentsView   string   `toml:"agents_view"`
		AgentsIdle   string   `toml:"agents_idle"`
	} `toml:"composer"`
	Activity struct {
		Glyphs        string   `toml:"glyphs"`
		Spinner       []string `toml:"spinner"`
		EndedPrefix   []string `toml:"ended_prefix"`
		EndedText     []string `toml:"ended_text"`
		Interrupted   []string `toml:"interrupted"`
		QueuedResult  []string `toml:"queued_result"`
		SpinnerResult []string `toml:"spinner_result"`
		Background    []string `toml:"background"`
		Tasks         []string `toml:"tasks"`
		Busy          []string `toml:"busy"`
		IdleHints     []string `toml:"idle_hints"`
		Pending       []string `toml:"pending"`
		Modes         []string `toml:"modes"`
		BareModes     []string `toml:"bare_modes"`
		WorkingTitle  []string `toml:"working_title"`
		Running       []string `toml:"running"`
		Limit         []string `toml:"limit"`
		FooterFocus   []string `toml:"footer_focus"`
	} `toml:"activity"`
	Viewer struct {
		Mark    string   `toml:"mark"`
		Waiting string   `toml:"waiting"`
		Working string   `toml:"working"`
		Tells   []string `toml:"tells"`
	} `toml:"viewer"`
	Approval struct {
		Questions []string `toml:"questions"`
		Hints     []string `toml:"hints"`
		MoreRows  []string `toml:"more_rows"`
		About     string   `toml:"about"`
	} `toml:"approval"`
	Question struct {
		Review  []string `toml:"review"`
		Buttons []string `toml:"buttons"`
		Chat    []string `toml:"chat"`
		Notes   []string `toml:"notes"`
	} `toml:"question"`
	Elicit struct {
		Buttons []string `toml:"buttons"`
		More    []string `toml:"more"`
		Radio   string   `toml:"radio"`
	} `toml:"elicit"`
	Left struct {
		Killed []string `toml:"killed"`
		Resume []string `toml:"resume"`
	} `toml:"left"`
	Panels  []panelSpec   `toml:"panels"`
	Startup []startupSpec `toml:"startup"`
	Kinds   []kindSpec    `toml:"kinds"`
}

// panelSpec names a panel by its title; all that is not empty must hold.
type panelSpec struct {
	Title  string `toml:"title"`
	Prefix string `toml:"prefix"`
	Suffix string `toml:"suffix"`
	With   string `toml:"with"`
	Kind   string `toml:"kind"`
	Owner  string `toml:"owner"`
	Mode   string `toml:"mode"`
}

type startupSpec struct {
	Row string `toml:"row"`
}

// kindSpec names a prompt by what is left of it in a small pane.
type kindSpec struct {
	Prompt string `toml:"prompt"`
	Row    string `toml:"row"`
	Option string `toml:"option"`
	Kind   string `toml:"kind"`
}

// profile is what differs between versions (profiles/*.toml).
type profile struct {
	agents.ProfileHead
	Submit struct {
		SettleMillis  int               `toml:"settle_ms"`
		DrawMillis    int               `toml:"draw_ms"`
		AcceptMillis  int               `toml:"accept_ms"`
		Enter         string            `toml:"enter"`
		CollapseChars int               `toml:"collapse_chars"`
		CollapseLines int               `toml:"collapse_lines"`
		Refuse        map[string]string `toml:"refuse"`

		Interrupt agents.InterruptPlan `toml:"interrupt"`
	} `toml:"submit"`
	Dialog struct {
		// StillMillis is how long a dialog must have stood still before a key
		// is taken for sure.
		StillMillis int `toml:"still_ms"`
	} `toml:"dialog"`
	// Words are a user's own; nil: words.toml.
	Words *words `toml:"words"`
	// Keys are the rules for answering dialogs.
	Keys []agents.KeyRule `toml:"keys"`
}

// CheckKeys implements agents.KeyChecker.
func (p *profile) CheckKeys() error {
	s := p.Submit
	return agents.CheckPlan(agents.SubmitPlan{SettleMillis: s.SettleMillis, DrawMillis: s.DrawMillis, AcceptMillis: s.AcceptMillis, Enter: s.Enter,
		Interrupt: s.Interrupt})
}

// knowledge is everything that was loaded.
type knowledge struct {
	words    words
	profiles *agents.Profiles[*profile]
}

// known is read at the first use: most commands never need it.
var known = sync.OnceValue(mustLoad)

// mustLoad reads the embedded files: they are part of the program, a mistake in
// them is a mistake in it.
func mustLoad() *knowledge {
	k, err := load()
	if err != nil {
		panic("agents/claude: " + err.Error())
	}
	return k
}

func load() (*knowledge, error) {
	k := new(knowledge)
	if err := agents.DecodeProfile("words.toml", wordsFile, &k.words); err != nil {
		return nil, err
	}
	var err error
	k.profiles, err = agents.LoadProfiles(profileFiles, "profiles", func() *profile { return new(profile) })
	return k, err
}

func (w *words) isPlaceholder(text string) bool { return isOneOf(text, w.Composer.Placeholders) }

func (w *words) collapsed(draft string) bool { return strings.Contains(draft, w.Composer.PasteMark) }

// popupRow tells whether a row can be one of a list of suggestions.
func (w *words) popupRow(line string) bool {
	t := strings.TrimLeft(line, " ")
	if d := len(line) - len(t); d > 4 {
		return false
	}
	t = strings.TrimPrefix(t, "❯ ")
	for _, m := range w.Composer.PopupMarks {
		if strings.HasPrefix(t, m) {
			return true
		}
	}
	return false
}

// modeRow tells whether a footer row is the one that names the mode.
func (w *words) modeRow(line string) bool {
	t := strings.TrimLeft(line, " ")
	for _, m := range w.Activity.Modes {
		if strings.HasPrefix(t, m) {
			return true
		}
	}
	return false
}

// bareMode tells whether the mode row is as it is before the agent is up: the
// mode alone, without the hints that follow it in an empty composer at rest.
func (w *words) bareMode(line string) bool {
	t := strings.TrimLeft(line, " ")
	for _, m := range w.Activity.BareModes {
		if rest, ok := strings.CutPrefix(t, m); ok && (rest == "" || strings.HasPrefix(rest, "   ")) {
			return true
		}
	}
	return false
}
