package handoff

import (
	"encoding/json"
	"testing"

	"akk/agents"
	"akk/bridge/rpc"
)

// A kept row is what would be drawn now, for each kind of caller, before and
// after a task; and it goes with its view.
func TestKeptRows(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	row := b.row(p, agents.Idle)
	callers := []rpc.Caller{human, host("a"), host("b"), {Kind: "agent", TerminalID: row.ID}, {Kind: "unknown"}, {}}
	view := func() *view {
		v, bad := b.desk.resolve(p.id, "")
		if bad != nil {
			t.Fatal(bad)
		}
		return v
	}
	check := func(when string) {
		t.Helper()
		v := view()
		b.until("a row is kept "+when, func() bool {
			v = view()
			b.desk.rowOf(v, human)
			v.rows.mu.Lock()
			defer v.rows.mu.Unlock()
			return len(v.rows.rows) > 0
		})
		for range 2 { // drawn, then kept
			for _, c := range callers {
				kept, err := json.Marshal(b.desk.rowOf(v, c))
				if err != nil {
					t.Fatal(err)
				}
				drawn, _ := json.Marshal(b.desk.row(v, c))
				if string(kept) != string(drawn) {
					t.Fatalf("%s, for %+v:\n%s\n%s", when, c, kept, drawn)
				}
			}
		}
	}
	check("at rest")
	if _, err := b.callAs(host("a"), row.ID, "one"); err != nil {
		t.Fatal(err)
	}
	check("with a task")
	v := view()
	p.ask("may I")
	b.row(p, agents.Blocked)
	if now := view(); now == v || now.rows.rows != nil {
		t.Fatal("a new view has rows of the old one")
	}
	check("with a dialog")
}
