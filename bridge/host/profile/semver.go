package profile

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"golang.org/x/mod/semver"
)

// This file holds versions of Hosts: exact SemVer 2.0.0, and ranges of one to
// four explicit comparators that must all hold (R195).

const (
	rangeMax       = 256 // characters
	comparatorsMax = 4
	versionMax     = 256 // characters
)

// The forms are also in the schema; keep them equal.
const (
	numericForm    = `(?:0|[1-9][0-9]*)`
	preForm        = `(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)`
	semverForm     = numericForm + `\.` + numericForm + `\.` + numericForm + `(?:-` + preForm + `(?:\.` + preForm + `)*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?`
	comparatorForm = `(?:>=|<=|>|<|=)` + semverForm
)

var (
	versionRegexp = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^` + semverForm + `$`) })
	rangeRegexp   = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^` + comparatorForm + `(?: ` + comparatorForm + `){0,3}$`)
	})
)

// Range is a set of versions.
type Range struct {
	text  string
	parts []comparator
}

type comparator struct{ op, version string } // version with semver's "v"

func (r Range) String() string { return r.text }

// parseRange reads 1 to 4 comparators with one space between them.
func parseRange(s string) (Range, error) {
	if !rangeRegexp().MatchString(s) {
		return Range{}, fmt.Errorf("must be 1 to %d comparators (>=, >, <=, <, = and an exact version) with one space between them, as in %q", comparatorsMax, ">=1.8.0 <2.0.0")
	}
	r := Range{text: s}
	for _, part := range strings.Split(s, " ") {
		at := strings.IndexAny(part, "0123456789")
		r.parts = append(r.parts, comparator{part[:at], "v" + part[at:]})
	}
	return r, nil
}

// Allows tells whether an exact version satisfies every comparator. A
// prerelease does only if a comparator names a prerelease of the same
// major.minor.patch.
func (r Range) Allows(version string) (bool, error) {
	if len(version) > versionMax || !versionRegexp().MatchString(version) {
		return false, fmt.Errorf("%.80q is not an exact version as 1.8.0 or 1.8.0-beta.1", version)
	}
	v := "v" + version
	named := semver.Prerelease(v) == ""
	for _, c := range r.parts {
		if !c.holds(semver.Compare(v, c.version)) {
			return false, nil
		}
		named = named || semver.Prerelease(c.version) != "" && core(c.version) == core(v)
	}
	return named, nil
}

func (c comparator) holds(cmp int) bool {
	switch c.op {
	case ">=":
		return cmp >= 0
	case ">":
		return cmp > 0
	case "<=":
		return cmp <= 0
	case "<":
		return cmp < 0
	}
	return cmp == 0
}

// core is major.minor.patch.
func core(v string) string {
	v, _, _ = strings.Cut(v, "+")
	v, _, _ = strings.Cut(v, "-")
	return v
}
