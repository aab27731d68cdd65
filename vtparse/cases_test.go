package vtparse_test

import (
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"akk/vtparse"
	"akk/vtparse/cast"
)

// load reads a gzipped JSON file.
func load(t testing.TB, path string, into any) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(z).Decode(into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

type vtCase struct {
	Name    string
	W, H    int
	B64     string
	Cuts    []int
	Cx, Cy  int
	Alt     bool
	Title   string
	Capture []string
}

func (c vtCase) bytes(t testing.TB) []byte {
	data, err := base64.StdEncoding.DecodeString(c.B64)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestCases compares with what tmux of three versions held.
func TestCases(t *testing.T) {
	for _, version := range []string{"3.3a", "3.4", "3.7c"} {
		t.Run(version, func(t *testing.T) {
			var cases []vtCase
			load(t, "testdata/cases-"+version+".json.gz", &cases)
			for _, c := range cases {
				s := vtparse.ReplayRaw(c.bytes(t), c.W, c.H, c.Cuts, vtparse.Options{TmuxVersion: version})
				if diff, ok := s.Mismatch(c.Capture, c.Cx, c.Cy); !ok {
					t.Errorf("%s: %s", c.Name, diff)
				}
				if s.Alternate != c.Alt || s.Title != c.Title {
					t.Errorf("%s: alternate %v title %q, tmux %v %q", c.Name, s.Alternate, s.Title, c.Alt, c.Title)
				}
			}
		})
	}
}

// TestSeededFromCapture: a terminal seeded with a capture shows that capture.
func TestSeededFromCapture(t *testing.T) {
	var cases []vtCase
	load(t, "testdata/cases-3.3a.json.gz", &cases)
	var prev *vtparse.Terminal
	for _, c := range cases {
		seed := vtparse.Seed{
			Cols: c.W, Rows: c.H, CursorX: c.Cx, CursorY: c.Cy, CursorVisible: true, Wrap: true, Lower: c.H - 1,
			Shown: c.Capture, Title: c.Title, SavedX: -1, Alternate: c.Alt,
		}
		term, err := vtparse.NewSeeded(seed, vtparse.Options{}, prev)
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		s := term.Screen()
		if diff, ok := s.Mismatch(c.Capture, c.Cx, c.Cy); !ok && !cutsWide(c) {
			t.Errorf("%s: %s", c.Name, diff)
		}
		if s.Title != c.Title || s.Alternate != c.Alt || s.Modes.Known {
			t.Errorf("%s: title %q alternate %v known %v", c.Name, s.Title, s.Alternate, s.Modes.Known)
		}
		prev = term
	}
}

// cutsWide tells whether a row has more columns of text than the pane is wide:
// a wide character lost its second half, and a capture can't tell which.
func cutsWide(c vtCase) bool {
	s := vtparse.ReplayRaw([]byte(strings.Join(c.Capture, "\x1b[m\r\n")), 3*c.W, c.H, nil, vtparse.Options{})
	for y := range c.H {
		if s.Row(y).Written() > c.W {
			return true
		}
	}
	return false
}

type snapshot struct {
	Label         string
	Rows          int
	Cursor        [2]int
	CursorVisible *bool `json:"cursor_visible"`
	Alternate     bool
	Title         *string
	Lines         []string
	Ansi          *string
	ReplayLines   []string `json:"replay_lines"`
}

// TestRecordings plays real agents and compares at every marker.
func TestRecordings(t *testing.T) {
	casts, err := filepath.Glob("testdata/recordings/*.cast.gz")
	if err != nil || len(casts) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, path := range casts {
		name := strings.TrimSuffix(path, ".cast.gz")
		t.Run(filepath.Base(name), func(t *testing.T) {
			var snaps []snapshot
			load(t, name+".screens.json.gz", &snaps)
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			z, err := gzip.NewReader(f)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			err = cast.Replay(z, vtparse.Options{}, func(e cast.Event, s *vtparse.Screen) error {
				if n < len(snaps) {
					snaps[n].check(t, e.Data, s)
				}
				n++
				return nil
			})
			if err != nil || n != len(snaps) {
				t.Errorf("%d markers of %d: %v", n, len(snaps), err)
			}
		})
	}
}

func (want snapshot) check(t *testing.T, marker string, s *vtparse.Screen) {
	t.Helper()
	if want.ReplayLines != nil {
		if diff, ok := s.MismatchText(want.ReplayLines, s.Cursor.X, s.Cursor.Y); !ok {
			t.Errorf("%s: %s", marker, diff)
		}
		return
	}
	if diff, ok := s.MismatchText(want.Lines, want.Cursor[0], want.Cursor[1]); !ok {
		t.Errorf("%s: %s", marker, diff)
	}
	if want.Ansi != nil {
		if diff, ok := s.Mismatch(strings.Split(*want.Ansi, "\n"), want.Cursor[0], want.Cursor[1]); !ok {
			t.Errorf("%s: %s", marker, diff)
		}
	}
	if s.Alternate != want.Alternate || want.Title != nil && s.Title != *want.Title || want.CursorVisible != nil && s.Cursor.Visible != *want.CursorVisible {
		t.Errorf("%s: alternate %v title %q cursor %v", marker, s.Alternate, s.Title, s.Cursor)
	}
}
