package lab

// The profile entry that a clean certification gives. It upholds: a profile
// says by itself which run certified it.

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"akk/agents"
)

// Certification is the run's entry in a profile.
func (r Report) Certification() agents.Certification {
	return agents.Certification{Version: r.Version, Date: r.Started.UTC().Format("2006-01-02"), Suite: Suite,
		Checks: len(r.Checks), Readings: r.Readings, Platform: r.Platform, Tmux: r.Tmux}
}

// entryOf matches the entry of an earlier run at a profile's end.
var entryOf = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)\n*\[\[certified\]\]\nversion = "([^"]*)".*?(\n\n|\n?$)`)
})

// Entry is the profile file that the run certifies, as TOML: base with the
// run's entry at its end (in place of an earlier one for this version), or, if
// base is empty, a file of its own that leaves all else to the nearest profile.
func (r Report) Entry(base string) string {
	c := r.Certification()
	if base == "" {
		base = fmt.Sprintf("# %s %s: what this file leaves out is the nearest embedded profile's.\nname = %q\nfrom = %q\nto = %q\n",
			r.Agent, r.Version, fmt.Sprintf("%s-%s", r.Agent, r.Version), r.Version, r.Version)
	}
	base = entryOf().ReplaceAllStringFunc(base, func(s string) string {
		if m := entryOf().FindStringSubmatch(s); m[1] == r.Version {
			return ""
		}
		return s
	})
	return fmt.Sprintf("%s\n\n[[certified]]\nversion = %q\ndate = %q\nsuite = %d\nchecks = %d\nreadings = %d\nplatform = %q\ntmux = %q\n",
		strings.TrimRight(base, "\n"), c.Version, c.Date, c.Suite, c.Checks, c.Readings, c.Platform, c.Tmux)
}
