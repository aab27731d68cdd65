package codex

import (
	"encoding/json"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"akk/agents"
)

// This file tells a Codex terminal from everything else that is called codex.
// Rule: only what draws the TUI counts; servers, one-shot commands and the
// shared daemon own no composer.

// notTUI are the subcommands that draw no TUI.
var notTUI = map[string]bool{
	"app-server": true, "apply": true, "a": true, "cloud": true, "completion": true, "debug": true, "doctor": true,
	"e": true, "exec": true, "exec-server": true, "execpolicy": true, "features": true, "generate-ts": true,
	"login": true, "logout": true, "mcp": true, "mcp-server": true, "plugin": true, "proto": true, "responses-api-proxy": true,
	"review": true, "sandbox": true, "stdio-to-uds": true, "update": true,
}

// valued are the options that take their value from the next argument.
var valued = map[string]bool{
	"-m": true, "--model": true, "-c": true, "--config": true, "-C": true, "--cd": true, "-p": true, "--profile": true,
	"-s": true, "--sandbox": true, "-a": true, "--ask-for-approval": true, "-i": true, "--image": true, "--add-dir": true,
	"--enable": true, "--disable": true, "--remote": true, "--local-provider": true,
}

// Match implements agents.Agent.
func (Agent) Match(p *agents.Process) (string, bool) {
	if p == nil {
		return "", false
	}
	exe, args := program(p)
	if exe == "" || notTUI[subcommand(args)] || slices.Contains(args, "--version") || slices.Contains(args, "--help") {
		return "", false
	}
	return versionOf(exe), true
}

// program returns the path of Codex's executable or script and the arguments
// behind it; "" if the process is something else.
func program(p *agents.Process) (exe string, args []string) {
	exe = strings.TrimSuffix(p.Exe, " (deleted)") // replaced by an update
	if exe == "" && len(p.Args) > 0 {
		exe = p.Args[0]
	}
	base := filepath.Base(exe)
	switch {
	case base == "codex" || strings.HasPrefix(base, "codex-x86_64") || strings.HasPrefix(base, "codex-aarch64"):
		if len(p.Args) > 0 {
			args = p.Args[1:]
		}
		return exe, args
	case base == "node" || base == "nodejs" || base == "bun" || base == "deno":
		for i, a := range p.Args {
			if i == 0 || strings.HasPrefix(a, "-") {
				continue
			}
			if b := filepath.Base(a); b == "codex.js" || b == "codex" {
				return a, p.Args[i+1:]
			}
			return "", nil
		}
	}
	return "", nil
}

// subcommand is the first argument that is no option and no option's value.
func subcommand(args []string) string {
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "--":
			return ""
		case valued[a]:
			i++
		case !strings.HasPrefix(a, "-"):
			return a
		}
	}
	return ""
}

// release finds the version in the path of a release folder.
var release = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`/(?:releases|versions)/v?(\d+\.\d+\.\d+)`) })

// packageLevels is how far over the executable its package.json may be.
const packageLevels = 7

// versionOf reads the version from the path or from the npm package that the
// executable lies in, "" if neither tells.
func versionOf(exe string) string {
	if real, err := filepath.EvalSymlinks(exe); err == nil {
		exe = real
	}
	if m := release().FindStringSubmatch(filepath.ToSlash(exe)); m != nil {
		return m[1]
	}
	dir := filepath.Dir(exe)
	for range packageLevels {
		b, err := readRegular(filepath.Join(dir, "package.json"))
		if err == nil {
			var pkg struct{ Name, Version string }
			if json.Unmarshal(b, &pkg) == nil && strings.HasPrefix(pkg.Name, "@openai/codex") {
				if _, ok := agents.ParseVersion(pkg.Version); ok {
					v, _, _ := strings.Cut(pkg.Version, "-linux")
					v, _, _ = strings.Cut(v, "-darwin")
					return v
				}
			}
		}
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
	}
	return ""
}

// maxPackage bounds a package.json in bytes.
const maxPackage = 1 << 20

// readRegular reads a small regular file.
func readRegular(path string) ([]byte, error) {
	f, err := agents.OpenLogFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxPackage))
}
