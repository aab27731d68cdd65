package truth_test

import (
	"slices"
	"testing"

	"akk/agents"
	"akk/agents/registry"
	"akk/vtparse"
)

// FuzzRead writes bytes over real frames: no reading panics, and no answer is
// made that the cells under the cursor can't carry.
func FuzzRead(f *testing.F) {
	type base struct {
		agent      agents.Agent
		version    string
		cols, rows int
		bytes      []byte
	}
	all, err := byName()
	if err != nil {
		f.Fatal(err)
	}
	var bases []base
	for name, snaps := range map[string][]int{
		"codex 0.155.1 s04_exec_approval": {0, 1}, "codex 0.153.4 s06_ask_one": {0, 2}, "codex 0.171.0 s01_composer": {0, 2}, "codex 0.155.1 s40_mcp_approval": {1},
		"claude 2.1.267 mcp": {6, 23, 34}, "claude 2.1.332 ask": {0, 2, 10, 20}, "claude 2.1.267 late": {0, 1}, "claude 2.1.267 compose": {0, 3},
	} {
		rec := all[name]
		for _, i := range snaps {
			cols, rows, b, err := rec.Bytes(i)
			if err != nil {
				f.Fatal(err)
			}
			bases = append(bases, base{registry.For(agents.Kind(rec.Agent)), rec.Version, cols, rows, b})
		}
	}
	slices.SortFunc(bases, func(a, b base) int { return len(a.bytes) - len(b.bytes) })
	f.Add(0, []byte("\x1b[17;3H  1. Yes\r\n"), 0, 0)
	f.Add(3, []byte("❯\u00a0\r\n────\r\n ❯ 1. Yes\r\n"), 60, 16)
	f.Add(4, []byte("\x1b[2J\x1b[1m›\x1b[0m \x1b[2mAsk\x1b[0m\x1b[1;3H\x1b[?25h"), 20, 5)
	f.Fuzz(func(t *testing.T, which int, bytes []byte, cols, rows int) {
		b := bases[abs(which)%len(bases)]
		term := vtparse.New(b.cols, b.rows, vtparse.Options{})
		term.Write(b.bytes)
		if cols > 0 && rows > 0 && cols <= 300 && rows <= 100 {
			term.Resize(cols, rows)
		}
		term.Write(bytes)
		check(t, b.agent, b.version, term.Screen())
	})
}

func check(t *testing.T, a agents.Agent, version string, s *vtparse.Screen) {
	t.Helper()
	for _, v := range []string{version, "", "99.0.0"} {
		r := a.Read(agents.Input{Screen: s, Version: v})
		_ = agents.Lacks(&r)
		x, y := s.Cursor.X, s.Cursor.Y
		if r.Owner == agents.OwnerComposer && r.Composer == agents.ComposerEmpty {
			row := s.Row(y)
			switch m := row.Rune(0); {
			case x != 2:
				t.Errorf("empty, with the cursor in column %d", x)
			case m != '›' && m != '»' && m != '!' && m != '❯':
				t.Errorf("empty, without a marker: %q", row.String())
			}
		}
		if s.Torn && (r.Owner == agents.OwnerComposer || r.Composer == agents.ComposerEmpty) && a.Kind() == agents.Codex {
			t.Errorf("a torn frame proves %s %s", r.Owner, r.Composer)
		}
		d := r.Dialog
		if d == nil {
			continue
		}
		if !d.Hidden && (d.Top < 0 || d.Bottom < d.Top || d.Bottom >= s.Rows) {
			t.Errorf("region %d to %d of %d rows", d.Top, d.Bottom, s.Rows)
		}
		if d.Selected != nil && (*d.Selected < 0 || *d.Selected >= len(d.Options)) {
			t.Errorf("option %d of %d is marked", *d.Selected, len(d.Options))
		}
		for _, action := range []agents.Action{agents.ApproveOnce, agents.Reject, agents.ConfirmYes, agents.OpenText, agents.FreeText} {
			p, err := a.(agents.Answerer).Answer(v, d, agents.Answer{Action: action, Text: "x"})
			if err == nil && (v != version || d.Clipped || d.Hidden || len(p.Steps) == 0) {
				t.Errorf("keys for a prompt that must stay manual: %+v", p)
			}
		}
	}
}

func abs(n int) int {
	if n < 0 {
		n = -(n + 1)
	}
	return n
}
