package config

import (
	"bufio"
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"akk/tomldepth"

	"github.com/BurntSushi/toml"
	"github.com/adrg/xdg"
)

// Config is the file's schema. The zero value is the defaults.
type Config struct {
	// Servers are tmux servers that are attached beside the caller's own: a
	// name as after `tmux -L`, or an absolute path as after `tmux -S`.
	Servers []string `toml:"servers" json:"servers"`
	// Transport is how panes are read: "control" (the default) or "pipe".
	Transport string `toml:"transport" json:"transport"`
	Store     Store  `toml:"store" json:"store"`
	Keys      Keys   `toml:"keys" json:"keys"`
}

// Store says where what must survive is kept.
type Store struct {
	Dir string `toml:"dir" json:"dir"` // absolute, or beginning with "~/"; "" = the XDG state folder
}

// Keys are the sidebar's keys; each is one character. Arrows, Enter and the
// mouse always work.
type Keys struct {
	Up    string `toml:"up" json:"up"`
	Down  string `toml:"down" json:"down"`
	First string `toml:"first" json:"first"`
	Last  string `toml:"last" json:"last"`
	Help  string `toml:"help" json:"help"`
	Leave string `toml:"leave" json:"leave"`

	Takeover string `toml:"takeover" json:"takeover"`
	Handback string `toml:"handback" json:"handback"`
	Restore  string `toml:"restore" json:"restore"`
}

// maxFile bounds a settings file, in bytes: a bigger one is a mistake.
const maxFile = 1 << 20

// typeError is how the library words a value of a wrong type; its position is
// only in the text.
var typeError = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^toml: line (\d+) \(last key "([^"]*)"\): (.*)$`) })

//go:embed example.toml
var example string

// Example is a commented file that holds exactly the defaults.
func Example() string { return example }

// Filled is c with the defaults written out, as Example has them.
func (c Config) Filled() Config {
	var all Config
	if err := toml.Unmarshal([]byte(example), &all); err != nil {
		panic(err) // ours, see TestExample
	}
	if c.Servers != nil {
		all.Servers = c.Servers
	}
	for to, set := range map[*string]string{
		&all.Transport: c.Transport, &all.Store.Dir: c.Store.Dir,
		&all.Keys.Up: c.Keys.Up, &all.Keys.Down: c.Keys.Down, &all.Keys.First: c.Keys.First, &all.Keys.Last: c.Keys.Last,
		&all.Keys.Help: c.Keys.Help, &all.Keys.Leave: c.Keys.Leave,
		&all.Keys.Takeover: c.Keys.Takeover, &all.Keys.Handback: c.Keys.Handback, &all.Keys.Restore: c.Keys.Restore,
	} {
		*to = cmp.Or(set, *to)
	}
	return all
}

// Path is the default place: $XDG_CONFIG_HOME/akk/config.toml.
func Path() string { return filepath.Join(xdg.ConfigHome, "akk", "config.toml") }

// Load reads path ("" = Path()). A default file that does not exist gives the
// defaults; a named one that does not exist is an error.
func Load(path string) (Config, error) {
	named := path != ""
	if !named {
		path = Path()
	}
	st, err := os.Stat(path) // a FIFO would be waited for for ever
	if err == nil && !st.Mode().IsRegular() {
		return Config{}, &Problem{Path: path, What: "is no regular file", Cure: "make it a file, or name another one"}
	}
	b, err := readFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !named:
		return Config{}, nil
	case errors.Is(err, fs.ErrNotExist):
		return Config{}, &Problem{Path: path, What: "does not exist (no such file)", Cure: "name a file that is there, or leave --config out"}
	case err != nil:
		return Config{}, &Problem{Path: path, What: fmt.Sprintf("can't be read: %v", err), Cure: "make the file readable for yourself, or name another one"}
	case len(b) > maxFile:
		return Config{}, &Problem{Path: path, What: "is bigger than 1 MiB", Cure: "compare it with `akk config example`"}
	}
	return Parse(path, b)
}

// readFile reads no more than shows that a file is too big.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}

// Parse reads a file's text; path is only named in errors. All errors are
// *Problem.
func Parse(path string, text []byte) (Config, error) {
	var c Config
	if n := tomldepth.Line(text); n > 0 {
		return Config{}, &Problem{Path: path, Line: n, What: "is nested too deep", Cure: "compare it with `akk config example`"}
	}
	md, err := toml.Decode(string(text), &c)
	if err != nil {
		p := &Problem{Path: path, What: err.Error(), Cure: "compare it with `akk config example`"}
		if pe, ok := errors.AsType[toml.ParseError](err); ok {
			p.Line, p.What = faultLine(text, pe), ends.Replace(pe.Message)
		} else if m := typeError().FindStringSubmatch(p.What); m != nil {
			p.Line, _ = strconv.Atoi(m[1])
			p.What = m[2] + ": " + typeWords(m[3])
		}
		return Config{}, p
	}
	if unknown := md.Undecoded(); len(unknown) > 0 {
		k := unknown[0]
		return Config{}, &Problem{Path: path, Line: lineOf(text, k), What: fmt.Sprintf("unknown key %q", k.String()), Cure: "known keys: " + strings.Join(known(), ", ")}
	}
	if p := c.check(); p != nil {
		p.Path = path
		p.Line = lineOf(text, toml.Key(strings.Split(p.key, ".")))
		return Config{}, &p.Problem
	}
	return c, nil
}

type keyProblem struct {
	Problem
	key string
}

func bad(key, what, cure string) *keyProblem {
	return &keyProblem{Problem{What: key + ": " + what, Cure: cure}, key}
}

func (c *Config) check() *keyProblem {
	if c.Transport != "" && c.Transport != "control" && c.Transport != "pipe" {
		return bad("transport", fmt.Sprintf("%q is not a transport", c.Transport), `use "control" or "pipe", or leave the key out`)
	}
	for _, s := range c.Servers {
		if s == "" || strings.ContainsAny(s, "\x00\n") || (strings.Contains(s, "/") && !filepath.IsAbs(s)) {
			return bad("servers", fmt.Sprintf("%q names no tmux server", s), "give a name as after `tmux -L`, or an absolute path as after `tmux -S`")
		}
	}
	if d := c.Store.Dir; d != "" {
		if strings.HasPrefix(d, "~/") {
			home, err := os.UserHomeDir()
			if err != nil {
				return bad("store.dir", "~ can't be resolved: $HOME is not set", "give an absolute path")
			}
			d = filepath.Join(home, d[2:])
		}
		if !filepath.IsAbs(d) {
			return bad("store.dir", fmt.Sprintf("%q is not absolute", d), "give an absolute path, or one that begins with ~/")
		}
		c.Store.Dir = filepath.Clean(d)
	}
	seen := map[string]int{}
	set, all := c.Keys.named(), c.Filled().Keys.named()
	for i, k := range all {
		if r := []rune(k.key); len(r) != 1 || r[0] <= ' ' || r[0] == 0x7f {
			return bad("keys."+k.name, fmt.Sprintf("%q is not one printable character", k.key), `give one character, e.g. "j"`)
		}
		if n, ok := seen[k.key]; ok {
			if set[i].key == "" { // it is the other one that the file sets
				i, n = n, i
			}
			return bad("keys."+all[i].name, fmt.Sprintf("%q is the key for %s already", k.key, all[n].name), "give each its own key")
		}
		seen[k.key] = i
	}
	return nil
}

type namedKey struct{ name, key string }

func (k Keys) named() []namedKey {
	return []namedKey{{"up", k.Up}, {"down", k.Down}, {"first", k.First}, {"last", k.Last}, {"help", k.Help}, {"leave", k.Leave},
		{"takeover", k.Takeover}, {"handback", k.Handback}, {"restore", k.Restore}}
}

// known lists the keys of the schema.
func known() []string {
	out := []string{"servers", "transport", "store.dir"}
	for _, k := range (Keys{}).named() {
		out = append(out, "keys."+k.name)
	}
	return out
}

// lineOf finds the line that sets a key: in its table, or dotted. 0 if it is
// written in a way that is not understood here (an inline table).
func lineOf(text []byte, key toml.Key) int {
	var table []string
	sc := bufio.NewScanner(bytes.NewReader(text))
	sc.Buffer(nil, maxFile+1)
	for n := 1; sc.Scan(); n++ {
		l := strings.TrimSpace(sc.Text())
		if strings.HasPrefix(l, "[") {
			name, _, _ := strings.Cut(strings.TrimLeft(l, "["), "]")
			table = split(name)
			if slices.Equal(table, key) {
				return n
			}
			continue
		}
		name, _, ok := strings.Cut(l, "=")
		if ok && slices.Equal(append(slices.Clone(table), split(name)...), key) {
			return n
		}
	}
	return 0
}

func split(name string) []string {
	var out []string
	for p := range strings.SplitSeq(name, ".") {
		out = append(out, strings.Trim(strings.TrimSpace(p), `"'`))
	}
	return out
}
