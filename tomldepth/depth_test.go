package tomldepth

import (
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"
)

// This file tests the count of nesting: deep text of every shape is refused at
// once, and dots and braces that nest nothing are not counted.

func TestLine(t *testing.T) {
	many := func(s string) string { return strings.Repeat(s, 20_000) }
	for _, c := range []struct {
		name, text string
		line       int
	}{
		{"over many lines", "a=" + many("[\n{a=") + "1" + many("}]"), 17},
		{"with dots", "a=" + strings.Repeat("[\n{a.b.c.d.e.f.g.h.i.j=", 30_000), 4},
		{"lists", "a = " + many("["), 1},
		{"lists, a line each", "a = " + many("[\n"), 33},
		{"behind a comment", "# \" [ '\na = " + many("{b="), 2},
		{"behind strings", "a = '\\'\nb = \"\\\"\"\nc = \"\"\"\n\"\" \\\"\"\"\"\"\"\nd = '''x'''''\ne = " + many("["), 6},
		{"a table's name", "[a" + many(".a") + "]", 1},
		{"a list's name", "\n[[a" + many(" . a") + "]]", 2},
		{"a key in a table", "a = { b = 1, c" + many(".c") + " = 1}", 1},
		{"dots of keys around", "a = " + strings.Repeat("{b.b = ", 150), 1},

		{"a comment", "transport = \"control\" # " + many(".{["), 0},
		{"a path", "servers = [\"/" + strings.Repeat("./", 300) + "x\"]", 0},
		{"braces in a string", "transport = \"" + strings.Repeat("{", 5000) + "\"", 0},
		{"in all strings", "a = '" + many("{") + "'\nb = '''\n" + many("[\n.") + "'''\nc = \"\"\"" + many("\\\"\"\"{.\n") + "\"\"\"\n", 0},
		{"a quoted key", "\"" + many(".{") + "\" = 1", 0},
		{"numbers", "a = [" + many("1.5, ") + "]", 0},
		{"side by side", "a = [" + many("{b.c = [1]},\n") + "]", 0},
		{"keys in a table", "a = {" + strings.Repeat("b.c.d = 1, ", 300) + "}", 0},
		{"keys", many("a.b = 1\n"), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Line([]byte(c.text)); got != c.line {
				t.Errorf("line %d, want %d", got, c.line)
			}
		})
	}
}

// FuzzLine: the count never panics, and refuses nothing that the library
// reads and that is not deep. Deep is counted here by brackets and dots of any
// kind, wherever they stand.
func FuzzLine(f *testing.F) {
	f.Add("servers = []\ntransport = \"control\"\n[keys]\nup = \"k\"\n")
	f.Add("a=[\n{a.b=1}]\n[t.u]\nx = '''\n[''''")
	f.Add("a = \"\\\"{\" # .\nb = \"\"\"\"\"\"\"\"\"\" ")
	f.Add("\"")
	f.Add("a = '\\")
	f.Add("a = \"\\")
	f.Fuzz(func(t *testing.T, s string) {
		n := Line([]byte(s))
		if n < 0 || n > 1+strings.Count(s, "\n") {
			t.Fatalf("line %d", n)
		}
		// The text again, in nothing but comments and a string.
		const wall = Max + 1
		if !strings.ContainsAny(s, "\r") {
			c := strings.Repeat("#"+strings.Repeat(".[{", wall)+strings.ReplaceAll(s, "\n", " ")+"\n", 2)
			if Line([]byte(c)) != 0 {
				t.Fatal("a comment counts")
			}
		}
		if len(s) > 1<<12 {
			return
		}
		var v map[string]any
		if _, err := toml.Decode(s, &v); err != nil {
			return
		}
		// What the library accepts is followed to its end: what comes behind it
		// is counted from nothing.
		deep := s + "\nzz = " + strings.Repeat("[", wall)
		if got, want := Line([]byte(deep)), 2+strings.Count(s, "\n"); n == 0 && got != want {
			t.Fatalf("behind it: line %d, want %d", got, want)
		}
		if n > 0 && levels(v) <= Max/2 && strings.Count(s, ".") <= Max/2 {
			t.Fatalf("line %d is refused, %d levels", n, levels(v))
		}
	})
}

// levels is how deep a value is nested.
func levels(v any) int {
	most := 0
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			most = max(most, 1+levels(e))
		}
	case []map[string]any:
		for _, e := range v {
			most = max(most, 1+levels(e))
		}
	case []any:
		for _, e := range v {
			most = max(most, 1+levels(e))
		}
	}
	return most
}

// The count takes time that grows with the text alone, whatever it holds.
func TestLinear(t *testing.T) {
	for _, s := range []string{"\"", "'", "\"\"\"", "'''\n", "a=[],\n", "{", "}", "]\n", "#", "a=\"\\", "\\", ".\n", "a={b=[1]}\n"} {
		text := []byte(strings.Repeat(s, (1<<20)/len(s)))
		begin := time.Now()
		Line(text)
		if took := time.Since(begin); took > 2*time.Second {
			t.Errorf("%q: %v", s, took)
		}
	}
}
