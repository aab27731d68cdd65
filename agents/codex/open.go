package codex

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"akk/agents"
)

// This file finds the log of a process. Rule: own descriptors first; only a
// version that leaves its threads to a shared daemon is searched for by
// folder, and then nothing found there counts as proven.

// OpenLog implements agents.Agent.
func (Agent) OpenLog(p *agents.Process) (agents.Log, error) {
	if p == nil || p.PID <= 0 {
		return nil, agents.ErrNoLog
	}
	l, err := openHeld(p.PID, p.StartTime, heldRollouts)
	if err == nil {
		return l, nil
	}
	if !errors.Is(err, agents.ErrNoLog) && !errors.Is(err, errNoFiles) {
		return nil, err
	}
	home := codexHome(p)
	if home == "" || p.Cwd == "" || p.StartTime.IsZero() || slices.Contains(p.Args, "--no-daemon") || !daemonLives(home) {
		return nil, agents.ErrNoLog
	}
	s, err := openShared(filepath.Join(home, "sessions"), p.Cwd, p.StartTime)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// errNoFiles says that this system does not tell a process's open files.
var errNoFiles = errors.New("open files of a process can't be read here")

// isRollout tells a rollout by its path.
func isRollout(path string) bool {
	base := filepath.Base(path)
	return strings.HasPrefix(base, "rollout-") && strings.HasSuffix(base, ".jsonl") && strings.Contains(path, "/sessions/")
}

// sortRollouts sorts by name, which begins with the start time, and drops
// doubles.
func sortRollouts(paths []string) []string {
	slices.SortFunc(paths, func(a, b string) int { return strings.Compare(filepath.Base(a), filepath.Base(b)) })
	return slices.Compact(paths)
}

func codexHome(p *agents.Process) string {
	if h := p.Getenv("CODEX_HOME"); h != "" {
		return h
	}
	home := p.Getenv("HOME")
	if home == "" && p.Env == nil {
		home, _ = os.UserHomeDir()
	}
	if home == "" {
		return ""
	}
	return filepath.Join(home, ".codex")
}

// daemonLives tells whether a shared daemon was started for this home.
func daemonLives(home string) bool {
	_, err := os.Stat(filepath.Join(home, "app-server-daemon", "daemon.pid"))
	return !errors.Is(err, fs.ErrNotExist)
}
