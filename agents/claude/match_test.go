package claude

import (
	"os"
	"path/filepath"
	"testing"

	"akk/agents"
)

func TestMatch(t *testing.T) {
	dir := t.TempDir()
	pkg := filepath.Join(dir, "node_modules/@anthropic-ai/claude-code")
	write := func(path, text string) string {
		t.Helper()
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("node_modules/@anthropic-ai/claude-code/package.json", `{"name":"@anthropic-ai/claude-code","version":"2.1.267"}`)
	exe := write("node_modules/@anthropic-ai/claude-code/bin/claude.exe", "")
	cli := write("node_modules/@anthropic-ai/claude-code/cli.js", "")
	write("node_modules/@anthropic-ai/claude-code-linux-x64/package.json", `{"name":"@anthropic-ai/claude-code-linux-x64","version":"2.1.332"}`)
	elf := write("node_modules/@anthropic-ai/claude-code-linux-x64/claude", "")
	native := write("share/claude/versions/2.1.300", "")
	other := write("bin/claude", "")
	for _, c := range []struct {
		name    string
		p       agents.Process
		version string
		ok      bool
	}{
		{"npm", agents.Process{Exe: exe, Args: []string{"claude"}}, "2.1.267", true},
		{"npm, platform package", agents.Process{Exe: elf, Args: []string{"claude", "--resume"}}, "2.1.332", true},
		{"npm, replaced while it runs", agents.Process{Exe: exe + " (deleted)", Args: []string{"claude"}}, "2.1.267", true},
		{"native installer", agents.Process{Exe: native, Args: []string{"claude", "fix the tests"}}, "2.1.300", true},
		{"older, node", agents.Process{Exe: "/usr/bin/node", Args: []string{"node", "--no-warnings", cli, "-c"}}, "2.1.267", true},
		{"npm's wrapper: its child is the session", agents.Process{Exe: "/usr/bin/node", Args: []string{"node", filepath.Join(pkg, "cli-wrapper.cjs")}}, "", false},
		{"unknown place", agents.Process{Exe: other, Args: []string{"claude"}}, "", true},
		{"executable not readable", agents.Process{Args: []string{"claude"}}, "", true},
		{"one-shot", agents.Process{Exe: exe, Args: []string{"claude", "-p", "hi"}}, "", false},
		{"daemon", agents.Process{Exe: exe, Args: []string{"claude", "daemon", "run"}}, "", false},
		{"mcp server", agents.Process{Exe: exe, Args: []string{"claude", "mcp", "serve"}}, "", false},
		{"text that looks like a flag", agents.Process{Exe: exe, Args: []string{"claude", "--", "-p"}}, "2.1.267", true},
		{"another node program", agents.Process{Exe: "/usr/bin/node", Args: []string{"node", "server.js"}}, "", false},
		{"node alone", agents.Process{Exe: "/usr/bin/node", Args: []string{"node"}}, "", false},
		{"shell", agents.Process{Exe: "/bin/bash", Args: []string{"-bash"}}, "", false},
		{"nothing", agents.Process{}, "", false},
	} {
		v, ok := Agent{}.Match(&c.p)
		if ok != c.ok || v != c.version {
			t.Errorf("%s: %q %v, want %q %v", c.name, v, ok, c.version, c.ok)
		}
	}
	if _, ok := (Agent{}).Match(nil); ok {
		t.Error("nil matches")
	}
}

func TestVersionFromStatus(t *testing.T) {
	l := newLive(t)
	l.status("s1", "idle")
	l.proc.Exe, l.proc.Args = "/nowhere/claude", []string{"claude"}
	if v, ok := (Agent{}).Match(&l.proc); !ok || v != "2.1.267" {
		t.Errorf("%q %v", v, ok)
	}
}

func TestProjectDir(t *testing.T) {
	if got := projectDir("/c", "/tmp/akk-lab/w9/my_project.v2 ü"); got != "/c/projects/-tmp-akk-lab-w9-my-project-v2--" {
		t.Error(got)
	}
	for _, bad := range []string{"", "../x", "a/b", "*"} {
		if transcript("/c", "/x", bad) != "" {
			t.Errorf("session id %q makes a path", bad)
		}
	}
}

func TestProfiles(t *testing.T) {
	for version, want := range map[string]string{
		"2.1.218": "claude-2.1.218 certified", "2.1.226": "claude-2.1.218 certified", "2.1.267": "claude-2.1.251 certified",
		"2.1.300": "claude-2.1.251 generic", "2.1.332": "claude-2.1.332 certified", "3.0.0": "claude-2.1.332 generic", "": "claude-2.1.332 generic",
	} {
		p, v := known().profiles.For(version)
		if got := p.Name + " " + v; got != want {
			t.Errorf("%s: %s, want %s", version, got, want)
		}
	}
	s := Agent{}.Submit("2.1.267")
	if s.Enter != "\r" || s.CollapseChars != 801 || s.CollapseLines != 4 || s.Refuse["/"] == "" || s.Refuse["!"] == "" || s.SettleMillis <= 0 {
		t.Errorf("%+v", s)
	}
	s.Refuse["/"] = ""
	if (Agent{}).Submit("2.1.267").Refuse["/"] == "" {
		t.Error("the plan is shared")
	}
	var w words
	if err := agents.DecodeProfile("w.toml", []byte("name = \"x\"\nfrom = \"1.0.0\"\nto = \"1.0.0\"\n[composer]\nholder = 3\n"), &w); err == nil {
		t.Error("an unknown key is taken")
	} else if got := err.Error(); got[:9] != "w.toml:5:" {
		t.Error(got)
	}
}
