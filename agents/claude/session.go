package claude

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"akk/agents"
)

// This file knows where the agent keeps its files. Rule: the folder is that of
// the process's own environment, never ours, and a status file counts only if
// it was written by this process and not by an older one of the same number.

// configDir is $CLAUDE_CONFIG_DIR or $HOME/.claude of the process, "" if its
// environment tells neither.
func configDir(p *agents.Process) string {
	if d := p.Getenv("CLAUDE_CONFIG_DIR"); d != "" {
		return d
	}
	if h := p.Getenv("HOME"); h != "" {
		return filepath.Join(h, ".claude")
	}
	return ""
}

func statusPath(config string, pid int) string {
	if config == "" {
		return ""
	}
	return filepath.Join(config, "sessions", strconv.Itoa(pid)+".json")
}

// status is the file sessions/<pid>.json.
type status struct {
	PID        int    `json:"pid"`
	SessionID  string `json:"sessionId"`
	Cwd        string `json:"cwd"`
	StartedAt  int64  `json:"startedAt"` // ms since 1970
	Version    string `json:"version"`
	Kind       string `json:"kind"`
	Status     string `json:"status"`
	WaitingFor string `json:"waitingFor"`
}

// readStatus reads the file. A file that is just being written is an error;
// ask again.
func readStatus(path string) (st status, mod time.Time, err error) {
	if path == "" {
		return st, mod, fmt.Errorf("the process's environment names no folder: %w", agents.ErrNoLog)
	}
	info, err := os.Stat(path)
	if err != nil {
		return st, mod, err
	}
	b, err := readSmall(path)
	if err != nil {
		return st, mod, err
	}
	if err := json.Unmarshal(b, &st); err != nil {
		return st, mod, fmt.Errorf("read %s: %w", path, err)
	}
	return st, info.ModTime(), nil
}

// startSlack is how much earlier than its process a status file may seem to
// have been begun: the process's start is known to a clock tick only.
const startSlack = 2 * time.Second

// fresh tells whether the file was written by this process: SIGKILL leaves it,
// and process numbers come again.
func (s status) fresh(p *agents.Process) bool {
	if s.PID != 0 && s.PID != p.PID {
		return false
	}
	if p.StartTime.IsZero() || s.StartedAt == 0 {
		return true
	}
	return !time.UnixMilli(s.StartedAt).Before(p.StartTime.Add(-startSlack))
}

func (s status) app(mod time.Time) *agents.AppStatus {
	return &agents.AppStatus{Status: s.Status, WaitingFor: s.WaitingFor, SessionID: s.SessionID, Version: s.Version, ModTime: mod}
}

// projectDir is the folder of a working directory's transcripts: every
// character that is no letter or digit of ASCII becomes "-".
func projectDir(config, cwd string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, cwd)
	return filepath.Join(config, "projects", name)
}

// transcript finds a session's file: in its working directory's folder, else in
// any (a long name is cut in a way that we don't repeat); "" if there is none.
func transcript(config, cwd, session string) string {
	if !plainName(session) {
		return ""
	}
	path := filepath.Join(projectDir(config, cwd), session+".jsonl")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	found, err := filepath.Glob(filepath.Join(globEscape(filepath.Join(config, "projects")), "*", session+".jsonl"))
	if err != nil || len(found) != 1 {
		return ""
	}
	return found[0]
}

// plainName tells whether a session id can be part of a path.
func plainName(s string) bool {
	for _, r := range s {
		if r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return false
		}
	}
	return s != ""
}

func globEscape(s string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(s)
}
