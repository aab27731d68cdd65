package agents

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func pollAll(t *testing.T, tail *Tail) (lines []string, err error) {
	t.Helper()
	err = tail.Poll(func(b []byte, end int64) { lines = append(lines, string(b)) })
	return lines, err
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

func TestTail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	if _, err := OpenTail(path); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("missing file: %v", err)
	}
	appendTo(t, path, "one\ntwo\nth")
	tail, err := OpenTail(path)
	if err != nil {
		t.Fatal(err)
	}
	defer tail.Close()
	step := func(want ...string) {
		t.Helper()
		got, err := pollAll(t, tail)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("got %q, %v; want %q", got, err, want)
		}
	}
	replaced := func() {
		t.Helper()
		if got, err := pollAll(t, tail); !errors.Is(err, ErrLogReplaced) || len(got) > 0 {
			t.Fatalf("got %q, %v; want ErrLogReplaced", got, err)
		}
	}
	step("one", "two")
	if tail.Offset() != 8 {
		t.Fatalf("offset %d, want 8", tail.Offset())
	}
	step()
	appendTo(t, path, "ree\nfour\n")
	step("three", "four")

	if err := os.Truncate(path, 4); err != nil { // became shorter
		t.Fatal(err)
	}
	replaced()
	step("one")
	if err := os.WriteFile(path, []byte("other text\nand more\n"), 0o600); err != nil { // same inode, longer
		t.Fatal(err)
	}
	replaced()
	step("other text", "and more")
	if err := os.WriteFile(path+".new", []byte("new\n"), 0o600); err != nil { // another inode
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	replaced()
	step("new")
	if err := os.Remove(path); err != nil { // deleted: no complaint
		t.Fatal(err)
	}
	step()
}

func TestTailLongLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	long := bytes.Repeat([]byte("x"), MaxLogLine+10)
	if err := os.WriteFile(path, append(long, "\nshort\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	tail, err := OpenTail(path)
	if err != nil {
		t.Fatal(err)
	}
	defer tail.Close()
	got, err := pollAll(t, tail)
	if err != nil || !slices.Equal(got, []string{"short"}) || tail.Skipped() != 1 {
		t.Fatalf("got %d lines, skipped %d, %v", len(got), tail.Skipped(), err)
	}
}
