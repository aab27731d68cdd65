package codex

import (
	"fmt"
	"strings"
	"testing"

	"akk/agents"
	"akk/vtparse"
)

// This file tests the composer of the models that animate it (R58, R59). Each
// case is a recorded frame of 0.154.0 with some cells written over.

// takesTask tells whether a reading lets an ordinary send go.
func takesTask(r agents.Reading) bool {
	return r.Activity == agents.Idle && r.Owner == agents.OwnerComposer && r.Composer == agents.ComposerEmpty && len(r.ComposerFlags) == 0
}

// R58: an animated composer is empty only with its faint placeholder, bold
// marker, shared paint, known decoration and footer; with any of them changed,
// nothing is sent into it. The placeholder's words differ between versions, so
// faintness is what counts: no draft is faint.
func TestR58AnimatedComposer(t *testing.T) {
	t.Parallel()
	const recording, label = "0.154.0_s28_known_background", "idle"
	s := playTo(t, recording, label).Screen()
	top := s.Cursor.Y
	row := s.Row(top)
	sparkles, at := 0, -1
	for y := top - 1; y <= top+1; y++ {
		for x := range s.Row(y).Len() {
			if sparkle(s.Row(y), x) {
				if sparkles++; y == top && x > 20 {
					at = x
				}
			}
		}
	}
	if sparkles < 20 || at < 0 || row.Style(0).Bg == 0 || row.Style(0).Bg != row.Style(at).Bg {
		t.Fatalf("the frame is not animated: %d sparkles", sparkles)
	}
	footer := -1
	for y := s.Rows - 1; y > top && footer < 0; y-- {
		if strings.TrimSpace(s.Line(y)) != "" {
			footer = y
		}
	}
	words := strings.TrimSpace(s.Text(top, top+1))
	words = strings.Map(func(r rune) rune {
		if r >= 0x2800 && r < 0x2900 || r == '›' || r == '\n' {
			return -1
		}
		return r
	}, words)
	words = strings.TrimSpace(words)
	bg := "\x1b[0;" + background(row.Style(0)) + "m"
	to := func(x, y int) string { return fmt.Sprintf("\x1b[%d;%dH", y+1, x+1) }
	back := to(s.Cursor.X, s.Cursor.Y)
	grey := strings.TrimSuffix(bg, "m") + ";38;2;90;90;90m"
	for _, c := range []struct {
		name, write string
		goes        bool
	}{
		{"the frame itself", "", true},
		{"one more known dot", to(at, top) + grey + "⠂" + back, true},
		{"the placeholder's words, typed", to(2, top) + bg + words + back, false},
		{"one typed letter before it", to(2, top) + bg + "x" + back, false},
		{"one typed letter far behind it", to(at, top) + bg + "x" + back, false},
		{"the marker is not bold", to(0, top) + bg + "›" + back, false},
		{"another marker", to(0, top) + "\x1b[1m" + "*" + back, false},
		{"no placeholder", to(2, top) + bg + strings.Repeat(" ", len(words)) + back, false},
		{"two dots in a cell", to(at, top) + grey + "⠃" + back, false},
		{"a dot without the paint", to(at, top) + "\x1b[0;38;2;90;90;90m⠂" + back, false},
		{"a bold dot", to(at, top) + grey + "\x1b[1m⠂" + back, false},
		{"a dot in a palette colour", to(at, top) + bg + "\x1b[33m⠂" + back, false},
		{"text on the row below", to(2, top+1) + bg + "more" + back, false},
		{"no footer", to(0, footer) + "\x1b[0m\x1b[2K" + back, false},
		{"another footer", to(0, footer) + "\x1b[0m\x1b[2K  /clear  start a new chat" + back, false},
		{"the cursor behind the placeholder", to(2+len(words), top), false},
		{"the cursor is hidden", "\x1b[?25l", false},
	} {
		term := playTo(t, recording, label)
		term.Write([]byte(c.write))
		for _, version := range []string{"0.154.0", "0.155.1", ""} {
			if r := (Agent{}).Read(agents.Input{Screen: term.Screen(), Version: version}); takesTask(r) != c.goes {
				t.Errorf("%s, as %q: %s/%s/%s %v; why %v", c.name, version, r.Activity, r.Owner, r.Composer, r.ComposerFlags, r.Why)
			}
		}
	}
}

// R59: an empty animated composer is nothing by itself: work, an approval and
// whoever has the keys are told first.
func TestR59OthersFirst(t *testing.T) {
	t.Parallel()
	for label, want := range map[string]string{"working": "working composer empty", "streaming": "working composer empty", "approval": "blocked approval hidden", "draft": "idle composer draft",
		"completed": "idle composer empty"} {
		r := Agent{}.Read(agents.Input{Screen: playTo(t, "0.154.0_s28_known_background", label).Screen(), Version: "0.154.0"})
		if got := fmt.Sprint(r.Activity, " ", r.Owner, " ", r.Composer); got != want || takesTask(r) != (label == "completed") {
			t.Errorf("%s: %s, want %s", label, got, want)
		}
	}
}

// background is the part of SGR that paints as st does.
func background(st vtparse.Style) string {
	r, g, b, _ := st.Bg.RGB()
	return fmt.Sprintf("48;2;%d;%d;%d", r, g, b)
}
