package handoff

// This file holds the world of TestDeskSchedules: two panes with agents behind a
// wire on which everything waits for the schedule (audits, keys, commits), and
// what may be true at the moment of a key.

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"akk/agents"
	"akk/bridge/rpc"
	"akk/panes"
	"akk/store"
	"akk/vtparse"
)

// gate is one thing that the daemon asked for and that has not happened yet.
type gate struct {
	kind  string // audit | input | commit
	wire  *wire
	pane  string
	write panes.Write
	done  chan verdict // capacity 1
}

type verdict struct {
	sent panes.Sent
	err  error
}

// wire is a daemon's way to the terminal server: the world behind gates. When
// its daemon is killed nothing that it asks for arrives any more.
type wire struct {
	*world
	m    *model
	dead bool // m.mu
}

var errKilled = fmt.Errorf("%w: the daemon was killed", panes.ErrUncertain)

func (w *wire) Audit(ctx context.Context, id string) (*vtparse.Screen, error) {
	g := w.m.park(&gate{kind: "audit", wire: w, pane: id})
	select {
	case v := <-g.done:
		if v.err != nil {
			return nil, v.err
		}
		return w.Screen(id)
	case <-ctx.Done():
		w.m.drop(g)
		return nil, ctx.Err()
	}
}

// Input stays with tmux when nobody waits for its answer any more.
func (w *wire) Input(ctx context.Context, wr panes.Write) (panes.Sent, error) {
	w.m.asked(w, wr)
	g := w.m.park(&gate{kind: "input", wire: w, pane: wr.Identity.Pane, write: wr})
	select {
	case v := <-g.done:
		return v.sent, v.err
	case <-ctx.Done():
		w.m.upset(wr.Identity.Pane, "no answer")
		return panes.Sent{}, fmt.Errorf("%w: %v", panes.ErrUncertain, ctx.Err())
	}
}

func (w *wire) Release(ctx context.Context, id string) error {
	w.m.mu.Lock()
	delete(w.m.locked, id)
	w.m.mu.Unlock()
	return w.world.Release(ctx, id)
}

func (w *wire) Close() error { return nil }

// park waits for the schedule; on a dead wire it is answered at once.
func (m *model) park(g *gate) *gate {
	g.done = make(chan verdict, 1)
	m.mu.Lock()
	defer m.mu.Unlock()
	if g.wire.dead {
		g.done <- verdict{err: errKilled}
		return g
	}
	m.gates = append(m.gates, g)
	return g
}

func (m *model) drop(g *gate) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gates = slices.DeleteFunc(m.gates, func(o *gate) bool { return o == g })
}

// failPoint is called wherever a process may be killed. A commit waits here for
// the schedule; at the point that the schedule chose, the disk is kept as it is.
func (m *model) failPoint(name string) {
	m.mu.Lock()
	w := m.wire
	if w == nil || w.dead {
		m.mu.Unlock()
		return
	}
	m.reached["point "+name]++
	if m.killIn > 0 {
		if m.killIn--; m.killIn == 0 {
			m.die(w)
			m.mu.Unlock()
			return
		}
	}
	if name != "store.begin" || m.free {
		m.mu.Unlock()
		return
	}
	g := &gate{kind: "commit", wire: w, done: make(chan verdict, 1)}
	m.gates = append(m.gates, g)
	m.mu.Unlock()
	<-g.done
}

// die keeps the disk of this moment and cuts the wire; m.mu is held.
func (m *model) die(w *wire) {
	w.dead = true
	disk, err := os.ReadFile(filepath.Join(m.dir, store.FileName))
	if err != nil {
		m.fault("reading the disk: %v", err)
	}
	m.disk = disk
	m.gates = slices.DeleteFunc(m.gates, func(g *gate) bool {
		if g.wire != w || g.kind == "input" { // a key may be with tmux already
			return false
		}
		g.done <- verdict{err: errKilled}
		return true
	})
}

// next are the gates that may happen next: keys of a pane keep their order.
func (m *model) next() []*gate {
	m.mu.Lock()
	defer m.mu.Unlock()
	seen := map[string]bool{}
	var out []*gate
	for _, g := range m.gates {
		if g.kind == "input" && seen[g.pane] {
			continue
		}
		seen[g.pane] = seen[g.pane] || g.kind == "input"
		out = append(out, g)
	}
	slices.SortStableFunc(out, func(a, b *gate) int { return strings.Compare(a.kind+a.pane, b.kind+b.pane) })
	return out
}

// happen lets one gate happen; how is "" | lost (the answer) | fails.
func (m *model) happen(g *gate, how string) {
	m.drop(g)
	switch {
	case g.kind == "audit" && how == "fails":
		g.done <- verdict{err: panes.ErrMoving}
	case g.kind != "input":
		g.done <- verdict{}
	default:
		sent, err := m.arrive(g.write)
		if how == "lost" {
			err = fmt.Errorf("%w: the answer was lost", panes.ErrUncertain)
			m.upset(g.pane, "lost answer")
		}
		g.done <- verdict{sent: sent, err: err}
	}
	synctest.Wait()
}

// arrive is tmux taking the line: conditions and keys are one.
func (m *model) arrive(w panes.Write) (panes.Sent, error) {
	p, before := m.player(w.Identity.Pane), ""
	if p != nil {
		p.mu.Lock()
		before = p.text
		p.mu.Unlock()
	}
	sent, err := m.w.Input(context.Background(), w)
	if err != nil {
		return sent, err // nothing was typed
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.locked, w.Identity.Pane)
	if w.Hold && !m.lockless {
		m.locked[w.Identity.Pane] = time.Now().Add(lockTime)
	}
	switch {
	case m.restoring: // what an explicit send cleared may be a text that a death left there
	case w.Paste != "":
		m.last[w.Identity.Pane] = w.Paste
		m.pasted[w.Paste]++
		if r := m.requests[w.Paste]; r != nil && m.pasted[w.Paste] > 1 {
			m.fault("one dispatch: the text of %s was pasted %d times", r.id, m.pasted[w.Paste])
		}
	case string(w.Keys) == "\x03":
		m.reached["interrupted"]++
	case string(w.Keys) != "\r":
		m.reached["cleared"]++
	default:
		r := m.meant(w.Identity.Pane, before)
		if r == nil {
			m.fault("no input without proof: Enter took %q, which is no request's text", before)
			break
		}
		if m.entered[r.text]++; m.entered[r.text] > 1 {
			m.fault("one dispatch: Enter was pressed %d times for %s", m.entered[r.text], r.id)
		}
	}
	return sent, nil
}

// lockTime is how long the keyboard of a pane stays locked behind a text.
const lockTime = 2 * time.Second

// meant is the request that an Enter is for: the one whose text stands there.
// For an explicit one no look at the composer may veto it (R46): the text that
// was pasted last counts.
func (m *model) meant(pane, text string) *request {
	if r := m.requests[text]; r != nil {
		return r
	}
	if r := m.requests[m.last[pane]]; r != nil && r.scope == scopeExplicit {
		m.reached["blind"]++
		return r
	}
	return nil
}

// asked checks a key at the moment at which the daemon orders it: everything
// that the world shows has been heard by then.
func (m *model) asked(w *wire, wr panes.Write) {
	pane := wr.Identity.Pane
	p := m.player(pane)
	m.mu.Lock()
	defer m.mu.Unlock()
	if w.dead || p == nil { // tmux refuses a key for another process
		return
	}
	if wr.Cursor == nil || wr.Identity.PanePID == 0 {
		m.fault("no input without proof: a key without the cursor or the process of its proof")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	what := fmt.Sprintf("%q%q", wr.Paste, wr.Keys)
	if m.held[pane] && !m.restoring {
		m.fault("one owner: %s over a human's hold", what)
	}
	if p.owner != agents.OwnerComposer {
		m.fault("no input without proof: %s while %s has the keys", what, p.owner)
	}
	switch r := m.requests[wr.Paste]; {
	case wr.Paste != "":
		switch {
		case p.text != "":
			m.fault("no input without proof: %s onto %q", what, p.text)
		case m.restoring && m.drafts[wr.Paste]:
			return // what an explicit send cleared: the human's, or a text that a death left there
		case r == nil:
			m.fault("one owner: %s is nobody's text", what)
			return
		case r.pane != pane:
			m.fault("one owner: the text for %s goes to %s", r.pane, pane)
		case r.scope != scopeExplicit && !r.answer && p.activity != agents.Idle:
			m.fault("no input without proof: %s while the agent is %s", what, p.activity)
		}
		m.fence(r, p)
	case string(wr.Keys) == "\r":
		if r = m.meant(pane, p.text); r == nil || r.pane != pane {
			m.fault("no input without proof: Enter onto %q", p.text)
		}
		// No fence here: the desk hears of a switch from the log, and one that
		// comes just before Enter is not seen yet. TestR57DriftBeforeEnter and
		// the case of a changed conversation look at R57.
	case string(wr.Keys) == "\x03":
		if p.activity != agents.Working || p.text != "" {
			m.fault("no input without proof: an interrupt while the agent is %s and its composer holds %q", p.activity, p.text)
		}
		if m.cancels[pane] == 0 {
			m.fault("one owner: an interrupt that nobody asked for")
		}
	default: // a clearing
		m.drafts[p.text] = true
		first := string(wr.Keys) == m.w.agent.plan.Clear.First // those behind it look at what is left
		// What a human typed and sent off under a daemon that has died, the next one
		// can't know; it may clear what is left of akk's own text there.
		known := m.typedIn[pane] == w || m.requests[p.text] == nil
		if !m.explicit(pane) || first && known && time.Since(m.typed[pane]) < typingQuiet {
			m.fault("one owner: %s clears what a human typed %s ago", what, time.Since(m.typed[pane]))
		}
	}
}

// fence: a task for a Session goes into the Session's conversation only.
func (m *model) fence(r *request, p *player) {
	if r == nil || r.session == "" {
		return
	}
	if time.Since(m.leftAt[p.id]) < 2*pollGap {
		return // its log has not been read yet
	}
	if bound := m.bound[r.session]; bound != p.native {
		m.fault("generation fence: a task for a session whose conversation is %s goes into %s", bound, p.native)
	}
}

// explicit tells whether an explicit request for the pane was made.
func (m *model) explicit(pane string) bool {
	for _, r := range m.requests {
		if r.pane == pane && r.scope == scopeExplicit {
			return true
		}
	}
	return false
}

// request is a text that somebody asked to have typed.
type request struct {
	id, text, pane, scope, session string
	answer                         bool
	turns                          map[string]bool // as callers were told
}

// model is the state of one schedule.
type model struct {
	w       *world
	ctx     context.Context
	dir     string // of the store; each death leads to a new one
	db      *store.DB
	desk    *Desk
	wg      sync.WaitGroup // calls that wait
	reached map[string]int // over all schedules
	deaths  int

	mu        sync.Mutex
	wire      *wire
	gates     []*gate
	free      bool // commits don't wait
	killIn    int  // fail points until the daemon is killed
	disk      []byte
	faults    []string
	requests  map[string]*request // by text
	pasted    map[string]int
	entered   map[string]int       // by the text that Enter took
	held      map[string]bool      // by pane: takeover was answered, handback not yet asked for
	freed     map[string]int       // handbacks so far
	lockless  bool                 // a human's keys get in all the same (he took the lock off)
	leftAt    map[string]time.Time // by pane: when a human left its conversation
	locked    map[string]time.Time // by pane: until when no key of a human gets in
	last      map[string]string    // by pane: the text that was pasted last
	typed     map[string]time.Time
	typedIn   map[string]*wire // which daemon's
	cancels   map[string]int
	drafts    map[string]bool
	restoring bool
	bound     map[string]string // Session -> conversation, as the agents took tasks
	where     map[string]string // Session -> pane
	conv      map[string]string // text -> conversation that took it
	native    map[string]string // text -> native turn
	took      map[string]int    // text -> how often an agent took it
	finals    map[string]string // native turn -> its last words
	disturbed map[string]string // text -> why it may end as uncertain
	runs      map[int]string    // pid -> native turn that runs
	count     int
	out       map[string]rpc.Lease // by delivery: with a bridge
	accepted  map[string]bool      // by delivery
}

func newModel(ctx context.Context, dir string, reached map[string]int) *model {
	return &model{w: newWorld(), ctx: ctx, dir: dir, reached: reached, requests: map[string]*request{}, pasted: map[string]int{}, entered: map[string]int{},
		held: map[string]bool{}, freed: map[string]int{}, leftAt: map[string]time.Time{}, locked: map[string]time.Time{}, last: map[string]string{}, typed: map[string]time.Time{}, typedIn: map[string]*wire{}, cancels: map[string]int{}, drafts: map[string]bool{}, bound: map[string]string{},
		where: map[string]string{}, conv: map[string]string{}, native: map[string]string{}, took: map[string]int{}, finals: map[string]string{},
		disturbed: map[string]string{}, runs: map[int]string{}, out: map[string]rpc.Lease{}, accepted: map[string]bool{}}
}

// player is the agent in a pane, nil if there is none.
func (m *model) player(pane string) *player {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	if p := m.w.panes[pane]; p != nil {
		return p.player
	}
	return nil
}

func (m *model) reach(what string) { m.mu.Lock(); defer m.mu.Unlock(); m.reached[what]++ }

// fault is a broken invariant; m.mu is held.
func (m *model) fault(format string, a ...any) {
	m.faults = append(m.faults, fmt.Sprintf(format, a...))
}

// upset notes why what is on its way in a pane ("" = anywhere) may end as
// uncertain or not accepted.
func (m *model) upset(pane, why string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for text, r := range m.requests {
		if (pane == "" || r.pane == pane) && m.disturbed[text] == "" {
			m.disturbed[text] = why
		}
	}
}

// enter is what an agent does at Enter, whoever pressed it.
func (m *model) enter(p *player) {
	m.mu.Lock()
	p.mu.Lock()
	if p.owner == agents.OwnerComposer && p.text != "" {
		text := p.text
		if p.activity != agents.Working || m.runs[p.pid] == "" {
			m.count++
			m.runs[p.pid] = fmt.Sprint("n", m.count)
		}
		turn := m.runs[p.pid]
		m.took[text]++
		m.conv[text], m.native[text] = p.native, turn
		p.add(agents.LogEvent{Kind: agents.LogAccepted, Hash: agents.HashRequest(text), TurnID: turn})
		p.tasks, p.text, p.activity, p.asks = append(p.tasks, text), "", agents.Working, false
	}
	p.mu.Unlock()
	m.mu.Unlock()
	p.draw()
}

// finish ends what the agent works on.
func (m *model) finish(p *player, kind agents.LogKind) {
	m.mu.Lock()
	turn := m.runs[p.pid]
	delete(m.runs, p.pid)
	m.finals[turn] = "the end of " + turn
	m.mu.Unlock()
	p.set(func(p *player) {
		if turn != "" {
			p.add(agents.LogEvent{Kind: kind, TurnID: turn, Text: "the end of " + turn, Err: "no"})
		}
		p.activity, p.owner, p.asks = agents.Idle, agents.OwnerComposer, false
	})
}

// press is what an agent does with the other keys.
func (m *model) press(p *player, keys string) {
	p.mu.Lock()
	working := p.activity == agents.Working
	p.mu.Unlock()
	if keys == "\x03" && working {
		m.finish(p, agents.LogAborted)
		return
	}
	p.key(keys)
}
