package registry

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"akk/agents"
	"akk/agents/claude"
	"akk/agents/codex"
)

// This file lets a user's own profiles come before the embedded ones. Rule: a
// mistake in one of them is told, and the embedded profile goes on.

// own is what UseProfiles was told; nil: only the embedded profiles.
var own atomic.Pointer[func() ([]agents.Agent, []error)]

// UseProfiles makes All and For read with DIR/codex/*.toml and
// DIR/claude/*.toml. A folder that is not there holds none. It is called once,
// before anything is read, and reads the files when an agent or errs is first
// asked for: a command that only asks the daemon needs none of them. errs are
// one per file, wrap agents.ErrProfile and name file and line; those files are
// left out.
func UseProfiles(dir string) (errs func() []error) {
	load := sync.OnceValues(func() ([]agents.Agent, []error) {
		files := os.DirFS(dir)
		cx, errs := codex.With(files, string(agents.Codex))
		cl, more := claude.With(files, string(agents.Claude))
		errs = append(errs, more...)
		for i, err := range errs {
			errs[i] = fmt.Errorf("%s%c%w", dir, filepath.Separator, err)
		}
		return []agents.Agent{cx, cl}, errs
	})
	own.Store(&load)
	return func() []error { _, errs := load(); return errs }
}
