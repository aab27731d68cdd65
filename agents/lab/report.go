package lab

// What a certification found, as a document for people and as data. It
// upholds: a difference is told with its place: scenario, step, axis, what was
// expected, what was read, from which rows.

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"akk/agents"
)

// Check is one comparison.
type Check struct {
	Scene  string        `json:"scenario"`
	Step   string        `json:"step"`
	Want   string        `json:"expected"`
	Got    string        `json:"read"`
	OK     bool          `json:"ok"`
	Unsafe bool          `json:"unsafe,omitempty"` // somebody would have typed into something else
	Diffs  []Diff        `json:"differs,omitempty"`
	Rows   []int         `json:"rows,omitempty"` // of the screen, that decided
	Why    []string      `json:"why,omitempty"`
	Screen string        `json:"screen,omitempty"`
	Took   time.Duration `json:"-"`
}

func newCheck(scene, step string, want Truth, r agents.Reading, d []Diff) Check {
	c := Check{Scene: scene, Step: step, Want: want.String(), Got: describe(r), Diffs: d, OK: len(d) == 0}
	c.Unsafe = invites(r) && !want.ready()
	c.OK = c.OK && !c.Unsafe
	return c
}

// fail adds what a human needs to find the fault.
func (c *Check) fail(r agents.Reading, lines []string) {
	if c.OK {
		return
	}
	for _, w := range r.Why {
		c.Why = append(c.Why, w.String())
		c.Rows = append(c.Rows, w.Rows...)
	}
	if d := r.Dialog; d != nil && !d.Hidden {
		for y := d.Top; y <= d.Bottom; y++ {
			c.Rows = append(c.Rows, y)
		}
	}
	slices.Sort(c.Rows)
	c.Rows = slices.Compact(c.Rows)
	c.Screen = strings.TrimRight(strings.Join(lines, "\n"), "\n ")
}

// Report is the outcome of a certification.
type Report struct {
	Agent        agents.Kind   `json:"agent"`
	Version      string        `json:"version"`
	Platform     string        `json:"platform"`
	Profile      string        `json:"profile"` // as the readings named it
	Source       string        `json:"profile_source"`
	Verification string        `json:"verification"`
	Isolation    string        `json:"isolation"`
	Tmux         string        `json:"tmux"`
	Started      time.Time     `json:"started"`
	Took         time.Duration `json:"took_ns"`
	Scenes       []string      `json:"scenarios"`
	Skipped      []string      `json:"skipped,omitempty"` // scenarios that this version doesn't have
	Readings     int           `json:"readings"`
	Checks       []Check       `json:"checks"`
}

// Clean is true if every check was as it must be.
func (r Report) Clean() bool { return len(r.Checks) > 0 && len(r.Wrong()) == 0 }

// Wrong are the checks that were not.
func (r Report) Wrong() []Check {
	var out []Check
	for _, c := range r.Checks {
		if !c.OK || c.Unsafe {
			out = append(out, c)
		}
	}
	return out
}

// Where tells each difference in one line.
func (r Report) Where() []string {
	var out []string
	for _, c := range r.Wrong() {
		rows := ""
		if len(c.Rows) > 0 {
			rows = ", rows " + spans(c.Rows)
		}
		for _, d := range c.Diffs {
			out = append(out, fmt.Sprintf("%s, %s: %s: expected %q, read %q%s", c.Scene, c.Step, d.Axis, d.Want, d.Got, rows))
		}
	}
	return out
}

// spans writes sorted numbers as 3-5, 9.
func spans(n []int) string {
	var out []string
	for i := 0; i < len(n); {
		j := i
		for j+1 < len(n) && n[j+1] == n[j]+1 {
			j++
		}
		if i == j {
			out = append(out, fmt.Sprint(n[i]))
		} else {
			out = append(out, fmt.Sprintf("%d-%d", n[i], n[j]))
		}
		i = j + 1
	}
	return strings.Join(out, ", ")
}

// scrub replaces the run's folders, so that a report says nothing of the
// machine that made it.
func (r *Report) scrub(words map[string]string) {
	var pairs []string
	keys := sortedKeys(words)
	slices.SortStableFunc(keys, func(a, b string) int { return len(b) - len(a) })
	for _, k := range keys {
		pairs = append(pairs, k, words[k])
	}
	rep := strings.NewReplacer(pairs...)
	for i := range r.Checks {
		c := &r.Checks[i]
		c.Step, c.Want, c.Got, c.Screen = rep.Replace(c.Step), rep.Replace(c.Want), rep.Replace(c.Got), rep.Replace(c.Screen)
		for j := range c.Diffs {
			c.Diffs[j].Want, c.Diffs[j].Got = rep.Replace(c.Diffs[j].Want), rep.Replace(c.Diffs[j].Got)
		}
		for j := range c.Why {
			c.Why[j] = rep.Replace(c.Why[j])
		}
	}
}

// WriteTo writes the report as Markdown.
func (r Report) WriteTo(out io.Writer) (int64, error) {
	var b strings.Builder
	verdict := "clean"
	if !r.Clean() {
		verdict = fmt.Sprintf("NOT clean, %d of %d checks differ", len(r.Wrong()), len(r.Checks))
	}
	fmt.Fprintf(&b, "# %s %s: %s\n\nMade by `akk certify %s@%s` on %s in %v: the real version on %s in tmux %s against a scripted model, %s.\n"+
		"Profile %s (%s), verification %s. %d scenarios, %d checks, %d readings; no reading between the steps goes unjudged.\n",
		r.Agent, r.Version, verdict, r.Agent, r.Version, r.Started.UTC().Format("2006-01-02"), r.Took.Round(time.Second), r.Platform, r.Tmux, r.Isolation,
		r.Profile, r.Source, r.Verification, len(r.Scenes), len(r.Checks), r.Readings)
	if len(r.Skipped) > 0 {
		fmt.Fprintf(&b, "\nNot in this version: %s.\n", strings.Join(r.Skipped, ", "))
	}
	cell := func(s string) string { return strings.NewReplacer("|", "\\|", "\n", " ⏎ ", "`", "'").Replace(s) }
	if w := r.Where(); len(w) > 0 {
		b.WriteString("\n## Differs\n\n")
		for _, s := range w {
			fmt.Fprintf(&b, "- %s\n", cell(s))
		}
	}
	scene := ""
	for _, c := range r.Checks {
		if c.Scene != scene {
			scene = c.Scene
			fmt.Fprintf(&b, "\n## %s\n\n| step | must be | was |\n| --- | --- | --- |\n", scene)
		}
		got := "as it must be"
		if !c.OK {
			got = "**WRONG** " + c.Got
		}
		if c.Unsafe {
			got += " **UNSAFE**"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", cell(c.Step), cell(c.Want), cell(got))
	}
	for _, c := range r.Wrong() {
		if c.Screen != "" {
			fmt.Fprintf(&b, "\n### %s, %s\n\nwhy: %s\n\n```\n%s\n```\n", c.Scene, c.Step, cell(strings.Join(c.Why, "; ")), c.Screen)
		}
	}
	n, err := io.WriteString(out, b.String())
	return int64(n), err
}
