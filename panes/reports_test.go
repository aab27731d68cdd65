package panes

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"akk/vtparse"
)

// This file holds public reports (B numbers) at the input gate and the list of
// panes; others stand beside what they are about: B8 to B23 in gate_test.go,
// B98 to B118 in survive_test.go, B103, B104 and B106 in controlmode.

// B14: the kernel keeps so many bytes of a line for a program that reads whole
// lines, and loses the rest without a word. Such a line is refused; lines that
// fit are typed, however slow the reader is.
func TestB14LineLongerThanTheKernelKeeps(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bytes")
	ts := newTmux(t, "sh", "-c", `stty -echo; printf READY; sleep 2; exec cat >"$0"`, file)
	s := openServer(t, ts)
	waitScreen(t, s, "%0", shows("READY"))
	in, _ := s.Pane("%0")
	refused(t, s, Write{Identity: in.Identity, Paste: "first\n" + strings.Repeat("x", 6<<10)}, "text")
	text := strings.Repeat(strings.Repeat("y", 60)+"\n", 100)
	if _, err := s.Input(within(t), Write{Identity: in.Identity, Paste: text}); err != nil {
		t.Fatal(err)
	}
	longest := strings.Repeat("z", lineKept) + "\n"
	if _, err := s.Input(within(t), Write{Identity: in.Identity, Paste: longest}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "all lines", func() bool { b, _ := os.ReadFile(file); return len(b) >= len(text)+len(longest) })
	if b, _ := os.ReadFile(file); string(b) != text+longest {
		t.Errorf("%d bytes arrived instead of %d", len(b), len(text)+len(longest))
	}
	// The same program in raw mode takes a line of any length.
	ts.run("respawn-pane", "-k", "-t", "%0", `stty raw -echo; printf AGAIN; exec cat >"`+file+`"`)
	waitScreen(t, s, "%0", shows("AGAIN"))
	in = until(t, s, "%0", "the new process", func(now Info, _ bool) bool { return now.PanePID != in.PanePID })
	text = strings.Repeat("x", 20<<10)
	if _, err := s.Input(within(t), Write{Identity: in.Identity, Paste: text}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the long line", func() bool { b, _ := os.ReadFile(file); return string(b) == text })
}

// B16, B49: another program has taken the screen since the proof (an editor
// that the agent opened; an agent that was started at the shell's prompt): the
// pane and its process are the same, and nothing is typed.
func TestB16B49AnotherProgramTookTheScreen(t *testing.T) {
	for name, program := range map[string]string{
		"B16 an editor":        `cd "$0"; vi -u NONE -i NONE text || ed text`,
		"B49 an agent's start": `printf '\033[2J\033[H> Ask for anything\r\n'; exec cat`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "text"), []byte("the editor's text\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			ts := newTmux(t, "sh", "-c", "printf 'ready$ '; read x; "+program, dir)
			s := openServer(t, ts)
			waitScreen(t, s, "%0", shows("ready$"))
			in, _ := s.Pane("%0")
			proof := audited(t, s, "%0")
			ts.run("send-keys", "-t", "%0", "Enter")
			waitScreen(t, s, "%0", func(scr *vtparse.Screen) bool { return shows("editor's text")(scr) || shows("Ask for")(scr) })
			before := audited(t, s, "%0").Lines()
			for _, hold := range []bool{true, false} {
				refused(t, s, Write{Identity: in.Identity, Cursor: &proof.Cursor, Paste: "a task", Hold: hold}, "cursor")
				refused(t, s, Write{Identity: in.Identity, Shows: []string{"ready$"}, Paste: "a task", Hold: hold}, "screen")
			}
			if after := audited(t, s, "%0").Lines(); fmt.Sprint(after) != fmt.Sprint(before) {
				t.Errorf("before:\n%q\nafter:\n%q", before, after)
			}
		})
	}
}

// B46: no pane is a default: an empty id, or one of an environment, means no
// pane, not the active one.
func TestB46NoPaneMeansNoPane(t *testing.T) {
	ts, s, read := logger(t, "")
	ts.run("split-window", "-t", "%0", "cat") // %1, active
	t.Setenv("TMUX_PANE", "%1")
	in := until(t, s, "%1", "the split", func(_ Info, ok bool) bool { return ok })
	for _, id := range []string{"", "%", "%99", "1", "one", "{last}", "%1 ; kill-server"} {
		who := in.Identity
		who.Pane = id
		refused(t, s, Write{Identity: who, Paste: "x"}, "identity")
		if _, err := s.Audit(within(t), id); err == nil {
			t.Errorf("pane %q was audited", id)
		}
		if err := s.Release(within(t), id); err == nil {
			t.Errorf("pane %q was released", id)
		}
	}
	for tmux, want := range map[string]string{"": "", "nonsense": "error", ",1,0": "error", "/a/b,1,0": "/a/b"} {
		got, err := SocketPath("", "", func(k string) string { return map[string]string{"TMUX": tmux, "TMUX_TMPDIR": "/none"}[k] })
		switch {
		case want == "error" && err == nil, want != "error" && err != nil:
			t.Errorf("$TMUX %q: %q, %v", tmux, got, err)
		case want == "/a/b" && got != want, tmux == "" && !strings.HasSuffix(got, "/default"):
			t.Errorf("$TMUX %q: %q", tmux, got)
		}
	}
	waitScreen(t, s, "%1", func(*vtparse.Screen) bool { return true })
	if text := strings.TrimSpace(strings.Join(audited(t, s, "%1").Lines(), "")); text != "" {
		t.Errorf("the active pane shows %q", text)
	}
	if got := arrived(t, s, read); len(got) != 0 {
		t.Errorf("the other pane read %q", got)
	}
}

// B113: what separates our fields is not rewritten by any version (3.4 prints
// 0x1f as \037), and what users name can't be taken for a separator.
func TestB113FieldsAreApart(t *testing.T) {
	for _, format := range []string{listFormat, seedFields} {
		for i := range len(format) {
			if c := format[i]; c < 0x20 && c != '\t' || c >= 0x7f {
				t.Errorf("byte %#x in %q", c, format)
			}
		}
	}
	ts := newTmux(t, "cat")
	ts.run("set-option", "-g", "automatic-rename", "off")
	names := []string{"tab\there", "line\nfeed", "unit\x1fseparator", `'single' "double"`, "$9\t@9\t%9\t1", `back\slash \037`, "#{pane_id}#(date)", "日本語 é", "; kill-server", "%end 1 2 1"}
	for i, n := range names {
		dir := filepath.Join(t.TempDir(), strings.ReplaceAll(n, "/", "-"))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		ts.run("new-session", "-d", "-s", fmt.Sprint("s", i), "-c", dir, "cat")
		ts.run("rename-session", "-t", fmt.Sprint("s", i), "--", n)
		ts.run("rename-window", "-t", fmt.Sprintf("%%%d", i+1), "--", n)
	}
	s := openServer(t, ts)
	for i, n := range names {
		id := fmt.Sprintf("%%%d", i+1)
		in := until(t, s, id, "the pane of "+n, func(in Info, ok bool) bool { return ok && in.PanePID > 0 })
		if in.SessionID != fmt.Sprintf("$%d", i+1) || in.WindowID != fmt.Sprintf("@%d", i+1) || in.Command != "cat" || in.Cols != 80 || in.Rows != 24 {
			t.Errorf("%q: %+v", n, in)
		}
		for _, v := range []string{in.SessionName, in.WindowName, in.Cwd} {
			if v == "" || strings.ContainsAny(v, "\n\t\x1f") {
				t.Errorf("%q gives %q", n, v)
			}
		}
		audited(t, s, id)
	}
	if got := len(s.Panes()); got != len(names)+1 {
		t.Errorf("%d panes", got)
	}
}

// B19: whatever is started through tmux gets its words whole, a last ";"
// included: the switch of a Hold and the pipe's helper, at an odd path.
func TestB19WordsOfWhatTmuxStarts(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("sockets of other systems have no room for such a path")
	}
	base, err := os.MkdirTemp("", "akk")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	odd := filepath.Join(base, `it's "x" #{pid} %d $HOME;`)
	if err := os.Mkdir(odd, 0o700); err != nil {
		t.Fatal(err)
	}
	ts := &tmuxServer{t, filepath.Join(odd, "s;")}
	ts.run("-f", "/dev/null", "new-session", "-d", "-s", "one", "-x", "80", "-y", "24", "cat")
	t.Cleanup(func() { ts.run("kill-server") })
	// The helper writes down its words and goes on as ours does.
	helper, words := filepath.Join(odd, "pass;"), filepath.Join(base, "words")
	script := fmt.Sprintf("#!/bin/sh\nprintf '%%s\\n' \"$@\" >>'%s'\nshift\nexec '%s' \"$@\"\n", words, os.Args[0])
	if err := os.WriteFile(helper, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, tr := range []Transport{Control, Pipe} {
		s, err := Open(within(t), Options{Socket: ts.socket, Transport: tr, Logger: testLog(t), Passer: []string{helper, "x;", PassCommand}})
		if err != nil {
			t.Fatal(err)
		}
		waitScreen(t, s, "%0", func(*vtparse.Screen) bool { return true })
		in, _ := s.Pane("%0")
		if _, err := s.Input(within(t), Write{Identity: in.Identity, Paste: "x;", Hold: true}); err != nil {
			t.Fatal(err)
		}
		waitScreen(t, s, "%0", shows("x;"))
		ts.run("run-shell", s.deadMan("%0", s.mirrorTag(t, "%0")))
		if off := ts.inputOff("%0"); off != "0" {
			t.Errorf("%s: the switch did not open: input off is %q", tr, off)
		}
		s.Close()
	}
	b, err := os.ReadFile(words)
	want := "x;\n" + PassCommand + "\n" + filepath.Join(odd, ".s;.akk-pipe") + "\n"
	if err != nil || !bytes.HasPrefix(b, []byte(want)) {
		t.Errorf("the helper was started with %q, %v; want %q", b, err, want)
	}
}
