package agents

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file turns an answer to a dialog into keys. Rules: only what a profile
// has rules for is ever pressed (R84, R111); a rule names the whole list of
// options that it was certified with, so a changed menu is manual; what a key
// does is looked for before the next one; a choice that lasts longer than the
// prompt has no rule (R113).

// ErrManual is returned by Plan for a dialog that only a human may answer; the
// text says why.
var ErrManual = errors.New("this prompt must be answered in the terminal")

// Action is what an answer means.
type Action string

// The actions.
const (
	ApproveOnce  Action = "approve_once"
	Reject       Action = "reject"
	SingleSelect Action = "single_select" // one of the choices
	FreeText     Action = "free_text"     // into the text field that has the keys
	OpenText     Action = "open_text"     // bring up the text field, submit nothing (R97)
	ConfirmYes   Action = "confirm_yes"
	ConfirmNo    Action = "confirm_no"
)

// Answer is somebody's decision, in semantic terms (R75).
type Answer struct {
	Action Action
	Choice string // single_select: a Choice's ID
	Text   string // free_text: one line
	// Queue asks that an answer to a question that does not stop the turn is
	// delivered with the next turn instead of steering this one (R102).
	Queue bool
}

// Choice is an option with its semantic id.
type Choice struct {
	ID    string
	Index int // in Dialog.Options
	DialogOption
}

// Choices are the options under ids that stay the same while the mark moves and
// change with the label (R75). Two equal labels get two ids.
func Choices(d *Dialog) []Choice {
	if d == nil {
		return nil
	}
	out := make([]Choice, len(d.Options))
	seen := map[string]int{}
	for i, o := range d.Options {
		sum := sha256.Sum256([]byte(o.Label))
		id := "o-" + hex.EncodeToString(sum[:6])
		if seen[id]++; seen[id] > 1 {
			id += "." + strconv.Itoa(seen[id])
		}
		out[i] = Choice{id, i, o}
	}
	return out
}

// KeyRule is what a profile knows of answering one kind of dialog.
type KeyRule struct {
	Action Action   `toml:"action"`
	Kinds  []string `toml:"kinds"`
	Mode   string   `toml:"mode"` // an elicitation's mode
	// Async tells that the rule is for a question that does not stop the turn.
	Async bool `toml:"async"`
	// Forms are the whole lists of labels that the rule was certified with. A
	// label that ends in "*" stands for all that begin like it.
	Forms [][]string `toml:"forms"`
	// Options bounds the number of options where the labels are the model's.
	Options [2]int `toml:"options"`
	// Target is the label that the keys mean; "" for the chosen option.
	Target string `toml:"target"`
	// Never are labels that single_select must not choose: they do something else.
	Never []string `toml:"never"`
	// Move brings the mark to the target first, one step at a time; Marked
	// refuses unless it is there already.
	Move   bool `toml:"move"`
	Marked bool `toml:"marked"`
	// Press are the bytes of the last step, "{n}" is the target's number.
	Press string `toml:"press"`
	// Queue are those that deliver with the next turn; "" if that is not known.
	Queue string `toml:"queue"`
	// Expect is what must be seen then.
	Expect Expect `toml:"expect"`
	// Empty is what an empty text field shows, besides nothing.
	Empty []string `toml:"empty"`
	// MaxText bounds free_text, in characters; 0: the rule takes none.
	MaxText int `toml:"max_text"`
	// SettleMillis is the least time in ms between text and the key behind it.
	SettleMillis int `toml:"settle_ms"`
	// Measured tells what certified the rule.
	Measured string `toml:"measured"`
}

// Expect is what a step must lead to.
type Expect string

// What a step may lead to.
const (
	ExpectGone   Expect = "gone"   // the prompt is answered: it has gone or another one has come
	ExpectMarked Expect = "marked" // the mark is on option Index
	ExpectEditor Expect = "editor" // a text field of the same prompt has the keys
	ExpectText   Expect = "text"   // that field shows Text
)

// KeyStep is one write and what it must lead to before the next one.
type KeyStep struct {
	Keys   string
	Settle int // least time in ms since the step before had its effect
	Post   Postcondition
}

// KeyPlan answers one step of a dialog. The caller checks Dialog.Fingerprint
// before the first key, and stops at the first step whose effect is not seen.
type KeyPlan struct {
	Steps []KeyStep
	// Still is how long the dialog must have stood unchanged before the first
	// key, in ms: the agents drop keys that come with the first frame.
	Still int
}

// Answerer is an Agent that knows how dialogs are answered.
type Answerer interface {
	// Answer makes the keys for a dialog as it was read last; see Plan.
	Answer(version string, d *Dialog, a Answer) (KeyPlan, error)
}

// Plan makes the keys that answer d. Rules come from the certified profile of
// the running version; verification is how well it fits (R84: a version that
// nobody certified is manual). It is a pure function; its errors wrap ErrManual
// where the prompt is the reason, and are plain for a wrong answer.
func Plan(d *Dialog, a Answer, rules []KeyRule, verification string) (KeyPlan, error) {
	manual := func(format string, args ...any) (KeyPlan, error) {
		return KeyPlan{}, fmt.Errorf("%w: "+format, append([]any{ErrManual}, args...)...)
	}
	switch {
	case d == nil:
		return manual("no prompt is open")
	case verification != Certified:
		return manual("this version of the agent is not certified")
	case d.Hidden:
		return manual("it is not on the screen")
	case d.Clipped:
		return manual("a part of it is off the screen")
	case d.MultiSelect:
		return manual("several options can be chosen")
	case d.Fingerprint == "":
		return manual("it has no exact region")
	}
	var r *KeyRule
	for i := range rules {
		if rules[i].fits(d, a.Action) {
			r = &rules[i]
			break
		}
	}
	if r == nil {
		return manual("no certified keys for %s of a prompt of kind %s with these options", a.Action, d.Kind)
	}
	press := r.Press
	if a.Queue {
		if press = r.Queue; press == "" {
			return manual("this answer can't be queued")
		}
	}
	if a.Action == FreeText {
		return r.text(d, a.Text, press)
	}
	target, err := r.target(d, a)
	if err != nil {
		return KeyPlan{}, err
	}
	n := strconv.Itoa(target + 1)
	if len(n) > 1 && strings.Contains(press, "{n}") {
		return manual("option %s has no key of its own", n)
	}
	var p KeyPlan
	if r.Marked || r.Move {
		if d.Selected == nil {
			return manual("no option is marked")
		}
		if r.Marked && *d.Selected != target {
			return manual("the mark is not on %q", d.Options[target].Label)
		}
		p.Steps = moves(*d.Selected, target)
	}
	if press == "" { // the mark alone opens the field
		if len(p.Steps) == 0 {
			return manual("its text field should have the keys already")
		}
		p.Steps[len(p.Steps)-1].Post = Postcondition{Expect: r.Expect, Index: target}
		return p, nil
	}
	p.Steps = append(p.Steps, KeyStep{Keys: strings.ReplaceAll(press, "{n}", n), Post: Postcondition{Expect: r.Expect, Index: target}})
	return p, nil
}

// The cursor keys as both agents get them (neither turns DECCKM on).
const (
	keyUp   = "\x1b[A"
	keyDown = "\x1b[B"
)

// moves brings the mark from one option to another.
func moves(from, to int) (out []KeyStep) {
	for from != to {
		key, next := keyDown, from+1
		if to < from {
			key, next = keyUp, from-1
		}
		out = append(out, KeyStep{Keys: key, Post: Postcondition{Expect: ExpectMarked, Index: next}})
		from = next
	}
	return out
}

// fits tells whether the rule is for this action on this dialog.
func (r *KeyRule) fits(d *Dialog, action Action) bool {
	if r.Action != action || r.Async != d.Async || r.Mode != d.Mode || !slices.Contains(r.Kinds, d.Kind) {
		return false
	}
	if n := len(d.Options); r.Options != [2]int{} && (n < r.Options[0] || n > r.Options[1]) {
		return false
	}
	return len(r.Forms) == 0 || slices.ContainsFunc(r.Forms, func(form []string) bool {
		return slices.EqualFunc(form, d.Options, func(want string, o DialogOption) bool { return labelFits(want, o.Label) })
	})
}

func labelFits(want, label string) bool {
	if head, ok := strings.CutSuffix(want, "*"); ok {
		return strings.HasPrefix(label, head)
	}
	return want == label
}

// target is the option that the keys mean.
func (r *KeyRule) target(d *Dialog, a Answer) (int, error) {
	found := -1
	for _, c := range Choices(d) {
		if r.Target == "" && c.ID == a.Choice || r.Target != "" && labelFits(r.Target, c.Label) {
			if found >= 0 {
				return 0, fmt.Errorf("%w: two options are called %q", ErrManual, c.Label)
			}
			found = c.Index
		}
	}
	switch {
	case found < 0 && r.Target == "":
		return 0, fmt.Errorf("no option of this prompt has the id %q: ask for the prompt again", a.Choice)
	case found < 0:
		return 0, fmt.Errorf("%w: it has no option %q", ErrManual, r.Target)
	case slices.ContainsFunc(r.Never, func(w string) bool { return labelFits(w, d.Options[found].Label) }):
		return 0, fmt.Errorf("%w: %q is no answer by itself", ErrManual, d.Options[found].Label)
	}
	return found, nil
}

// text fills the text field that has the keys.
func (r *KeyRule) text(d *Dialog, text, press string) (KeyPlan, error) {
	switch {
	case d.Entry == nil:
		return KeyPlan{}, fmt.Errorf("%w: no text field has the keys, or what is in it can't be told", ErrManual)
	case *d.Entry != "" && !slices.Contains(r.Empty, *d.Entry):
		return KeyPlan{}, fmt.Errorf("%w: something is in its text field already", ErrManual)
	case strings.TrimSpace(text) == "":
		return KeyPlan{}, errors.New("an empty text is no answer")
	case !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl):
		return KeyPlan{}, errors.New("an answer is one line of text without control characters")
	case utf8.RuneCountInString(text) > r.MaxText:
		return KeyPlan{}, fmt.Errorf("the text has %d characters, this prompt takes %d: shorten it", utf8.RuneCountInString(text), r.MaxText)
	}
	return KeyPlan{Steps: []KeyStep{
		{Keys: text, Post: Postcondition{Expect: ExpectText, Text: text}},
		{Keys: press, Settle: r.SettleMillis, Post: Postcondition{Expect: r.Expect}},
	}}, nil
}
