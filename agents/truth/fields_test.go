package truth_test

import (
	"strings"
	"testing"

	"akk/agents"
	"akk/agents/truth"
)

// TestFields compares the fields of MCP servers' forms with what the server
// asked for: labels, values as shown, the focused one.
func TestFields(t *testing.T) {
	n := 0
	each(t, func(rec *truth.Recording, a agents.Agent) {
		_ = rec.Play(0, func(s truth.Step) {
			if !s.Marker {
				return
			}
			d := rec.Snaps[s.At].Truth.Dialog
			if d == nil || d.Hidden || d.Kind != "elicitation" || d.Mode != "form" {
				return
			}
			g := a.Read(agents.Input{Screen: s.Screen}).Dialog
			where := rec.Name() + " " + rec.Snaps[s.At].Label
			if g == nil {
				t.Errorf("%s: no dialog", where)
				return
			}
			n++
			want := d.Fields
			if rec.Agent == "codex" && d.Field.Label != "" {
				want = []truth.Field{{Label: d.Field.Label, Focused: true}}
				if len(g.Fields) == 1 && strings.Join(strings.Fields(g.Fields[0].Description), " ") != d.Field.Description {
					t.Errorf("%s: description %q, want %q", where, g.Fields[0].Description, d.Field.Description)
				}
			}
			if len(g.Fields) != len(want) {
				t.Errorf("%s: %d fields %+v, want %+v", where, len(g.Fields), g.Fields, want)
				return
			}
			for i, w := range want {
				if f := g.Fields[i]; f.Label != w.Label || f.Focused != w.Focused || w.Value != "" && f.Value != w.Value || f.Type != "" && w.Type != "" && f.Type != w.Type {
					t.Errorf("%s: field %+v, want %+v", where, f, w)
				}
			}
		})
	})
	t.Logf("%d forms", n)
}
