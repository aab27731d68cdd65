package codex

import (
	"io"
	"strings"
	"testing"
	"time"

	"akk/agents"
	"akk/vtparse"
	"akk/vtparse/cast"
)

// This file feeds frames that are not what they seem. Each starts from a
// recorded frame; what is written over it says what was done to the terminal.

// playTo plays a recording up to the marker with that label.
func playTo(t testing.TB, recording, label string) *vtparse.Terminal {
	t.Helper()
	rd, err := cast.NewReader(unzip(t, "testdata/recordings/"+recording+".cast.gz"))
	if err != nil {
		t.Fatal(err)
	}
	term := vtparse.New(rd.Header.Width, rd.Header.Height, vtparse.Options{})
	for {
		e, err := rd.Next()
		if err == io.EOF {
			t.Fatalf("%s has no marker %q", recording, label)
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e.Kind {
		case cast.Output:
			term.Write([]byte(e.Data))
		case cast.Resize:
			cols, rows, _ := e.Size()
			term.Resize(cols, rows)
		case cast.Marker:
			if _, name, _ := strings.Cut(e.Data, " "); name == label {
				return term
			}
		}
	}
}

func TestHostileFrames(t *testing.T) {
	const closeTitle = "\x07"
	for _, c := range []struct {
		name, recording, label, write string
		activity                      agents.Activity
		owner                         agents.Owner
		composer                      agents.Composer
	}{
		{"the frame itself", "0.155.1_s03_turns", "completed-first", "",
			agents.Idle, agents.OwnerComposer, agents.ComposerEmpty},
		{"a half frame proves nothing", "0.155.1_s03_turns", "completed-first", "\x1b[?2026h",
			agents.ActivityUnknown, agents.OwnerUnknown, agents.ComposerUnknown},
		{"the cursor is hidden: the composer is not the owner", "0.155.1_s03_turns", "completed-first", "\x1b[?25l",
			agents.ActivityUnknown, agents.OwnerUnknown, agents.ComposerUnknown},
		{"killed, and a shell prompts into the composer's row", "0.155.1_s03_turns", "completed-first", "user@host:~$ ",
			agents.ActivityUnknown, agents.OwnerUnknown, agents.ComposerUnknown},
		{"killed, and a long prompt covers the placeholder", "0.155.1_s03_turns", "completed-first", "user@host:~/a/rather/long/path/of/a/project$ ",
			agents.ActivityUnknown, agents.OwnerUnknown, agents.ComposerUnknown},
		{"killed, and a shell prompts into a painted composer", "0.154.0_s28_known_background", "draft", "\x1b[0muser@host:~/a/project ",
			agents.ActivityUnknown, agents.OwnerUnknown, agents.ComposerUnknown},
		{"killed, and a shell tells and prompts (frame of 0.155.1 and bash)", "0.155.1_s03_turns", "completed-first", "Killed\n      lab$ ",
			agents.Exited, agents.OwnerShell, agents.ComposerHidden},
		{"killed over a draft", "0.171.0_s01_composer", "draft", "Killed\n      lab$ ",
			agents.Exited, agents.OwnerShell, agents.ComposerHidden},
		{"killed under an approval", "0.155.1_s04_exec_approval", "approval", "\r\nKilled\n      lab$ ",
			agents.Exited, agents.OwnerShell, agents.ComposerHidden},
		{"killed under a menu, no word of it", "0.153.4_s11_menus", "menu-model", "\r\n$ ls",
			agents.ActivityUnknown, agents.OwnerUnknown, agents.ComposerUnknown},
		{"a draft that ends like a prompt", "0.155.1_s03_turns", "completed-first", "\x1b[0m\x1b[Krun this: $ ",
			agents.ActivityUnknown, agents.OwnerUnknown, agents.ComposerUnknown},
		{"killed, and a shell prompts below", "0.155.1_s03_turns", "completed-first", "\x1b[21;1Huser@host:~$ ",
			agents.ActivityUnknown, agents.OwnerUnknown, agents.ComposerUnknown},
		{"left: bracketed paste is off", "0.155.1_s03_turns", "completed-first", "\x1b[?2004l",
			agents.Exited, agents.OwnerShell, agents.ComposerHidden},
		{"a title that is not Codex's says nothing", "0.155.1_s03_turns", "completed-first", "\x1b]0;vim notes.txt" + closeTitle,
			agents.ActivityUnknown, agents.OwnerComposer, agents.ComposerEmpty},
		{"no title says nothing", "0.155.1_s03_turns", "completed-first", "\x1b]0;" + closeTitle,
			agents.ActivityUnknown, agents.OwnerComposer, agents.ComposerEmpty},
		{"title idle, status row working", "0.155.1_s03_turns", "working-silent", "\x1b]0;project" + closeTitle,
			agents.ActivityUnknown, agents.OwnerComposer, agents.ComposerEmpty},
		{"title working, program status idle", "0.171.0_s03_turns", "completed-first", "\x1b]0;⠧ project" + closeTitle,
			agents.ActivityUnknown, agents.OwnerComposer, agents.ComposerEmpty},
		{"the title asks for a human, nothing is drawn", "0.155.1_s03_turns", "completed-first", "\x1b]0;[ ! ] Action Required | project" + closeTitle,
			agents.Blocked, agents.OwnerUnknown, agents.ComposerUnknown},
		{"a draft of spaces, cursor at its end", "0.155.1_s03_turns", "completed-first", "\x1b[17;3H\x1b[0m\x1b[K   ",
			agents.Idle, agents.OwnerComposer, agents.ComposerDraft},
		{"a draft of spaces, cursor at its begin", "0.155.1_s03_turns", "completed-first", "\x1b[17;3H\x1b[0m\x1b[K   \x1b[17;3H",
			agents.Idle, agents.OwnerComposer, agents.ComposerDraft},
		{"a draft whose first line is blank", "0.155.1_s03_turns", "completed-first", "\x1b[17;3H\x1b[0m\x1b[K\x1b[18;3Htext\x1b[17;3H",
			agents.Idle, agents.OwnerComposer, agents.ComposerDraft},
		{"it shuts down", "0.155.1_s03_turns", "completed-first", "\x1b[17;3H\x1b[0;2m\x1b[KShutting down...\x1b[0m\x1b[17;3H",
			agents.ActivityUnknown, agents.OwnerUnknown, agents.ComposerUnknown},
		{"a dialog with text below it is history", "0.155.1_s04_exec_approval", "approval", "\x1b[32;1H• more",
			agents.Blocked, agents.OwnerUnknown, agents.ComposerUnknown},
		{"a blank screen", "0.155.1_s03_turns", "completed-first", "\x1b[2J",
			agents.ActivityUnknown, agents.OwnerUnknown, agents.ComposerUnknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			term := playTo(t, c.recording, c.label)
			term.Write([]byte(c.write))
			r := Agent{}.Read(agents.Input{Screen: term.Screen()})
			if r.Owner == agents.OwnerComposer && c.owner != agents.OwnerComposer || r.Composer == agents.ComposerEmpty && c.composer != agents.ComposerEmpty {
				t.Errorf("unsafe: %+v", r)
			}
			if r.Activity != c.activity || r.Owner != c.owner || r.Composer != c.composer {
				t.Errorf("got %s/%s/%s, want %s/%s/%s; why %v", r.Activity, r.Owner, r.Composer, c.activity, c.owner, c.composer, r.Why)
			}
		})
	}
}

func TestDraftText(t *testing.T) {
	for _, c := range []struct {
		recording, label, want string
		collapsed              bool
	}{
		{"0.171.0_s01_composer", "draft", "hello draft", false},
		{"0.171.0_s01_composer", "multiline-draft", "line one\nline two\nline three", false},
		{"0.147.0_s01_composer", "cjk-draft", "日本語の下書き 🚀 draft", false},
		{"0.147.0_s01_composer", "paste-1001", "[Pasted Content 1001 chars]", true},
		{"0.154.0_s28_known_background", "draft", "draft text", false},
		{"0.155.1_s42_imitations", "imit-exec-draft", "a real draft", false},
	} {
		r := Agent{}.Read(agents.Input{Screen: playTo(t, c.recording, c.label).Screen()})
		if r.Draft != c.want || r.DraftCollapsed != c.collapsed {
			t.Errorf("%s %s: draft %q, collapsed %v", c.recording, c.label, r.Draft, r.DraftCollapsed)
		}
	}
}

// TestLogAgainstScreen: the log's word counts, both sides are told.
func TestLogAgainstScreen(t *testing.T) {
	s := playTo(t, "0.155.1_s03_turns", "completed-first").Screen()
	for _, c := range []struct {
		name string
		log  *agents.LogState
		want agents.Activity
	}{
		{"no log", nil, agents.Idle},
		{"agrees", &agents.LogState{Path: "x"}, agents.Idle},
		{"a turn is open", &agents.LogState{Path: "x", TurnOpen: true}, agents.ActivityUnknown},
		{"nobody's log says nothing", &agents.LogState{TurnOpen: true}, agents.Idle},
	} {
		if r := (Agent{}).Read(agents.Input{Screen: s, Log: c.log}); r.Activity != c.want {
			t.Errorf("%s: %s, want %s; why %v", c.name, r.Activity, c.want, r.Why)
		}
	}
	a := playTo(t, "0.155.1_s04_exec_approval", "approval").Screen()
	first := Agent{}.Read(agents.Input{Screen: a}).Dialog
	if first == nil || len(first.Fingerprint) != 64 || first.Reason == "" || first.Command == "" {
		t.Fatalf("dialog %+v", first)
	}
}

func TestReadNothing(t *testing.T) {
	r := Agent{}.Read(agents.Input{})
	if r.Activity != agents.ActivityUnknown || r.Owner != agents.OwnerUnknown || len(r.Why) == 0 {
		t.Errorf("%+v", r)
	}
	p := &agents.Process{PID: 1, StartTime: time.Now()}
	r = Agent{}.Read(agents.Input{Screen: vtparse.New(80, 24, vtparse.Options{}).Screen(), Process: p})
	if r.Activity != agents.Starting {
		t.Errorf("a process that has drawn nothing is %s", r.Activity)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("\x1b[?2004h\x1b[1m›\x1b[0m \x1b[2mAsk Codex\x1b[0m\x1b[1;3H", 80, 24)
	f.Add("\x1b[?2004h\x1b[?25l  \x1b[1mWould you like to run the following command?\x1b[0m\r\n\r\n› 1. Yes (y)\r\n\r\n  Press enter to confirm or esc to cancel", 60, 9)
	f.Add("\x1b[?2004h\x1b[?25l  Question 1/2\r\n\r\n  › 1. a  b\r\n  tab to add notes | esc to interrupt", 20, 5)
	f.Fuzz(func(t *testing.T, data string, cols, rows int) {
		if cols < 1 || rows < 1 || cols > 200 || rows > 60 {
			return
		}
		term := vtparse.New(cols, rows, vtparse.Options{})
		term.Write([]byte(data))
		r := Agent{}.Read(agents.Input{Screen: term.Screen()})
		if r.Composer == agents.ComposerEmpty && r.Owner != agents.OwnerComposer {
			t.Error("an empty composer that does not own the keys")
		}
	})
}

// BenchmarkRead is one reading after one changed frame (issue 5, item 5).
func BenchmarkRead(b *testing.B) {
	for _, c := range []struct{ name, recording, label string }{
		{"idle", "0.155.1_s03_turns", "completed-first"},
		{"approval", "0.155.1_s04_exec_approval", "approval"},
		{"sparkle", "0.154.0_s28_known_background", "idle"},
		{"viewer", "0.155.1_s03_turns", "transcript-while-working"},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := playTo(b, c.recording, c.label).Screen()
			b.ReportAllocs()
			for b.Loop() {
				Agent{}.Read(agents.Input{Screen: s})
			}
		})
	}
}
