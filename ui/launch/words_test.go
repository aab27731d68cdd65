package launch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// B19: what is started through tmux gets its words whole, a ";" at their end
// included: the program, its arguments, a folder.
func TestB19WordsOfWhatIsStarted(t *testing.T) {
	x, ctx := server(t, "120x30")
	dir := filepath.Join(t.TempDir(), "project;")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	file, self := filepath.Join(dir, "words"), filepath.Join(dir, "akk;")
	script := "#!/bin/sh\nprintf '%s\\n' \"$@\" >\"" + file + ".new\"\nmv \"" + file + ".new\" \"" + file + "\"\nexec sleep 1000\n"
	if err := os.WriteFile(self, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	x.Self = []string{self, "x;", ";;", "-l", "it's; $HOME"}
	if _, err := x.Sidebar(ctx, x.must(t, "display-message", "-p", "-t", "=w o r k:", "#{pane_id}")); err != nil {
		t.Fatal(err)
	}
	until(t, "the started program's words", func() bool { _, err := os.Stat(file); return err == nil })
	if b, _ := os.ReadFile(file); string(b) != "x;\n;;\n-l\nit's; $HOME\nsidebar\n--own-pane\n" {
		t.Errorf("the program's words: %q", b)
	}
	if _, err := x.Open(ctx, 120, 30, dir); err != nil {
		t.Fatal(err)
	}
	if got := x.must(t, "display-message", "-p", "-t", "="+Session+":", "#{session_path}"); !strings.HasSuffix(got, "project;") {
		t.Errorf("the session's folder is %q", got)
	}
}
