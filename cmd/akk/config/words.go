package config

import (
	"bytes"
	"regexp"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"
)

// This file says the library's words as a human says them.

// wrongType is how the library words a value of a wrong type: what was found and
// what is needed, or for a table the other way round.
var wrongType = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:incompatible types: TOML value has type (\S+); destination has type (\S+)|type mismatch for \S+: expected (table) but found (\S+))$`)
})

var found = map[string]string{"string": "a text", "int64": "a number", "float64": "a number", "bool": "true or false", "[]any": "a list", "map[string]any": "a table", "time.Time": "a date"}

var needed = map[string]string{"slice": `a list, as ["a", "b"],`, "string": "a text in quotes", "table": "a table, as [name],"}

// typeWords says which kind of value stands where another one is needed; what is
// not known stays as it is.
func typeWords(what string) string {
	m := wrongType().FindStringSubmatch(what)
	if m == nil {
		return what
	}
	is, must := found[m[1]+m[4]], needed[m[2]+m[3]]
	if is == "" || must == "" {
		return what
	}
	return is + " where " + must + " is needed"
}

// faultLine is the line of a fault. The library counts a line that ends too
// early as the next one.
func faultLine(text []byte, pe toml.ParseError) int {
	at := pe.Position.Start
	if at < 0 || at > len(text) {
		return pe.Position.Line
	}
	return 1 + bytes.Count(text[:at], []byte("\n"))
}

var ends = strings.NewReplacer(
	`, but got '\n' instead`, ", but the line ends", ` but found '\n' instead`, ", but the line ends",
	`, but got '\x00' instead`, ", but the file ends", ` but found '\x00' instead`, ", but the file ends")
