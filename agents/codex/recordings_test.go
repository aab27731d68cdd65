package codex

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"akk/agents"
	"akk/vtparse"
	"akk/vtparse/cast"
)

// This file plays real recordings and compares every reading with what was
// really the case (issue 5, shows 1; what is between two
// snapshots is read in agents/truth).

// truth is a snapshot's truth, see testdata/README.md.
type truth struct {
	Activity, Owner, Composer string
	Dialog                    *truthDialog
	Undecidable               []string
}

type truthDialog struct {
	Kind, Command   string
	Options         []struct{ Label string }
	Selected        *int
	Clipped, Hidden bool
}

type snap struct {
	N     int
	Label string
	Truth truth
}

// knownWrong are the answers that differ from the truth, each with its
// reason. None of them may be unsafe.
var knownWrong = map[string]string{
	"0.153.4_s09_transcript_backtrack #8":  "Codex left cells of the placeholder between those of the draft: owner and composer unknown",
	"0.153.4_s09_transcript_backtrack #11": "Codex left cells of an old draft between those of the placeholder: composer unknown",
}

func unzip(t testing.TB, path string) io.Reader {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// recordings calls f for each recording.
func recordings(t *testing.T, f func(t *testing.T, name string, r io.Reader, snaps []snap)) {
	paths, err := filepath.Glob("testdata/recordings/*.cast.gz")
	if err != nil || len(paths) == 0 {
		t.Fatal("no recordings", err)
	}
	for _, path := range paths {
		base := strings.TrimSuffix(path, ".cast.gz")
		name := filepath.Base(base)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var doc struct{ Snaps []snap }
			if err := json.NewDecoder(unzip(t, base+".truth.json.gz")).Decode(&doc); err != nil {
				t.Fatal(err)
			}
			f(t, name, unzip(t, path), doc.Snaps)
		})
	}
}

func TestRecordings(t *testing.T) {
	recordings(t, func(t *testing.T, name string, r io.Reader, snaps []snap) {
		n := 0
		err := cast.Replay(r, vtparse.Options{}, func(e cast.Event, s *vtparse.Screen) error {
			want := snaps[n]
			n++
			got := Agent{}.Read(agents.Input{Screen: s})
			where := name + " #" + strings.Fields(e.Data)[0]
			if bad := unsafe(got, want.Truth); bad != "" {
				t.Errorf("%s %s: unsafe: %s: %+v", where, want.Label, bad, got)
			}
			diff := compare(got, want.Truth)
			_, known := knownWrong[where]
			if diff != "" && !known {
				t.Errorf("%s %s: %s; why %v", where, want.Label, diff, got.Why)
			}
			if diff == "" && known {
				t.Errorf("%s is right now: take it off the list", where)
			}
			// The version's own profile must say the same as their union.
			version, _, _ := strings.Cut(name, "_")
			own := Agent{}.Read(agents.Input{Screen: s, Version: version})
			if own.Activity != got.Activity || own.Owner != got.Owner || own.Composer != got.Composer || (own.Dialog == nil) != (got.Dialog == nil) ||
				own.Verification != agents.Certified {
				t.Errorf("%s %s: profile %s reads %s/%s/%s", where, want.Label, own.Profile, own.Activity, own.Owner, own.Composer)
			}
			return nil
		})
		if err != nil || n != len(snaps) {
			t.Fatalf("%d markers of %d: %v", n, len(snaps), err)
		}
	})
}

// unsafe tells which answer would let somebody type where it must not be.
func unsafe(r agents.Reading, w truth) string {
	switch {
	case r.Activity == agents.Idle && slices.Contains([]string{"blocked", "working", "starting", "exited"}, w.Activity):
		return "falsely idle"
	case r.Owner == agents.OwnerComposer && w.Owner != "composer" && w.Owner != "unknown":
		return "falsely composer"
	case r.Composer == agents.ComposerEmpty && w.Composer != "empty":
		return "falsely empty"
	case r.Dialog != nil && w.Dialog == nil && (w.Owner == "composer" || w.Owner == "shell"):
		return "false dialog"
	}
	return ""
}

func compare(r agents.Reading, w truth) string {
	may := func(field string, unknown bool) bool { return unknown && slices.Contains(w.Undecidable, field) }
	switch {
	case string(r.Activity) != w.Activity && w.Activity != "unknown" && !may("activity", r.Activity == agents.ActivityUnknown):
		return "activity " + string(r.Activity) + ", want " + w.Activity
	case string(r.Owner) != w.Owner && w.Owner != "unknown":
		return "owner " + string(r.Owner) + ", want " + w.Owner
	case string(r.Composer) != w.Composer && !may("composer", r.Composer == agents.ComposerUnknown):
		return "composer " + string(r.Composer) + ", want " + w.Composer
	case w.Dialog == nil || w.Dialog.Hidden:
		return ""
	case r.Dialog == nil:
		return "no dialog, want " + w.Dialog.Kind
	case r.Dialog.Kind != w.Dialog.Kind:
		return "dialog " + r.Dialog.Kind + ", want " + w.Dialog.Kind
	case w.Dialog.Clipped:
		return ""
	}
	var got, want []string
	for _, o := range r.Dialog.Options {
		got = append(got, strings.Join(strings.Fields(o.Label), " "))
	}
	for _, o := range w.Dialog.Options {
		want = append(want, strings.Join(strings.Fields(o.Label), " "))
	}
	switch {
	case len(want) > 0 && !slices.Equal(got, want):
		return "options " + strings.Join(got, "|") + ", want " + strings.Join(want, "|")
	case w.Dialog.Selected != nil && (r.Dialog.Selected == nil || *r.Dialog.Selected != *w.Dialog.Selected):
		return "another option is selected"
	case w.Dialog.Command != "" && noSpace(r.Dialog.Command) != noSpace(w.Dialog.Command) && !may("dialog.command", r.Dialog.Command == ""):
		return "command " + r.Dialog.Command + ", want " + w.Dialog.Command
	}
	return ""
}

func noSpace(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}
