package agents

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"akk/tomldepth"

	"github.com/BurntSushi/toml"
)

// This file loads the profiles of an agent: what one range of versions draws,
// writes and understands, as TOML. Rule: knowledge is data, and a key that
// nobody reads is an error with its line, never silently ignored.

// ErrProfile is returned when a profile can't be used; the text names file,
// line and key.
var ErrProfile = errors.New("agent profile is not usable")

// Verification says what an answer's knowledge rests on.
const (
	Certified = "certified" // the profile covers this very version
	Generic   = "generic"   // the nearest profile was taken
)

// ProfileHead is the part that every profile has; embed it in the struct that
// a profile is decoded into.
type ProfileHead struct {
	Name string `toml:"name"`
	// From and To bound the versions, both inclusive.
	From string `toml:"from"`
	To   string `toml:"to"`
	// CertifiedBy tells what the profile was checked with.
	CertifiedBy string `toml:"certified_by"`
	// Certified are the runs of `akk certify` that were clean.
	Certified []Certification `toml:"certified"`
}

// Head lets a struct that embeds ProfileHead stand as a Profile.
func (h *ProfileHead) Head() *ProfileHead { return h }

// Profile is any struct pointer that embeds ProfileHead.
type Profile interface{ Head() *ProfileHead }

// DecodeProfile reads one profile into p. Unknown keys, a missing name and a
// range that is none are errors that name file and line.
func DecodeProfile(file string, data []byte, p Profile) error {
	if n := tomldepth.Line(data); n > 0 {
		return fmt.Errorf("%s:%d: is nested too deep: %w", file, n, ErrProfile)
	}
	meta, err := toml.Decode(string(data), p)
	if err != nil {
		var at toml.ParseError
		if errors.As(err, &at) {
			return fmt.Errorf("%s:%d: %s: %w", file, at.Position.Line, at.Message, ErrProfile)
		}
		return fmt.Errorf("%s: %v: %w", file, err, ErrProfile)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		k := unknown[0]
		return fmt.Errorf("%s:%d: unknown key %q: correct or remove it: %w", file, keyLine(data, k), k.String(), ErrProfile)
	}
	h := p.Head()
	if h.Name == "" {
		return fmt.Errorf("%s:1: no name: %w", file, ErrProfile)
	}
	from, ok1 := ParseVersion(h.From)
	to, ok2 := ParseVersion(h.To)
	if !ok1 || !ok2 || to.Compare(from) < 0 {
		return fmt.Errorf("%s: versions from %q to %q are no range: %w", file, h.From, h.To, ErrProfile)
	}
	if c, ok := p.(KeyChecker); ok {
		if err := c.CheckKeys(); err != nil {
			return fmt.Errorf("%s: %w: %w", file, err, ErrProfile)
		}
	}
	return nil
}

// keyLine finds the line of a key, 1 for the first; 0 if it can't be told.
func keyLine(data []byte, key toml.Key) int {
	var table []string
	for i, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			name, _, _ := strings.Cut(strings.TrimLeft(line, "["), "]")
			table = splitKey(name)
			if slices.Equal(table, key) {
				return i + 1
			}
			continue
		}
		if name, _, ok := strings.Cut(line, "="); ok && slices.Equal(append(slices.Clone(table), splitKey(name)...), key) {
			return i + 1
		}
	}
	return 0
}

func splitKey(s string) []string {
	parts := strings.Split(s, ".")
	for i := range parts {
		parts[i] = strings.Trim(strings.TrimSpace(parts[i]), `"'`)
	}
	return parts
}

// Profiles are the profiles of one agent, oldest version first.
type Profiles[P Profile] struct {
	list []P
	data map[string][]byte // the files' text by the profiles' names
	over []P               // a user's own, which come first
}

// LoadProfiles reads every *.toml of dir; fresh makes an empty profile. The
// ranges must not overlap.
func LoadProfiles[P Profile](files fs.FS, dir string, fresh func() P) (*Profiles[P], error) {
	names, err := fs.Glob(files, path.Join(dir, "*.toml"))
	if err != nil {
		return nil, fmt.Errorf("list profiles: %w", err)
	}
	set := &Profiles[P]{data: map[string][]byte{}}
	for _, name := range names {
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, fmt.Errorf("read profile %s: %w", name, err)
		}
		p := fresh()
		if err := DecodeProfile(name, data, p); err != nil {
			return nil, err
		}
		set.list = append(set.list, p)
		set.data[p.Head().Name] = data
	}
	if len(set.list) == 0 {
		return nil, fmt.Errorf("no *.toml in %s: %w", dir, ErrProfile)
	}
	slices.SortFunc(set.list, func(a, b P) int {
		return mustVersion(a.Head().From).Compare(mustVersion(b.Head().From))
	})
	for i := 1; i < len(set.list); i++ {
		a, b := set.list[i-1].Head(), set.list[i].Head()
		if mustVersion(a.To).Compare(mustVersion(b.From)) >= 0 {
			return nil, fmt.Errorf("profiles %s and %s overlap: %w", a.Name, b.Name, ErrProfile)
		}
	}
	return set, nil
}

// All returns the embedded profiles, oldest version first.
func (s *Profiles[P]) All() []P { return s.list }

// For returns the profile of a version and how well it fits: Certified if the
// version lies in its range, else the nearest older one (the oldest for what
// is older still) and Generic. An unreadable version gets the newest. A user's
// own profile is Certified if it says what certified it.
func (s *Profiles[P]) For(version string) (p P, verification string) {
	v, ok := ParseVersion(version)
	if !ok {
		return s.list[len(s.list)-1], Generic
	}
	for _, q := range s.over {
		if v.Compare(mustVersion(q.Head().From)) >= 0 && v.Compare(mustVersion(q.Head().To)) <= 0 {
			if q.Head().CertifiedBy == "" && len(q.Head().Certified) == 0 {
				return q, Generic
			}
			return q, Certified
		}
	}
	p, verification = s.list[0], Generic
	for _, q := range s.list {
		if v.Compare(mustVersion(q.Head().From)) < 0 {
			break
		}
		p, verification = q, Generic
		if v.Compare(mustVersion(q.Head().To)) <= 0 {
			verification = Certified
		}
	}
	return p, verification
}

// Version is major, minor, patch.
type Version [3]int

// ParseVersion reads "0.155.1", also with a "v" in front or something like
// "-alpha.2" behind, which does not count.
func ParseVersion(s string) (Version, bool) {
	var v Version
	s = strings.TrimPrefix(strings.TrimSpace(s), "v")
	if i := strings.IndexAny(s, "-+ "); i >= 0 {
		s = s[:i]
	}
	parts := strings.Split(s, ".")
	if len(parts) != 3 {
		return v, false
	}
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return v, false
		}
		v[i] = n
	}
	return v, true
}

// Compare is negative if v is older than o.
func (v Version) Compare(o Version) int { return slices.Compare(v[:], o[:]) }

// mustVersion reads a version that DecodeProfile has checked.
func mustVersion(s string) Version {
	v, _ := ParseVersion(s)
	return v
}
