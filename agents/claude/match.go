package claude

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"akk/agents"
)

// This file recognises the process. Rule: only what draws a terminal counts:
// the daemon, background sessions and one-shot calls are not terminals.

// The npm package, and the folder of the native installer: a file per version.
const (
	packagePath  = "/@anthropic-ai/claude-code"
	versionsPath = "/claude/versions/"
)

// wrapperPrefix begins the name of the npm script that only starts the binary:
// the session is its child.
const wrapperPrefix = "cli-wrapper"

// subcommands are first arguments that run no terminal session.
var subcommands = []string{
	"daemon", "mcp", "update", "upgrade", "doctor", "install", "config", "setup-token", "plugin", "plugins",
	"migrate-installer", "auth", "server", "remote-control", "logs", "stop", "attach", "auto-mode",
}

// headless are arguments that make a call without a terminal.
var headless = []string{"-p", "--print", "--version", "-v", "--help", "-h", "--bg", "--background", "--daemon-worker"}

// Match tells whether the process is a Claude Code session in a terminal, and
// its version as told by the package or the folder it runs from ("" if neither
// does; the status file may still know).
func (Agent) Match(p *agents.Process) (version string, ok bool) {
	if p == nil {
		return "", false
	}
	exe := strings.TrimSuffix(filepath.ToSlash(p.Exe), " (deleted)")
	args, script := p.Args, ""
	if len(args) > 0 {
		args = args[1:]
	}
	switch base := filepath.Base(exe); {
	case base == "claude" || base == "claude.exe":
	case strings.Contains(exe, versionsPath):
	case base == "node" || base == "bun" || strings.HasPrefix(base, "node-"):
		script, args = firstScript(args)
		if real, err := filepath.EvalSymlinks(script); err == nil {
			script = real
		}
		script = filepath.ToSlash(script)
		if !strings.Contains(script, packagePath) || strings.HasPrefix(filepath.Base(script), wrapperPrefix) {
			return "", false
		}
		exe = script
	case exe == "" && len(p.Args) > 0 && filepath.Base(p.Args[0]) == "claude":
		exe = p.Args[0]
	default:
		return "", false
	}
	if !interactive(args) {
		return "", false
	}
	if version = installedVersion(exe); version == "" {
		if st, _, err := readStatus(statusPath(configDir(p), p.PID)); err == nil && st.fresh(p) {
			version = st.Version
		}
	}
	return version, true
}

// firstScript is node's script and what follows it.
func firstScript(args []string) (string, []string) {
	for i, a := range args {
		if !strings.HasPrefix(a, "-") {
			return a, args[i+1:]
		}
	}
	return "", nil
}

func interactive(args []string) bool {
	for i, a := range args {
		if a == "--" {
			return true
		}
		if slices.Contains(headless, a) {
			return false
		}
		if i == 0 && slices.Contains(subcommands, a) {
			return false
		}
	}
	return true
}

// installedVersion reads the version from the folder or from package.json.
func installedVersion(exe string) string {
	if real, err := filepath.EvalSymlinks(exe); err == nil {
		exe = filepath.ToSlash(real)
	}
	if _, rest, ok := strings.Cut(exe, versionsPath); ok {
		v, _, _ := strings.Cut(rest, "/")
		if _, ok := agents.ParseVersion(v); ok {
			return v
		}
	}
	// bin/claude.exe, cli.js or the binary of the platform's package: the
	// nearest package.json above it.
	dir := filepath.Dir(exe)
	for range 3 {
		if v := packageVersion(filepath.Join(dir, "package.json")); v != "" {
			return v
		}
		dir = filepath.Dir(dir)
	}
	return ""
}

// maxSmallFile bounds what is read of package.json and the status file, bytes.
const maxSmallFile = 1 << 20

func packageVersion(path string) string {
	b, err := readSmall(path)
	if err != nil {
		return ""
	}
	var pkg struct{ Name, Version string }
	if json.Unmarshal(b, &pkg) != nil || !strings.HasPrefix(pkg.Name, "@anthropic-ai/claude-code") {
		return ""
	}
	return pkg.Version
}

func readSmall(path string) ([]byte, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() || st.Size() > maxSmallFile {
		return nil, os.ErrInvalid
	}
	return os.ReadFile(path)
}
