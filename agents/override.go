package agents

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"

	"github.com/BurntSushi/toml"
)

// This file lays a user's profiles over the embedded ones. Rules: a file says
// only what it changes, the rest is the nearest embedded profile's; a file with
// a mistake is left out whole, with its line, and the others go on.

// Certification is one run of `akk certify` that was clean.
type Certification struct {
	Version  string `toml:"version"`
	Date     string `toml:"date"`
	Suite    int    `toml:"suite"` // number of the scenario suite
	Checks   int    `toml:"checks"`
	Readings int    `toml:"readings"`
	Platform string `toml:"platform"`
	Tmux     string `toml:"tmux"`
}

// maxOverride bounds a profile's file, in bytes: a bigger one is a mistake.
const maxOverride = 1 << 20

// With returns the set with the profiles in *.toml of dir before its own.
// defaults are laid under every base (nil = nothing). A dir that is not there
// holds none. The errors, one per file, wrap ErrProfile; the set is never nil.
func (s *Profiles[P]) With(files fs.FS, dir string, defaults map[string]any, fresh func() P) (*Profiles[P], []error) {
	names, err := fs.Glob(files, path.Join(dir, "*.toml"))
	if err != nil {
		return s, []error{fmt.Errorf("list profiles: %w", err)}
	}
	out := &Profiles[P]{list: s.list, data: s.data}
	var errs []error
	for _, name := range names {
		p, err := s.override(files, name, defaults, fresh)
		if err == nil {
			err = out.room(name, p)
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		out.over = append(out.over, p)
	}
	return out, errs
}

// room refuses a second profile of the user's for the same version.
func (s *Profiles[P]) room(file string, p P) error {
	for _, q := range s.over {
		a, b := p.Head(), q.Head()
		if mustVersion(a.From).Compare(mustVersion(b.To)) <= 0 && mustVersion(b.From).Compare(mustVersion(a.To)) <= 0 {
			return fmt.Errorf("%s: its versions overlap those of %s: %w", file, b.Name, ErrProfile)
		}
	}
	return nil
}

func (s *Profiles[P]) override(files fs.FS, name string, defaults map[string]any, fresh func() P) (P, error) {
	var none P
	data, err := ReadProfile(files, name)
	if err != nil {
		return none, fmt.Errorf("%s: %v: %w", name, err, ErrProfile)
	}
	return s.overlay(name, data, defaults, fresh)
}

// ReadProfile reads a profile's file. What is not a regular file, or too big, is
// refused without being read to its end.
func ReadProfile(files fs.FS, name string) ([]byte, error) {
	st, err := fs.Stat(files, name) // to open a FIFO would wait for ever
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, errors.New("no regular file")
	}
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxOverride+1))
	if err == nil && len(data) > maxOverride {
		err = fmt.Errorf("bigger than %d bytes", maxOverride)
	}
	return data, err
}

// overlay reads one profile of a user's: its own mistakes are told with their
// lines, what it leaves out comes from the nearest embedded profile.
func (s *Profiles[P]) overlay(name string, data []byte, defaults map[string]any, fresh func() P) (P, error) {
	var none P
	own := fresh()
	if err := DecodeProfile(name, data, own); err != nil {
		return none, err
	}
	near := s.nearest(own.Head().From)
	base, change := maps.Clone(defaults), map[string]any{}
	if base == nil {
		base = map[string]any{}
	}
	var under map[string]any
	err := errors.Join(toml.Unmarshal(s.data[near.Head().Name], &under), toml.Unmarshal(data, &change))
	if err != nil {
		return none, fmt.Errorf("%s: %v: %w", name, err, ErrProfile)
	}
	delete(under, "certified_by")
	delete(under, "certified")
	var text bytes.Buffer
	if err := toml.NewEncoder(&text).Encode(merge(merge(base, under), change)); err != nil {
		return none, fmt.Errorf("%s: %v: %w", name, err, ErrProfile)
	}
	p := fresh()
	return p, DecodeProfile(name, text.Bytes(), p)
}

// merge lays over over under: tables are merged, all else is replaced.
func merge(under, over map[string]any) map[string]any {
	out := maps.Clone(under)
	for k, v := range over {
		a, ok1 := out[k].(map[string]any)
		b, ok2 := v.(map[string]any)
		if ok1 && ok2 {
			v = merge(a, b)
		}
		out[k] = v
	}
	return out
}

// nearest is the embedded profile that covers the version, or comes before it.
func (s *Profiles[P]) nearest(version string) P {
	p := s.list[0]
	for _, q := range s.list {
		if mustVersion(version).Compare(mustVersion(q.Head().From)) < 0 {
			break
		}
		p = q
	}
	return p
}

// Covers is the profile whose range holds the version: a user's before an
// embedded one.
func (s *Profiles[P]) Covers(version string) (p P, ok bool) {
	v, known := ParseVersion(version)
	if !known {
		return p, false
	}
	for _, q := range slices.Concat(s.over, s.list) {
		if v.Compare(mustVersion(q.Head().From)) >= 0 && v.Compare(mustVersion(q.Head().To)) <= 0 {
			return q, true
		}
	}
	return p, false
}

// Own tells whether a profile covers the version, and whether it is a user's own.
func (s *Profiles[P]) Own(version string) (covered, own bool) {
	_, covered = s.Covers(version)
	users := Profiles[P]{list: s.over}
	_, own = users.Covers(version)
	return covered, own
}
