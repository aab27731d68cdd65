package claude

import (
	"io/fs"

	"github.com/BurntSushi/toml"

	"akk/agents"
)

// Agent implements agents.Agent for Claude Code. The zero value has the
// embedded words and profiles.
type Agent struct{ own *knowledge }

// Kind is agents.Claude.
func (Agent) Kind() agents.Kind { return agents.Claude }

// With is an Agent that reads with a user's profiles, dir/*.toml of files,
// before the embedded ones; their table [words] changes words.toml. A file with
// a mistake is an error and left out.
func With(files fs.FS, dir string) (Agent, []error) {
	var w map[string]any
	if err := toml.Unmarshal(wordsFile, &w); err != nil {
		return Agent{}, []error{err} // the first test finds it
	}
	set, errs := known().profiles.With(files, dir, map[string]any{"words": w}, func() *profile { return new(profile) })
	return Agent{&knowledge{words: known().words, profiles: set}}, errs
}

func (a Agent) known() *knowledge {
	if a.own != nil {
		return a.own
	}
	return known()
}

// wordsOf are the words of a profile: a user's own, or those of all versions.
func (k *knowledge) wordsOf(p *profile) *words {
	if p.Words != nil {
		return p.Words
	}
	return &k.words
}

// Covers tells whether a profile covers the version, and whether it is a user's own.
func (a Agent) Covers(version string) (covered, own bool) { return a.known().profiles.Own(version) }
