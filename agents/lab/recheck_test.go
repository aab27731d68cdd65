package lab

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"akk/agents"
	"akk/agents/claude"
	"akk/agents/codex"
)

// Recordings of real certification runs (the files' names say of which
// version) are read as they were; with a profile that was altered on purpose
// they are not, and the report says where (issue 5, Shows 3).
func TestRecheck(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.cast.gz")
	if len(files) < 4 {
		t.Fatalf("recordings are missing: %v", files)
	}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".cast.gz")
		t.Run(name, func(t *testing.T) {
			kind, rest, _ := strings.Cut(name, "-")
			version, _, _ := strings.Cut(rest, "-")
			var honest, altered agents.Agent = codex.Agent{}, alteredCodex(t, version)
			if agents.Kind(kind) == agents.Claude {
				honest, altered = claude.Agent{}, alteredClaude(t, version)
			}
			rep, err := Recheck(honest, f)
			if err != nil || !rep.Clean() || rep.Verification != agents.Certified || len(rep.Checks) < 5 {
				t.Errorf("%v, %d checks, %s:\n%s", err, len(rep.Checks), rep.Verification, strings.Join(rep.Where(), "\n"))
			}
			rep, err = Recheck(altered, f)
			if err != nil || rep.Clean() || rep.Profile != "altered" {
				t.Fatalf("an altered profile (%s) passes: %v", rep.Profile, err)
			}
			where := rep.Where()
			place := "question, question: owner: expected \"questionnaire\", read "
			if agents.Kind(kind) == agents.Claude { // a marked row is enough elsewhere
				place = "question, own words: owner: expected \"editor\", read "
			}
			if !slices.ContainsFunc(where, func(s string) bool { return strings.HasPrefix(s, place) }) {
				t.Errorf("the place is not told:\n%s", strings.Join(where, "\n"))
			}
			var md strings.Builder
			if _, err := rep.WriteTo(&md); err != nil || !strings.Contains(md.String(), "NOT clean") || !strings.Contains(md.String(), "## Differs") {
				t.Errorf("%v:\n%.400s", err, md.String())
			}
		})
	}
}

func altered(version, change string) fstest.MapFS {
	return fstest.MapFS{"p/x.toml": {Data: []byte("name = \"altered\"\nfrom = \"" + version + "\"\nto = \"" + version + "\"\n" + change)}}
}

// alteredCodex doesn't know a questionnaire's footer any more.
func alteredCodex(t *testing.T, version string) agents.Agent {
	t.Helper()
	a, errs := codex.With(altered(version, "[[panel]]\nowner = \"approval\"\nkind = \"exec\"\nfooter = [\"Press enter to confirm or esc to cancel\"]\n"), "p")
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return a
}

// alteredClaude doesn't know the row any more that names a panel's keys.
func alteredClaude(t *testing.T, version string) agents.Agent {
	t.Helper()
	a, errs := claude.With(altered(version, "[words]\nhints = [\"no such hint\"]\n"), "p")
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return a
}

// The entry that a clean run gives is a profile that certifies its version.
func TestEntry(t *testing.T) {
	r := Report{Agent: agents.Codex, Version: "0.999.0", Platform: "linux-x64", Tmux: "3.3a", Checks: make([]Check, 7), Readings: 70}
	fresh := r.Entry("")
	twice := r.Entry(fresh)
	if fresh != twice || strings.Count(twice, "[[certified]]") != 1 {
		t.Errorf("entering a run twice:\n%s\n---\n%s", fresh, twice)
	}
	r.Version = "0.998.0"
	if both := r.Entry(fresh); strings.Count(both, "[[certified]]") != 2 {
		t.Errorf("another version's entry is lost:\n%s", both)
	}
	a, errs := codex.With(fstest.MapFS{"p/x.toml": {Data: []byte(fresh)}}, "p")
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if covered, own := a.Covers("0.999.0"); !covered || !own {
		t.Error("the entry does not cover its version")
	}
}
