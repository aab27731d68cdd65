package codex

import (
	"io/fs"

	"akk/agents"
)

// Agent implements agents.Agent. The zero value has the embedded profiles.
type Agent struct{ set *agents.Profiles[*Profile] }

var _ agents.Agent = Agent{}

// Kind is agents.Codex.
func (Agent) Kind() agents.Kind { return agents.Codex }

// With is an Agent that reads with a user's profiles, dir/*.toml of files,
// before the embedded ones. A file with a mistake is an error and left out.
func With(files fs.FS, dir string) (Agent, []error) {
	set, errs := loaded().With(files, dir, nil, func() *Profile { return new(Profile) })
	return Agent{set}, errs
}

func (a Agent) profiles() *agents.Profiles[*Profile] {
	if a.set != nil {
		return a.set
	}
	return loaded()
}

// Covers tells whether a profile covers the version, and whether it is a user's own.
func (a Agent) Covers(version string) (covered, own bool) { return a.profiles().Own(version) }
