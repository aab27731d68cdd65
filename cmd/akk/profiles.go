package main

import (
	"fmt"
	"os"
	"path/filepath"

	"akk/agents/registry"
	"akk/bridge/rpc"
	"akk/cmd/akk/config"
)

// This file finds a user's own profiles. Rule: a mistake in one of them is
// told by doctor, config check and certify; the embedded profile goes on.

// profileDir is the folder of a user's own profiles, beside the settings file:
// codex/*.toml and claude/*.toml in it.
func (a *app) profileDir() string {
	path := a.configPath
	if path == "" {
		path = config.Path()
	}
	return filepath.Join(filepath.Dir(path), "profiles")
}

// useProfiles lays them over the embedded ones.
func (a *app) useProfiles() { a.profileErrs = registry.UseProfiles(a.profileDir()) }

// profileChecks are doctor's lines about them.
func (a *app) profileChecks() []rpc.Check {
	errs := a.profileErrs()
	if len(errs) == 0 {
		detail := "the embedded ones"
		if n := a.profileFiles(); n > 0 {
			detail = fmt.Sprintf("%d files in %s", n, a.profileDir())
		}
		return []rpc.Check{{Name: "profiles", Status: "ok", Detail: detail}}
	}
	var out []rpc.Check
	for _, err := range errs {
		out = append(out, rpc.Check{Name: "profiles", Status: "failed", Detail: oneLine(err.Error()), Cure: profileCure})
	}
	return out
}

const profileCure = "correct or remove the file; until then the embedded profile holds"

func (a *app) profileFiles() int {
	files, _ := filepath.Glob(filepath.Join(a.profileDir(), "*", "*.toml"))
	n := 0
	for _, f := range files {
		if st, err := os.Stat(f); err == nil && st.Mode().IsRegular() {
			n++
		}
	}
	return n
}
