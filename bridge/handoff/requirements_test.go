package handoff

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// This file looks after the list of requirements (testdata/requirements.tsv): a
// number that no test names any more, or that the list has lost, fails here.

// numbered is one; it counts in a comment ("R31") and in a test's name
// ("TestR31Offers").
var numbered = regexp.MustCompile(`R([0-9]+)`)

func counts(before string) bool {
	last := before[max(0, len(before)-4):]
	return last == "" || last == "Test" || last == "Fuzz" || !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", rune(last[len(last)-1]))
}

// ranges of numbers that the list must have.
var ranges = [][2]int{{1, 61}, {69, 71}, {124, 139}, {169, 227}}

// namedIn are the folders whose tests name each number, "/" between the parts.
func namedIn(t *testing.T, root string) map[int][]string {
	out := map[int][]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // somebody works here
			return nil
		case err != nil:
			return err
		case d.IsDir() && path != root && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, "_test.go") && !strings.HasSuffix(path, ".txtar") || d.Name() == "requirements_test.go":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(rel))
		for _, m := range numbered.FindAllSubmatchIndex(text, -1) {
			n, err := strconv.Atoi(string(text[m[2]:m[3]]))
			if err == nil && !slices.Contains(out[n], dir) && counts(string(text[:m[0]][max(0, m[0]-4):])) {
				out[n] = append(out[n], dir)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestRequirementsAreNamed: each requirement of the list is named by a test in
// the folder that the list says, or below it. Whether that test checks it is
// for people to see; the name tells them where to look.
func TestRequirementsAreNamed(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/requirements.tsv")
	if err != nil {
		t.Fatal(err)
	}
	named := namedIn(t, "../..")
	listed := map[int]bool{}
	for n, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) != 3 || len(f[0]) < 2 || strings.TrimSpace(f[2]) == "" {
			t.Errorf("line %d is not number, folder, title: %q", n+1, line)
			continue
		}
		id, err := strconv.Atoi(f[0][1:])
		if err != nil || f[0][0] != 'R' || listed[id] {
			t.Errorf("line %d: %q is no number, or is there twice", n+1, f[0])
			continue
		}
		listed[id] = true
		if !slices.ContainsFunc(named[id], func(dir string) bool { return dir == f[1] || strings.HasPrefix(dir, f[1]+"/") }) {
			t.Errorf("%s (%s): no test in %s names it, %d others do: %v", f[0], f[2], f[1], len(named[id]), named[id])
		}
	}
	for _, r := range ranges {
		for n := r[0]; n <= r[1]; n++ {
			if !listed[n] {
				t.Errorf("R%d is not in the list", n)
			}
		}
	}
}
