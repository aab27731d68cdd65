package quick

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"akk/cmd/akk/config"
)

// allowed are packages that are initialised no later than os itself: os imports
// them, or they import only what it does and sort before it. Everything else
// would let the big libraries go first (doc.go).
var allowed = []string{"errors", "io", "math/bits", "os", "slices", "strconv", "syscall", "time"}

// Issue 6: quick imports nothing late.
func TestImports(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		src, err := parser.ParseFile(token.NewFileSet(), f, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range src.Imports {
			if path, err := strconv.Unquote(i.Path.Value); err != nil || !slices.Contains(allowed, path) {
				t.Errorf("%s imports %s: quick would be initialised late", f, i.Path.Value)
			}
		}
	}
}

// Issue 6: the program links quick in.
func TestLinked(t *testing.T) {
	b, err := os.ReadFile("../main.go")
	if err != nil || !strings.Contains(string(b), `"akk/cmd/akk/quick"`) {
		t.Fatal("main.go does not import quick", err)
	}
}

// Issue 6: a new setting has to be looked at: does `akk list` heed it?
func TestSettingsAreKnown(t *testing.T) {
	var have []string
	for f := range reflect.TypeFor[config.Config]().Fields() {
		have = append(have, f.Tag.Get("toml"))
	}
	if want := []string{"servers", "transport", "store", "keys"}; !slices.Equal(have, want) {
		t.Fatalf("settings are %v: see settingsDoNot in where_linux.go", have)
	}
}
