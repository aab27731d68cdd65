package handoff

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"akk/agents"
	"akk/bridge/rpc"
)

// worldline is one terminal with hosts, a human, an agent and a daemon that may
// die, over the pure machines only (issue 6, proof 4).
type worldline struct {
	t   *rapid.T
	now time.Time

	// The pane.
	text    string // composer
	working bool
	native  string
	offset  int64

	// The daemon's memory.
	hold   *rpc.Hold
	typed  time.Time
	disps  []*Dispatch // newest last
	keys   []pending   // on their way
	writes []pending   // not durable yet

	// The disk.
	stored  map[string]Turn // by request id
	pastes  map[string]int  // texts that reached the pane
	enters  map[string]int
	told    map[string]bool // the log holds its acceptance
	reached map[string]int
}

type pending struct {
	d   *Dispatch
	eff Effect
}

func (w *worldline) facts() Facts {
	f := idleFacts()
	f.Plan = agents.SubmitPlan{SettleMillis: 50, DrawMillis: 300, AcceptMillis: 400, Clear: agents.ClearPlan{First: "1", Again: "2", StepMillis: 200}}
	f.Hold, f.TypedAt, f.NativeID, f.LogPath, f.LogOffset, f.TurnOpen = w.hold, w.typed, w.native, "/l", w.offset, w.working
	if w.text != "" {
		f.Reading.Composer, f.Reading.Draft, f.Reading.DraftEnd = agents.ComposerDraft, w.text, true
	}
	if w.working {
		f.Reading.Activity = agents.Working
	}
	for _, d := range w.disps {
		if d.Typing() {
			f.Busy = d.Turn.ID
		}
		if turn := d.Turn; turn.open() && d.Phase == PhaseRunning && turn.NativeID != w.native {
			f.Handoff = &turn
		}
	}
	if n := len(w.disps); n > 0 {
		turn := w.disps[n-1].Turn
		f.Turn = &turn
	}
	return f
}

// step moves one dispatch and checks every effect against the world.
func (w *worldline) step(d *Dispatch, e Event) {
	e.Now, e.Facts = w.now, w.facts()
	next, effs := d.Step(e)
	*d = next
	id := d.Turn.RequestID
	for _, eff := range effs {
		switch eff.Kind {
		case EffPaste, EffEnter, EffClear:
			if w.hold != nil && !w.hold.Soft {
				w.t.Fatalf("a key over a human's hold")
			}
			if st, ok := w.stored[id]; !ok || eff.Kind == EffEnter && st.Stage == StagePrepared {
				w.t.Fatalf("a key before its stage was durable: %+v", st)
			}
			if eff.Kind == EffPaste && w.text != "" {
				w.t.Fatalf("pasted onto %q", w.text)
			}
			if eff.Kind == EffEnter && squeeze(w.text) != squeeze(d.Text) && d.Turn.Scope != scopeExplicit {
				w.t.Fatalf("Enter on %q", w.text)
			}
			if eff.Kind == EffClear && (d.Turn.Scope != scopeExplicit || w.now.Sub(w.typed) < typingQuiet && !w.typed.IsZero() && d.Steps == 1) {
				w.t.Fatalf("cleared what a human has just typed, in scope %s", d.Turn.Scope)
			}
			w.keys = append(w.keys, pending{d, eff})
		case EffCommit:
			w.writes = append(w.writes, pending{d, Effect{Commit: eff.Commit, Change: eff.Change}})
			w.writes[len(w.writes)-1].d = d
			turn := d.Turn
			w.writes[len(w.writes)-1].eff.Keys = ""
			w.snapshot(len(w.writes)-1, turn)
		}
	}
	if d.Turn.AcceptedAt != nil && !w.told[id] {
		w.t.Fatalf("accepted without the log")
	}
	typing := 0
	for _, d := range w.disps {
		if d.Typing() {
			typing++
		}
	}
	if typing > 1 {
		w.t.Fatalf("two type at once")
	}
}

var snapshots = map[*Dispatch][]Turn{}

func (w *worldline) snapshot(_ int, turn Turn) {
	d := w.writes[len(w.writes)-1].d
	snapshots[d] = append(snapshots[d], turn)
}

// durable answers the oldest write.
func (w *worldline) durable() {
	p := w.writes[0]
	w.writes = w.writes[1:]
	turn := snapshots[p.d][0]
	snapshots[p.d] = snapshots[p.d][1:]
	w.stored[turn.RequestID] = turn
	w.step(p.d, Event{Kind: EvCommitted, Commit: p.eff.Commit})
}

// arrive lets the oldest key reach the pane, or be lost with its answer.
func (w *worldline) arrive(lost bool) {
	p := w.keys[0]
	w.keys = w.keys[1:]
	id := p.d.Turn.RequestID
	switch p.eff.Kind {
	case EffPaste:
		w.text += p.d.Text
		w.pastes[id]++
	case EffClear:
		w.text = ""
	case EffEnter:
		w.enters[id]++
		w.submit()
	}
	if w.pastes[id] > 1 || w.enters[id] > 1 {
		w.t.Fatalf("request %s: %d pastes, %d Enters", id, w.pastes[id], w.enters[id])
	}
	var err error
	if lost {
		err = fmt.Errorf("the answer was lost")
	}
	w.step(p.d, Event{Kind: EvInput, Err: err})
}

// submit is what the agent does at Enter: it takes the composer's text.
func (w *worldline) submit() {
	text := w.text
	w.text, w.working = "", true
	w.log(agents.LogEvent{Kind: agents.LogAccepted, Hash: agents.HashRequest(text), TurnID: fmt.Sprint("n", w.offset), SessionID: w.native}, text)
}

func (w *worldline) log(l agents.LogEvent, text string) {
	w.offset += 10
	l.Offset, l.Time = w.offset, w.now.Add(time.Millisecond)
	if l.Kind == agents.LogAccepted {
		for id := range w.pastes {
			if text == "task "+id {
				w.told[id] = true
			}
		}
	}
	logs := []agents.LogEvent{l}
	for _, d := range slices.Backward(w.disps) {
		before := d.Turn.AcceptedAt
		w.step(d, Event{Kind: EvLog, Logs: logs, LogPath: "/l"})
		if before == nil && d.Turn.AcceptedAt != nil {
			logs = without(logs, d)
			w.reached["accepted"]++
		}
	}
}

// send is the door: the same request id is the same dispatch.
func (w *worldline) send(id, scope string) {
	if have, ok := w.stored[id]; ok && have.Outcome != OutcomeNotSubmitted {
		return // a receipt
	}
	for _, d := range w.disps {
		if d.Turn.RequestID == id && d.Turn.Outcome != OutcomeNotSubmitted {
			return
		}
	}
	f := w.facts()
	if m := missingFor(scope, f, w.now); len(m) > 0 && !transient(m) {
		w.reached["refused"]++
		return
	}
	if scope == scopeExplicit && w.hold != nil {
		w.hold = nil // a soft one
	}
	d := &Dispatch{Turn: Turn{ID: "turn-" + id, RequestID: id, Scope: scope, Hash: agents.HashRequest("task " + id)}, Text: "task " + id, Plan: f.Plan}
	w.disps = append(w.disps, d)
	w.step(d, Event{Kind: EvStart})
}

// crash: what was not durable is gone; keys that were on their way may have
// arrived or not; nothing is typed again for what was.
func (w *worldline) crash(arrived bool) {
	for _, p := range w.keys {
		id := p.d.Turn.RequestID
		if !arrived {
			continue
		}
		switch p.eff.Kind {
		case EffPaste:
			w.text += p.d.Text
			w.pastes[id]++
		case EffEnter:
			w.enters[id]++
			w.disps = nil // nobody hears it
			w.submit()
		}
	}
	w.keys, w.writes, w.disps = nil, nil, nil
	if w.hold != nil && w.hold.Soft {
		w.hold = nil
	}
	w.typed = w.now // what stands there at first sight counts as typed just now
	for _, id := range []string{"1", "2", "3", "4"} {
		if turn, ok := w.stored[id]; ok && turn.open() {
			d, _ := Resume(turn, w.facts().Plan, w.now)
			w.disps = append(w.disps, &d)
		}
	}
	w.reached["crashed"]++
}

func (w *worldline) all(e Event) {
	for _, d := range slices.Clone(w.disps) {
		w.step(d, e)
	}
}

// TestSchedules: one owner, one dispatch per request id, no input without proof,
// no key over a human's hold, acceptance only from the log, and nothing is stuck.
func TestSchedules(t *testing.T) {
	reached := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		w := &worldline{t: rt, now: time.Unix(1_800_000_000, 0), native: "n1", stored: map[string]Turn{}, pastes: map[string]int{}, enters: map[string]int{},
			told: map[string]bool{}, reached: reached}
		clear(snapshots)
		on := func() { // what would happen next by itself
			switch {
			case len(w.writes) > 0:
				w.durable()
			case len(w.keys) > 0:
				w.arrive(false)
			default:
				w.now = w.now.Add(60 * time.Millisecond)
				w.all(Event{Kind: EvAudited})
				w.all(Event{Kind: EvFacts})
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"on":      func(*rapid.T) { on() },
			"on on":   func(*rapid.T) { on(); on() },
			"on on o": func(*rapid.T) { on(); on(); on() },
			"send": func(rt *rapid.T) {
				w.send(rapid.SampledFrom([]string{"1", "2", "3", "4"}).Draw(rt, "id"), rapid.SampledFrom([]string{scopeFollow, scopeFollow, scopeExplicit}).Draw(rt, "scope"))
			},
			"type": func(rt *rapid.T) {
				if rapid.IntRange(0, 2).Draw(rt, "rare") == 0 {
					w.text += "x"
					w.typed = w.now
					if w.facts().Busy == "" && w.hold == nil {
						w.hold = &rpc.Hold{By: "human", Soft: true, Since: w.now}
					}
					w.all(Event{Kind: EvFacts})
				}
			},
			"erase": func(*rapid.T) {
				if w.facts().Busy == "" {
					w.text = ""
					if w.hold != nil && w.hold.Soft {
						w.hold = nil
					}
				}
			},
			"takeover": func(rt *rapid.T) {
				w.hold, _ = nextHold(w.hold, rapid.IntRange(0, 2).Draw(rt, "take") == 0, "", w.now)
				w.all(Event{Kind: EvFacts})
			},
			"end": func(*rapid.T) {
				if w.working {
					w.working = false
					w.log(agents.LogEvent{Kind: agents.LogCompleted, SessionID: w.native, Text: "done"}, "")
				}
			},
			"clear": func(rt *rapid.T) {
				if rapid.IntRange(0, 5).Draw(rt, "rare") == 0 && !w.working {
					w.native += "'"
				}
			},
			"later": func(*rapid.T) { w.now = w.now.Add(typingQuiet); w.all(Event{Kind: EvTick}) },
			"lost": func(rt *rapid.T) {
				if len(w.keys) > 0 && rapid.IntRange(0, 4).Draw(rt, "rare") == 0 {
					w.arrive(true)
				}
			},
			"crash": func(rt *rapid.T) {
				if rapid.IntRange(0, 7).Draw(rt, "rare") == 0 {
					w.crash(rapid.Bool().Draw(rt, "arrived"))
				}
			},
		})
		// Time and silence bring every submission to an end.
		for range 60 {
			on()
			w.now = w.now.Add(time.Second)
			w.all(Event{Kind: EvTick})
			if w.working {
				w.working = false
				w.log(agents.LogEvent{Kind: agents.LogCompleted, SessionID: w.native, Text: "done"}, "")
			}
		}
		for _, d := range w.disps {
			if d.Turn.open() && d.Phase != PhaseRunning {
				rt.Fatalf("stuck in %s: %+v", d.Phase, d.Turn)
			}
		}
		for id, n := range w.enters {
			if st := w.stored[id]; n > 0 && st.Outcome == OutcomeNotSubmitted {
				rt.Fatalf("request %s was submitted and is told not submitted", id)
			}
		}
	})
	for _, what := range []string{"accepted", "refused", "crashed"} {
		if reached[what] == 0 {
			t.Fatalf("no schedule came to %q: %v", what, reached)
		}
	}
	t.Log(reached)
}
