package lab

// Fetching a version of an agent. It upholds: a version folder appears whole
// (rename) or not at all, and a binary is only taken if it names its version.

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"

	"akk/agents"
)

// Binary is one installed version of an agent.
type Binary struct {
	Agent   agents.Kind
	Version string
	Dir     string // the version's own folder in the cache
	Native  string // the program itself
	Entry   string // npm's JavaScript entry, which starts Native as a child; run it with node
}

// CacheEnv names the environment variable that moves the cache folder.
const CacheEnv = "AKK_LAB_CACHE"

// versionTimeout bounds `PROGRAM --version`. A cold start of 300 MB on a busy
// machine took 6 s.
const versionTimeout = 60 * time.Second

var (
	versionShape = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?$`) })
	packageShape = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(@[a-z0-9-]+/)?[a-z0-9-]+$`) })
)

// packages are the npm names.
var packages = map[agents.Kind]string{
	agents.Codex:  "@openai/codex",
	agents.Claude: "@anthropic-ai/claude-code",
}

// CacheDir is $AKK_LAB_CACHE, else akk/lab in the user's cache folder.
func CacheDir() (string, error) {
	if d := os.Getenv(CacheEnv); d != "" {
		return filepath.Abs(d)
	}
	d, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache folder (set %s): %w", CacheEnv, err)
	}
	return filepath.Join(d, "akk", "lab"), nil
}

// installing keeps two goroutines from fetching the same version twice. Two
// processes may both fetch it; the first rename wins.
var installing sync.Map // folder -> *sync.Mutex

// Install returns version of agent, fetched from npm into cacheDir ("" =
// CacheDir()) if it is not there yet. version "latest" asks the registry for
// the newest. 200-450 MB and 5-60 s for a new version. Errors: ErrUnknownAgent,
// ErrBadVersion, ErrNoNPM, ErrNoVersion, ErrNetwork, ErrInstall, ErrNoBinary, or ctx's.
func Install(ctx context.Context, agent agents.Kind, version, cacheDir string) (Binary, error) {
	pkg, ok := packages[agent]
	if !ok {
		return Binary{}, fmt.Errorf("install %q: %w", agent, ErrUnknownAgent)
	}
	if version == "latest" {
		v, err := Latest(ctx, agent)
		if err != nil {
			return Binary{}, err
		}
		version = v
	}
	if !versionShape().MatchString(version) {
		return Binary{}, fmt.Errorf("install %s@%q: %w", agent, version, ErrBadVersion)
	}
	if cacheDir == "" {
		var err error
		if cacheDir, err = CacheDir(); err != nil {
			return Binary{}, err
		}
	}
	dir := filepath.Join(cacheDir, string(agent)+"-"+version)
	err := fetch(ctx, dir, pkg+"@"+version, func(tmp string) error {
		_, err := find(agent, version, tmp)
		return err
	}, func(tmp string) error {
		b, err := find(agent, version, tmp)
		if err != nil {
			return err
		}
		return checkVersion(ctx, b)
	})
	if err != nil {
		return Binary{}, err
	}
	return find(agent, version, dir)
}

// InstallTool fetches an exact version of an npm package that is no agent (a
// second MCP client, a newer Node) like Install, and returns the folder of its
// programs, node_modules/.bin.
func InstallTool(ctx context.Context, pkg, version, cacheDir string) (string, error) {
	if !versionShape().MatchString(version) || !packageShape().MatchString(pkg) {
		return "", fmt.Errorf("install %q@%q: %w", pkg, version, ErrBadVersion)
	}
	if cacheDir == "" {
		var err error
		if cacheDir, err = CacheDir(); err != nil {
			return "", err
		}
	}
	dir := filepath.Join(cacheDir, "tool-"+strings.NewReplacer("@", "", "/", "-").Replace(pkg)+"-"+version)
	there := func(d string) error {
		if _, err := os.Stat(filepath.Join(d, "node_modules", filepath.FromSlash(pkg), "package.json")); err != nil {
			return fmt.Errorf("look for the package: %w", err)
		}
		return nil
	}
	if err := fetch(ctx, dir, pkg+"@"+version, there, there); err != nil {
		return "", err
	}
	return filepath.Join(dir, "node_modules", ".bin"), nil
}

// fetch makes sure that dir holds spec: there looks whether a folder does,
// check proves a fresh one before it gets its name.
func fetch(ctx context.Context, dir, spec string, there, check func(string) error) error {
	mu, _ := installing.LoadOrStore(dir, new(sync.Mutex))
	mu.(*sync.Mutex).Lock()
	defer mu.(*sync.Mutex).Unlock()

	if there(dir) == nil {
		return nil
	}
	cacheDir := filepath.Dir(dir)
	if err := os.MkdirAll(cacheDir, 0o700); err != nil {
		return fmt.Errorf("make the lab's cache folder (set %s): %w", CacheEnv, err)
	}
	tmp, err := os.MkdirTemp(cacheDir, ".install-")
	if err != nil {
		return fmt.Errorf("make a folder in the lab's cache: %w", err)
	}
	defer os.RemoveAll(tmp)
	if _, err := npm(ctx, tmp, "install", "--prefix", tmp, "--no-audit", "--no-fund", "--ignore-scripts",
		"--loglevel=error", spec); err != nil {
		return fmt.Errorf("install %s: %w", spec, err)
	}
	if err := check(tmp); err != nil {
		return fmt.Errorf("install %s: %w", spec, err)
	}
	if err := os.Rename(tmp, dir); err != nil {
		// Another process was first, or an unusable folder is in the way.
		if there(dir) == nil {
			return nil
		}
		return fmt.Errorf("move %s to %s (remove that folder if it is broken): %w", spec, dir, err)
	}
	return nil
}

// Latest asks the registry for the newest published version of agent.
func Latest(ctx context.Context, agent agents.Kind) (string, error) {
	pkg, ok := packages[agent]
	if !ok {
		return "", fmt.Errorf("look up %q: %w", agent, ErrUnknownAgent)
	}
	out, err := npm(ctx, "", "view", pkg, "version")
	if err != nil {
		return "", fmt.Errorf("look up the newest %s: %w", pkg, err)
	}
	return strings.TrimSpace(out), nil
}

// npm runs npm and returns its stdout.
func npm(ctx context.Context, dir string, args ...string) (string, error) {
	path, err := exec.LookPath("npm")
	if err != nil {
		return "", ErrNoNPM
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = dir
	cmd.WaitDelay = 5 * time.Second // npm's children may hold the pipe
	var out, errOut strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", fmt.Errorf("npm did not finish: %w", ctx.Err())
		}
		said := lastLines(errOut.String()+out.String(), 6)
		switch {
		case noVersion().MatchString(said):
			return "", fmt.Errorf("%w: %s", ErrNoVersion, said)
		case noNetwork().MatchString(said):
			return "", fmt.Errorf("%w: %s", ErrNetwork, said)
		}
		return "", fmt.Errorf("%w: %s", ErrInstall, said)
	}
	return out.String(), nil
}

// What npm says when a version is not there, and when nobody answers.
var (
	noVersion = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`E404|ETARGET|No matching version|no such version`) })
	noNetwork = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|network`)
	})
)

func lastLines(s string, n int) string {
	l := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(l[max(0, len(l)-n):], " | ")
}

// patterns say where the native program is, newest layout first.
var patterns = map[agents.Kind][]string{
	agents.Codex: {
		"node_modules/@openai/codex-*/vendor/*/bin/codex",
		"node_modules/@openai/codex-*/vendor/*/codex/codex",
		"node_modules/@openai/codex/vendor/*/codex/codex",
	},
	agents.Claude: {
		"node_modules/@anthropic-ai/claude-code-" + runtime.GOOS + "-" + nodeArch() + "/claude",
		"node_modules/@anthropic-ai/claude-code-*/claude",
	},
}

var entries = map[agents.Kind][]string{
	agents.Codex:  {"node_modules/@openai/codex/bin/codex.js"},
	agents.Claude: {"node_modules/@anthropic-ai/claude-code/cli-wrapper.cjs", "node_modules/@anthropic-ai/claude-code/cli.js"},
}

func nodeArch() string {
	if runtime.GOARCH == "amd64" {
		return "x64"
	}
	return runtime.GOARCH
}

// find looks into an installed folder.
func find(agent agents.Kind, version, dir string) (Binary, error) {
	b := Binary{Agent: agent, Version: version, Dir: dir}
	for _, p := range patterns[agent] {
		m, _ := filepath.Glob(filepath.Join(dir, p))
		for _, f := range m {
			if st, err := os.Stat(f); err == nil && st.Mode().IsRegular() && st.Mode()&0o100 != 0 && b.Native == "" {
				b.Native = f
			}
		}
	}
	if b.Native == "" {
		return b, fmt.Errorf("%s: %w", dir, ErrNoBinary)
	}
	for _, p := range entries[agent] {
		f := filepath.Join(dir, p)
		if _, err := os.Stat(f); err == nil {
			b.Entry = f
			break
		} else if !errors.Is(err, fs.ErrNotExist) {
			return b, fmt.Errorf("read %s: %w", f, err)
		}
	}
	return b, nil
}

// checkVersion runs `PROGRAM --version` with an empty environment.
func checkVersion(ctx context.Context, b Binary) error {
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	home, err := os.MkdirTemp("", "akk-lab-")
	if err != nil {
		return fmt.Errorf("make a folder for the version check: %w", err)
	}
	defer os.RemoveAll(home)
	cmd := exec.CommandContext(ctx, b.Native, "--version")
	cmd.Env = []string{"HOME=" + home, "PATH=/usr/bin:/bin", "DISABLE_AUTOUPDATER=1"}
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("run %s --version: %w: %w", b.Native, err, ErrNoBinary)
	}
	if !strings.Contains(string(out), b.Version) {
		return fmt.Errorf("%s says it is %q, not %s: %w", b.Native, strings.TrimSpace(string(out)), b.Version, ErrNoBinary)
	}
	return nil
}
