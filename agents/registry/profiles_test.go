package registry

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"akk/agents"
	"akk/vtparse"
)

// readBlank reads an empty screen: enough to be told the profile.
func readBlank(a agents.Agent, version string) agents.Reading {
	return a.Read(agents.Input{Version: version, Screen: vtparse.New(80, 24, vtparse.Options{}).Screen()})
}

// The config folder's profiles hold for both agents, also for Claude Code's
// words; a version that nothing covers goes on with the nearest and says generic.
func TestUseProfiles(t *testing.T) {
	defer own.Store(nil)
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		f := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(f), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if errs := UseProfiles(filepath.Join(dir, "none"))(); len(errs) > 0 {
		t.Fatal("a folder that is not there:", errs)
	}
	write("codex/mine.toml", "name = 'my codex'\nfrom = '0.200.0'\nto = '0.200.9'\n[submit]\nsettle_ms = 777\n[[certified]]\nversion = '0.200.0'\n")
	write("claude/mine.toml", "name = 'my claude'\nfrom = '3.0.0'\nto = '3.0.0'\n[words.viewer]\nmark = 'Transcript of all'\n")
	write("claude/bad.toml", "name = 'bad'\nfrom = '4.0.0'\nto = '4.0.0'\n[words.viewer]\nmork = 'x'\n")
	errs := UseProfiles(dir)()
	if len(errs) != 1 || !errors.Is(errs[0], agents.ErrProfile) || !strings.HasPrefix(errs[0].Error(), dir+"/claude/bad.toml:5: unknown key \"words.viewer.mork\"") {
		t.Errorf("%v", errs)
	}
	for _, c := range []struct {
		kind                           agents.Kind
		version, profile, verification string
		settle                         int
	}{
		{agents.Codex, "0.200.3", "my codex", agents.Certified, 777},
		{agents.Codex, "0.155.1", "codex-0.155", agents.Certified, 200},
		{agents.Codex, "0.300.0", "codex-0.171", agents.Generic, 200},
		{agents.Claude, "3.0.0", "my claude", agents.Generic, 60},
		{agents.Claude, "2.1.267", "claude-2.1.251", agents.Certified, 60},
		{agents.Claude, "4.0.0", "claude-2.1.332", agents.Generic, 60},
	} {
		a := For(c.kind)
		r := readBlank(a, c.version)
		if r.Profile != c.profile || r.Verification != c.verification {
			t.Errorf("%s %s: %s, %s; want %s, %s", c.kind, c.version, r.Profile, r.Verification, c.profile, c.verification)
		}
		if got := a.Submit(c.version).SettleMillis; got != c.settle {
			t.Errorf("%s %s: settles %d ms, want %d", c.kind, c.version, got, c.settle)
		}
	}
}
