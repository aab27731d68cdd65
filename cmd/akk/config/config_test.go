package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

func TestParse(t *testing.T) {
	t.Setenv("HOME", "/home/u")
	for _, c := range []struct {
		name, text string
		want       string // part of the error, "" = none
		line       int
	}{
		{"empty file", "", "", 0},
		{"the example is valid", example, "", 0},
		{"home", "[store]\ndir = \"~/akk\"", "", 0},
		{"typing mistake", "servers = []\n\nsevers = []\n", `unknown key "severs"`, 3},
		{"unknown in a table", "[keys]\nup = \"k\"\nsideways = \"s\"\n", `unknown key "keys.sideways"`, 3},
		{"unknown table", "\n[colours]\nred = 1\n", `unknown key "colours"`, 2},
		{"dotted", "keys.x = 1\n", `unknown key "keys.x"`, 1},
		{"not TOML", "servers = [\nwhat", "", 2},
		{"wrong type", "transport = 3\n", "transport: a number where a text in quotes is needed", 1}, // N12
		{"no list", "\nservers = \"a\"\n", `servers: a text where a list, as ["a", "b"], is needed`, 2},
		{"a number in a list", "servers = [1]\n", "servers: a number where a text in quotes is needed", 1},
		{"no table", "keys = []\n", "keys: a list where a table, as [name], is needed", 1},
		{"yes or no", "keys.up = true\n", "keys.up: true or false where a text", 1},
		{"a line that ends early", "[keys\nup = \"k\"\n", "to end table name, but the line ends", 1}, // N15
		{"a later one", "servers = []\n[keys\n\nup = \"k\"\n", "but the line ends", 2},
		{"a file that ends early", "[keys", "but the file ends", 1},
		{"no value", "transport =\nservers = []\n", "expected value, but the line ends", 1},
		{"pipe", "transport = \"pipe\"\n", "", 0},
		{"no transport", "\ntransport = \"pigeon\"\n", `"pigeon" is not a transport`, 2},
		{"relative server", "servers = [\"a/b\"]\n", `"a/b" names no tmux server`, 1},
		{"relative store", "[store]\ndir = \"x\"\n", "not absolute", 2},
		{"key of two characters", "[keys]\nup = \"kk\"\n", "not one printable character", 2},
		{"control character as key", "[keys]\nup = \"\\u001b\"\n", "not one printable character", 2},
		{"deep in dots", "\na" + strings.Repeat(".a", 20_000) + " = 1\n", "nested too deep", 2},
		{"deep in braces", "a = " + strings.Repeat("{b = ", 20_000), "nested too deep", 1},
		{"deep over lines", "a=" + strings.Repeat("[\n{a=", 20_000) + "1" + strings.Repeat("}]", 20_000), "nested too deep", 17},
		{"dots behind a setting", "transport = \"control\" # " + strings.Repeat(".", 500) + "\n", "", 0},
		{"dots in a path", "servers = [\"/" + strings.Repeat("./", 500) + "s\"]\n", "", 0},
		{"braces in a text", "servers = [\"" + strings.Repeat("{", 5000) + "\"]\n", "", 0},
		{"a ruler", "# " + strings.Repeat(".", 500) + "\n", "", 0},
		{"a key that another has by default", "[keys]\nup = \"q\"\n", "keys.up: \"q\" is the key for leave already", 2},
		{"one key twice", "[keys]\nup = \"j\"\ndown = \"j\"\n", "already", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("f.toml", []byte(c.text))
			if c.want == "" && c.line == 0 {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			p, ok := errors.AsType[*Problem](err)
			if !ok || !errors.Is(err, ErrInvalid) {
				t.Fatalf("want a Problem, got %v", err)
			}
			if !strings.Contains(p.What, c.want) || p.Line != c.line || p.Cure == "" {
				t.Fatalf("got line %d %q (cure %q), want line %d with %q", p.Line, p.What, p.Cure, c.line, c.want)
			}
		})
	}
}

// The example must say exactly what the defaults are, or it teaches wrong.
func TestExampleNamesEveryKey(t *testing.T) {
	for _, k := range known() {
		_, last, found := strings.Cut(k, ".")
		if !found {
			last = k
		}
		if !strings.Contains(example, "\n"+last+" = ") {
			t.Errorf("example.toml lacks %s", k)
		}
	}
}

func TestLoad(t *testing.T) {
	if _, err := Load(filepath.Join(t.TempDir(), "none.toml")); !errors.Is(err, ErrInvalid) {
		t.Errorf("a named file that is not there: %v", err)
	}
	f := filepath.Join(t.TempDir(), "c.toml")
	if err := os.WriteFile(f, []byte("servers = [\"work\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(f)
	if err != nil || len(c.Servers) != 1 || c.Servers[0] != "work" {
		t.Errorf("got %+v, %v", c, err)
	}
}

// A file that is too big is not read to its end.
func TestLoadBig(t *testing.T) {
	f := filepath.Join(t.TempDir(), "c.toml")
	if err := os.WriteFile(f, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(f, 1<<40); err != nil { // holes only
		t.Skip(err)
	}
	if _, err := Load(f); err == nil || !strings.Contains(err.Error(), "bigger than 1 MiB") {
		t.Errorf("%v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(example)
	f.Add("[keys]\nup = 3")
	f.Fuzz(func(t *testing.T, s string) {
		if _, err := Parse("f", []byte(s)); err != nil && !errors.Is(err, ErrInvalid) {
			t.Fatal(err)
		}
	})
}

// A FIFO in the settings' place would be waited for for ever.
func TestLoadNoRegularFile(t *testing.T) {
	if _, err := Load(t.TempDir()); err == nil || !strings.Contains(err.Error(), "regular file") {
		t.Errorf("%v", err)
	}
}

// Filled forgets no field: what is set stays, what is not is the example's.
func TestFilled(t *testing.T) {
	var all Config
	var set func(v reflect.Value)
	set = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				set(v.Field(i))
			}
		case reflect.String:
			v.SetString("set")
		case reflect.Slice:
			v.Set(reflect.ValueOf([]string{"set"}))
		default:
			t.Fatalf("a field of kind %v", v.Kind())
		}
	}
	set(reflect.ValueOf(&all).Elem())
	if got := all.Filled(); !reflect.DeepEqual(got, all) {
		t.Errorf("%+v", got)
	}
	var want Config
	if err := toml.Unmarshal([]byte(example), &want); err != nil {
		t.Fatal(err)
	}
	if got := (Config{}).Filled(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
