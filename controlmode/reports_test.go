package controlmode

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// This file holds public reports of versions that are not here: a script
// speaks for tmux, in the lines that the reports show.

// scripted starts a client of a tmux that is a shell script: it gets each
// command as $line.
func scripted(t *testing.T, script string) (*Client, *listener) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "tmux")
	text := "#!/bin/sh\nprintf '%%begin 1 1 0\\n%%end 1 1 0\\n%%session-changed $0 a\\n'\nwhile read -r line; do\n" + script + "\ndone\necho '%exit'\n"
	if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	l := newListener()
	c, err := Start(Config{Tmux: name, Socket: "none", Session: "$0", Handler: l})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); gone(t, c) })
	return c, l
}

func (l *listener) heard() (notices []string, output string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.notices), l.output.String()
}

// B103: notifications inside a block (tmux 5458) are handled, and the reply is
// whole; a screen that shows such lines itself is never robbed of one.
func TestB103NotificationsInABlock(t *testing.T) {
	c, l := scripted(t, `case $line in
names) printf '%%begin 1 2 1\n%%window-add @7\none\n%%output %%3 abc\ntwo\n%%sessions-changed\n%%end 1 2 1\n' ;;
screen) printf '%%begin 1 3 1\nrow 1\n%%output %%3 def\nrow 2\n%%end 1 3 1\n' ;;
shows) printf '%%begin 1 4 1\n%%output %%9 a row\n%%exit\n%%end 1 4 1\n' ;;
doubt) printf '%%begin 1 5 1\n%%output %%9 a row\n%%output %%3 ghi\n%%end 1 5 1\n' ;;
esac`)
	rows := func(n int) func(int, []Reply) int { return func(int, []Reply) int { return n } }
	for _, w := range []struct {
		cmd    Command
		lines  []string
		output string
		what   string
	}{
		{Command{Line: "names", Blocks: 1, Plain: AllPlain}, []string{"one", "two"}, "abc", "[session-changed $0 a window-add @7 sessions-changed ]"},
		{Command{Line: "screen", Blocks: 1, Count: rows(2)}, []string{"row 1", "row 2"}, "abcdef", ""},
		{Command{Line: "shows", Blocks: 1, Count: rows(2)}, []string{"%output %9 a row", "%exit"}, "abcdef", ""},
		// One of the two is a notification; which, nobody can tell: too many rows.
		{Command{Line: "doubt", Blocks: 1, Count: rows(1)}, []string{"%output %9 a row", "%output %3 ghi"}, "abcdef", ""},
	} {
		a := get(t, ask(c, w.cmd))
		if a.err != nil || len(a.r) != 1 {
			t.Fatalf("%s: %+v", w.cmd.Line, a)
		}
		var got []string
		for _, b := range a.r[0].Lines {
			got = append(got, string(b))
		}
		if !slices.Equal(got, w.lines) {
			t.Errorf("%s: reply %q, want %q", w.cmd.Line, got, w.lines)
		}
		notices, output := l.heard()
		if output != w.output || w.what != "" && fmt.Sprint(notices) != w.what {
			t.Errorf("%s: heard %q and %q", w.cmd.Line, notices, output)
		}
	}
}

// B106: the text of an error comes inside its block, or after it (tmux 2048):
// the error belongs to its command, and the next answer to the next.
func TestB106ErrorTextInsideOrAfter(t *testing.T) {
	c, _ := scripted(t, `n=$((n+1))
case $line in
inside) printf '%%begin 1 %d 1\nunknown command: inside\n%%error 1 %d 1\n' $n $n ;;
after) printf '%%begin 1 %d 1\n%%error 1 %d 1\nunknown command: after\n' $n $n ;;
*) printf '%%begin 1 %d 1\n%s\n%%end 1 %d 1\n' $n "$line" $n ;;
esac`)
	for i, line := range []string{"inside", "one", "after", "two", "after", "inside", "three"} {
		// A row that must come is asked for: an error has none.
		a := get(t, ask(c, Command{Line: line, Blocks: 1, Plain: 1, Count: func(int, []Reply) int { return 1 }}))
		var refused *CommandError
		switch bad := line == "inside" || line == "after"; {
		case bad && (!errors.As(a.err, &refused) || len(a.r) != 1 || !a.r[0].Err):
			t.Errorf("command %d, %s: %+v", i, line, a)
		case !bad && (a.err != nil || a.r[0].Text() != line):
			t.Errorf("command %d, %s: %+v", i, line, a)
		}
	}
}
