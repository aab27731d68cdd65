package agents_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"akk/agents"
)

type own struct {
	agents.ProfileHead
	Words struct {
		Footer string   `toml:"footer"`
		Marks  []string `toml:"marks"`
	} `toml:"words"`
	Panels []struct {
		Kind string `toml:"kind"`
		Bold bool   `toml:"bold"`
	} `toml:"panel"`
	Keys map[string]string `toml:"keys"`
}

func load(t *testing.T, over map[string]string) (*agents.Profiles[*own], []error) {
	t.Helper()
	embedded := fstest.MapFS{"p/a.toml": {Data: []byte(`name = "a"
from = "1.0.0"
to = "1.9.9"
certified_by = "a run"
[words]
footer = "old"
marks = ["x", "y"]
[keys]
yes = "y"
no = "n"
[[panel]]
kind = "exec"
bold = true
[[panel]]
kind = "patch"
bold = true
`)}}
	fresh := func() *own { return new(own) }
	set, err := agents.LoadProfiles(embedded, "p", fresh)
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{}
	for name, text := range over {
		files["codex/"+name] = &fstest.MapFile{Data: []byte(text)}
	}
	return set.With(files, "codex", nil, fresh)
}

// A user's profile says what it changes; the rest is the nearest embedded one's.
func TestOverride(t *testing.T) {
	set, errs := load(t, map[string]string{"mine.toml": `name = "mine"
from = "1.5.0"
to = "3.0.0"
[words]
footer = "new"
[keys]
yes = "1"
[[panel]]
kind = "exec"
`})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	for _, c := range []struct{ version, name, verification, footer string }{
		{"1.4.9", "a", agents.Certified, "old"},
		{"1.5.0", "mine", agents.Generic, "new"}, // nothing certified it
		{"3.0.0", "mine", agents.Generic, "new"},
		{"3.0.1", "a", agents.Generic, "old"},
	} {
		p, v := set.For(c.version)
		if p.Name != c.name || v != c.verification || p.Words.Footer != c.footer {
			t.Errorf("%s: %s, %s, %q; want %v", c.version, p.Name, v, p.Words.Footer, c)
		}
	}
	p, _ := set.For("2.0.0")
	if !slices.Equal(p.Words.Marks, []string{"x", "y"}) || p.Keys["no"] != "n" || p.Keys["yes"] != "1" || p.CertifiedBy != "" {
		t.Errorf("what is not changed is not the embedded profile's: %+v", p)
	}
	if len(p.Panels) != 1 || p.Panels[0].Bold {
		t.Errorf("a list is replaced whole: %+v", p.Panels)
	}
	if q, _ := set.For("1.0.0"); q.Words.Footer != "old" || q.Keys["yes"] != "y" || len(q.Panels) != 2 || !q.Panels[0].Bold {
		t.Errorf("the embedded profile was changed: %+v", q)
	}
	if _, ok := set.Covers("9.0.0"); ok {
		t.Error("a version outside of all ranges is covered")
	}
}

// A profile that `akk certify` wrote is certified.
func TestOverrideCertified(t *testing.T) {
	set, errs := load(t, map[string]string{"mine.toml": "name = 'mine'\nfrom = '2.0.0'\nto = '2.0.0'\n[[certified]]\nversion = '2.0.0'\nsuite = 1\n"})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if p, v := set.For("2.0.0"); p.Name != "mine" || v != agents.Certified {
		t.Errorf("%s, %s", p.Name, v)
	}
}

// A mistake is told with file and line; the embedded profile and the user's
// other files go on.
func TestOverrideErrors(t *testing.T) {
	head := "name = 'm'\nfrom = '2.0.0'\nto = '2.9.0'\n"
	for _, c := range []struct{ name, text, want string }{
		{"unknown key", head + "[words]\nfoter = 'x'\n", `codex/bad.toml:5: unknown key "words.foter"`},
		{"syntax", head + "[words\n", "codex/bad.toml:5:"},
		{"type", head + "[words]\nfooter = 7\n", "codex/bad.toml"},
		{"no range", "name = 'm'\n", "no range"},
		{"too big", head + strings.Repeat("# padding padding padding\n", 60_000), "bigger than"},
		{"too deep", head + "a = " + strings.Repeat("[\n{a=", 20_000), "codex/bad.toml:20: is nested too deep"},
		{"overlap", "name = 'm'\nfrom = '4.0.0'\nto = '4.2.0'\n", "overlap those of good"},
	} {
		t.Run(c.name, func(t *testing.T) {
			set, errs := load(t, map[string]string{"bad.toml": c.text, "a-good.toml": "name = 'good'\nfrom = '4.1.0'\nto = '5.0.0'\n"})
			if len(errs) != 1 || !errors.Is(errs[0], agents.ErrProfile) || !strings.Contains(errs[0].Error(), c.want) {
				t.Fatalf("%v; want %q", errs, c.want)
			}
			if p, v := set.For("1.0.0"); p.Name != "a" || v != agents.Certified {
				t.Errorf("the embedded profile is gone: %s, %s", p.Name, v)
			}
			if p, _ := set.For("4.1.0"); p.Name != "good" {
				t.Errorf("a good file was left out: %s", p.Name)
			}
		})
	}
}

// A link to a device has no size and no end.
func TestReadProfileEndless(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("/dev/zero", filepath.Join(dir, "a.toml")); err != nil {
		t.Fatal(err)
	}
	if _, err := agents.ReadProfile(os.DirFS(dir), "a.toml"); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Error(err)
	}
}
