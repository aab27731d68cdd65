package codex

import (
	"os"
	"path/filepath"
	"testing"

	"akk/agents"
)

func TestMatch(t *testing.T) {
	// The layout of an npm installation.
	root := t.TempDir()
	pkg := filepath.Join(root, "node_modules", "@openai", "codex")
	native := filepath.Join(pkg+"-linux-x64", "vendor", "x86_64-unknown-linux-musl", "bin")
	for path, text := range map[string]string{
		filepath.Join(pkg, "package.json"):              `{"name":"@openai/codex","version":"0.155.1"}`,
		filepath.Join(pkg, "bin", "codex.js"):           "",
		filepath.Join(pkg+"-linux-x64", "package.json"): `{"name":"@openai/codex","version":"0.155.1-linux-x64"}`,
		filepath.Join(native, "codex"):                  "",
		filepath.Join(native, "codex-code-mode-host"):   "",
		filepath.Join(root, "package.json"):             `{"name":"mine","version":"9.9.9"}`,
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	js := filepath.Join(pkg, "bin", "codex.js")
	exe := filepath.Join(native, "codex")
	link := filepath.Join(root, "codex")
	if err := os.Symlink(js, link); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, exe string
		args      []string
		version   string
		ok        bool
	}{
		{"native", exe, []string{"codex"}, "0.155.1", true},
		{"replaced by an update", exe + " (deleted)", []string{"codex"}, "0.155.1", true},
		{"resume", exe, []string{"codex", "-m", "exec", "resume"}, "0.155.1", true},
		{"prompt", exe, []string{"codex", "fix the login"}, "0.155.1", true},
		{"npm wrapper", "/usr/bin/node", []string{"node", "--no-warnings", js}, "0.155.1", true},
		{"npm link", "/usr/bin/node", []string{"node", link, "resume"}, "0.155.1", true},
		{"release folder", "/opt/x/releases/0.171.0-abc/bin/codex", []string{"codex"}, "0.171.0", true},
		{"no package", "/usr/local/bin/codex", []string{"codex"}, "", true},
		{"executable not readable", "", []string{"/usr/local/bin/codex"}, "", true},
		{"daemon", exe, []string{"codex", "app-server", "--listen", "unix://", "--managed-daemon"}, "", false},
		{"one shot", exe, []string{"codex", "-c", "x=y", "exec", "do it"}, "", false},
		{"mcp", exe, []string{"codex", "mcp-server"}, "", false},
		{"code mode host", filepath.Join(native, "codex-code-mode-host"), []string{"codex-code-mode-host"}, "", false},
		{"other script", "/usr/bin/node", []string{"node", "server.js", "codex"}, "", false},
		{"shell", "/bin/bash", []string{"bash", "-c", "codex"}, "", false},
		{"version", exe, []string{"codex", "--version"}, "", false},
	} {
		version, ok := Agent{}.Match(&agents.Process{Exe: c.exe, Args: c.args})
		if ok != c.ok || ok && version != c.version {
			t.Errorf("%s: %q, %v; want %q, %v", c.name, version, ok, c.version, c.ok)
		}
	}
	if _, ok := (Agent{}).Match(nil); ok {
		t.Error("no process matches")
	}
}

func TestProfiles(t *testing.T) {
	for _, p := range loaded().All() {
		if p.Submit.SettleMillis < 200 || p.Submit.Enter == "" || p.Submit.Refuse["/"] == "" || p.Submit.Refuse["!"] == "" || p.CertifiedBy == "" {
			t.Errorf("%s: submit plan %+v", p.Name, p.Submit)
		}
	}
	if plan := (Agent{}).Submit("99.0.0"); plan.CollapseChars != 1000 || plan.Enter != "\r" {
		t.Errorf("plan of an unknown version: %+v", plan)
	}
}
