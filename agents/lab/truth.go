package lab

// What is true of a state, and where a reading differs from it. It upholds:
// the truth comes from the script, the keys that were sent, the model's side
// and tmux's own screen, never from the reader that is judged.

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"akk/agents"
)

// Truth is what is so. An empty Activity, Owner or Composer is not compared.
type Truth struct {
	Activity   agents.Activity
	Owner      agents.Owner
	Composer   agents.Composer
	Flags      []string // of the composer, all that must be told
	Background bool
	Limited    bool // a usage limit must be told
	Dialog     *DialogTruth
	// Doubt: the agent itself contradicts its screen; unknown is right, too.
	Doubt bool
	// NotReady: whatever the reading is, it must not be an invitation to type.
	NotReady bool
}

// DialogTruth is the dialog that has the keys. Empty fields are not compared.
type DialogTruth struct {
	Kind    string
	Command string
	Prompt  string // part of it
	// Labels are the first options that the script asked for; all others are
	// compared with the rows of tmux's own screen.
	Labels   []string
	Selected *int // nil: as marked on tmux's screen
	None     bool // no option is marked
	Unread   bool // options and mark are not compared
	Step     agents.DialogStep
	Clipped  bool
	Hidden   bool
	Multi    bool
	Async    bool
	Path     string
	URL      string
	Server   string
	Tool     string
	Mode     string
}

// Diff is one thing that was read otherwise than it is.
type Diff struct {
	Axis string `json:"axis"`
	Want string `json:"expected"`
	Got  string `json:"read"`
}

func is(a agents.Activity, o agents.Owner, c agents.Composer) Truth {
	return Truth{Activity: a, Owner: o, Composer: c}
}

// The states that every agent has.
func isIdle() Truth    { return is(agents.Idle, agents.OwnerComposer, agents.ComposerEmpty) }
func isDraft() Truth   { return is(agents.Idle, agents.OwnerComposer, agents.ComposerDraft) }
func isWorking() Truth { return is(agents.Working, agents.OwnerComposer, agents.ComposerEmpty) }
func isMenu() Truth    { return is(agents.Idle, agents.OwnerMenu, agents.ComposerHidden) }
func isViewer() Truth  { return is(agents.Idle, agents.OwnerViewer, agents.ComposerHidden) }
func isStartup() Truth { return is(agents.Starting, agents.OwnerStartup, agents.ComposerHidden) }
func isGone() Truth    { return is(agents.Exited, agents.OwnerShell, agents.ComposerHidden) }

// asks is a dialog of a turn that has the keys.
func asks(o agents.Owner, d DialogTruth) Truth {
	t := is(agents.Blocked, o, agents.ComposerHidden)
	t.Dialog = &d
	return t
}

func approval(d DialogTruth) Truth { return asks(agents.OwnerApproval, d) }
func question(d DialogTruth) Truth { return asks(agents.OwnerQuestionnaire, d) }
func editor(d DialogTruth) Truth   { return asks(agents.OwnerEditor, d) }

func (t Truth) with(flags ...string) Truth { t.Flags = flags; return t }
func (t Truth) doing(a agents.Activity) Truth {
	t.Activity = a
	return t
}

// at says which option is marked.
func (d DialogTruth) at(i int) DialogTruth { d.Selected = &i; return d }

// ready is a reading or a truth in which a task may be typed.
func ready(a agents.Activity, o agents.Owner, c agents.Composer, flags []string) bool {
	return a == agents.Idle && o == agents.OwnerComposer && c == agents.ComposerEmpty && !slices.Contains(flags, "shell_mode")
}

func (t Truth) ready() bool { return !t.NotReady && ready(t.Activity, t.Owner, t.Composer, t.Flags) }

func invites(r agents.Reading) bool { return ready(r.Activity, r.Owner, r.Composer, r.ComposerFlags) }

// known are the flags that are told if and only if they are so.
var known = []string{"queued", "stashed", "shell_mode", "collapsed"}

// diffs compares a reading with the truth; scr is tmux's own screen.
func (t Truth) diffs(r agents.Reading, scr Screen) []Diff {
	var out []Diff
	add := func(axis, want, got string) {
		if want != got && !(t.Doubt && got == "unknown") {
			out = append(out, Diff{axis, want, got})
		}
	}
	if t.NotReady {
		if invites(r) {
			add("activity", "not ready for a task", "idle")
		}
		return out
	}
	if t.Activity != "" {
		add("activity", string(t.Activity), string(r.Activity))
	}
	if t.Owner != "" {
		add("owner", string(t.Owner), string(r.Owner))
	}
	if t.Composer != "" {
		add("composer", string(t.Composer), string(r.Composer))
	}
	add("composer flags", strings.Join(only(t.Flags, t.Flags), " "), strings.Join(only(r.ComposerFlags, t.Flags), " "))
	if t.Background != r.Background && r.Activity == agents.Idle {
		add("background", fmt.Sprint(t.Background), fmt.Sprint(r.Background))
	}
	if t.Limited && r.LimitedUntil == "" {
		add("limited until", "the limit's words", "")
	}
	switch {
	case t.Dialog == nil && r.Dialog != nil && !(r.Dialog.Kind == "startup" && t.Owner == agents.OwnerStartup):
		add("dialog", "none", r.Dialog.Kind)
	case t.Dialog != nil && r.Dialog == nil:
		add("dialog", t.Dialog.Kind, "none")
	case t.Dialog != nil:
		out = append(out, t.Dialog.diffs(r.Dialog, scr)...)
	}
	return out
}

// only keeps the flags that are compared: the known ones and what the truth
// asks for. A popup may be told where a row below the composer is any other hint.
func only(flags, asked []string) []string {
	var out []string
	for _, f := range slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(known), asked...)))) {
		if slices.Contains(flags, f) {
			out = append(out, f)
		}
	}
	return out
}

func (d *DialogTruth) diffs(r *agents.Dialog, scr Screen) []Diff {
	var out []Diff
	add := func(axis, want, got string) {
		if want != got {
			out = append(out, Diff{axis, want, got})
		}
	}
	told := func(axis, want, got string) {
		if want != "" {
			add(axis, want, got)
		}
	}
	if !d.Hidden || r.Kind != "unknown" { // what isn't on the screen may be unknown
		add("dialog kind", d.Kind, r.Kind)
	}
	told("command", d.Command, r.Command)
	if d.Prompt != "" && !strings.Contains(blanks(r.Prompt), blanks(d.Prompt)) {
		add("prompt", d.Prompt, r.Prompt)
	}
	if r.Path == "" || !strings.HasSuffix(d.Path, "/"+r.Path) { // as drawn: from the folder on
		told("path", d.Path, r.Path)
	}
	told("url", d.URL, r.URL)
	told("server", d.Server, r.Server)
	told("tool", d.Tool, r.Tool)
	told("mode", d.Mode, r.Mode)
	add("hidden", fmt.Sprint(d.Hidden), fmt.Sprint(r.Hidden))
	add("multi select", fmt.Sprint(d.Multi), fmt.Sprint(r.MultiSelect))
	add("async", fmt.Sprint(d.Async), fmt.Sprint(r.Async))
	if d.Clipped {
		add("clipped", "true", fmt.Sprint(r.Clipped))
	}
	if d.Step.Total > 0 {
		got := "none"
		if r.Step != nil {
			got = fmt.Sprintf("%d/%d", r.Step.Index, r.Step.Total)
		}
		add("step", fmt.Sprintf("%d/%d", d.Step.Index, d.Step.Total), got)
	}
	if d.Hidden || d.Unread {
		return out
	}
	rows, marked := optionRows(scr)
	out = append(out, d.options(r, rows)...)
	switch {
	case d.None:
		add("selected", "none", selected(r))
	case d.Selected != nil:
		add("selected", strconv.Itoa(*d.Selected), selected(r))
	case marked >= 0:
		n := -1
		for i, o := range r.Options {
			if !slices.Contains(unnumbered, o.Label) {
				n++
			}
			if n == marked {
				marked = i
				break
			}
		}
		add("selected", strconv.Itoa(marked), selected(r))
	}
	return out
}

func selected(d *agents.Dialog) string {
	if d.Selected == nil {
		return "none"
	}
	return strconv.Itoa(*d.Selected)
}

// options compares the labels: the script's own must be whole, the agent's
// own as far as their first row goes.
func (d *DialogTruth) options(r *agents.Dialog, rows []string) []Diff {
	var want, got []string
	var numbered []string
	for _, o := range r.Options {
		got = append(got, blanks(o.Label))
		if !slices.Contains(unnumbered, o.Label) {
			numbered = append(numbered, blanks(o.Label))
		}
	}
	ok := true
	for i := range max(len(d.Labels), len(rows)) {
		w := ""
		if i < len(rows) {
			w = rows[i]
		}
		exact := i < len(d.Labels)
		if exact {
			w = d.Labels[i]
		}
		want = append(want, w)
		if i >= len(numbered) {
			ok = false
			continue
		}
		l := numbered[i]
		if exact {
			ok = ok && l == w
		} else {
			ok = ok && l != "" && (strings.HasPrefix(w, l) || strings.HasPrefix(l, w))
		}
	}
	if ok && len(numbered) == len(want) {
		return nil
	}
	return []Diff{{"options", strings.Join(want, " | "), strings.Join(got, " | ")}}
}

// unnumbered are options that Claude Code draws without a number.
var unnumbered = []string{"Submit", "Next", "Accept", "Decline"}

var (
	optionRow = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\s*(?:│\s*)?([❯›>]?)\s*(\d{1,2})\.\s+(\S.*)$`)
	})
	checkbox  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\[.\]\s+`) })
	twoBlanks = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\s{2,}`) })
)

// optionRows are the last numbered rows "1." to "n." of a screen, as they
// stand there up to a gap of two blanks, and which one is marked (-1 = none).
func optionRows(s Screen) (labels []string, marked int) {
	marked = -1
	for _, line := range s.Lines {
		m := optionRow().FindStringSubmatch(line)
		if m == nil {
			continue
		}
		n, _ := strconv.Atoi(m[2])
		if n == 1 {
			labels, marked = nil, -1
		}
		if n != len(labels)+1 {
			continue
		}
		if m[1] != "" {
			marked = len(labels)
		}
		text := checkbox().ReplaceAllString(m[3], "")
		labels = append(labels, strings.TrimSpace(twoBlanks().Split(text, 2)[0]))
	}
	return labels, marked
}

// blanks makes every white space one blank.
func blanks(s string) string { return strings.Join(strings.Fields(s), " ") }

// String is the truth in words.
func (t Truth) String() string {
	if t.NotReady {
		return "no invitation to type"
	}
	s := fmt.Sprintf("%s, keys to %s, composer %s", t.Activity, t.Owner, t.Composer)
	if len(t.Flags) > 0 {
		s += " (" + strings.Join(t.Flags, ", ") + ")"
	}
	if t.Background {
		s += ", background"
	}
	if d := t.Dialog; d != nil {
		s += ", " + d.Kind
		if d.Command != "" {
			s += ": " + d.Command
		}
	}
	return s
}

// describe is a reading in the same words.
func describe(r agents.Reading) string {
	t := Truth{Activity: r.Activity, Owner: r.Owner, Composer: r.Composer, Flags: r.ComposerFlags, Background: r.Background}
	if r.Dialog != nil {
		t.Dialog = &DialogTruth{Kind: r.Dialog.Kind, Command: r.Dialog.Command}
	}
	return t.String()
}
