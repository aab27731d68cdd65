package agents

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestAnchor: a place is found again in the same file only (scenario 71).
func TestAnchor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	appendTo(t, path, "one\ntwo\nthr")
	first, err := OpenTail(path)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	if got, err := pollAll(t, first); err != nil || len(got) != 2 {
		t.Fatal(got, err)
	}
	a, err := first.Anchor()
	if err != nil || a.Offset != 8 || len(a.Mark) != 64 {
		t.Fatalf("%+v, %v", a, err)
	}
	appendTo(t, path, "ee\nfour\n")
	again, err := OpenTailAt(a)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if got, err := pollAll(t, again); err != nil || !slices.Equal(got, []string{"three", "four"}) || again.Offset() != 19 {
		t.Fatalf("%q, %v, at %d", got, err, again.Offset())
	}
	if err := os.Truncate(path, 4); err != nil { // the tail itself notices, too
		t.Fatal(err)
	}
	if _, err := pollAll(t, again); !errors.Is(err, ErrLogReplaced) {
		t.Errorf("truncated under a tail: %v", err)
	}
	for name, text := range map[string]string{"truncated": "one\n", "rewritten": "one\ntwX\nthree\n", "empty": ""} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenTailAt(a); !errors.Is(err, ErrLogReplaced) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := OpenTailAt(Anchor{Path: path, Offset: -1}); !errors.Is(err, ErrLogReplaced) {
		t.Errorf("before the begin: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenTailAt(a); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("gone: %v", err)
	}
}

// FuzzTail: whatever is written in whatever pieces, every whole line comes out
// once, and reading on from any anchor gives the rest.
func FuzzTail(f *testing.F) {
	f.Add([]byte("one\ntwo\nthree"), 3, 5)
	f.Add([]byte("\n\n{\"a\":1}\n"), 1, 0)
	f.Fuzz(func(t *testing.T, data []byte, piece, cut int) {
		if piece < 1 || len(data) > 4096 || cut < 0 {
			return
		}
		path := filepath.Join(t.TempDir(), "log")
		appendTo(t, path, "")
		tail, err := OpenTail(path)
		if err != nil {
			t.Fatal(err)
		}
		defer tail.Close()
		var got []string
		anchors := []Anchor{{Path: path}}
		for rest := string(data); rest != ""; {
			n := min(piece, len(rest))
			appendTo(t, path, rest[:n])
			rest = rest[n:]
			lines, err := pollAll(t, tail)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, lines...)
			a, err := tail.Anchor()
			if err != nil {
				t.Fatal(err)
			}
			anchors = append(anchors, a)
		}
		a := anchors[cut%len(anchors)]
		from, err := OpenTailAt(a)
		if err != nil {
			t.Fatal(err)
		}
		defer from.Close()
		rest, err := pollAll(t, from)
		if err != nil || len(rest) > len(got) || !slices.Equal(rest, got[len(got)-len(rest):]) || from.Offset() != tail.Offset() {
			t.Fatalf("from %+v: %q of %q, %v", a, rest, got, err)
		}
	})
}

// FuzzDecodeProfile: a profile that somebody wrote is read or refused with its
// line, never a panic.
func FuzzDecodeProfile(f *testing.F) {
	for _, name := range []string{"codex/profiles/codex-0.155.toml", "claude/profiles/2.1.332.toml"} {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
	}
	f.Add("name = 'a'\nfrom = '1.0.0'\nto = '1.0.0'\n[words]\nfooter = 'x'\n[[keys]]\naction = 'approve_once'\n")
	f.Fuzz(func(t *testing.T, text string) {
		p := new(struct {
			testProfile
			Keys []KeyRule `toml:"keys"`
		})
		err := DecodeProfile("p.toml", []byte(text), p)
		if err != nil && !errors.Is(err, ErrProfile) {
			t.Errorf("not an ErrProfile: %v", err)
		}
		if err == nil {
			if _, ok := ParseVersion(p.From); !ok || p.Name == "" {
				t.Errorf("a profile without range or name: %+v", p.ProfileHead)
			}
		}
	})
}
