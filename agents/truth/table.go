package truth

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"akk/vtparse/cast"
)

// This file loads a recording with its table. Rule: a recording without a
// table, or a table that names no agent, is an error, never skipped.

// Recording is one recording of one scenario.
type Recording struct {
	Agent, Version, Scenario string
	Snaps                    []Snap
	Cast                     []byte // asciicast v2
}

// Name is "codex 0.155.1 s03_turns".
func (r *Recording) Name() string { return r.Agent + " " + r.Version + " " + r.Scenario }

// Snap is what was the case at one marker of the recording.
type Snap struct {
	N     int
	Label string
	Truth Truth
}

// Truth comes from the agent's log, the scripted model and the keys that were
// sent, not from the screen's words.
type Truth struct {
	Activity, Owner, Composer string
	Undecidable               []string
	Background                bool
	Dialog                    *Dialog
}

// Dialog is the prompt that waited.
type Dialog struct {
	Kind, Command, Prompt   string
	Options                 []Option
	Selected                *int
	Clipped, Hidden         bool
	MultiSelect             bool `json:"multi_select"`
	Async                   bool
	Mode                    string
	Server, Tool, URL, Path string
	Fields                  []Field
	Field                   struct{ Name, Label, Description string }
	Step                    *struct{ Index, Total int }
	Reason                  string
	ArgumentsCut            bool `json:"arguments_cut"`
}

// Option is one row that can be chosen.
type Option struct{ Label, Key string }

// Field is one field of a form.
type Field struct {
	Label, Type, Value string
	Focused            bool
}

// Open tells whether the bytes alone can't tell the field.
func (t Truth) Open(field string) bool { return slices.Contains(t.Undecidable, field) }

// Equal tells whether the truth of the span between a and b is both's.
func (t Truth) Equal(o Truth) bool {
	return t.Activity == o.Activity && t.Owner == o.Owner && t.Composer == o.Composer && t.kind() == o.kind()
}

func (t Truth) kind() string {
	switch {
	case t.Dialog == nil:
		return ""
	case t.Dialog.Hidden:
		return "hidden " + t.Dialog.Kind
	}
	return t.Dialog.Kind
}

// Find lists the recordings (*.cast, *.cast.gz) below the folders, sorted. It
// is an error if there is none.
func Find(dirs ...string) ([]string, error) {
	var out []string
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && (strings.HasSuffix(p, ".cast") || strings.HasSuffix(p, ".cast.gz")) {
				out = append(out, p)
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("look for recordings: %w", err)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no recordings (*.cast, *.cast.gz) in %s: %w", strings.Join(dirs, ", "), fs.ErrNotExist)
	}
	slices.Sort(out)
	return out, nil
}

// Load reads a recording and the table beside it.
func Load(path string) (*Recording, error) {
	r := new(Recording)
	var err error
	if r.Cast, err = readFile(path); err != nil {
		return nil, err
	}
	base, zipped := strings.CutSuffix(path, ".gz")
	base = strings.TrimSuffix(base, ".cast") + ".truth.json"
	if zipped {
		base += ".gz"
	}
	table, err := readFile(base)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(table, r); err != nil {
		return nil, fmt.Errorf("read %s: %w", base, err)
	}
	rd, err := cast.NewReader(bytes.NewReader(r.Cast))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	// The header's title is "codex 0.155.1 s03_turns".
	if f := strings.Fields(rd.Header.Title); len(f) == 3 {
		r.Agent, r.Version, r.Scenario = f[0], f[1], f[2]
	}
	if r.Agent == "" || r.Version == "" {
		return nil, fmt.Errorf("%s does not say whose recording it is", path)
	}
	return r, nil
}

func readFile(path string) ([]byte, error) {
	b, err := os.ReadFile(path)
	if err != nil || !strings.HasSuffix(path, ".gz") {
		return b, err
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	out, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return out, nil
}
