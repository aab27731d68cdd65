package handoff

import (
	"testing"

	"akk/agents"
	"akk/panes"
)

// A terminal is found by what it was called before it was renamed or moved: by
// its full id (R4) and by its short ref.
func TestEarlierNames(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	was := b.row(p, agents.Idle)
	b.w.change(p.id, func(i *panes.Info) { i.SessionName, i.WindowIndex = "other", i.WindowIndex+3 })
	b.until("the new name is there", func() bool { return b.row(p, agents.Idle).ID != was.ID })
	now := b.row(p, agents.Idle)
	for _, id := range []string{was.ID, was.ShortRef, was.ShortRef[:7], now.ID, now.ShortRef, p.id} {
		v, bad := b.desk.resolve(id, "")
		if bad != nil || v.id != now.ID {
			t.Errorf("%s: %v", id, bad)
		}
	}
	if now.ShortRef == was.ShortRef {
		t.Error("the name did not change")
	}
}
