package ui

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"akk/agents"
	"akk/bridge/rpc"
)

var update = flag.Bool("update", false, "write the pictures in testdata anew")

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// row is one terminal for a picture.
func row(n int, agent, version string, act agents.Activity, owner agents.Owner, age time.Duration) rpc.Row {
	r := rpc.Row{ID: "terminal:v2:tmux:" + agent + ":work:0." + itoa(n) + ":" + itoa(1000+n), ShortRef: "@" + itoa(n), Agent: agent, AgentVersion: version, Cwd: "/home/u/src/app"}
	r.Reading.Agent, r.Reading.Activity, r.Reading.Owner, r.Reading.Composer = agents.Kind(agent), act, owner, agents.ComposerEmpty
	r.Reading.Since = noon.Add(-age)
	r.TerminalControl = rpc.TerminalControl{Kind: "tmux", Session: "work", Window: 0, Pane: n, PaneID: "%" + itoa(n)}
	return r
}

func several() rpc.List {
	ask := row(3, "codex", "0.155.1", agents.Blocked, agents.OwnerApproval, 90*time.Second)
	ask.Reading.Dialog = &agents.Dialog{Kind: "exec", Command: "rm -rf  build && make all the things that there are"}
	rec := row(5, "claude", "2.1.267", agents.Blocked, agents.OwnerApproval, 5*time.Second)
	rec.Demo = "claude 2.1.267"
	draft := row(2, "claude", "2.1.332", agents.Idle, agents.OwnerComposer, 3*time.Hour)
	draft.Reading.Composer = agents.ComposerDraft
	return rpc.List{Terminals: []rpc.Row{
		row(1, "codex", "0.155.1", agents.Working, agents.OwnerComposer, 12*time.Second),
		draft, ask,
		row(4, "claude", "", agents.ActivityUnknown, agents.OwnerUnknown, 26*time.Hour),
		rec,
	}}
}

// held is a terminal that a human has taken over, and one in which he types.
func held() rpc.List {
	a, b := row(1, "codex", "0.155.1", agents.Idle, agents.OwnerComposer, 3*time.Hour), row(2, "claude", "2.1.332", agents.Idle, agents.OwnerComposer, 2*time.Hour)
	a.Hold = &rpc.Hold{By: "human", Since: noon.Add(-time.Minute)}
	b.Hold = &rpc.Hold{By: "human", Soft: true, Since: noon.Add(-7 * time.Second)}
	b.Reading.Composer = agents.ComposerDraft
	return rpc.List{Terminals: []rpc.Row{a, b}}
}

// TestPictures compares whole pictures: the text, and below it per line the
// roles that are not plain. Run with -update after a change and look at them.
func TestPictures(t *testing.T) {
	hostile := row(1, "codex", "0.1", agents.Idle, agents.OwnerComposer, time.Second)
	hostile.TerminalControl.Session = "a\x1b[31mb\u202e\u200d日本語"
	hostile.Cwd = "/tmp/\nx\x9b2J/é/👩‍💻"
	many := rpc.List{}
	for i := range 12 {
		many.Terminals = append(many.Terminals, row(i, "codex", "0.155.1", agents.Idle, agents.OwnerComposer, time.Duration(20-i)*time.Second))
	}
	for _, c := range []struct {
		name string
		m    Model
		w, h int
	}{
		{"connecting", Model{}, 34, 6},
		{"empty", Model{Link: Live}, 34, 9},
		{"empty-narrow", Model{Link: Live}, 20, 12},
		{"several", Model{Link: Live, List: several()}, 34, 20},
		{"several-narrow", Model{Link: Live, List: several()}, 20, 20},
		{"several-wide", Model{Link: Live, List: several()}, 80, 16},
		{"reconnecting", Model{Link: Reconnecting, Trouble: "daemon ended", List: several()}, 34, 8},
		{"note", Model{Link: Live, Note: "shown there; attach: tmux attach -t work", List: several()}, 34, 8},
		{"note-long", Model{Link: Live, Note: "only a human may take a terminal over, and this caller is not known to be one: run it in a terminal, outside of an agent's pane", List: several()}, 34, 14},
		{"held", Model{Link: Live, List: held()}, 34, 5},
		{"hostile", Model{Link: Live, List: rpc.List{Terminals: []rpc.Row{hostile}}}, 34, 5},
		{"scrolled", Model{Link: Live, List: many, Selected: many.Terminals[9].ID}, 34, 9},
		{"help", Model{Help: true}, 34, 21},
		{"one-cell", Model{Link: Live, List: several()}, 1, 1},
		{"two-lines", Model{Link: Live, List: several()}, 10, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.m.Now = noon
			got := picture(Render(c.m, c.w, c.h))
			file := filepath.Join("testdata", c.name+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("picture differs from %s; got:\n%s", file, got)
			}
		})
	}
}

func picture(p Picture) string {
	var b strings.Builder
	for y, l := range p.Lines() {
		mark := ' '
		if p.At(0, y).Selected {
			mark = '>'
		}
		b.WriteString("|" + string(mark) + l + "\n")
		var roles strings.Builder
		for x := range p.W {
			roles.WriteByte(byte(p.At(x, y).Role))
		}
		if r := strings.TrimRight(roles.String(), " "); r != "" {
			b.WriteString("  " + r + "\n")
		}
	}
	return b.String()
}

// Whatever a pane calls itself, no control byte reaches the terminal and no
// line is longer than the picture.
func TestCanvasHoldsHostileText(t *testing.T) {
	for _, s := range []string{"\x1b]0;x\x07", "a\u0301\u0301", "日", "\xff\xfe", "\u0301", "👨‍👩‍👧‍👦 x", strings.Repeat("長", 50), "\u2028"} {
		for w := 1; w < 12; w++ {
			c := NewCanvas(w, 1)
			c.Put(0, 0, w, s, Plain)
			n := 0
			for x := range w {
				cell := c.At(x, 0)
				n += cell.Width
				for _, r := range cell.Text {
					if r < ' ' || r >= 0x7f && r < 0xa0 {
						t.Errorf("%q at width %d: control %q", s, w, r)
					}
				}
			}
			if n != w {
				t.Errorf("%q: %d cells of width %d", s, n, w)
			}
		}
	}
}

func TestAge(t *testing.T) {
	for _, c := range []struct {
		d    time.Duration
		want string
	}{{-time.Second, "0s"}, {59 * time.Second, "59s"}, {time.Hour - 1, "59m"}, {24*time.Hour - 1, "23h"}, {5000 * 24 * time.Hour, "999d"}} {
		if got := Age(noon, noon.Add(-c.d)); got != c.want {
			t.Errorf("%s: got %s, want %s", c.d, got, c.want)
		}
	}
	if got := Age(noon, time.Time{}); got != "" {
		t.Errorf("no time: %q", got)
	}
}

// Two lines are not one command (N7): the sidebar shows where a line ends, and
// status and explain keep the lines.
func TestAskKeepsLines(t *testing.T) {
	t.Parallel()
	r := row(1, "codex", "0.155.1", agents.Blocked, agents.OwnerApproval, time.Second)
	for _, c := range []struct {
		d         agents.Dialog
		line, all string
	}{
		{agents.Dialog{Command: "make\n  rm -rf x\n\n"}, "make ⏎ rm -rf x", "make\n  rm -rf x"},
		{agents.Dialog{Path: "/a b", Prompt: "may I?"}, "/a b", "/a b"},
		{agents.Dialog{Prompt: "Do you want\n  to go on?"}, "Do you want to go on?", "Do you want to go on?"},
	} {
		r.Reading.Dialog = &c.d
		if got := Asks(r); got != c.line {
			t.Errorf("in one line %q, want %q", got, c.line)
		}
		if got := AskText(r); got != c.all {
			t.Errorf("%q, want %q", got, c.all)
		}
	}
}
