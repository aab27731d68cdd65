package lab

// Throwaway homes. It upholds: an agent starts without a question, without an
// update and without telemetry, and finds nothing of the user's.

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"akk/agents"
)

// fakeKey looks like a key and opens nothing.
const fakeKey = "sk-ant-api03-lab-FAKE-0000000000000000000000000000000000-LABLABLABLABLABLAB"

// deadProxy is a port on which nobody answers (discard).
const deadProxy = "http://127.0.0.1:9"

// Paths are the folders of one session.
type Paths struct {
	Root    string // all of it
	Home    string
	Config  string // CODEX_HOME or CLAUDE_CONFIG_DIR
	Project string // the working directory, trusted
	Outside string // outside of the project, not writable for the agent's sandbox
	Bin     string // first in the agent's PATH
}

func newPaths(root string, agent agents.Kind) (Paths, error) {
	p := Paths{Root: root, Home: filepath.Join(root, "home"), Outside: filepath.Join(root, "outside"), Bin: filepath.Join(root, "bin")}
	p.Project = filepath.Join(p.Home, "project")
	p.Config = filepath.Join(p.Home, map[agents.Kind]string{agents.Codex: ".codex", agents.Claude: ".claude"}[agent])
	for _, d := range []string{p.Config, p.Project, p.Outside, p.Bin} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return p, fmt.Errorf("make the session's folders: %w", err)
		}
	}
	files := map[string]string{
		"hello.py":  "import sys\n\n\ndef main():\n    print(\"hello\")\n\n\nif __name__ == \"__main__\":\n    main()\n",
		"notes.txt": "alpha\nbeta\n",
		"README.md": "# Lab project\n",
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(p.Project, name), []byte(text), 0o600); err != nil {
			return p, fmt.Errorf("write the session's project: %w", err)
		}
	}
	return p, nil
}

// atLeast compares the numbers of a version with those wanted.
func atLeast(version string, want ...int) bool {
	parts := strings.Split(strings.SplitN(version, "-", 2)[0], ".")
	for i, w := range want {
		n := 0
		if i < len(parts) {
			n, _ = strconv.Atoi(parts[i])
		}
		if n != w {
			return n > w
		}
	}
	return true
}

// codexHome writes config.toml. extra is appended as it is.
func codexHome(p Paths, version, modelURL, extra string) error {
	q := strconv.Quote // TOML's basic strings are close enough to Go's for paths and URLs
	var b strings.Builder
	fmt.Fprintf(&b, `model = "gpt-5.5"
model_provider = "lab"
approval_policy = "on-request"
sandbox_mode = "workspace-write"
check_for_update_on_startup = false
model_reasoning_summary = "auto"
suppress_unstable_features_warning = true

[model_providers.lab]
name = "lab"
base_url = %s
wire_api = "responses"
env_key = "LAB_KEY"
request_max_retries = 0
stream_max_retries = 1
stream_idle_timeout_ms = 600000

[features]
default_mode_request_user_input = true
apps = false
plugins = false

[analytics]
enabled = false

[otel]
exporter = "none"

[history]
persistence = "save-all"

[tui]
animations = true
notifications = false
show_tooltips = false

[projects.%s]
trust_level = "trusted"
`, q(modelURL+"/v1"), q(p.Project))
	if atLeast(version, 0, 159) {
		// The newer versions open with news about a model unless it is settled.
		b.WriteString("\n[notice.model_migrations]\n\"gpt-5.5\" = \"gpt-6-sol\"\n")
	}
	b.WriteString(extra)
	if err := os.WriteFile(filepath.Join(p.Config, "config.toml"), []byte(b.String()), 0o600); err != nil {
		return fmt.Errorf("write Codex's configuration: %w", err)
	}
	return nil
}

// claudeHome writes .claude.json and settings.json. settings is merged over ours.
func claudeHome(p Paths, settings map[string]any) error {
	state := map[string]any{
		"numStartups": 3, "theme": "dark", "hasCompletedOnboarding": true, "lastOnboardingVersion": "9.9.9",
		"autoUpdates": false, "firstStartTime": "2026-01-01T00:00:00.000Z",
		"customApiKeyResponses": map[string]any{"approved": []string{fakeKey[len(fakeKey)-20:]}, "rejected": []string{}},
		"projects": map[string]any{p.Project: map[string]any{
			"allowedTools": []string{}, "hasTrustDialogAccepted": true,
			"hasCompletedProjectOnboarding": true, "projectOnboardingSeenCount": 4}},
	}
	set := map[string]any{"tui": "default", "permissions": map[string]any{"defaultMode": "default"}}
	for k, v := range settings {
		set[k] = v
	}
	for name, doc := range map[string]any{".claude.json": state, "settings.json": set} {
		b, err := json.MarshalIndent(doc, "", " ")
		if err == nil {
			err = os.WriteFile(filepath.Join(p.Config, name), b, 0o600)
		}
		if err != nil {
			return fmt.Errorf("write Claude Code's %s: %w", name, err)
		}
	}
	return nil
}

// environment is all that the agent gets, beside what tmux sets for a pane.
func (s *Server) environment(b Binary, p Paths, modelURL string) map[string]string {
	env := map[string]string{
		"HOME": p.Home, "PATH": p.Bin + ":/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "SHELL": "/bin/bash",
		"USER": "lab", "LOGNAME": "lab", "TMPDIR": s.sock, markEnv: s.mark,
	}
	switch b.Agent {
	case agents.Codex:
		env["CODEX_HOME"], env["LAB_KEY"] = p.Config, "lab-fake-key"
	case agents.Claude:
		env["CLAUDE_CONFIG_DIR"], env["ANTHROPIC_BASE_URL"], env["ANTHROPIC_API_KEY"] = p.Config, modelURL, fakeKey
		for _, k := range []string{"DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER", "DISABLE_ERROR_REPORTING",
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"} {
			env[k] = "1"
		}
	}
	if !s.Isolated() {
		for _, k := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
			env[k] = deadProxy
		}
		env["NO_PROXY"], env["no_proxy"] = "127.0.0.1,localhost", "127.0.0.1,localhost"
	}
	return env
}

// tools puts what the agent looks for into its PATH: node for npm's entry, and
// Codex's own bwrap, without which it warns at the start.
func tools(b Binary, p Paths) error {
	want := map[string]string{}
	if node, err := exec.LookPath("node"); err == nil {
		want["node"] = node
	}
	if b.Agent == agents.Codex {
		m, _ := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(b.Native)), "codex-resources", "bwrap"))
		if len(m) == 1 {
			want["bwrap"] = m[0]
		}
	}
	for name, to := range want {
		if err := os.Symlink(to, filepath.Join(p.Bin, name)); err != nil {
			return fmt.Errorf("fill the agent's PATH: %w", err)
		}
	}
	return nil
}
