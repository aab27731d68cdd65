package claude

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"akk/agents"
	"akk/vtparse"
	"akk/vtparse/cast"
)

// frame is the screen at a marker of a recording ("2.1.267/late#1").
func frame(t testing.TB, ref string) *vtparse.Screen {
	t.Helper()
	name, n, _ := strings.Cut(ref, "#")
	var out *vtparse.Screen
	err := cast.Replay(bytes.NewReader(gunzip(t, "testdata/recordings/"+name+".cast.gz")), vtparse.Options{}, func(e cast.Event, s *vtparse.Screen) error {
		if k, _, _ := strings.Cut(e.Data, " "); k == n {
			out = s
		}
		return nil
	})
	if err != nil || out == nil {
		t.Fatalf("%s: no such frame (%v)", ref, err)
	}
	return out
}

func has(r agents.Reading, layer, words string) bool {
	return slices.ContainsFunc(r.Why, func(w agents.Reason) bool { return w.Layer == layer && strings.Contains(w.Rule, words) })
}

// draw continues a recording's frame with bytes of our own: used only to put
// cells under an otherwise real frame.
func draw(t testing.TB, ref, bytesAfter string) *vtparse.Screen {
	t.Helper()
	name, n, _ := strings.Cut(ref, "#")
	rd, err := cast.NewReader(bytes.NewReader(gunzip(t, "testdata/recordings/"+name+".cast.gz")))
	if err != nil {
		t.Fatal(err)
	}
	term := vtparse.New(rd.Header.Width, rd.Header.Height, vtparse.Options{TmuxVersion: rd.Header.TmuxVersion, History: 2000})
	for {
		e, err := rd.Next()
		if errors.Is(err, io.EOF) {
			t.Fatalf("%s: no such frame", ref)
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e.Kind {
		case cast.Output:
			term.Write([]byte(e.Data))
		case cast.Resize:
			c, r, _ := e.Size()
			term.Resize(c, r)
		case cast.Marker:
			if k, _, _ := strings.Cut(e.Data, " "); k == n {
				term.Write([]byte(bytesAfter))
				return term.Screen()
			}
		}
	}
}

// TestSignals: the status file and the title against the picture.
func TestSignals(t *testing.T) {
	st := func(s, w string) *agents.AppStatus { return &agents.AppStatus{Status: s, WaitingFor: w} }
	cases := []struct {
		name, ref string
		status    *agents.AppStatus
		activity  agents.Activity
		owner     agents.Owner
		hidden    bool
		contra    bool
	}{
		{"prompt behind a panel", "2.1.267/late#1", st("waiting", "permission prompt"), agents.Blocked, agents.OwnerMenu, true, false},
		{"prompt behind a panel, later version", "2.1.332/late-fs#1", st("waiting", "permission prompt"), agents.Blocked, agents.OwnerMenu, true, false},
		{"idle frame, busy file", "2.1.267/compose#0", st("busy", ""), agents.ActivityUnknown, agents.OwnerComposer, false, true},
		{"idle frame, waiting file", "2.1.267/compose#0", st("waiting", "permission prompt"), agents.ActivityUnknown, agents.OwnerComposer, false, true},
		{"idle frame, idle file", "2.1.267/compose#0", st("idle", ""), agents.Idle, agents.OwnerComposer, false, false},
		{"working frame, late file", "2.1.263/work#0", st("idle", ""), agents.Working, agents.OwnerComposer, false, false},
		{"background agent keeps the file busy", "2.1.267/bg#6", st("busy", ""), agents.Idle, agents.OwnerComposer, false, false},
		{"prompt, late file", "2.1.267/editperm#0", st("busy", ""), agents.Blocked, agents.OwnerApproval, false, false},
		{"pager, idle file", "2.1.218/viewer#1", st("idle", ""), agents.Idle, agents.OwnerViewer, false, false},
	}
	for _, c := range cases {
		r := Agent{}.Read(agents.Input{Screen: frame(t, c.ref), Status: c.status})
		hidden := r.Dialog != nil && r.Dialog.Hidden
		if r.Activity != c.activity || r.Owner != c.owner || hidden != c.hidden || has(r, "signal", "contradiction") != c.contra {
			t.Errorf("%s: %s/%s hidden=%v %v", c.name, r.Activity, r.Owner, hidden, r.Why)
		}
		if !has(r, "signal", "status file") {
			t.Errorf("%s: the status file is not named: %v", c.name, r.Why)
		}
	}
}

// TestB56: a spinner glyph and a verb that nobody has seen are still work (B56),
// also with a draft in the composer, when no "esc to interrupt" is shown.
func TestB56(t *testing.T) {
	s := frame(t, "2.1.263/work#3")
	y := -1
	for row := range s.Rows {
		if known().words.isSpinner(s.Line(row)) {
			y = row
		}
	}
	if y < 0 {
		t.Fatal("no spinner in the frame")
	}
	for _, text := range []string{"◐ Frobnicating… (2s)", "❉ Lese den Code… (1m 2s · ↓ 3 tokens)", "⁕ Überlege…"} {
		s := draw(t, "2.1.263/work#3", "\x1b7\x1b["+itoa(y+1)+";1H\x1b[2K"+text+"\x1b8")
		r := Agent{}.Read(agents.Input{Screen: s})
		if r.Activity != agents.Working {
			t.Errorf("%q: %s %v", text, r.Activity, r.Why)
		}
	}
}

// TestSpaces: a draft of blanks, and one whose first line is blank, is no empty
// composer.
func TestSpaces(t *testing.T) {
	s := frame(t, "2.1.267/compose#0")
	y := s.Cursor.Y
	at := func(x, y int) string { return "\x1b[" + itoa(y+1) + ";" + itoa(x+1) + "H" }
	for name, after := range map[string]string{
		"blanks":          at(2, y) + "   ",
		"text elsewhere":  at(2, y) + "\x1b[7mP\x1b[0mlain text" + at(2, y),
		"line cells":      at(2, y) + strings.Repeat("─", 40) + at(2, y),
		"cursor in front": at(0, y),
	} {
		r := Agent{}.Read(agents.Input{Screen: draw(t, "2.1.267/compose#0", after)})
		if r.Composer == agents.ComposerEmpty {
			t.Errorf("%s: proven empty: %v", name, r.Why)
		}
	}
	// Blank first line: two rows, nothing in the first.
	r := Agent{}.Read(agents.Input{Screen: draw(t, "2.1.267/compose#4", at(2, frame(t, "2.1.267/compose#4").Cursor.Y-1)+"\x1b[K")})
	if r.Composer == agents.ComposerEmpty {
		t.Errorf("blank first line: %v", r.Why)
	}
}

// TestDraft: wrapped rows are joined, so that "is it exactly our text" can be
// asked; a collapsed paste says so.
func TestDraft(t *testing.T) {
	r := Agent{}.Read(agents.Input{Screen: frame(t, "2.1.267/compose#14")})
	if want := strings.TrimRight(strings.Repeat("long ", 60), " "); r.Draft != want || r.DraftCollapsed {
		t.Errorf("wrapped draft: %q", r.Draft)
	}
	r = Agent{}.Read(agents.Input{Screen: frame(t, "2.1.267/paste#16")})
	if want := "typed line 1\ntyped line 2\ntyped line 3\ntyped line 4\ntyped line 5"; r.Draft != want {
		t.Errorf("lines: %q", r.Draft)
	}
	r = Agent{}.Read(agents.Input{Screen: frame(t, "2.1.267/paste#2")})
	if !r.DraftCollapsed || !slices.Contains(r.ComposerFlags, "collapsed") {
		t.Errorf("collapsed: %q %v", r.Draft, r.ComposerFlags)
	}
	b, err := r.Why[0].MarshalText()
	if err != nil || !strings.HasPrefix(string(b), "cursor: ") {
		t.Errorf("why: %q %v", b, err)
	}
}

// TestAgentLeft: with the process known to live, a shell's picture is a
// contradiction, never a composer.
func TestAgentLeft(t *testing.T) {
	for _, ref := range []string{"2.1.267/leave#7", "2.1.267/leave#15", "2.1.267/leave#27", "2.1.267/leave-fs#21", "2.1.332/leave#19"} {
		s := frame(t, ref)
		if r := (Agent{}).Read(agents.Input{Screen: s}); r.Owner != agents.OwnerShell || r.Composer != agents.ComposerHidden {
			t.Errorf("%s: %s/%s %v", ref, r.Owner, r.Composer, r.Why)
		}
		r := Agent{}.Read(agents.Input{Screen: s, Process: &agents.Process{PID: 1}})
		if r.Owner != agents.OwnerUnknown || r.Activity == agents.Idle || !has(r, "process", "still there") {
			t.Errorf("%s with a process: %s/%s %v", ref, r.Activity, r.Owner, r.Why)
		}
	}
	now := time.Now()
	r := Agent{}.Read(agents.Input{Screen: frame(t, "2.1.267/leave#4"), Now: now, Process: &agents.Process{PID: 1, StartTime: now.Add(-time.Second)}})
	if r.Activity != agents.Starting {
		t.Errorf("just started: %s %v", r.Activity, r.Why)
	}
}

// TestCommandFromLog: where rows may have been broken or are off the screen, the
// transcript's pending call gives the command, if the screen shows a part of it.
func TestCommandFromLog(t *testing.T) {
	long := "for i in 1 2 3; do\n  echo \"line $i of a rather long multi-line command that needs wrapping on an ordinary terminal because it is long\" >> build/log-$i.txt\ndone\nprintf '%s\\n' \"héllo wörld 你好 🎉\"\nrm -f build/tmp-*.txt"
	log := func(tool, detail string) *agents.LogState {
		return &agents.LogState{Pending: &agents.LogEvent{Kind: agents.LogToolPending, Tool: tool, Detail: detail}}
	}
	for _, c := range []struct {
		ref  string
		log  *agents.LogState
		want string
	}{
		{"2.1.267/tiny-60x20#5", nil, ""},
		{"2.1.267/tiny-60x20#5", log("Bash", long), long},
		{"2.1.267/tiny-60x20#5", log("Bash", "rm -rf /"), ""},
		{"2.1.267/tiny-60x20#5", log("Read", long), ""},
		{"2.1.218/bashperm#7", log("Bash", long), long},
	} {
		r := Agent{}.Read(agents.Input{Screen: frame(t, c.ref), Log: c.log})
		if r.Dialog == nil || r.Dialog.Command != c.want || has(r, "log", "") != (c.want != "") {
			t.Errorf("%s: %+v %v", c.ref, r.Dialog, r.Why)
		}
	}
}

// TestFingerprint: moving the choice or changing the command changes it; the
// transcript above does not.
func TestFingerprint(t *testing.T) {
	print := func(s *vtparse.Screen) string {
		r := Agent{}.Read(agents.Input{Screen: s})
		if r.Dialog == nil {
			t.Fatal("no dialog")
		}
		return r.Dialog.Fingerprint
	}
	ref := "2.1.267/editperm#0"
	base := print(frame(t, ref))
	if base != print(draw(t, ref, "\x1b7\x1b[2;1Hsomething else above\x1b8")) {
		t.Error("text above the dialog counts")
	}
	if base == print(draw(t, ref, "\x1b7\x1b[16;2Hhullo.py\x1b8")) {
		t.Error("the path does not count")
	}
}

// TestNothing: a blank or a foreign screen is unknown, and no input panics.
func TestNothing(t *testing.T) {
	term := vtparse.New(80, 24, vtparse.Options{})
	for _, b := range []string{"", "hello\r\nworld", "\x1b[?25l", "❯\u00a0", "────────", "\x1b[24;80H❯", strings.Repeat("❯\u00a0\r\n", 30)} {
		term.Write([]byte(b))
		r := Agent{}.Read(agents.Input{Screen: term.Screen()})
		if r.Activity == agents.Idle || r.Composer == agents.ComposerEmpty || r.Owner == agents.OwnerComposer {
			t.Errorf("%q: %s/%s/%s", b, r.Activity, r.Owner, r.Composer)
		}
	}
	if r := (Agent{}).Read(agents.Input{}); r.Activity != agents.ActivityUnknown {
		t.Error("no screen")
	}
}

// FuzzRead writes bytes over a real frame: nothing may panic.
func FuzzRead(f *testing.F) {
	base := gunzip(f, "testdata/recordings/2.1.267/onboarding-apikey.cast.gz")
	f.Add([]byte("\x1b[2;2Hx"), 80, 24)
	f.Add([]byte("❯\u00a0\r\n────\r\n ❯ 1. Yes\r\n"), 20, 5)
	f.Fuzz(func(t *testing.T, b []byte, cols, rows int) {
		cols, rows = 1+abs(cols)%200, 1+abs(rows)%60
		term := vtparse.New(cols, rows, vtparse.Options{})
		term.Write(base)
		term.Write(b)
		Agent{}.Read(agents.Input{Screen: term.Screen()})
	})
}

func abs(n int) int {
	if n < 0 {
		n = -(n + 1)
	}
	return n
}

func BenchmarkRead(b *testing.B) {
	for _, ref := range []string{"2.1.267/compose#0", "2.1.263/work#3", "2.1.218/bashperm#0", "2.1.332/ask#10", "2.1.332/menus#12", "2.1.267/mcp#40", "2.1.267/leave#27"} {
		s := frame(b, ref)
		b.Run(ref, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Agent{}.Read(agents.Input{Screen: s})
			}
		})
	}
}
