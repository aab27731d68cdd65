package lab

// A scenario as a recording with its truth beside it. It upholds: what a
// certification saw can be judged again without the agent.

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"akk/agents"
	"akk/vtparse"
	"akk/vtparse/cast"
)

// Tape is what lies beside a recording: which agent and version drew it, and
// what was true at each of its markers, in their order.
type Tape struct {
	Agent   agents.Kind `json:"agent"`
	Version string      `json:"version"`
	Scene   string      `json:"scenario"`
	Steps   []TapeStep  `json:"steps"`
}

// TapeStep is one marker.
type TapeStep struct {
	Name   string
	Truth  Truth
	Screen Screen // tmux's own
}

// tape writes while a scenario runs. A nil tape takes everything and keeps nothing.
type tape struct {
	dir   string
	doc   Tape
	file  *os.File
	zip   *gzip.Writer
	cast  *cast.Writer
	begun time.Time
	err   error
}

func newTape(dir string, se *Session, scene, tmuxVersion string) (*tape, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the folder of the recordings: %w", err)
	}
	t := &tape{dir: dir, begun: time.Now(), doc: Tape{Agent: se.Binary.Agent, Version: se.Binary.Version, Scene: scene}}
	var err error
	if t.file, err = os.Create(t.path(".cast.gz")); err != nil {
		return nil, fmt.Errorf("make a recording: %w", err)
	}
	t.zip = gzip.NewWriter(t.file)
	t.cast, err = cast.NewWriter(t.zip, cast.Header{Width: se.Cols, Height: se.Rows, TmuxVersion: tmuxVersion,
		Title: fmt.Sprintf("%s %s %s", se.Binary.Agent, se.Binary.Version, scene)})
	if err != nil {
		t.file.Close()
		return nil, err
	}
	return t, nil
}

func (t *tape) path(ext string) string {
	return filepath.Join(t.dir, fmt.Sprintf("%s-%s-%s%s", t.doc.Agent, t.doc.Version, t.doc.Scene, ext))
}

func (t *tape) output(b []byte) {
	if t != nil {
		t.err = errors.Join(t.err, t.cast.Output(time.Since(t.begun), b))
	}
}

func (t *tape) step(s TapeStep) {
	if t == nil {
		return
	}
	label := fmt.Sprintf("%d %s", len(t.doc.Steps)+1, s.Name)
	t.err = errors.Join(t.err, t.cast.Event(cast.Event{Time: time.Since(t.begun), Kind: cast.Marker, Data: label}))
	t.doc.Steps = append(t.doc.Steps, s)
}

// close writes the rest and the truth.
func (t *tape) close() error {
	if t == nil {
		return nil
	}
	b, err := json.MarshalIndent(t.doc, "", " ")
	if err == nil {
		err = os.WriteFile(t.path(".truth.json"), append(b, '\n'), 0o644)
	}
	return errors.Join(t.err, err, t.cast.Close(), t.zip.Close(), t.file.Close())
}

// Recheck judges a recording (NAME.cast.gz beside NAME.truth.json) again: a
// reading at each marker. What only the agent's log tells is not compared.
func Recheck(a agents.Agent, castPath string) (Report, error) {
	base := strings.TrimSuffix(castPath, ".cast.gz")
	b, err := os.ReadFile(base + ".truth.json")
	if err != nil {
		return Report{}, fmt.Errorf("read the recording's truth: %w", err)
	}
	var doc Tape
	if err := json.Unmarshal(b, &doc); err != nil {
		return Report{}, fmt.Errorf("read %s.truth.json: %w", base, err)
	}
	f, err := os.Open(castPath)
	if err != nil {
		return Report{}, fmt.Errorf("open the recording: %w", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return Report{}, fmt.Errorf("unpack %s: %w", castPath, err)
	}
	rep := Report{Agent: doc.Agent, Version: doc.Version, Isolation: "from a recording"}
	n := 0
	err = cast.Replay(io.LimitReader(z, maxCast), vtparse.Options{}, func(e cast.Event, s *vtparse.Screen) error {
		if e.Kind != cast.Marker {
			return nil
		}
		if n >= len(doc.Steps) {
			return fmt.Errorf("%s has more markers than steps", castPath)
		}
		st := doc.Steps[n]
		n++
		if d := st.Truth.Dialog; d != nil && (d.Clipped || d.Hidden) {
			c := *d
			c.Command, st.Truth.Dialog = "", &c // the log's
		}
		r := a.Read(agents.Input{Screen: s, Version: doc.Version, Now: time.Now()})
		rep.Profile, rep.Verification = r.Profile, r.Verification
		rep.Readings++
		c := newCheck(doc.Scene, st.Name, st.Truth, r, st.Truth.diffs(r, st.Screen))
		c.fail(r, s.Lines())
		rep.Checks = append(rep.Checks, c)
		return nil
	})
	if err == nil && n != len(doc.Steps) {
		err = fmt.Errorf("%s: %d steps, %d markers", castPath, len(doc.Steps), n)
	}
	return rep, err
}
