package registry

import (
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	"akk/agents"
	"akk/agents/claude"
	"akk/agents/codex"
)

// This file lets a user's own profiles come before the embedded ones. Rule: a
// mistake in one of them is told, and the embedded profile goes on.

// own are the agents with a user's profiles; nil: none were loaded.
var own atomic.Pointer[[]agents.Agent]

// UseProfiles makes All and For read with DIR/codex/*.toml and
// DIR/claude/*.toml. A folder that is not there holds none. It is called once,
// before anything is read. The errors, one per file, wrap agents.ErrProfile and
// name file and line; those files are left out.
func UseProfiles(dir string) []error {
	files := os.DirFS(dir)
	cx, errs := codex.With(files, string(agents.Codex))
	cl, more := claude.With(files, string(agents.Claude))
	list := []agents.Agent{cx, cl}
	own.Store(&list)
	errs = append(errs, more...)
	for i, err := range errs {
		errs[i] = fmt.Errorf("%s%c%w", dir, filepath.Separator, err)
	}
	return errs
}
