package main

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"akk/agents"
	"akk/agents/lab"

	"github.com/rogpeppe/go-internal/testscript"
)

// This file runs testdata/*.txtar: the command line as a human meets it, with
// the real program, a real daemon and a tmux server of each script's own.

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"akk": func() { os.Exit(akk()) }})
}

// patience is how long `until` waits. Nothing waits that long but a failure.
const patience = 20 * time.Second

func TestScripts(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if logger, err = lab.BuildByteLogger(t.Context(), t.TempDir()); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               func(e *testscript.Env) error { return setup(e, root) },
		Condition: func(cond string) (bool, error) {
			if cond == "root" {
				return os.Getuid() == 0, nil
			}
			if path, ok := strings.CutPrefix(cond, "exists:"); ok {
				_, err := os.Stat(path)
				return err == nil, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"until": until,
			"agent": startAgent,
			"bytes": readBytes,
			"quick": quickly,
			"setx":  setVariable,
			"human": asHuman,
			"shell": shellAs,
			"under": underAgent,
			"xml":   wellFormed,
		},
	})
}

// setup gives a script a home, a tmux and a daemon of its own, and ends them.
func setup(e *testscript.Env, root string) error {
	dir, err := os.MkdirTemp("", "akk") // short: a socket's path is bounded
	if err != nil {
		return err
	}
	set := func(k, v string) { e.Setenv(k, v) }
	set("T", dir)
	set("HOME", dir)
	set("XDG_STATE_HOME", filepath.Join(dir, "state"))
	set("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	set("XDG_RUNTIME_DIR", filepath.Join(dir, "run"))
	set("TMUX_TMPDIR", dir)
	set("TMUX", "")
	set("TMUX_PANE", "")
	set("LC_ALL", "C.UTF-8")
	set("TERM", "xterm-256color")
	set("SHELL", "/bin/sh")
	set("GORACE", "atexit_sleep_ms=20") // else each command ends a second later
	set("ROOT", root)
	set("SOCKET", filepath.Join(dir, "tmux-"+strconv.Itoa(os.Getuid()), "default"))
	for _, d := range []string{"run", "config/akk", "state"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			return err
		}
	}
	// tmux reads no file of the machine's user.
	if err := os.WriteFile(filepath.Join(dir, ".tmux.conf"), []byte("set -g status-interval 0\n"), 0o600); err != nil {
		return err
	}
	env := e.Vars
	e.Defer(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		end := func(name string, args ...string) {
			path := name
			for _, kv := range env {
				if p, ok := strings.CutPrefix(kv, "PATH="); ok {
					for _, d := range filepath.SplitList(p) {
						if _, err := os.Stat(filepath.Join(d, name)); err == nil && path == name {
							path = filepath.Join(d, name)
						}
					}
				}
			}
			c := exec.CommandContext(ctx, path, args...)
			c.Env = e.Vars
			_ = c.Run()
		}
		end("akk", "serve", "--stop")
		socks, _ := filepath.Glob(filepath.Join(dir, "tmux-*", "*"))
		for _, s := range socks {
			end("tmux", "-S", s, "kill-server")
		}
		os.RemoveAll(dir)
	})
	return nil
}

// until runs a command until its standard output matches: until REGEXP COMMAND...
// With ! until it does not match.
func until(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: until REGEXP COMMAND...")
	}
	re, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	var out string
	for end := time.Now().Add(patience); ; time.Sleep(30 * time.Millisecond) {
		err = ts.Exec(args[1], args[2:]...)
		out = ts.ReadFile("stdout")
		if re.MatchString(out) != neg && (err == nil || neg) {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("%s never happened; last: %v\n%s%s", args[0], err, out, ts.ReadFile("stderr"))
		}
	}
}

// asHuman runs a command in a pane of its own, as a human does, and waits for
// its output: human FILE COMMAND...
func asHuman(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: human FILE COMMAND...")
	}
	line := ""
	for _, w := range args[1:] {
		line += "'" + strings.ReplaceAll(w, "'", `'\''`) + "' "
	}
	ts.Check(ts.Exec("tmux", "new-window", "-d", "PATH='"+ts.Getenv("PATH")+"' "+line+">"+args[0]+".part 2>&1; mv "+args[0]+".part "+args[0]))
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(args[0]); err == nil {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("the human's command never ended")
		}
	}
}

// shellAs makes a shell whose process looks like that agent: shell NAME KIND
// VERSION. It sets $NAME to its path.
func shellAs(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: shell NAME KIND VERSION")
	}
	sh, err := filepath.EvalSymlinks("/bin/sh")
	ts.Check(err)
	bin, err := lab.Impersonate(sh, filepath.Join(ts.Getenv("T"), args[0]), agents.Kind(args[1]), args[2])
	ts.Check(err)
	ts.Setenv(args[0], bin.Native)
}

// underAgent is asHuman below an agent that has just started: under NAME FILE
// COMMAND..., with NAME as given to shell. PANE is the pane that it runs in.
func underAgent(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: under NAME FILE COMMAND...")
	}
	script := args[1] + ".sh"
	line := "PATH='" + ts.Getenv("PATH") + "'\n" + strings.ReplaceAll(strings.Join(args[2:], " "), "PANE", "$TMUX_PANE") + " >" + args[1] + ".part 2>&1\nmv " + args[1] + ".part " + args[1] + "\n"
	ts.Check(os.WriteFile(script, []byte(line), 0o600))
	ts.Check(ts.Exec("tmux", "new-window", "-d", "exec "+ts.Getenv(args[0])+" -c '. "+script+"'"))
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(args[1]); err == nil {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("the agent's command never ended")
		}
	}
}

// setx puts the last output, without its newline, into a variable.
func setVariable(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: setx NAME")
	}
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}

// quickly fails if a command takes longer: quick DURATION COMMAND...
func quickly(ts *testscript.TestScript, neg bool, args []string) {
	limit, err := time.ParseDuration(args[0])
	ts.Check(err)
	began := time.Now()
	err = ts.Exec(args[1], args[2:]...)
	if took := time.Since(began); took > limit {
		ts.Fatalf("%s took %s, more than %s", strings.Join(args[1:], " "), took, limit)
	}
	if (err != nil) != neg {
		ts.Fatalf("%s: %v", strings.Join(args[1:], " "), err)
	}
}

// wellFormed fails unless a file, or stdout, is XML.
func wellFormed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: xml FILE")
	}
	d := xml.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	for n := 0; ; n++ {
		switch _, err := d.Token(); {
		case err == io.EOF && n > 0:
			return
		case err != nil:
			ts.Fatalf("%s after %d tokens: %v", args[0], n, err)
		}
	}
}

// logger is the program that plays an agent's part, built once.
var logger string

// startAgent opens a window whose process looks like that agent, shows a
// picture that was recorded from the real one, and writes down every byte it is
// given: agent NAME KIND VERSION CAST MARKER. It sets $NAME to the pane.
func startAgent(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 5 {
		ts.Fatalf("usage: agent NAME KIND VERSION CAST MARKER")
	}
	name, kind, version, file, marker := args[0], args[1], args[2], args[3], args[4]
	dir := filepath.Join(ts.Getenv("T"), name)
	ts.Check(os.MkdirAll(dir, 0o700))
	bin, err := lab.Impersonate(logger, dir, agents.Kind(kind), version)
	ts.Check(err)
	frame, err := lab.CastFrame(file, marker)
	ts.Check(err)
	ts.Check(os.WriteFile(filepath.Join(dir, "picture"), frame.Output, 0o600))
	ts.Check(ts.Exec("tmux", "new-session", "-d", "-s", name, "-x", strconv.Itoa(frame.Cols), "-y", strconv.Itoa(frame.Rows), "-P", "-F", "#{pane_id}",
		"exec "+bin.Native+" -log "+dir+"/log -draw "+dir+"/picture"))
	ts.Setenv(name, strings.TrimSpace(ts.ReadFile("stdout")))
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		if b, _ := os.ReadFile(dir + "/log"); bytes.Contains(b, []byte(`"ready"`)) {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("the agent's pane never drew its picture")
		}
	}
}

// readBytes compares what an agent's pane was given: bytes NAME TEXT.
func readBytes(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: bytes NAME TEXT")
	}
	b, err := os.ReadFile(filepath.Join(ts.Getenv("T"), args[0], "log"))
	ts.Check(err)
	got := ""
	for l := range bytes.Lines(b) {
		var r struct{ Event, Hex string }
		ts.Check(json.Unmarshal(l, &r))
		// The terminal's own words are not ours: it tells an application that
		// asked for it when the pane gets or loses the focus.
		if r.Event == "read" && r.Hex != "1b5b49" && r.Hex != "1b5b4f" {
			got += r.Hex
		}
	}
	if want := fmt.Sprintf("%x", args[1]); (got == want) == neg {
		ts.Fatalf("the application read %s, want %s", got, want)
	}
}
