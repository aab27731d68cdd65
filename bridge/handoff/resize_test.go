package handoff

import (
	"testing"
	"time"

	"akk/agents"
	"akk/bridge/rpc"
)

// A resize breaks the rows of an agent that has not drawn anew, and pieces of a
// line look like a draft (Claude Code 2.1.267, a pane moved to another window):
// nobody types, no Host is told so. A text that stands after that is a human's.
func TestResizeIsNobodyTyping(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	b.row(p, agents.Idle)
	holds := func() (n int) {
		for _, e := range b.events() {
			if e.Type == "hold" {
				n++
			}
		}
		return n
	}
	b.w.resize(p.id, 60, 24)
	p.set(func(p *player) { p.text = "────────" })
	b.until("read", func() bool { return b.rows()[0].Reading.Composer == agents.ComposerDraft })
	p.set(func(p *player) { p.text = "" })
	b.row(p, agents.Idle)
	if n := holds(); n != 0 {
		t.Fatalf("a resize was told as %d moves of a hold", n)
	}
	b.w.resize(p.id, 80, 24)
	p.set(func(p *player) { p.text = "my own words" })
	began := time.Now()
	b.until("held", func() bool { return held(b.rows()) })
	if d := time.Since(began); d < resizeQuiet/2 {
		t.Errorf("the hold began %v after the resize", d)
	}
}

func held(rows []rpc.Row) bool { return rows[0].Hold != nil && rows[0].Hold.Soft }
