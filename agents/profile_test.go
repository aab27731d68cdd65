package agents

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"
)

type testProfile struct {
	ProfileHead
	Words struct {
		Footer string `toml:"footer"`
	} `toml:"words"`
}

func fresh() *testProfile { return new(testProfile) }

func TestProfilesFor(t *testing.T) {
	files := fstest.MapFS{}
	for name, span := range map[string][2]string{"a": {"0.147.0", "0.150.9"}, "b": {"0.153.0", "0.153.9"}, "c": {"0.171.0", "0.171.0"}} {
		files["p/"+name+".toml"] = &fstest.MapFile{Data: []byte("name = '" + name + "'\nfrom = '" + span[0] + "'\nto = '" + span[1] + "'\n[words]\nfooter='x'\n")}
	}
	set, err := LoadProfiles(files, "p", fresh)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ version, name, verification string }{
		{"0.147.0", "a", Certified},
		{"0.150.1", "a", Certified},
		{"0.151.0", "a", Generic}, // between two: the older one
		{"0.100.0", "a", Generic}, // older than all
		{"0.153.4", "b", Certified},
		{"0.171.0-alpha.3", "c", Certified},
		{"1.0.0", "c", Generic},
		{"", "c", Generic},
		{"banana", "c", Generic},
	} {
		p, v := set.For(c.version)
		if p.Name != c.name || v != c.verification {
			t.Errorf("For(%q) = %s, %s; want %s, %s", c.version, p.Name, v, c.name, c.verification)
		}
	}
}

func TestDecodeProfileErrors(t *testing.T) {
	head := "name = 'a'\nfrom = '1.0.0'\nto = '1.0.0'\n"
	for _, c := range []struct{ name, text, want string }{
		{"unknown key", head + "[words]\nfooter = 'x'\nfoter = 'y'\n", `a.toml:6: unknown key "words.foter"`},
		{"unknown table", head + "\n[wrods]\nx = 1\n", `a.toml:5: unknown key "wrods"`},
		{"syntax", head + "x = \n", "a.toml:4:"},
		{"no name", "from = '1.0.0'\nto = '1.0.0'\n", "no name"},
		{"no range", "name = 'a'\nfrom = '2.0.0'\nto = '1.0.0'\n", "no range"},
	} {
		err := DecodeProfile("a.toml", []byte(c.text), fresh())
		if !errors.Is(err, ErrProfile) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	both := fstest.MapFS{"p/a.toml": {Data: []byte(head)}, "p/b.toml": {Data: []byte(head)}}
	if _, err := LoadProfiles(both, "p", fresh); !errors.Is(err, ErrProfile) {
		t.Errorf("overlap: %v", err)
	}
}
